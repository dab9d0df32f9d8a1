//! Asking Python: one request as a line of JSON on its stdin, then lines of JSON that tell how far it is and how it ended.
//! Its stdin stays open as long as the answer is wanted.

use std::io::{BufRead, BufReader, ErrorKind as IoErrorKind, Write};
use std::path::PathBuf;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use modelexport_io::ErrorKind;
use modelexport_io::output::interrupt;
use serde::Deserialize;

use super::interpreter::Interpreter;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// Leaves the current folder out of `sys.path`, also in processes that libraries spawn.
const SAFE_PATH: &str = "-P";

/// Looks for the packages before it imports them: the import of torch takes seconds. The arguments are further folders
/// with modules.
const START: &str = "\
import importlib.util as u, json, runpy, sys
sys.path += sys.argv[1:]
missing = [name for name in ('torch', 'modelexport') if u.find_spec(name) is None]
if missing:
    print(json.dumps({'missing': missing}))
else:
    runpy.run_module('modelexport.live', run_name='__main__', alter_sys=True)
";

/// How often to look for a signal.
const LOOK: Duration = Duration::from_millis(20);

/// The user's own folders with modules, which Python does not get.
const PYTHON_PATH: &str = "PYTHONPATH";

/// How Python ended, if it did not fail.
pub enum Answer {
    Summary(serde_json::Value),
    Unsupported { message: String, opset: i64, operators: serde_json::Value },
}

/// One line that Python tells.
#[derive(Deserialize)]
#[serde(rename_all = "lowercase")]
enum Line {
    Step(String),
    Summary(serde_json::Value),
    Unsupported { message: String, opset: i64, operators: serde_json::Value },
    Error { message: String, status: u8 },
    Missing(Vec<String>),
}

/// Sends the request and listens until Python ends; `step` hears the name of each step. Python also finds modules in
/// `folders`.
pub fn ask(
    python: &Interpreter,
    folders: &[PathBuf],
    request: &serde_json::Value,
    session: &Session,
    step: &mut dyn FnMut(&str),
) -> Result<Answer, Failure> {
    if !interrupt().begin_work() {
        return Err(stopped());
    }
    let mut child = start(python, folders, session)?;
    let mut stdin = child.stdin.take();
    if let Some(stdin) = &mut stdin {
        // A Python that ended before it read has said why.
        let _ = writeln!(stdin, "{request}");
    }
    let is_done = AtomicBool::new(false);
    let last = std::thread::scope(|threads| {
        threads.spawn(|| close_when_stopped(stdin, &is_done));
        let last = child.stdout.take().and_then(|stdout| listen(stdout, step));
        is_done.store(true, Ordering::Relaxed);
        last
    });
    let status = child.wait().map_err(|error| failed(python, &error))?;
    if interrupt().stop.load(Ordering::SeqCst) && !matches!(last, Some(Line::Summary(_))) {
        return Err(stopped());
    }
    match last {
        Some(Line::Summary(summary)) => Ok(Answer::Summary(summary)),
        Some(Line::Unsupported { message, opset, operators }) => {
            Ok(Answer::Unsupported { message, opset, operators })
        }
        Some(Line::Error { message, status }) => {
            let status = if status == ExitStatus::Io as u8 { ErrorKind::Io } else { ErrorKind::BadInput };
            Err(Failure::new(message, status))
        }
        Some(Line::Missing(names)) => Err(missing(python, &names)),
        Some(Line::Step(_)) | None => {
            let text = format!("{} ended early ({status})", python.path.display());
            Err(Failure::new(text, ErrorKind::BadInput)
                .with_hint(Some("it must be Python 3.11 or later; run again with -v to see what it prints")))
        }
    }
}

/// Reads until Python closes its stdout. Returns the last line that is no step.
fn listen(stdout: ChildStdout, step: &mut dyn FnMut(&str)) -> Option<Line> {
    let mut last = None;
    for line in BufReader::new(stdout).lines().map_while(Result::ok) {
        match serde_json::from_str(&line) {
            Ok(Line::Step(name)) => step(&name),
            Ok(other) => last = Some(other),
            // Not one of ours: something that a library prints.
            Err(_) => {}
        }
    }
    last
}

/// Python ends when its stdin does, also if this process dies.
fn close_when_stopped(stdin: Option<ChildStdin>, is_done: &AtomicBool) {
    while !is_done.load(Ordering::Relaxed) && !interrupt().stop.load(Ordering::Relaxed) {
        std::thread::sleep(LOOK);
    }
    drop(stdin);
}

fn stopped() -> Failure {
    Failure::new("stopped before it was complete", ErrorKind::Io)
}

fn start(python: &Interpreter, folders: &[PathBuf], session: &Session) -> Result<Child, Failure> {
    let messages = if session.is_quiet() { Stdio::null() } else { Stdio::inherit() };
    // An empty part of PYTHONPATH is the current folder, and such parts come about by accident.
    Command::new(&python.path)
        .args([SAFE_PATH, "-c", START])
        .args(folders.iter().map(|folder| std::path::absolute(folder).unwrap_or_else(|_| folder.clone())))
        .env_remove(PYTHON_PATH)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(messages)
        .spawn()
        .map_err(|error| failed(python, &error))
}

fn failed(python: &Interpreter, error: &std::io::Error) -> Failure {
    let what =
        if error.kind() == IoErrorKind::NotFound { "there is no such Python" } else { "cannot be run" };
    let text = format!("{}: {what}: {error} ({})", python.path.display(), python.reason);
    let hint =
        "live models need Python with torch and modelexport: activate its environment or pass --python";
    Failure::new(text, ErrorKind::BadInput).with_hint(Some(hint))
}

fn missing(python: &Interpreter, names: &[String]) -> Failure {
    let path = python.path.display();
    let text =
        format!("{path}: has no {}, which live models need ({})", names.join(" and no "), python.reason);
    let ignored = match std::env::var_os(PYTHON_PATH) {
        Some(_) => "; PYTHONPATH is ignored, pass its folders with --python-path",
        None => "",
    };
    let hint = format!(
        "install it with `{path} -m pip install {}`, or pass --python with another Python; a captured program (.pt2) \
         needs none{ignored}",
        names.join(" ")
    );
    Failure::new(text, ErrorKind::BadInput).with_hint(Some(hint))
}

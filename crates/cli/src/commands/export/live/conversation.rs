//! Asking Python: one request as JSON on its stdin, then lines of JSON that tell how far it is and how it ended.

use std::io::{BufRead, BufReader, ErrorKind as IoErrorKind, Write};
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};

use modelexport_io::ErrorKind;
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

/// The user's own folders with modules, which Python does not get.
const PYTHON_PATH: &str = "PYTHONPATH";

/// How Python ended, if it did not fail.
pub enum Said {
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
pub fn hold(
    python: &Interpreter,
    folders: &[PathBuf],
    request: &serde_json::Value,
    session: &Session,
    step: &mut dyn FnMut(&str),
) -> Result<Said, Failure> {
    let mut child = start(python, folders, session)?;
    if let Some(mut stdin) = child.stdin.take() {
        // A Python that ended before it read has said why.
        let _ = stdin.write_all(request.to_string().as_bytes());
    }
    let mut last = None;
    if let Some(stdout) = child.stdout.take() {
        for line in BufReader::new(stdout).lines().map_while(Result::ok) {
            match serde_json::from_str(&line) {
                Ok(Line::Step(name)) => step(&name),
                Ok(other) => last = Some(other),
                // Not one of ours: something that a library prints.
                Err(_) => {}
            }
        }
    }
    let status = child.wait().map_err(|error| failed(python, &error))?;
    match last {
        Some(Line::Summary(summary)) => Ok(Said::Summary(summary)),
        Some(Line::Unsupported { message, opset, operators }) => {
            Ok(Said::Unsupported { message, opset, operators })
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

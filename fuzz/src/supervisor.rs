//! Starts a process for each target, watches it, and keeps what it fails on.

use std::fs::File;
use std::io::{IsTerminal, Write};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use modelexport_fuzz::{Target, targets};

use crate::arguments::Arguments;
use crate::failure::Failure;
use crate::table::{self, Row};
use crate::worker::State;

/// An input that takes more of a processor's time hangs.
const LONGEST: Duration = Duration::from_secs(10);
/// So does one that waits longer for whatever it is: longer than any machine keeps a process waiting.
const LONGEST_WAIT: Duration = Duration::from_secs(120);
/// A target that failed so often is left alone.
const MOST_FAILURES: usize = 5;
const POLL: Duration = Duration::from_millis(20);
/// How Linux counts the time of processes for others, whatever it counts by itself.
const TICKS_PER_SECOND: u64 = 100;

/// Whether all properties held.
pub fn run(arguments: &Arguments) -> Result<bool, String> {
    if arguments.list {
        targets::ALL.iter().for_each(|target| println!("{}\n    {}", target.name, target.property));
        return Ok(true);
    }
    let targets = arguments.targets()?;
    let share = Duration::from_secs(arguments.seconds) / targets.len().max(1) as u32;
    eprintln!("seed {}, inputs from number {} on", arguments.seed, arguments.first);
    let mut rows = Vec::new();
    for target in targets {
        rows.push(Watch::new(target, arguments, share)?.run()?);
    }
    print!("{}", table::text(&rows));
    Ok(rows.iter().all(|row| row.failures == 0))
}

struct Watch<'a> {
    target: &'static Target,
    arguments: &'a Arguments,
    began: Instant,
    share: Duration,
    folder: tempfile::TempDir,
    row: Row,
}

impl<'a> Watch<'a> {
    fn new(target: &'static Target, arguments: &'a Arguments, share: Duration) -> Result<Self, String> {
        // In memory, where that is possible: targets write many small files.
        let memory = Path::new("/dev/shm");
        let folder = if memory.is_dir() { tempfile::tempdir_in(memory) } else { tempfile::tempdir() };
        let folder = folder.map_err(|error| format!("no temporary folder: {error}"))?;
        let row = Row { target: target.name, next: arguments.first, ..Row::default() };
        Ok(Watch { target, arguments, began: Instant::now(), share, folder, row })
    }

    /// Starts processes until the time is over or the inputs are used up: another one after each failure.
    fn run(mut self) -> Result<Row, String> {
        let end = self.arguments.inputs.map(|count| self.arguments.first.saturating_add(count));
        loop {
            let left = self.share.saturating_sub(self.began.elapsed());
            let is_over = match end {
                Some(end) => self.row.next >= end,
                None => left.is_zero(),
            };
            if is_over || self.row.failures == MOST_FAILURES {
                break;
            }
            let limit = match end {
                Some(end) => ["--inputs".to_owned(), (end - self.row.next).to_string()],
                None => ["--seconds".to_owned(), left.as_secs().max(1).to_string()],
            };
            if let Some((index, message)) = self.process(&limit)? {
                let failure = Failure::save(self.target, self.arguments.seed, index, message)?;
                failure.tell();
                self.row.failures += 1;
            } else {
                break;
            }
        }
        self.row.seconds = self.began.elapsed().as_secs_f64();
        Ok(self.row)
    }

    /// Runs one process to its end; the input that it failed on, and why.
    fn process(&mut self, limit: &[String; 2]) -> Result<Option<(u64, String)>, String> {
        let told = |error: std::io::Error| format!("cannot run {}: {error}", self.target.name);
        let path = |name: &str| self.folder.path().join(name);
        let (state_path, output) = (path("state"), path("output"));
        File::create(&state_path).map_err(told)?;
        let state = File::open(&state_path).map_err(told)?;
        let messages = File::create(&output).map_err(told)?;
        let mut child = Command::new(std::env::current_exe().map_err(told)?)
            .arg("--worker")
            .arg(&state_path)
            .args(limit)
            .args(["--seed", &self.arguments.seed.to_string(), "--first", &self.row.next.to_string()])
            .arg(self.target.name)
            .env("TMPDIR", self.folder.path())
            .stdout(Stdio::null())
            .stderr(messages)
            .spawn()
            .map_err(told)?;
        let outcome = self.watch(&mut child, &state).map_err(told)?;
        let printed = || std::fs::read_to_string(&output).unwrap_or_default();
        let Some(state) = State::read(&state) else {
            return Err(format!("{}: the seeds cannot be made: {outcome}\n{}", self.target.name, printed()));
        };
        self.row.add(&state);
        if state.is_finished {
            return Ok(None);
        }
        self.row.next = state.index + 1;
        Ok(Some((state.index, format!("{outcome}\n{}", printed().trim()))))
    }

    /// Waits for the end of the process, or ends it where it hangs. How it ended.
    fn watch(&self, child: &mut Child, state: &File) -> std::io::Result<String> {
        let mut shown = Instant::now();
        // The input in work, and when it was first seen: by the clock and by the processor.
        let mut last = (None, Instant::now(), Duration::ZERO);
        loop {
            if let Some(status) = child.try_wait()? {
                return Ok(format!("ended with {status}"));
            }
            if let Some(now) = State::read(state) {
                let worked = processor_time(child.id());
                if last.0 != Some(now.index) {
                    last = (Some(now.index), Instant::now(), worked);
                } else if worked.saturating_sub(last.2) > LONGEST || last.1.elapsed() > LONGEST_WAIT {
                    child.kill()?;
                    child.wait()?;
                    return Ok(format!("takes more than {} seconds", LONGEST.as_secs()));
                }
                self.show(&now, &mut shown);
            }
            std::thread::sleep(POLL);
        }
    }

    /// A line that is written over on a terminal, and one every ten seconds elsewhere.
    fn show(&self, state: &State, shown: &mut Instant) {
        let mut stderr = std::io::stderr();
        let (pause, start, end) = if stderr.is_terminal() { (1, "\r\x1b[K", "") } else { (10, "", "\n") };
        if shown.elapsed() < Duration::from_secs(pause) {
            return;
        }
        *shown = Instant::now();
        let done = self.row.inputs + state.done;
        let rate = done as f64 / self.began.elapsed().as_secs_f64();
        // Progress that cannot be shown is no reason to stop.
        _ = write!(stderr, "{start}{}: {done} inputs, {rate:.0}/s{end}", self.target.name);
        _ = stderr.flush();
    }
}

/// What a process has used of the processors, where the system tells.
fn processor_time(process: u32) -> Duration {
    let ticks = || {
        let status = std::fs::read_to_string(format!("/proc/{process}/stat")).ok()?;
        // Behind the name, which may hold anything, stand state and parent; user's and system's time come twelfth.
        let (_, fields) = status.rsplit_once(')')?;
        fields.split_whitespace().skip(11).take(2).map(|field| field.parse::<u64>().ok()).sum::<Option<u64>>()
    };
    Duration::from_millis(ticks().unwrap_or(0) * 1000 / TICKS_PER_SECOND)
}

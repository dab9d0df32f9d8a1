//! One run of the command. Everything that it prints goes through the session: results to stdout, messages to stderr.

use std::io::{self, BufWriter, IsTerminal, Write};

use modelexport_io::onnx::names::for_screen;
use modelexport_io::sidecar;

use crate::arguments::{ColorChoice, GlobalArguments};
use crate::display::style::Style;
use crate::exit::ExitStatus;
use crate::failure::Failure;

/// Prints results to stdout and messages to stderr, or captures both for a caller.
pub struct Session {
    out: Out,
    out_style: Style,
    /// Columns of the terminal. `None` if stdout is not a terminal; then nothing is truncated.
    width: Option<usize>,
    message_style: Style,
    is_quiet: bool,
    is_verbose: bool,
    warnings: Vec<String>,
}

enum Out {
    Stdout(BufWriter<io::StdoutLock<'static>>),
    Captured(Vec<u8>),
}

/// The outcome of a command that ran inside another program.
#[derive(Debug, Default)]
pub struct Captured {
    pub status: u8,
    /// The result, as it would have been printed.
    pub output: Vec<u8>,
    pub warnings: Vec<String>,
    pub error: Option<CapturedError>,
}

/// What would have been printed as `error: …`.
#[derive(Debug)]
pub struct CapturedError {
    pub message: String,
    pub hint: Option<String>,
    /// The operating system's error code, if the operating system caused the error.
    pub os_code: Option<i32>,
}

impl Session {
    pub fn new(global: &GlobalArguments) -> Self {
        let is_terminal = io::stdout().is_terminal();
        let width = terminal_size::terminal_size().map(|(width, _)| usize::from(width.0));
        Session {
            out: Out::Stdout(BufWriter::new(io::stdout().lock())),
            out_style: style(global.color, is_terminal),
            width: width.filter(|&columns| is_terminal && columns > 0),
            message_style: style(global.color, io::stderr().is_terminal()),
            is_quiet: global.quiet,
            is_verbose: global.verbose,
            warnings: Vec::new(),
        }
    }

    /// Prints nothing; [`Session::into_captured`] returns the output.
    pub fn captured() -> Self {
        Session {
            out: Out::Captured(Vec::new()),
            out_style: Style::new(false),
            width: None,
            message_style: Style::new(false),
            is_quiet: false,
            is_verbose: false,
            warnings: Vec::new(),
        }
    }

    /// Where results go.
    pub fn out(&mut self) -> &mut dyn Write {
        match &mut self.out {
            Out::Stdout(out) => out,
            Out::Captured(bytes) => bytes,
        }
    }

    fn is_captured(&self) -> bool {
        matches!(self.out, Out::Captured(_))
    }

    pub fn out_style(&self) -> Style {
        self.out_style
    }

    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Whether to print results and errors only.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Whether to draw progress bars: only for a user at a terminal.
    pub fn shows_progress(&self) -> bool {
        !self.is_quiet && !self.is_captured() && io::stderr().is_terminal()
    }

    /// Logs that a step began, if stderr is not a terminal and no progress bar shows it.
    pub fn step(&self, name: &str, subject: &str) {
        if !self.is_quiet && !self.is_captured() && !io::stderr().is_terminal() {
            self.message(&self.message_style.dim(&format!("{name}:")), subject);
        }
    }

    pub fn is_verbose(&self) -> bool {
        self.is_verbose
    }

    /// Warns that a sidecar could not be read and is ignored.
    pub fn warn_of_sidecar(&mut self, problem: Option<&sidecar::Error>) {
        if let Some(problem) = problem {
            self.warn(&format!("{problem}; the sidecar is ignored"));
        }
    }

    /// Warns the user and goes on.
    pub fn warn(&mut self, text: &str) {
        if self.is_captured() {
            self.warnings.push(text.to_owned());
        } else if !self.is_quiet {
            self.message(&self.message_style.yellow("warning:"), text);
        }
    }

    /// Prints a note with `-v` only.
    pub fn detail(&mut self, text: &str) {
        if self.is_verbose {
            self.message(&self.message_style.dim("note:"), text);
        }
    }

    /// Flushes the output, reports a failure, and returns the exit status.
    pub fn finish(mut self, result: Result<ExitStatus, Failure>) -> ExitStatus {
        let result = result.and_then(|status| {
            self.out().flush()?;
            Ok(status)
        });
        match result {
            Ok(status) => status,
            Err(Failure::OutputClosed) => ExitStatus::Io,
            Err(Failure::Error { message, hint, status, .. }) => {
                self.message(&self.message_style.red("error:"), &message);
                if let Some(hint) = hint {
                    self.message(&self.message_style.dim("hint:"), &hint);
                }
                status
            }
        }
    }

    /// Returns the captured output and the failure, if any.
    pub fn into_captured(self, result: Result<ExitStatus, Failure>) -> Captured {
        let output = match self.out {
            Out::Captured(bytes) => bytes,
            Out::Stdout(_) => Vec::new(),
        };
        let (status, error) = match result {
            Ok(status) => (status, None),
            Err(Failure::OutputClosed) => (ExitStatus::Io, None),
            Err(Failure::Error { message, hint, status, os_code }) => {
                (status, Some(CapturedError { message, hint, os_code }))
            }
        };
        Captured { status: status as u8, output, warnings: self.warnings, error }
    }

    /// Escapes the message: names in it come from files.
    fn message(&self, label: &str, text: &str) {
        let mut error = io::stderr().lock();
        let lines: Vec<_> = text.lines().map(for_screen).collect();
        // There is nowhere to report that stderr is closed.
        let _ = writeln!(error, "{label} {}", lines.join("\n"));
    }
}

fn style(choice: ColorChoice, is_terminal: bool) -> Style {
    let is_set = |name| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    let is_dumb = std::env::var_os("TERM").is_some_and(|term| term == "dumb");
    Style::new(match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => is_terminal && !is_set("NO_COLOR") && !is_dumb,
    })
}

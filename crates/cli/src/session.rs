//! One run of the command: where results and messages go. Everything that is printed goes through here.

use std::io::{self, BufWriter, IsTerminal, Write};

use modelexport_io::onnx::names::for_screen;

use crate::arguments::{ColorChoice, GlobalArguments};
use crate::display::style::Style;
use crate::exit::ExitStatus;
use crate::failure::Failure;

/// Results on stdout, messages on stderr; or both kept for a caller.
pub struct Session {
    out: Out,
    out_style: Style,
    /// Columns of the terminal; `None` if the output goes elsewhere and is not cut.
    width: Option<usize>,
    message_style: Style,
    is_quiet: bool,
    is_verbose: bool,
    warnings: Vec<String>,
}

enum Out {
    Stdout(BufWriter<io::StdoutLock<'static>>),
    Kept(Vec<u8>),
}

/// What a command gave back to a caller that is a program.
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
    /// How the operating system numbers the failure, where it is one of its own.
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

    /// Nothing is printed; [`Session::into_captured`] has it all.
    pub fn kept() -> Self {
        Session {
            out: Out::Kept(Vec::new()),
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
            Out::Kept(bytes) => bytes,
        }
    }

    fn is_kept(&self) -> bool {
        matches!(self.out, Out::Kept(_))
    }

    pub fn out_style(&self) -> Style {
        self.out_style
    }

    pub fn width(&self) -> Option<usize> {
        self.width
    }

    /// Only results and errors are wanted.
    pub fn is_quiet(&self) -> bool {
        self.is_quiet
    }

    /// Somebody watches, so that long work should show how far it is.
    pub fn shows_progress(&self) -> bool {
        !self.is_quiet && !self.is_kept() && io::stderr().is_terminal()
    }

    /// A step of long work, for logs: where nobody watches, a line tells that it began.
    pub fn step(&self, name: &str, subject: &str) {
        if !self.is_quiet && !self.is_kept() && !io::stderr().is_terminal() {
            self.message(&self.message_style.dim(&format!("{name}:")), subject);
        }
    }

    pub fn is_verbose(&self) -> bool {
        self.is_verbose
    }

    /// Something that the user should know although the command goes on.
    pub fn warn(&mut self, text: &str) {
        if self.is_kept() {
            self.warnings.push(text.to_owned());
        } else if !self.is_quiet {
            self.message(&self.message_style.yellow("warning:"), text);
        }
    }

    /// Something that only `-v` shows.
    pub fn detail(&mut self, text: &str) {
        if self.is_verbose {
            self.message(&self.message_style.dim("note:"), text);
        }
    }

    /// Flushes the result, reports a failure, and says how the process ends.
    pub fn finish(mut self, result: Result<ExitStatus, Failure>) -> ExitStatus {
        let result = result.and_then(|status| {
            self.out().flush()?;
            Ok(status)
        });
        match result {
            Ok(status) => status,
            Err(Failure::OutputClosed) => ExitStatus::Success,
            Err(Failure::Error { message, hint, status, .. }) => {
                self.message(&self.message_style.red("error:"), &message);
                if let Some(hint) = hint {
                    self.message(&self.message_style.dim("hint:"), &hint);
                }
                status
            }
        }
    }

    /// How it ended, for a caller that is a program.
    pub fn into_captured(self, result: Result<ExitStatus, Failure>) -> Captured {
        let output = match self.out {
            Out::Kept(bytes) => bytes,
            Out::Stdout(_) => Vec::new(),
        };
        let (status, error) = match result {
            Ok(status) => (status, None),
            Err(Failure::OutputClosed) => (ExitStatus::Success, None),
            Err(Failure::Error { message, hint, status, os_code }) => {
                (status, Some(CapturedError { message, hint, os_code }))
            }
        };
        Captured { status: status as u8, output, warnings: self.warnings, error }
    }

    /// Names in messages come from files, so nothing reaches the terminal unescaped.
    fn message(&self, label: &str, text: &str) {
        let mut error = io::stderr().lock();
        let lines: Vec<_> = text.lines().map(for_screen).collect();
        // A terminal that is gone cannot be told that it is gone.
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

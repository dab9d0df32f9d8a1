//! Why a command could not do its work.

use std::fmt::Display;
use std::io;

use modelexport_io::ErrorKind;

use crate::exit::ExitStatus;

#[derive(Debug)]
pub enum Failure {
    /// Reported as `error: …`, with a hint on a line of its own.
    Error {
        message: String,
        hint: Option<String>,
        status: ExitStatus,
        /// The operating system's error code, if the operating system caused the error.
        os_code: Option<i32>,
    },
    /// The reader closed the pipe (`modelexport tree … | head`). The exit status tells it, without a message.
    OutputClosed,
}

impl Failure {
    /// An error of the library or of its readers.
    pub fn new(error: impl Display, kind: ErrorKind) -> Self {
        Failure::Error { message: error.to_string(), hint: None, status: status(kind), os_code: None }
    }

    /// The command worked and the answer is no, for this reason.
    pub fn finding(reason: impl Display) -> Self {
        let message = reason.to_string();
        Failure::Error { message, hint: None, status: ExitStatus::Finding, os_code: None }
    }

    pub fn of_signals(error: io::Error) -> Self {
        Failure::new(format!("cannot handle signals: {error}"), ErrorKind::Io)
    }

    pub fn with_hint(self, text: Option<impl Into<String>>) -> Self {
        match self {
            Failure::Error { message, status, os_code, .. } => {
                Failure::Error { message, hint: text.map(Into::into), status, os_code }
            }
            closed => closed,
        }
    }

    fn with_os_code(self, code: Option<i32>) -> Self {
        match self {
            Failure::Error { message, hint, status, .. } => {
                Failure::Error { message, hint, status, os_code: code }
            }
            closed => closed,
        }
    }
}

fn status(kind: ErrorKind) -> ExitStatus {
    match kind {
        ErrorKind::BadInput | ErrorKind::Exists => ExitStatus::BadInput,
        ErrorKind::Io => ExitStatus::Io,
    }
}

impl From<modelexport::Error> for Failure {
    fn from(error: modelexport::Error) -> Self {
        Failure::new(&error, error.kind()).with_hint(error.hint()).with_os_code(error.os_code())
    }
}

/// Errors of the output stream. Errors of files carry the name of the file and take another path.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::OutputClosed;
        }
        Failure::new(format!("cannot write the output: {error}"), ErrorKind::Io)
    }
}

//! Why a command could not do its work.

use std::fmt::Display;
use std::io;

use modelexport_io::ErrorKind;

use crate::exit::ExitStatus;

#[derive(Debug)]
pub enum Failure {
    /// Reported as `error: …`, with a hint on a line of its own.
    Error { message: String, hint: Option<String>, status: ExitStatus },
    /// Whoever read the output has had enough (`modelexport tree … | head`). Not an error.
    OutputClosed,
}

impl Failure {
    /// An error of the library or of its readers.
    pub fn new(error: impl Display, kind: ErrorKind) -> Self {
        Failure::Error { message: error.to_string(), hint: None, status: status(kind) }
    }

    pub fn with_hint(self, text: Option<impl Into<String>>) -> Self {
        match self {
            Failure::Error { message, status, .. } => {
                Failure::Error { message, hint: text.map(Into::into), status }
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
        Failure::new(&error, error.kind()).with_hint(error.hint())
    }
}

/// Errors of the output stream; those of files are reported with the file's name and do not come here.
impl From<io::Error> for Failure {
    fn from(error: io::Error) -> Self {
        if error.kind() == io::ErrorKind::BrokenPipe {
            return Failure::OutputClosed;
        }
        Failure::new(format!("cannot write the output: {error}"), ErrorKind::Io)
    }
}

impl From<serde_json::Error> for Failure {
    fn from(error: serde_json::Error) -> Self {
        io::Error::from(error).into()
    }
}

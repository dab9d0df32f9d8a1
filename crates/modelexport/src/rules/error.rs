//! The errors of a rules file.

use std::path::PathBuf;

use modelexport_io::{ErrorKind, source};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Open(#[from] source::Error),
    #[error("{}: cannot read the rules file: {source}", file.display())]
    Read { file: PathBuf, source: std::io::Error },
    #[error("{}: the rules file has more than {limit} bytes", file.display())]
    TooLarge { file: PathBuf, limit: u64 },
    #[error("{}: not valid UTF-8 at byte {offset}", file.display())]
    NotUtf8 { file: PathBuf, offset: usize },
    /// Not TOML, or not the keys and types of a rules file.
    #[error("{}: line {line}, column {column}: {reason}", file.display())]
    Format { file: PathBuf, line: usize, column: usize, reason: String },
    /// A value that does not mean anything.
    #[error("{}: line {line}, column {column}: {key} {value:?}: {reason}", file.display())]
    Value { file: PathBuf, line: usize, column: usize, key: &'static str, value: String, reason: String },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Open(error) => error.kind(),
            Error::Read { .. } => ErrorKind::Io,
            _ => ErrorKind::BadInput,
        }
    }
}

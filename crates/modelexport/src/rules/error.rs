//! What can be wrong with a rules file.

use std::path::PathBuf;

use modelexport_io::{ErrorKind, source};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Open(#[from] source::Error),
    #[error("{}: cannot read the rules file: {source}", file.display())]
    Read { file: PathBuf, source: std::io::Error },
    #[error("{}: a rules file has at most {limit} bytes", file.display())]
    TooLarge { file: PathBuf, limit: u64 },
    #[error("{}: not UTF-8 from byte {offset} on", file.display())]
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

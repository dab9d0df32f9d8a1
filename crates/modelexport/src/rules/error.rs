//! The errors of a rules file.

use std::path::PathBuf;

use modelexport_io::{ErrorKind, source};

/// Why a rules file was rejected.
#[derive(Debug, thiserror::Error)]
#[allow(missing_docs, reason = "the messages name the fields")]
pub enum Error {
    /// The file cannot be opened.
    #[error(transparent)]
    Open(#[from] source::Error),
    /// The file cannot be read.
    #[error("{}: cannot read the rules file: {source}", file.display())]
    Read { file: PathBuf, source: std::io::Error },
    /// The file is larger than any rules file.
    #[error("{}: the rules file has more than {limit} bytes", file.display())]
    TooLarge { file: PathBuf, limit: u64 },
    /// The file is not text.
    #[error("{}: not valid UTF-8 at byte {offset}", file.display())]
    NotUtf8 { file: PathBuf, offset: usize },
    /// The file is not TOML, or has an unknown key.
    #[error("{}: line {line}, column {column}: {reason}", file.display())]
    Format { file: PathBuf, line: usize, column: usize, reason: String },
    /// The value of a key is invalid.
    #[error("{}: line {line}, column {column}: {key} {value:?}: {reason}", file.display())]
    Value { file: PathBuf, line: usize, column: usize, key: &'static str, value: String, reason: String },
}

impl Error {
    pub(crate) fn kind(&self) -> ErrorKind {
        match self {
            Error::Open(error) => error.kind(),
            Error::Read { .. } => ErrorKind::Io,
            _ => ErrorKind::BadInput,
        }
    }
}

//! Why a safetensors file was rejected.

use std::io;
use std::path::PathBuf;

use crate::{ErrorKind, source};

/// A refusal, with the file that it is about.
#[derive(Debug, thiserror::Error)]
#[error("{}: {reason}", path.display())]
pub struct Error {
    pub path: PathBuf,
    pub reason: Reason,
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.reason.kind()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Reason {
    #[error("{}", without_path(.0))]
    Source(source::Error),
    #[error("cannot read: {0}")]
    Read(io::Error),
    #[error("has {length} bytes, fewer than its header needs; the file is truncated")]
    Truncated { length: u64 },
    #[error("the header declares {length} bytes; the limit is {limit}")]
    HeaderTooLarge { length: u64, limit: u64 },
    #[error("the index has {length} bytes; the limit is {limit}")]
    IndexTooLarge { length: u64, limit: u64 },
    #[error("bad JSON: {0}")]
    Json(serde_json::Error),
    #[error("the name {name:?} occurs twice")]
    Duplicate { name: String },
    #[error("tensor {name:?}: the type {dtype:?} is not supported")]
    UnknownDType { name: String, dtype: String },
    #[error("tensor {name:?}: bytes {start} to {end} are not within the {available} bytes of data")]
    OutOfRange { name: String, start: u64, end: u64, available: u64 },
    #[error("tensor {name:?}: {length} bytes, but type and shape require {expected}")]
    WrongLength { name: String, length: u64, expected: u64 },
    #[error("tensor {name:?}: the shape {shape:?} is too large")]
    BadShape { name: String, shape: Vec<u64> },
    #[error("tensors {first:?} and {second:?} share bytes")]
    Overlap { first: String, second: String },
    #[error("{length} bytes at {start} do not belong to any tensor")]
    Gap { start: u64, length: u64 },
    #[error("the index names the file {file:?}; only files beside the index are read")]
    BadShardName { file: String },
    #[error(
        "is a folder without safetensors files; expected model.safetensors.index.json with its shards, or model.safetensors"
    )]
    NoFiles,
    #[error("the index has no `weight_map`")]
    NoWeightMap,
    #[error("tensor {name:?} is not in {file:?}, where the index says it is")]
    NotInShard { name: String, file: String },
}

impl Reason {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Reason::Source(error) => error.kind(),
            Reason::Read(_) => ErrorKind::Io,
            _ => ErrorKind::BadInput,
        }
    }
}

/// The path stands before the reason already.
fn without_path(error: &source::Error) -> String {
    match error {
        source::Error::Open { source, .. } => format!("cannot open: {source}"),
        source::Error::NotRegular { what, .. } => format!("is {what}; only a regular file can be read"),
    }
}

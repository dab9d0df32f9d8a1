//! Why external data was rejected.

use std::io;

use crate::ErrorKind;

/// A refusal, with the tensor and the place that it names.
#[derive(Debug, thiserror::Error)]
#[error("tensor {tensor:?}: external data {location:?}: {reason}")]
pub struct Error {
    pub tensor: String,
    /// Empty if the tensor names none.
    pub location: String,
    pub reason: Reason,
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        self.reason.kind()
    }
}

#[derive(Debug, thiserror::Error)]
pub enum Reason {
    #[error("the entry `location` is missing")]
    NoLocation,
    #[error("the entry `{key}` occurs twice")]
    Repeated { key: &'static str },
    #[error("the entry `{key}` is {value:?}, not a number of bytes")]
    BadNumber { key: &'static str, value: String },
    #[error("the path is absolute; it must be relative to the model's folder")]
    Absolute,
    #[error("the path leaves the model's folder through `..`")]
    Outside,
    #[error("the path is not a valid file path")]
    BadPath,
    #[error("the path goes through a symbolic link; put the file itself into the model's folder")]
    Link,
    #[error(
        "the file has {names} hard links, so it may be a file outside the model's folder; copy it into the folder"
    )]
    HardLink { names: u64 },
    #[error("there is no such file in the model's folder")]
    NotFound,
    #[error("it is {what}, not a regular file")]
    NotRegular { what: &'static str },
    #[error("cannot open: {0}")]
    Open(io::Error),
    #[error("bytes {offset} to {end} are beyond the end of the file, which has {file_length} bytes")]
    OutOfRange { offset: u64, end: u128, file_length: u64 },
    #[error("the entry `length` is {length}, but type and dimensions require {expected} bytes")]
    WrongLength { length: u64, expected: u64 },
    #[error("the dimensions {dims:?} are negative or too large")]
    BadDims { dims: Vec<i64> },
    #[error("tensors of type {data_type} have no fixed width and cannot be external")]
    NoWidth { data_type: i32 },
}

impl Reason {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Reason::NotFound | Reason::Open(_) => ErrorKind::Io,
            _ => ErrorKind::BadInput,
        }
    }
}

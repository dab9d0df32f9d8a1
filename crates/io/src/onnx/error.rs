//! What can be wrong with an `.onnx` file, and where.

use std::fmt;
use std::io;

use crate::{ErrorKind, source};

/// A place in a file: what an error points at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Location {
    pub file: String,
    /// Bytes from the start of the file.
    pub offset: u64,
    /// The message that the bytes belong to, such as `graph.node[12].attribute[0].g`; empty for the model itself.
    pub path: String,
}

impl fmt::Display for Location {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: at byte {}", self.file, self.offset)?;
        if self.path.is_empty() { Ok(()) } else { write!(f, ", in {}", self.path) }
    }
}

/// Why a model cannot be read, encoded or spliced.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Open(#[from] source::Error),
    #[error("there is no source number {id}")]
    UnknownSource { id: u32 },
    #[error("{at}: cannot read: {source}")]
    Read { at: Box<Location>, source: io::Error },
    #[error("{file}: was changed by another program while it was read")]
    Changed { file: String },
    #[error("{file}: is not an ONNX model: it looks like {looks_like}")]
    NotOnnx { file: String, looks_like: &'static str },
    #[error("{file}: is not a complete ONNX model: it has no {field}; the file may be truncated")]
    Missing { file: String, field: &'static str },
    #[error("{at}: the file is truncated: it ends here, but {missing} more byte(s) are expected")]
    Truncated { at: Box<Location>, missing: u64 },
    #[error("{at}: a field needs {needed} byte(s), but its message has only {room} left")]
    Overrun { at: Box<Location>, needed: u64, room: u64 },
    #[error("{at}: a number has more than 10 bytes or 64 bits")]
    BadVarint { at: Box<Location> },
    #[error("{at}: field {field} has wire type {wire_type}, which does not exist")]
    BadWireType { at: Box<Location>, field: u32, wire_type: u8 },
    #[error("{at}: {number} is not a field number")]
    BadFieldNumber { at: Box<Location>, number: u64 },
    #[error("{at}: field {field} ends a group that was not started")]
    UnmatchedGroup { at: Box<Location>, field: u32 },
    #[error("{at}: messages are nested deeper than {cap} levels")]
    NestedTooDeep { at: Box<Location>, cap: usize },
    #[error("{at}: a field without tensor data has {length} bytes; the limit is {cap}")]
    FieldTooLarge { at: Box<Location>, length: u64, cap: u64 },
    #[error("{at}: too many tiny messages: they would take more memory than {factor} times the file size")]
    TooDense { at: Box<Location>, factor: u64 },
    #[error("{at}: the node has no op_type")]
    MissingOperator { at: Box<Location> },
    #[error("{at}: tensor '{name}' has impossible dimensions {dims:?}")]
    BadDims { at: Box<Location>, name: String, dims: Vec<i64> },
    #[error(
        "{at}: tensor '{name}' of type {dtype} and dimensions {dims:?} needs {expected} bytes of raw_data, \
         but has {found}"
    )]
    RawDataSize { at: Box<Location>, name: String, dtype: String, dims: Vec<i64>, expected: u64, found: u64 },
    #[error("{file}: the function {function} calls itself: {cycle}")]
    RecursiveFunction { file: String, function: String, cycle: String },
    #[error(
        "the model would have {length} bytes, but protobuf allows {cap}; store the weights in a separate file \
         (external data)"
    )]
    TooLarge { length: u64, cap: u64 },
    #[error("the graph has messages nested deeper than {cap} levels; ONNX readers would reject it")]
    GraphTooDeep { cap: usize },
    #[error("tensor '{name}': the stored view of {sizes:?} elements has no size in bytes")]
    BadView { name: String, sizes: Vec<u64> },
    #[error(
        "tensor '{name}': its elements are scaled when weights are written, and cannot be encoded before"
    )]
    NotScaled { name: String },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Open(error) => error.kind(),
            Error::Read { .. } | Error::Changed { .. } => ErrorKind::Io,
            _ => ErrorKind::BadInput,
        }
    }

    /// The place that the error points at, where it has one.
    pub fn at(&self) -> Option<&Location> {
        match self {
            Error::Read { at, .. }
            | Error::Truncated { at, .. }
            | Error::Overrun { at, .. }
            | Error::BadVarint { at }
            | Error::BadWireType { at, .. }
            | Error::BadFieldNumber { at, .. }
            | Error::UnmatchedGroup { at, .. }
            | Error::NestedTooDeep { at, .. }
            | Error::FieldTooLarge { at, .. }
            | Error::TooDense { at, .. }
            | Error::MissingOperator { at }
            | Error::BadDims { at, .. }
            | Error::RawDataSize { at, .. } => Some(at),
            Error::Open(_)
            | Error::Changed { .. }
            | Error::UnknownSource { .. }
            | Error::NotOnnx { .. }
            | Error::Missing { .. }
            | Error::RecursiveFunction { .. }
            | Error::TooLarge { .. }
            | Error::GraphTooDeep { .. }
            | Error::BadView { .. }
            | Error::NotScaled { .. } => None,
        }
    }
}

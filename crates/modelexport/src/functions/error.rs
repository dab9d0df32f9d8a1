//! What can go wrong on the way to functions and back.

use modelexport_io::ErrorKind;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the nodes of module `{module}` cannot be compared: {error}")]
    Encode { module: String, error: Box<modelexport_io::onnx::Error> },
    #[error("function `{function}`: the entry `{key}` cannot be read: {reason}")]
    BadRecord { function: String, key: &'static str, reason: String },
    #[error(
        "inlining gives more than {limit} nodes; functions that call each other this often are no model's"
    )]
    TooManyNodes { limit: usize },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

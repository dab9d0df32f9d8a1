//! The errors of converting modules to functions and back.

use modelexport_io::ErrorKind;

/// A model that cannot be converted to functions or back.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// A node cannot be encoded, which is needed to compare it.
    #[error("the nodes of module `{module}` cannot be compared: {error}")]
    Encode {
        /// The path of the module.
        module: String,
        /// What the encoder says.
        error: Box<modelexport_io::onnx::Error>,
    },
    /// A function or a call carries an entry that cannot be read.
    #[error("function `{function}`: the entry `{key}` cannot be read: {reason}")]
    BadRecord {
        /// The function.
        function: String,
        /// The key of the entry.
        key: &'static str,
        /// What is wrong with it.
        reason: String,
    },
    /// Inlining would make too many nodes.
    #[error("inlining would create more than {limit} nodes")]
    TooManyNodes {
        /// The largest number of nodes allowed.
        limit: usize,
    },
}

impl Error {
    /// Classifies the error.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }
}

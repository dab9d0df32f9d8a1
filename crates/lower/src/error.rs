//! Why a program cannot be lowered, always with the place.

use crate::report::Unsupported;

pub type Result<T, E = Error> = std::result::Result<T, E>;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{0}")]
    Unsupported(Unsupported),

    #[error("opset {0} cannot be produced: choose one from 14 to 24")]
    Opset(i64),

    /// An argument is missing, of the wrong kind or has a value that cannot be expressed.
    #[error("{place}: argument `{argument}`: expected {expected}, found {found}")]
    Argument { place: Box<Place>, argument: String, expected: String, found: String },

    /// The node as a whole makes no sense or asks for something that ONNX cannot do.
    #[error("{place}: {reason}")]
    Node { place: Box<Place>, reason: String },

    /// The program contradicts itself outside any node.
    #[error("{0}")]
    Program(String),
}

/// Where in the program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// FX name.
    pub node: String,
    /// ATen overload.
    pub target: String,
    /// Path of the module; empty for the root.
    pub module: String,
}

impl std::fmt::Display for Place {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let module = if self.module.is_empty() { "(root)" } else { &self.module };
        write!(f, "node `{}` ({}) in module `{module}`", self.node, self.target)
    }
}

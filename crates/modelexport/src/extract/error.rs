//! What cannot be cut, and why.

use modelexport_io::ErrorKind;

/// A module that cannot be cut out, and why.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The module never ran.
    #[error("module `{module}` did not run, so that it has no nodes")]
    NotExecuted {
        /// The path of the module.
        module: String,
    },
    /// The module ran, but no node belongs to it.
    #[error(
        "module `{module}` ran but left no node: what it does was folded into constants, merged with equal nodes, or \
         does nothing when a model is not trained"
    )]
    NoNodes {
        /// The path of the module.
        module: String,
    },
    /// A node of the module also does the work of other modules.
    #[error(
        "module `{module}` cannot be cut out: its node `{node}` also does the work of `{others}`, with which it was fused"
    )]
    Fused {
        /// The path of the module.
        module: String,
        /// The name of the node.
        node: String,
        /// The other modules.
        others: String,
    },
    /// The work of the module is done by a node of another module.
    #[error(
        "module `{module}` has no node of its own: `{node}` does its work, fused with that of `{others}`"
    )]
    FusedAway {
        /// The path of the module.
        module: String,
        /// The name of the node.
        node: String,
        /// The modules that the node belongs to.
        others: String,
    },
    /// A node of the module also stands for equal nodes of other modules.
    #[error(
        "module `{module}` cannot be cut out where it begins and ends in PyTorch: its border lies inside the node \
         `{node}` ({operator}), which was merged from nodes of `{others}`"
    )]
    Merged {
        /// The path of the module.
        module: String,
        /// The name of the node.
        node: String,
        /// The operator of the node.
        operator: String,
        /// The other modules.
        others: String,
    },
    /// The module was called more than once, and no call was chosen.
    #[error("module `{module}` was called {} times (calls {}): which one must be said", calls.len(), list(calls))]
    SeveralCalls {
        /// The path of the module.
        module: String,
        /// The numbers of its calls.
        calls: Vec<u32>,
    },
    /// The module has no call of this number.
    #[error("module `{module}` has no call {call}; it has {}", list(calls))]
    NoSuchCall {
        /// The path of the module.
        module: String,
        /// The number that was asked for.
        call: u32,
        /// The numbers of its calls.
        calls: Vec<u32>,
    },
    /// The nodes lie in several graphs.
    #[error(
        "module `{modules}` cannot be cut out: its nodes lie in {} graphs that no node of it holds together: {}",
        places.len(), places.join(", ")
    )]
    Scattered {
        /// The paths of the modules.
        modules: String,
        /// The graphs.
        places: Vec<String>,
    },
    /// The nodes lie in a function.
    #[error("module `{modules}` cannot be cut out: its nodes lie inside the function `{function}`")]
    InFunction {
        /// The paths of the modules.
        modules: String,
        /// The name of the function.
        function: String,
    },
    /// Nothing reads what the nodes of the modules produce.
    #[error("module `{modules}` cannot be cut out: nothing reads what its nodes make")]
    NoOutputs {
        /// The paths of the modules.
        modules: String,
    },
    /// The type of an input or output is not known.
    #[error(
        "value `{value}` crosses the border, and its type is not known: neither the file says it nor does it follow \
         from the operator `{operator}` that makes it"
    )]
    UnknownType {
        /// The name of the value.
        value: String,
        /// The operator that produces it.
        operator: String,
    },
}

fn list(calls: &[u32]) -> String {
    let numbers: Vec<String> = calls.iter().map(u32::to_string).collect();
    numbers.join(", ")
}

impl Error {
    /// Classifies the error.
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }

    /// Suggests what to do about the error.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::SeveralCalls { .. } => Some("use --call N, or choose a module above that holds all calls"),
            Error::Scattered { .. } | Error::NoNodes { .. } => Some("choose a module above it"),
            Error::Merged { .. } => Some("choose a module that holds all of them"),
            Error::Fused { .. } | Error::FusedAway { .. } => Some(
                "choose a module that holds all of them, or export with --keep-batch-norm if one is a batch norm",
            ),
            Error::InFunction { .. } => {
                Some("inline the function first: modelexport functions FILE --inline -o OUT")
            }
            Error::UnknownType { .. } => {
                Some("let onnx.shape_inference.infer_shapes_path write the types into the file first")
            }
            _ => None,
        }
    }
}

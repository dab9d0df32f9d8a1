//! Why a module cannot be extracted.

use modelexport_io::ErrorKind;

/// A module that cannot be cut out, and why.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The module never ran.
    #[error("module `{module}` did not run, so it has no nodes")]
    NotExecuted {
        /// The path of the module.
        module: String,
    },
    /// The module ran, but no node belongs to it.
    #[error(
        "module `{module}` ran but has no nodes: its computation was folded into constants, merged with equal \
         nodes, or has no effect in evaluation mode"
    )]
    NoNodes {
        /// The path of the module.
        module: String,
    },
    /// A node of the module also does the work of other modules.
    #[error("module `{module}` cannot be extracted: its node `{node}` was fused with nodes of `{others}`")]
    Fused {
        /// The path of the module.
        module: String,
        /// The name of the node.
        node: String,
        /// The other modules.
        others: String,
    },
    /// The work of the module is done by a node of another module.
    #[error("module `{module}` has no node of its own: it was fused into the node `{node}` of `{others}`")]
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
        "module `{module}` cannot be extracted with its boundary in PyTorch: the boundary is inside the node \
         `{node}` ({operator}), which was merged with nodes of `{others}`"
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
    #[error("module `{module}` was called {} times (calls {}): choose one call", calls.len(), list(calls))]
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
        "module `{modules}` cannot be extracted: its nodes are in {} separate graphs: {}",
        places.len(), places.join(", ")
    )]
    Scattered {
        /// The paths of the modules.
        modules: String,
        /// The graphs.
        places: Vec<String>,
    },
    /// The nodes lie in a function.
    #[error("module `{modules}` cannot be extracted: its nodes are inside the function `{function}`")]
    InFunction {
        /// The paths of the modules.
        modules: String,
        /// The name of the function.
        function: String,
    },
    /// Nothing reads what the nodes of the modules produce.
    #[error("module `{modules}` cannot be extracted: nothing reads the results of its nodes")]
    NoOutputs {
        /// The paths of the modules.
        modules: String,
    },
    /// The type of an input or output is not known.
    #[error(
        "the type of the boundary value `{value}` is unknown: the file does not declare it, and it cannot be inferred \
         from the operator `{operator}`"
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
            Error::SeveralCalls { .. } => {
                Some("use --call N, or select a module above that contains all calls")
            }
            Error::Scattered { .. } | Error::NoNodes { .. } => Some("select a module above it"),
            Error::Merged { .. } => Some("select a module that contains all of them"),
            Error::Fused { .. } | Error::FusedAway { .. } => Some(
                "select a module that contains all of them, or export with --keep-batch-norm if one is a batch norm",
            ),
            Error::InFunction { .. } => {
                Some("inline the function first: modelexport functions FILE --inline -o OUT")
            }
            Error::UnknownType { .. } => Some("run onnx.shape_inference.infer_shapes_path on the file first"),
            _ => None,
        }
    }
}

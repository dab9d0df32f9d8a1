//! What cannot be cut, and why.

use modelexport_io::ErrorKind;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("module `{module}` did not run, so that it has no nodes")]
    NotExecuted { module: String },
    #[error(
        "module `{module}` ran but left no node: what it does was folded into constants, merged with equal nodes, or \
         does nothing when a model is not trained"
    )]
    NoNodes { module: String },
    #[error(
        "module `{module}` cannot be cut out: its node `{node}` also does the work of `{others}`, with which it was fused"
    )]
    Fused { module: String, node: String, others: String },
    #[error(
        "module `{module}` has no node of its own: `{node}` does its work, fused with that of `{others}`"
    )]
    FusedAway { module: String, node: String, others: String },
    #[error(
        "module `{module}` cannot be cut out where it begins and ends in PyTorch: its border lies inside the node \
         `{node}` ({operator}), which was merged from nodes of `{others}`"
    )]
    Merged { module: String, node: String, operator: String, others: String },
    #[error("module `{module}` was called {} times (calls {}): which one must be said", calls.len(), list(calls))]
    SeveralCalls { module: String, calls: Vec<u32> },
    #[error("module `{module}` has no call {call}; it has {}", list(calls))]
    NoSuchCall { module: String, call: u32, calls: Vec<u32> },
    #[error(
        "module `{modules}` cannot be cut out: its nodes lie in {} graphs that no node of it holds together: {}",
        places.len(), places.join(", ")
    )]
    Scattered { modules: String, places: Vec<String> },
    #[error("module `{modules}` cannot be cut out: its nodes lie inside the function `{function}`")]
    InFunction { modules: String, function: String },
    #[error("module `{modules}` cannot be cut out: nothing reads what its nodes make")]
    NoOutputs { modules: String },
    #[error(
        "value `{value}` crosses the border, and its type is not known: neither the file says it nor does it follow \
         from the operator `{operator}` that makes it"
    )]
    UnknownType { value: String, operator: String },
}

fn list(calls: &[u32]) -> String {
    let numbers: Vec<String> = calls.iter().map(u32::to_string).collect();
    numbers.join(", ")
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        ErrorKind::BadInput
    }

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

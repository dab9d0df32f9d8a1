//! Everything that can fail in the library.

use std::path::PathBuf;

use modelexport_io::{ErrorKind, external_data, onnx, output, pt2, safetensors, sidecar, source, weights};

use crate::strategies::Strategy;
use crate::strategies::evidence::EvidenceFormat;
use crate::weights_from::Mismatches;
use crate::{extract, functions, interface, rules, selector};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(transparent)]
    Pt2(#[from] pt2::Error),
    #[error(transparent)]
    Onnx(#[from] onnx::Error),
    #[error(transparent)]
    Sidecar(#[from] sidecar::Error),
    #[error(transparent)]
    Rules(#[from] rules::Error),
    #[error(transparent)]
    Interface(#[from] interface::Error),
    #[error(transparent)]
    Open(#[from] source::Error),
    #[error(transparent)]
    Selector(#[from] selector::Error),
    /// A program that cannot be exported.
    #[error("{}: {error}", path.display())]
    Export { path: PathBuf, error: modelexport_lower::Error },
    #[error(transparent)]
    Output(#[from] output::Error),
    #[error(transparent)]
    Weights(#[from] weights::Error),
    #[error(transparent)]
    Extract(#[from] extract::Error),
    #[error(transparent)]
    Functions(#[from] functions::Error),
    #[error("{}: {error}", path.display())]
    ExternalData { path: PathBuf, error: Box<external_data::Error> },
    #[error("{}: cannot write: {source}", path.display())]
    Write { path: PathBuf, source: std::io::Error },
    #[error(
        "{}: the program was captured without them",
        if *count == 1 { format!("`{first}` has no data") } else { format!("{count} weights have no data, first `{first}`") }
    )]
    NoData { count: usize, first: String },
    #[error(transparent)]
    Safetensors(#[from] safetensors::Error),
    #[error(
        "{}: does not fit; {} differ:\n{mismatches}", path.display(),
        if *count == 1 { "1 weight".to_owned() } else { format!("{count} weights") }
    )]
    WeightsDiffer { path: PathBuf, count: usize, mismatches: Mismatches },
    #[error("{}: cannot read: {source}", path.display())]
    Read { path: PathBuf, source: std::io::Error },
    #[error(
        "{}: no node says which module it comes from: there are no entries of modelexport, torch or winml, \
         and no sidecar {}", path.display(), sidecar.display()
    )]
    NoHierarchy { path: PathBuf, sidecar: PathBuf },
    /// An ONNX file where a captured program is wanted.
    #[error(
        "{path}: is an ONNX file already; `modelexport tag {path} -o {}` adds tags to it", output.display(),
        path = path.display()
    )]
    OnnxSource { path: PathBuf, output: PathBuf },
    /// A size for a dimension that the file does not have.
    #[error("{}: no dimension {name:?}{}", path.display(), dimensions(near, known))]
    Dimension { path: PathBuf, name: String, near: Vec<String>, known: Vec<String> },
    /// An output that would take the place of what it is made from.
    #[error(
        "{}: is {}, and {command} never replaces the model that it reads, whatever --overwrite says",
        output.display(),
        if output == model { "the source itself".to_owned() } else { format!("the same file as the source {}", model.display()) }
    )]
    OwnSource { output: PathBuf, model: PathBuf, command: &'static str },
    #[error(
        "the strategy {} needs {}, which evidence of the kind {} does not have",
        strategy.name(), strategy.needs(), evidence.name()
    )]
    Strategy { strategy: Strategy, evidence: EvidenceFormat },
}

/// What comes near, else what there is.
fn dimensions(near: &[String], known: &[String]) -> String {
    const SHOWN: usize = 8;
    let more = known.len().saturating_sub(SHOWN);
    let more = if more == 0 { String::new() } else { format!(" and {more} more") };
    match (near, known) {
        ([], []) => ": all dimensions of the file have fixed sizes".to_owned(),
        ([], known) => format!("; there are {}{more}", known.get(..SHOWN).unwrap_or(known).join(", ")),
        (near, _) => format!("; near matches: {}", near.join(", ")),
    }
}

impl From<onnx::CopyError> for Error {
    fn from(error: onnx::CopyError) -> Self {
        match error {
            onnx::CopyError::Onnx(error) => Error::Onnx(error),
            onnx::CopyError::Stream(error) => Error::Weights(weights::Error::Stream(error)),
        }
    }
}

/// `ENOENT` and `EEXIST`, which all systems number alike.
const NOT_FOUND: i32 = 2;
const EXISTS: i32 = 17;

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Pt2(error) => error.kind(),
            Error::Onnx(error) => error.kind(),
            Error::Sidecar(error) => error.kind(),
            Error::Rules(error) => error.kind(),
            Error::Interface(_) => ErrorKind::BadInput,
            Error::Open(error) => error.kind(),
            Error::Selector(error) => error.kind(),
            Error::Export { .. } => ErrorKind::BadInput,
            Error::Output(error) => error.kind(),
            Error::Weights(error) => error.kind(),
            Error::Extract(error) => error.kind(),
            Error::Functions(error) => error.kind(),
            Error::ExternalData { error, .. } => error.kind(),
            Error::Write { .. } => ErrorKind::Io,
            Error::NoData { .. } => ErrorKind::BadInput,
            Error::Safetensors(error) => error.kind(),
            Error::WeightsDiffer { .. } => ErrorKind::BadInput,
            Error::Read { .. } => ErrorKind::Io,
            Error::NoHierarchy { .. }
            | Error::Strategy { .. }
            | Error::OnnxSource { .. }
            | Error::Dimension { .. }
            | Error::OwnSource { .. } => ErrorKind::BadInput,
        }
    }

    /// The number by which the operating system calls the failure, where it is one of its own.
    pub fn os_code(&self) -> Option<i32> {
        match self {
            Error::Output(error) | Error::Weights(weights::Error::Output(error)) => match error {
                output::Error::Exists { .. } => return Some(EXISTS),
                output::Error::FolderMissing { .. } => return Some(NOT_FOUND),
                _ => {}
            },
            _ => {}
        }
        let mut cause: Option<&(dyn std::error::Error + 'static)> = Some(self);
        while let Some(error) = cause {
            if let Some(error) = error.downcast_ref::<std::io::Error>() {
                return error.raw_os_error();
            }
            cause = error.source();
        }
        None
    }

    /// What the user can do about it, where the message itself does not say.
    pub fn hint(&self) -> Option<&'static str> {
        match self {
            Error::NoHierarchy { .. } => Some(
                "export the model with `modelexport export model.pt2`, or with torch.onnx.export(..., dynamo=True), \
                 which keeps module scopes",
            ),
            Error::Extract(error) => error.hint(),
            Error::OwnSource { .. } => Some("give another output with -o"),
            Error::NoData { .. } => Some(
                "use --weights-from to take them from safetensors files, or --weights none to export the graph alone",
            ),
            Error::WeightsDiffer { mismatches, .. } if mismatches.lack_contents() => Some(
                "in Python, modelexport.meta_model and modelexport.parameters_on_meta make models whose parameters alone \
                 are on the meta device",
            ),
            Error::Output(error) if error.kind() == ErrorKind::Exists => {
                Some("use --overwrite to replace it")
            }
            _ => None,
        }
    }
}

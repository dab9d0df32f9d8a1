//! The errors of the library.

use std::path::{Path, PathBuf};

use modelexport_io::{ErrorKind, external_data, onnx, output, pt2, safetensors, sidecar, source, weights};

use crate::strategies::Strategy;
use crate::strategies::evidence::EvidenceFormat;
use crate::weights_from::Mismatches;
use crate::{extract, functions, interface, rules, selector};

/// An operation that failed, with what a user needs to know about it.
///
/// ```
/// use modelexport::{Error, Export};
///
/// match Export::new("missing.pt2", "missing.onnx").run(&mut ()) {
///     Err(Error::Export { error, .. }) => println!("the program is not supported: {error}"),
///     Err(error) => println!("{error}"),
///     Ok(_) => unreachable!(),
/// }
/// ```
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// An error whose own message does not name the file that it is about.
    #[error("{}: {error}", path.display())]
    About {
        /// The file.
        path: PathBuf,
        /// What is wrong.
        error: Box<Error>,
    },
    /// An archive cannot be read.
    #[error(transparent)]
    Pt2(#[from] pt2::Error),
    /// An ONNX file cannot be read.
    #[error(transparent)]
    Onnx(#[from] onnx::Error),
    /// A sidecar cannot be read.
    #[error(transparent)]
    Sidecar(#[from] sidecar::Error),
    /// A rules file is not valid.
    #[error(transparent)]
    Rules(#[from] rules::Error),
    /// Names for inputs, outputs or dimensions do not fit the program.
    #[error(transparent)]
    Interface(#[from] interface::Error),
    /// A file cannot be opened.
    #[error(transparent)]
    Open(#[from] source::Error),
    /// A selector is not valid or chooses nothing.
    #[error(transparent)]
    Selector(#[from] selector::Error),
    /// A program that cannot be exported.
    #[error("{}: {error}", path.display())]
    Export {
        /// The program.
        path: PathBuf,
        /// What the lowering says.
        error: modelexport_lower::Error,
    },
    /// A file cannot be written or exists already.
    #[error(transparent)]
    Output(#[from] output::Error),
    /// Weights cannot be written.
    #[error(transparent)]
    Weights(#[from] weights::Error),
    /// A module cannot be cut out.
    #[error(transparent)]
    Extract(#[from] extract::Error),
    /// A model cannot be converted to functions or back.
    #[error(transparent)]
    Functions(#[from] functions::Error),
    /// A data file of a model is missing or too short.
    #[error("{}: {error}", path.display())]
    ExternalData {
        /// The model.
        path: PathBuf,
        /// What is wrong with the data file.
        error: Box<external_data::Error>,
    },
    /// A file cannot be written.
    #[error("{}: cannot write: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// Weights of a program have no bytes.
    #[error(
        "{}: the program was captured without weights",
        if *count == 1 { format!("`{first}` has no data") } else { format!("{count} weights have no data, first `{first}`") }
    )]
    NoData {
        /// Number of such weights.
        count: usize,
        /// The name of the first.
        first: String,
    },
    /// A safetensors file cannot be read.
    #[error(transparent)]
    Safetensors(#[from] safetensors::Error),
    /// The weights of a checkpoint are not those of the model.
    #[error(
        "{}: does not match the model; {} differ:\n{mismatches}", path.display(),
        if *count == 1 { "1 weight".to_owned() } else { format!("{count} weights") }
    )]
    WeightsDiffer {
        /// The checkpoint.
        path: PathBuf,
        /// Number of weights that differ.
        count: usize,
        /// The weights that differ.
        mismatches: Mismatches,
    },
    /// A file cannot be read.
    #[error("{}: cannot read: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the operating system says.
        source: std::io::Error,
    },
    /// A file does not tell the modules of its nodes.
    #[error(
        "{}: no node records its module: the file has no metadata of modelexport, torch or winml, \
         and there is no sidecar {}", path.display(), sidecar.display()
    )]
    NoHierarchy {
        /// The file.
        path: PathBuf,
        /// Where its sidecar would be.
        sidecar: PathBuf,
    },
    /// An ONNX file where a captured program is wanted.
    #[error(
        "{path}: is already an ONNX file; `modelexport tag {path} -o {}` adds tags to it", output.display(),
        path = path.display()
    )]
    OnnxSource {
        /// The model.
        path: PathBuf,
        /// The file that would be written.
        output: PathBuf,
    },
    /// A size for a dimension that the file does not have.
    #[error("{}: no dimension {name:?}{}", path.display(), dimensions(near, known))]
    Dimension {
        /// The model.
        path: PathBuf,
        /// The name that was asked for.
        name: String,
        /// Names that are spelled alike.
        near: Vec<String>,
        /// All names that exist.
        known: Vec<String>,
    },
    /// An output that would take the place of what it is made from.
    #[error(
        "{}: is {}{role}, which is never replaced, even with --overwrite", output.display(),
        if output == input { String::new() } else { format!("the same file as {}, ", input.display()) }
    )]
    OwnInput {
        /// The file that would be written.
        output: PathBuf,
        /// The file that is read, or that a file that is read names.
        input: PathBuf,
        /// What that file is.
        role: String,
    },
    /// Two outputs that are one file.
    #[error("{}: is the same file as {}, which is written, too", output.display(), other.display())]
    SameOutput {
        /// The file that would be written.
        output: PathBuf,
        /// The other file that would be written.
        other: PathBuf,
    },
    /// A strategy cannot work with the evidence.
    #[error(
        "the strategy {} needs {}, which evidence of the kind {} does not contain",
        strategy.name(), strategy.needs(), evidence.name()
    )]
    Strategy {
        /// The strategy.
        strategy: Strategy,
        /// The kind of evidence that was given.
        evidence: EvidenceFormat,
    },
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
    /// The same error with the file that it is about, if its message does not name one.
    pub(crate) fn about(self, path: &Path) -> Error {
        let is_nameless = match &self {
            Error::Interface(_)
            | Error::Selector(_)
            | Error::Extract(_)
            | Error::Functions(_)
            | Error::NoData { .. }
            | Error::Strategy { .. } => true,
            Error::Weights(error) => !error.names_file(),
            _ => false,
        };
        if is_nameless { Error::About { path: path.to_owned(), error: Box::new(self) } } else { self }
    }

    /// Classifies the error, which decides the exit status and the Python exception.
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::About { error, .. } => error.kind(),
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
            | Error::OwnInput { .. }
            | Error::SameOutput { .. } => ErrorKind::BadInput,
        }
    }

    /// The number by which the operating system calls the failure, where it is one of its own.
    pub fn os_code(&self) -> Option<i32> {
        match self {
            Error::About { error, .. } => return error.os_code(),
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
            Error::About { error, .. } => error.hint(),
            Error::NoHierarchy { .. } => Some(
                "export the model with `modelexport export model.pt2`, or with torch.onnx.export(..., dynamo=True), \
                 which keeps module scopes",
            ),
            Error::Extract(error) => error.hint(),
            Error::OwnInput { .. } | Error::SameOutput { .. } => Some("choose another name for the output"),
            Error::NoData { .. } => Some(
                "use --weights-from to read them from safetensors files, or --weights none to export the graph alone",
            ),
            Error::WeightsDiffer { mismatches, .. } if mismatches.lack_contents() => Some(
                "in Python, modelexport.meta_model and modelexport.parameters_on_meta create models with only \
                 the parameters on the meta device",
            ),
            Error::Output(error) if error.kind() == ErrorKind::Exists => {
                Some("use --overwrite to replace it")
            }
            _ => None,
        }
    }
}

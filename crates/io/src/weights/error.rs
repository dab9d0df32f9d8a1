//! Why a model was not written.

use std::path::PathBuf;

use crate::{ErrorKind, external_data, onnx, output, stream};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error(
        "with embedded weights the model would have {bytes} bytes; an ONNX file can hold {limit}. Store the weights \
         in a separate file (external), or reference them in place (reference)"
    )]
    TooLarge { bytes: u64, limit: u64 },
    #[error("the model without its weights would have {bytes} bytes; an ONNX file can hold {limit}")]
    GraphTooLarge { bytes: u64, limit: u64 },
    #[error("{}: the name is not valid UTF-8, so the model cannot refer to it", path.display())]
    NotUtf8 { path: PathBuf },
    #[error("tensor {tensor:?}: its dimensions {dims:?} do not match the stored sizes {sizes:?}")]
    WrongShape { tensor: String, dims: Vec<i64>, sizes: Vec<u64> },
    #[error("tensor {tensor:?}: {source}")]
    Tensor { tensor: String, source: stream::Error },
    #[error(
        "tensor {tensor:?} has its data in {location:?}, which the new data file would replace; \
         resolve external data before the model is written"
    )]
    Unresolved { tensor: String, location: String },
    #[error(
        "tensor {tensor:?}: its bytes are in {place}, not in a file, so the model cannot refer to them; \
         write them with the model (embed or external)"
    )]
    NotAFile { tensor: String, place: String },
    #[error(
        "{}: is not in the folder of the model, {}, nor below it, so the model cannot refer to it. Write the model \
         beside it, move it there, or store the weights in a separate file (external)", path.display(), folder.display()
    )]
    OutsideFolder { path: PathBuf, folder: PathBuf },
    #[error("{}: the model cannot refer to it: {reason}", path.display())]
    Refused { path: PathBuf, reason: external_data::Reason },
    #[error("{}: was replaced by another file while it was read", path.display())]
    Replaced { path: PathBuf },
    #[error("{}: the model would refer to it and replace it; choose another name for the model", path.display())]
    OwnTarget { path: PathBuf },
    #[error(transparent)]
    Encode(#[from] onnx::Error),
    #[error(transparent)]
    Output(#[from] output::Error),
    #[error(transparent)]
    Stream(stream::Error),
}

impl Error {
    /// Whether the message says which file it is about.
    pub fn names_file(&self) -> bool {
        match self {
            Error::TooLarge { .. }
            | Error::GraphTooLarge { .. }
            | Error::WrongShape { .. }
            | Error::Tensor { .. }
            | Error::Unresolved { .. }
            | Error::NotAFile { .. }
            | Error::Stream(_) => false,
            Error::NotUtf8 { .. }
            | Error::OutsideFolder { .. }
            | Error::Refused { .. }
            | Error::Replaced { .. }
            | Error::OwnTarget { .. }
            | Error::Encode(_)
            | Error::Output(_) => true,
        }
    }

    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Tensor { source, .. } | Error::Stream(source) => source.kind(),
            Error::Output(error) => error.kind(),
            Error::Encode(error) => error.kind(),
            Error::Refused { reason, .. } => reason.kind(),
            Error::TooLarge { .. }
            | Error::GraphTooLarge { .. }
            | Error::NotUtf8 { .. }
            | Error::WrongShape { .. }
            | Error::Unresolved { .. }
            | Error::NotAFile { .. }
            | Error::OutsideFolder { .. }
            | Error::Replaced { .. }
            | Error::OwnTarget { .. } => ErrorKind::BadInput,
        }
    }
}

//! Why weights could not be streamed.

use std::io;

use modelexport_graph::StridedView;

use crate::{ErrorKind, output};

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("the weight is in source {id}, which is not in the table of sources")]
    NoSource { id: u32 },
    #[error(
        "the weight needs bytes {start} to {end} of {place}, which has {length}: sizes or strides are wrong, or the file \
         is truncated"
    )]
    OutOfRange { place: String, start: u128, end: u128, length: u64 },
    #[error("{place}: ends before byte {end}; it was truncated while it was read")]
    Shrunk { place: String, end: u64 },
    #[error("{place}: was changed while it was read")]
    Changed { place: String },
    #[error("{place}: cannot read {length} bytes at {offset}: {source}")]
    Read { place: String, offset: u64, length: u64, source: io::Error },
    #[error("a weight with elements of {bits} bits can only be copied as a whole, not gathered by strides")]
    Packed { bits: u64 },
    #[error("the weight has {sizes} sizes but {strides} strides")]
    Ranks { sizes: usize, strides: usize },
    #[error("the weight has more elements than a file can hold")]
    TooLarge,
    #[error("a thread that writes weights failed")]
    Thread,
    #[error(transparent)]
    Output(#[from] output::Error),
}

/// An error, and the weight that it is about where that is known.
#[derive(Debug)]
pub struct Failure {
    pub view: Option<StridedView>,
    pub error: Error,
}

impl Error {
    pub(crate) fn about(self, view: Option<&StridedView>) -> Box<Failure> {
        Box::new(Failure { view: view.cloned(), error: self })
    }

    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Output(error) => error.kind(),
            Error::Shrunk { .. } | Error::Changed { .. } | Error::Read { .. } | Error::Thread => {
                ErrorKind::Io
            }
            Error::NoSource { .. }
            | Error::OutOfRange { .. }
            | Error::Packed { .. }
            | Error::Ranks { .. }
            | Error::TooLarge => ErrorKind::BadInput,
        }
    }
}

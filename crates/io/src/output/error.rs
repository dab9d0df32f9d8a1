//! Why output failed.

use std::io;
use std::path::{Path, PathBuf};

use crate::ErrorKind;

#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: exists already; ask to overwrite it, or choose another name", path.display())]
    Exists { path: PathBuf },
    #[error("{}: is {what}; output goes to a new or a regular file only", path.display())]
    NotRegular { path: PathBuf, what: &'static str },
    #[error("{}: does not name a file", path.display())]
    NoFileName { path: PathBuf },
    #[error("{}: the folder {} does not exist; make it first", path.display(), folder.display())]
    FolderMissing { path: PathBuf, folder: PathBuf },
    #[error("{}: is written twice by one command", path.display())]
    Twice { path: PathBuf },
    #[error("{}: no permission to write: {source}", path.display())]
    NoPermission { path: PathBuf, source: io::Error },
    #[error("{}: no space left: {source}", path.display())]
    DiskFull { path: PathBuf, source: io::Error },
    #[error("{}: cannot write: {source}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("{}: stopped before it was complete", path.display())]
    Stopped { path: PathBuf },
    #[error("{}: another process keeps its folder locked; try again later", path.display())]
    Busy { path: PathBuf },
    #[error("{source}; and not everything could be put back: {}", listed(states))]
    HalfDone {
        source: Box<Error>,
        /// What is otherwise than before, and how.
        states: Vec<(PathBuf, String)>,
    },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Exists { .. } => ErrorKind::Exists,
            Error::NotRegular { .. } | Error::NoFileName { .. } | Error::Twice { .. } => ErrorKind::BadInput,
            Error::FolderMissing { .. }
            | Error::NoPermission { .. }
            | Error::DiskFull { .. }
            | Error::Write { .. }
            | Error::Stopped { .. }
            | Error::Busy { .. }
            | Error::HalfDone { .. } => ErrorKind::Io,
        }
    }

    /// Sorts a failure of the operating system by what the user can do about it.
    pub(crate) fn of_write(path: &Path, source: impl Into<io::Error>) -> Error {
        let (path, source) = (path.to_path_buf(), source.into());
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded | io::ErrorKind::FileTooLarge => {
                Error::DiskFull { path, source }
            }
            io::ErrorKind::PermissionDenied | io::ErrorKind::ReadOnlyFilesystem => {
                Error::NoPermission { path, source }
            }
            _ => Error::Write { path, source },
        }
    }
}

fn listed(states: &[(PathBuf, String)]) -> String {
    let states: Vec<_> = states.iter().map(|(path, state)| format!("{} {state}", path.display())).collect();
    states.join("; ")
}

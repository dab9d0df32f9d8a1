//! The folder of a target, held open.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};

use super::Error;
use crate::platform;

/// An open folder and the path that it was opened by.
#[derive(Debug)]
pub(super) struct Folder {
    handle: platform::Folder,
    path: PathBuf,
}

impl Deref for Folder {
    type Target = platform::Folder;

    fn deref(&self) -> &platform::Folder {
        &self.handle
    }
}

impl Folder {
    /// Opens the folder that `target` lies in.
    pub(super) fn of(target: &Path) -> Result<Folder, Error> {
        let parent =
            target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        match platform::Folder::open(parent) {
            Ok(handle) => Ok(Folder { handle, path: parent.into() }),
            Err(error) => Err(match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => {
                    Error::FolderMissing { path: target.into(), folder: parent.into() }
                }
                _ => Error::of_write(target, error),
            }),
        }
    }

    pub(super) fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    /// Names of the regular files that start with a dot and end in `suffix`, in byte order.
    pub(super) fn hidden_files(&self, suffix: &str) -> io::Result<Vec<OsString>> {
        let mut names = self.file_names()?;
        names.retain(|name| {
            let name = name.as_encoded_bytes();
            name.starts_with(b".") && name.ends_with(suffix.as_bytes())
        });
        names.sort();
        Ok(names)
    }

    /// Whether the open `file` is still the one at `name`.
    pub(super) fn holds(&self, name: &OsStr, file: &File) -> io::Result<bool> {
        let opened = platform::status(file)?;
        Ok(self.status(name)?.is_some_and(|named| named.id == opened.id))
    }
}

/// The file name of a target, or an error for paths such as `..` and `/`.
pub(super) fn file_name(target: &Path) -> Result<&OsStr, Error> {
    let last = target.as_os_str().as_encoded_bytes().last();
    let ends_in_separator = last.is_some_and(|&byte| std::path::is_separator(byte.into()));
    target.file_name().filter(|_| !ends_in_separator).ok_or_else(|| Error::NoFileName { path: target.into() })
}

//! The folder of a target, held open.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::ops::Deref;
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use super::Error;
use super::interrupt::Stop;
use crate::platform::{self, Lock};

/// How long to wait for other commits in the folder, which take milliseconds each.
const LOCK_TIMEOUT: Duration = Duration::from_secs(if cfg!(test) { 3 } else { 30 });

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

    /// Waits until nobody else commits in this folder, and keeps others waiting. `None` where folders have no locks. The
    /// lock is on the folder itself, so that no file can be left over or pretend to be one.
    pub(super) fn lock(&self, target: &Path, stop: &Stop) -> Result<Option<FolderLock<'_>>, Error> {
        let started = Instant::now();
        loop {
            match self.try_lock().map_err(|error| Error::of_write(target, error))? {
                Lock::Acquired => return Ok(Some(FolderLock(self))),
                Lock::Unsupported => return Ok(None),
                Lock::Taken if started.elapsed() > LOCK_TIMEOUT => {
                    return Err(Error::Busy { path: target.into() });
                }
                Lock::Taken => std::thread::sleep(Duration::from_millis(2)),
            }
            stop.check(target)?;
        }
    }

    /// Whether the open `file` is still the one at `name`.
    pub(super) fn holds(&self, name: &OsStr, file: &File) -> io::Result<bool> {
        let opened = platform::status(file)?;
        Ok(self.status(name)?.is_some_and(|named| named.id == opened.id))
    }
}

/// Dropped, it lets others commit.
pub(super) struct FolderLock<'f>(&'f Folder);

impl Drop for FolderLock<'_> {
    fn drop(&mut self) {
        self.0.unlock();
    }
}

/// The file name of a target, or an error for paths such as `..` and `/`.
pub(super) fn file_name(target: &Path) -> Result<&OsStr, Error> {
    let last = target.as_os_str().as_encoded_bytes().last();
    let ends_in_separator = last.is_some_and(|&byte| std::path::is_separator(byte.into()));
    target.file_name().filter(|_| !ends_in_separator).ok_or_else(|| Error::NoFileName { path: target.into() })
}

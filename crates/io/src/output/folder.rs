//! A folder held open: names inside it are changed relative to the handle, so that a folder which is renamed or
//! replaced meanwhile cannot divert them.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::fd::OwnedFd;
use std::os::unix::ffi::OsStrExt;
use std::path::{Path, PathBuf};

use rustix::fs::{AtFlags, Dir, FileType, Mode, OFlags, RenameFlags, Stat};
use rustix::io::{Errno, Result};

use super::Error;

/// An open folder and the path that it was opened by.
#[derive(Debug)]
pub(super) struct Folder {
    handle: OwnedFd,
    path: PathBuf,
}

impl Folder {
    /// Opens the folder that `target` lies in.
    pub fn of(target: &Path) -> std::result::Result<Folder, Error> {
        let parent =
            target.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        match rustix::fs::open(parent, flags, Mode::empty()) {
            Ok(handle) => Ok(Folder { handle, path: parent.into() }),
            Err(Errno::NOENT | Errno::NOTDIR) => {
                Err(Error::FolderMissing { path: target.into(), folder: parent.into() })
            }
            Err(errno) => Err(Error::of_write(target, errno)),
        }
    }

    pub fn path_of(&self, name: &OsStr) -> PathBuf {
        self.path.join(name)
    }

    /// What stands at `name`; links are not followed.
    pub fn stat(&self, name: &OsStr) -> Result<Option<Stat>> {
        match rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(stat) => Ok(Some(stat)),
            Err(Errno::NOENT) => Ok(None),
            Err(errno) => Err(errno),
        }
    }

    /// Makes a file that must not exist yet.
    pub fn create(&self, name: &OsStr) -> Result<File> {
        let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        rustix::fs::openat(&self.handle, name, flags, Mode::from_raw_mode(0o666)).map(File::from)
    }

    /// Opens what stands at `name` for reading, never through a link and never waiting.
    pub fn open(&self, name: &OsStr) -> Result<File> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::NOCTTY | OFlags::CLOEXEC;
        rustix::fs::openat(&self.handle, name, flags, Mode::empty()).map(File::from)
    }

    /// Renames, replacing what stands at `to`.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        rustix::fs::renameat(&self.handle, from, &self.handle, to)
    }

    /// Renames only if nothing stands at `to` (`Errno::EXIST` otherwise).
    pub fn rename_new(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        match rustix::fs::renameat_with(&self.handle, from, &self.handle, to, RenameFlags::NOREPLACE) {
            // Older kernels and some network file systems cannot; a look before the leap is the best there is.
            Err(Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP) => match self.stat(to)? {
                Some(_) => Err(Errno::EXIST),
                None => self.rename(from, to),
            },
            result => result,
        }
    }

    /// Gives a file a second name.
    pub fn link(&self, from: &OsStr, to: &OsStr) -> Result<()> {
        rustix::fs::linkat(&self.handle, from, &self.handle, to, AtFlags::empty())
    }

    /// Removes a name, if it is there.
    pub fn remove(&self, name: &OsStr) -> Result<()> {
        match rustix::fs::unlinkat(&self.handle, name, AtFlags::empty()) {
            Err(Errno::NOENT) => Ok(()),
            result => result,
        }
    }

    /// Makes the names durable.
    pub fn sync(&self) -> Result<()> {
        match rustix::fs::fsync(&self.handle) {
            // Some file systems have no such notion for folders.
            Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
            result => result,
        }
    }

    /// Names of the regular files that start with a dot and end in `suffix`, in byte order.
    pub fn hidden_files(&self, suffix: &str) -> Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::read_from(&self.handle)? {
            let entry = entry?;
            let name = entry.file_name().to_bytes();
            let may_be_file = matches!(entry.file_type(), FileType::RegularFile | FileType::Unknown);
            if may_be_file && name.starts_with(b".") && name.ends_with(suffix.as_bytes()) {
                names.push(OsStr::from_bytes(name).to_os_string());
            }
        }
        names.sort();
        Ok(names)
    }

    /// Whether the open `file` is still what stands at `name`.
    pub fn holds(&self, name: &OsStr, file: &File) -> Result<bool> {
        let opened = rustix::fs::fstat(file)?;
        let named = self.stat(name)?;
        Ok(named.is_some_and(|named| named.st_dev == opened.st_dev && named.st_ino == opened.st_ino))
    }
}

/// The file name of a target, or an error for paths such as `..` and `/`.
pub(super) fn file_name(target: &Path) -> std::result::Result<&OsStr, Error> {
    let ends_in_slash = target.as_os_str().as_bytes().ends_with(b"/");
    target.file_name().filter(|_| !ends_in_slash).ok_or_else(|| Error::NoFileName { path: target.into() })
}

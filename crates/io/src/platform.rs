//! Every call that depends on the operating system. Each has a portable fallback.
//!
//! Unix has all that safe output needs. Linux adds calls that save time or close a race. Elsewhere, names are paths and
//! checks come before the call they protect, so that a file that changes in between can slip through.

use std::ffi::{OsStr, OsString};
use std::fs::{File, Permissions};
use std::io;
use std::path::{Path, PathBuf};

#[cfg(not(unix))]
use fallback as system;
#[cfg(unix)]
use unix as system;

#[cfg(unix)]
use crate::faults::call;

pub(crate) use system::{
    Folder, open_without_waiting, set_length, set_permissions, status, status_at, sync_data, truncated,
    try_lock,
};

/// What a path or an open file is.
#[derive(Clone, Debug)]
pub(crate) struct Status {
    pub file_type: FileType,
    pub length: u64,
    /// Seconds and nanoseconds of the last change of the contents.
    pub modified: (i64, i64),
    pub permissions: Permissions,
    /// Equal for two paths or files if they are the same file.
    pub id: FileId,
    /// How many names the file has.
    pub links: u64,
    /// The file belongs to the user who runs this process.
    pub is_own: bool,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum FileType {
    Regular,
    Directory,
    Symlink,
    /// Anything else, as messages call it.
    Special(&'static str),
}

impl FileType {
    /// For messages: "it is ...".
    pub(crate) fn describe(self) -> &'static str {
        match self {
            FileType::Regular => "a regular file",
            FileType::Directory => "a folder",
            FileType::Symlink => "a symbolic link",
            FileType::Special(name) => name,
        }
    }
}

/// Device and inode, or what the system has in their place.
pub(crate) type FileId = (u64, u64);

/// Why [`Folder::open_beneath`] did not open a file.
#[derive(Debug)]
pub(crate) enum OpenError {
    NotFound,
    /// The path goes through a symbolic link.
    Link,
    /// The path leaves the folder.
    Outside,
    /// No file can have this path.
    BadPath,
    NotRegular(FileType),
    Other(io::Error),
}

/// The outcome of [`try_lock`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Lock {
    Acquired,
    /// Another process, or another handle of this one, has the lock.
    Taken,
    /// The file system has no locks.
    Unsupported,
}

/// Fills `buffer` with the bytes from `offset` on. A file that is too short gives `UnexpectedEof`.
pub(crate) fn read_exact_at(file: &File, mut buffer: &mut [u8], mut offset: u64) -> io::Result<()> {
    while !buffer.is_empty() {
        match system::read_at(file, buffer, offset) {
            Ok(0) => return Err(io::ErrorKind::UnexpectedEof.into()),
            Ok(count) => {
                buffer = buffer.get_mut(count..).unwrap_or_default();
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Writes all of `bytes` at `offset`.
pub(crate) fn write_all_at(file: &File, mut bytes: &[u8], mut offset: u64) -> io::Result<()> {
    while !bytes.is_empty() {
        match system::write_at(file, bytes, offset) {
            Ok(0) => return Err(io::ErrorKind::WriteZero.into()),
            Ok(count) => {
                bytes = bytes.get(count..).unwrap_or_default();
                offset += count as u64;
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    Ok(())
}

/// Allocates disk space for `length` bytes. Returns whether the file now has that length. An error means that there is not
/// enough space; a file system that cannot allocate ahead is none.
#[cfg(target_os = "linux")]
pub(crate) fn reserve(file: &File, length: u64) -> io::Result<bool> {
    use rustix::io::Errno;
    let flags = rustix::fs::FallocateFlags::empty();
    match call("fallocate", || rustix::fs::fallocate(file, flags, 0, length)) {
        Ok(()) => Ok(true),
        Err(errno @ (Errno::NOSPC | Errno::DQUOT | Errno::FBIG)) => Err(errno.into()),
        Err(_) => Ok(false),
    }
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn reserve(_: &File, _: u64) -> io::Result<bool> {
    Ok(false)
}

/// Starts to write a range of the file to the disk, without waiting. This is a hint: failures do not matter.
#[cfg(target_os = "linux")]
pub(crate) fn start_writeback(file: &File, offset: u64, length: u64) {
    // Dirty pages are sent to the disk and stay in memory.
    let length = std::num::NonZeroU64::new(length);
    let _ = rustix::fs::fadvise(file, offset, length, rustix::fs::Advice::DontNeed);
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn start_writeback(_: &File, _: u64, _: u64) {}

/// Copies up to `length` bytes inside the kernel. Returns 0 where that is not possible: across file systems, on some of
/// them, or at an error.
#[cfg(target_os = "linux")]
pub(crate) fn copy_range(
    from: &File,
    mut from_offset: u64,
    to: &File,
    mut to_offset: u64,
    length: u64,
) -> u64 {
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let copy = || {
        call("copy_file_range", || {
            rustix::fs::copy_file_range(from, Some(&mut from_offset), to, Some(&mut to_offset), length)
        })
    };
    rustix::io::retry_on_intr(copy).map_or(0, |copied| copied as u64)
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn copy_range(_: &File, _: u64, _: &File, _: u64, _: u64) -> u64 {
    0
}

/// Makes `to` a copy that shares its bytes with `from`. Returns false where the file system cannot.
#[cfg(target_os = "linux")]
pub(crate) fn clone_file(from: &File, to: &File) -> bool {
    call("ficlone", || rustix::fs::ioctl_ficlone(to, from)).is_ok()
}

#[cfg(not(target_os = "linux"))]
pub(crate) fn clone_file(_: &File, _: &File) -> bool {
    false
}

#[cfg(unix)]
mod unix {
    use std::fs::OpenOptions;
    use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
    use std::os::unix::ffi::OsStrExt;
    use std::os::unix::fs::{FileExt, OpenOptionsExt, PermissionsExt};

    use rustix::fs::{AtFlags, Dir, Mode, OFlags, Stat};
    use rustix::io::Errno;

    use super::*;

    /// For the last part of a path. Without NONBLOCK, opening a pipe would wait for its writer.
    const READ: OFlags = OFlags::RDONLY
        .union(OFlags::NONBLOCK)
        .union(OFlags::NOCTTY)
        .union(OFlags::NOFOLLOW)
        .union(OFlags::CLOEXEC);

    /// A directory that is held open. Names inside it are relative to the handle, so that a directory which is renamed or
    /// replaced meanwhile cannot divert them.
    #[derive(Debug)]
    pub(crate) struct Folder {
        handle: File,
    }

    impl Folder {
        /// Links on the way to the folder are followed.
        pub(crate) fn open(path: &Path) -> io::Result<Folder> {
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
            let handle = call("open", || rustix::fs::open(path, flags, Mode::empty()))?;
            Ok(Folder { handle: handle.into() })
        }

        /// Status of the file at `name`, if there is one; links are not followed.
        pub(crate) fn status(&self, name: &OsStr) -> io::Result<Option<Status>> {
            match call("statat", || rustix::fs::statat(&self.handle, name, AtFlags::SYMLINK_NOFOLLOW)) {
                Ok(stat) => Ok(Some(of_stat(&stat))),
                Err(Errno::NOENT) => Ok(None),
                Err(errno) => Err(errno.into()),
            }
        }

        /// Creates a file that must not exist yet.
        pub(crate) fn create(&self, name: &OsStr) -> io::Result<File> {
            let flags = OFlags::RDWR | OFlags::CREATE | OFlags::EXCL | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            let mode = Mode::from_raw_mode(0o666);
            Ok(call("creat", || rustix::fs::openat(&self.handle, name, flags, mode))?.into())
        }

        /// Opens the file at `name` for reading, without waiting. `None`: it is gone, a link, or not readable.
        pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<Option<File>> {
            match call("openat", || rustix::fs::openat(&self.handle, name, READ, Mode::empty())) {
                Ok(file) => Ok(Some(file.into())),
                Err(Errno::NOENT | Errno::LOOP | Errno::ACCESS | Errno::PERM | Errno::NXIO) => Ok(None),
                Err(errno) => Err(errno.into()),
            }
        }

        /// Renames, replacing what is at `to`.
        pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            Ok(call("rename", || rustix::fs::renameat(&self.handle, from, &self.handle, to))?)
        }

        /// Renames only if nothing is at `to` (`AlreadyExists` otherwise).
        pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            match call("rename_new", || rename_with(self.handle.as_fd(), from, to, How::New)) {
                Err(errno) if is_lacking(errno) => {}
                result => return Ok(result?),
            }
            if self.link(from, to)? {
                return self.remove(from).inspect_err(|_| drop(self.remove(to)));
            }
            // A check before the rename is the best there is.
            match self.status(to)? {
                Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
                None => self.rename(from, to),
            }
        }

        /// Exchanges two names in one step. Returns false if the file system cannot.
        pub(crate) fn exchange(&self, one: &OsStr, other: &OsStr) -> io::Result<bool> {
            match call("exchange", || rename_with(self.handle.as_fd(), one, other, How::Exchange)) {
                Ok(()) => Ok(true),
                Err(errno) if is_lacking(errno) => Ok(false),
                Err(errno) => Err(errno.into()),
            }
        }

        /// Locks the folder itself for as long as it is open, without waiting.
        pub(crate) fn try_lock(&self) -> io::Result<Lock> {
            try_lock(&self.handle)
        }

        pub(crate) fn unlock(&self) {
            // Closing the folder does it, too.
            let _ = self.handle.unlock();
        }

        /// Gives a file a second name. Returns false if the file system has no hard links.
        pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<bool> {
            let flags = AtFlags::empty();
            match call("link", || rustix::fs::linkat(&self.handle, from, &self.handle, to, flags)) {
                Ok(()) => Ok(true),
                Err(Errno::PERM | Errno::OPNOTSUPP | Errno::MLINK | Errno::NOSYS) => Ok(false),
                Err(errno) => Err(errno.into()),
            }
        }

        /// Removes a name, if it is there.
        pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
            match call("unlink", || rustix::fs::unlinkat(&self.handle, name, AtFlags::empty())) {
                Err(Errno::NOENT) => Ok(()),
                result => Ok(result?),
            }
        }

        /// Makes the names durable.
        pub(crate) fn sync(&self) -> io::Result<()> {
            match call("fsync", || rustix::fs::fsync(&self.handle)) {
                // Some file systems cannot sync folders.
                Err(Errno::INVAL | Errno::OPNOTSUPP) => Ok(()),
                result => Ok(result?),
            }
        }

        /// Names of all files that may be regular ones, in no particular order.
        pub(crate) fn file_names(&self) -> io::Result<Vec<OsString>> {
            use rustix::fs::FileType;
            let mut names = Vec::new();
            for entry in call("readdir", || Dir::read_from(&self.handle))? {
                let entry = entry?;
                if matches!(entry.file_type(), FileType::RegularFile | FileType::Unknown) {
                    names.push(OsStr::from_bytes(entry.file_name().to_bytes()).to_os_string());
                }
            }
            Ok(names)
        }

        /// Opens a file below the folder for reading, never through a link. It may turn out not to be a regular one.
        pub(crate) fn open_beneath(&self, parts: &[&OsStr]) -> Result<File, OpenError> {
            let opened = match call("openat2", || open_in_one_call(self.handle.as_fd(), parts)) {
                // Old kernels lack the call, and some sandboxes forbid it.
                Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => {
                    open_part_by_part(self.handle.as_fd(), parts)
                }
                result => result,
            };
            opened.map_err(|errno| self.explain(parts, errno))
        }

        /// Finds out what is in the way. This only looks, so it may be wrong about a file that changes, but never lets
        /// one through.
        fn explain(&self, parts: &[&OsStr], errno: Errno) -> OpenError {
            match errno {
                Errno::NOENT => OpenError::NotFound,
                Errno::LOOP | Errno::MLINK => OpenError::Link,
                Errno::XDEV => OpenError::Outside,
                Errno::NAMETOOLONG => OpenError::BadPath,
                Errno::NOTDIR | Errno::NXIO => {
                    let mut path = PathBuf::new();
                    for part in parts {
                        path.push(part);
                        match self.status(path.as_os_str()).ok().flatten().map(|status| status.file_type) {
                            Some(FileType::Directory) => {}
                            Some(FileType::Symlink) => return OpenError::Link,
                            Some(FileType::Regular) | None => return OpenError::NotFound,
                            Some(other) => return OpenError::NotRegular(other),
                        }
                    }
                    OpenError::Other(errno.into())
                }
                _ => OpenError::Other(errno.into()),
            }
        }
    }

    enum How {
        New,
        Exchange,
    }

    #[cfg(any(target_os = "linux", target_vendor = "apple"))]
    fn rename_with(folder: BorrowedFd<'_>, from: &OsStr, to: &OsStr, how: How) -> rustix::io::Result<()> {
        use rustix::fs::RenameFlags;
        let flags = match how {
            How::New => RenameFlags::NOREPLACE,
            How::Exchange => RenameFlags::EXCHANGE,
        };
        rustix::fs::renameat_with(folder, from, folder, to, flags)
    }

    #[cfg(not(any(target_os = "linux", target_vendor = "apple")))]
    fn rename_with(_: BorrowedFd<'_>, _: &OsStr, _: &OsStr, _: How) -> rustix::io::Result<()> {
        Err(Errno::NOSYS)
    }

    /// Whether the kernel or the file system lacks the call: older ones do, and network file systems.
    fn is_lacking(errno: Errno) -> bool {
        matches!(errno, Errno::INVAL | Errno::NOSYS | Errno::OPNOTSUPP)
    }

    /// One call in which the kernel itself refuses links and ways out.
    #[cfg(target_os = "linux")]
    fn open_in_one_call(folder: BorrowedFd<'_>, parts: &[&OsStr]) -> rustix::io::Result<File> {
        use rustix::fs::ResolveFlags;
        /// A rename elsewhere can make the kernel unsure about `BENEATH`; it then asks to try again.
        const ATTEMPTS: usize = 16;
        let path: PathBuf = parts.iter().collect();
        let resolve = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS | ResolveFlags::NO_MAGICLINKS;
        let mut result = Err(Errno::AGAIN);
        for _ in 0..ATTEMPTS {
            result = rustix::fs::openat2(folder, &path, READ, Mode::empty(), resolve);
            if !matches!(result, Err(Errno::AGAIN | Errno::INTR)) {
                break;
            }
        }
        result.map(File::from)
    }

    #[cfg(not(target_os = "linux"))]
    fn open_in_one_call(_: BorrowedFd<'_>, _: &[&OsStr]) -> rustix::io::Result<File> {
        Err(Errno::NOSYS)
    }

    /// Opens each part relative to the folder before it, never through a link.
    fn open_part_by_part(folder: BorrowedFd<'_>, parts: &[&OsStr]) -> rustix::io::Result<File> {
        let Some((name, folders)) = parts.split_last() else { return Err(Errno::NOENT) };
        let mut opened: Option<OwnedFd> = None;
        for part in folders {
            let at = opened.as_ref().map_or(folder, |handle| handle.as_fd());
            let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
            opened = Some(rustix::fs::openat(at, *part, flags, Mode::empty())?);
        }
        let at = opened.as_ref().map_or(folder, |handle| handle.as_fd());
        rustix::fs::openat(at, *name, READ, Mode::empty()).map(File::from)
    }

    pub(crate) fn status(file: &File) -> io::Result<Status> {
        Ok(of_stat(&call("fstat", || rustix::fs::fstat(file))?))
    }

    /// Status of the file at `path`; links are followed.
    pub(crate) fn status_at(path: &Path) -> io::Result<Status> {
        Ok(of_stat(&call("stat", || rustix::fs::stat(path))?))
    }

    #[allow(
        clippy::unnecessary_cast,
        clippy::useless_conversion,
        reason = "the widths differ between systems"
    )]
    fn of_stat(stat: &Stat) -> Status {
        use rustix::fs::FileType as Raw;
        let file_type = match Raw::from_raw_mode(stat.st_mode) {
            Raw::RegularFile => FileType::Regular,
            Raw::Directory => FileType::Directory,
            Raw::Symlink => FileType::Symlink,
            Raw::Fifo => FileType::Special("a named pipe"),
            Raw::Socket => FileType::Special("a socket"),
            Raw::CharacterDevice | Raw::BlockDevice => FileType::Special("a device"),
            Raw::Unknown => FileType::Special("not a regular file"),
        };
        Status {
            file_type,
            length: stat.st_size as u64,
            modified: (stat.st_mtime as i64, stat.st_mtime_nsec as i64),
            permissions: Permissions::from_mode(u32::from(stat.st_mode) & 0o777),
            id: (stat.st_dev as u64, stat.st_ino as u64),
            links: stat.st_nlink as u64,
            is_own: stat.st_uid == rustix::process::geteuid().as_raw(),
        }
    }

    /// Opens a file for reading. A named pipe does not wait for its writer.
    pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        call("open", || OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path))
    }

    /// Locks a file for as long as it is open, without waiting.
    pub(crate) fn try_lock(file: &File) -> io::Result<Lock> {
        use rustix::fs::FlockOperation;
        match call("flock", || rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive)) {
            Ok(()) => Ok(Lock::Acquired),
            Err(Errno::WOULDBLOCK) => Ok(Lock::Taken),
            // Network file systems refuse to lock what is open for reading only.
            Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL | Errno::BADF) => {
                Ok(Lock::Unsupported)
            }
            Err(errno) => Err(errno.into()),
        }
    }

    pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        call("pread", || file.read_at(buffer, offset))
    }

    pub(super) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        let bytes = bytes.get(..crate::faults::writable(bytes.len())).unwrap_or(bytes);
        call("pwrite", || file.write_at(bytes, offset))
    }

    /// Brings the contents to the disk.
    pub(crate) fn sync_data(file: &File) -> io::Result<()> {
        call("fdatasync", || file.sync_data())
    }

    pub(crate) fn set_length(file: &File, length: u64) -> io::Result<()> {
        call("ftruncate", || file.set_len(length))
    }

    pub(crate) fn set_permissions(file: &File, permissions: Permissions) -> io::Result<()> {
        call("fchmod", || file.set_permissions(permissions.clone()))
    }

    /// At most the first `length` bytes of a name.
    pub(crate) fn truncated(name: &OsStr, length: usize) -> OsString {
        OsStr::from_bytes(name.as_bytes().get(..length).unwrap_or(name.as_bytes())).to_os_string()
    }

    #[cfg(test)]
    mod tests {
        use super::*;
        use std::os::unix::fs::symlink;

        type Opener = fn(BorrowedFd<'_>, &[&OsStr]) -> rustix::io::Result<File>;

        #[test]
        fn both_ways_to_open_refuse_links_and_open_the_rest() {
            let outside = tempfile::tempdir().unwrap();
            std::fs::write(outside.path().join("w"), "secret").unwrap();
            let inside = tempfile::tempdir().unwrap();
            let path = |name: &str| inside.path().join(name);
            std::fs::create_dir(path("sub")).unwrap();
            std::fs::write(path("sub/w"), "weights").unwrap();
            symlink("w", path("sub/near")).unwrap();
            symlink("sub", path("link")).unwrap();
            symlink(outside.path(), path("away")).unwrap();
            let folder = Folder::open(inside.path()).unwrap();
            let linux: &[Opener] = if cfg!(target_os = "linux") { &[open_in_one_call] } else { &[] };
            for open in linux.iter().copied().chain([open_part_by_part as Opener]) {
                let open = |location: &str| {
                    let parts: Vec<&OsStr> = location.split('/').map(OsStr::new).collect();
                    open(folder.handle.as_fd(), &parts).map_err(|errno| folder.explain(&parts, errno))
                };
                assert_eq!(std::io::read_to_string(open("sub/w").unwrap()).unwrap(), "weights");
                for location in ["sub/near", "link/w", "away/w", "link"] {
                    assert!(
                        matches!(open(location), Err(OpenError::Link)),
                        "{location}: {:?}",
                        open(location)
                    );
                }
                for location in ["none", "none/w", "sub/w/x"] {
                    let opened = open(location);
                    assert!(matches!(opened, Err(OpenError::NotFound)), "{location}: {opened:?}");
                }
            }
        }

        #[test]
        fn status_tells_one_file_from_another() {
            let folder = tempfile::tempdir().unwrap();
            let path = |name: &str| folder.path().join(name);
            std::fs::write(path("a"), "abc").unwrap();
            std::fs::write(path("b"), "abc").unwrap();
            symlink("a", path("link")).unwrap();
            let handle = Folder::open(folder.path()).unwrap();
            let [a, b, followed] = ["a", "b", "link"].map(|name| status_at(&path(name)).unwrap());
            assert_eq!((a.id, a.length, a.links, a.is_own), (followed.id, 3, 1, true));
            assert_ne!(a.id, b.id);
            assert_eq!(status(&File::open(path("a")).unwrap()).unwrap().id, a.id);
            let link = handle.status(OsStr::new("link")).unwrap().unwrap();
            assert_eq!(link.file_type, FileType::Symlink);
            assert!(handle.link(OsStr::new("a"), OsStr::new("second")).unwrap());
            assert_eq!(status_at(&path("second")).unwrap().links, 2);
        }
    }
}

/// The standard library alone. It does not tell how many names a file has, nor who owns it.
#[cfg(not(unix))]
mod fallback {
    use std::fs::Metadata;
    use std::time::SystemTime;

    use super::*;

    /// A folder by its path.
    #[derive(Debug)]
    pub(crate) struct Folder {
        path: PathBuf,
    }

    impl Folder {
        pub(crate) fn open(path: &Path) -> io::Result<Folder> {
            match path.metadata()?.is_dir() {
                true => Ok(Folder { path: path.into() }),
                false => Err(io::ErrorKind::NotADirectory.into()),
            }
        }

        pub(crate) fn status(&self, name: &OsStr) -> io::Result<Option<Status>> {
            match self.path.join(name).symlink_metadata() {
                Ok(metadata) => Ok(Some(of_metadata(&metadata))),
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(None),
                Err(error) => Err(error),
            }
        }

        pub(crate) fn create(&self, name: &OsStr) -> io::Result<File> {
            File::options().read(true).write(true).create_new(true).open(self.path.join(name))
        }

        pub(crate) fn open_file(&self, name: &OsStr) -> io::Result<Option<File>> {
            match self.status(name)? {
                Some(status) if status.file_type == FileType::Regular => {}
                _ => return Ok(None),
            }
            match File::open(self.path.join(name)) {
                Ok(file) => Ok(Some(file)),
                Err(error) => match error.kind() {
                    io::ErrorKind::NotFound | io::ErrorKind::PermissionDenied => Ok(None),
                    _ => Err(error),
                },
            }
        }

        pub(crate) fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            std::fs::rename(self.path.join(from), self.path.join(to))
        }

        pub(crate) fn rename_new(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
            match self.status(to)? {
                Some(_) => Err(io::ErrorKind::AlreadyExists.into()),
                None => self.rename(from, to),
            }
        }

        pub(crate) fn exchange(&self, _: &OsStr, _: &OsStr) -> io::Result<bool> {
            Ok(false)
        }

        /// Folders cannot be locked.
        pub(crate) fn try_lock(&self) -> io::Result<Lock> {
            Ok(Lock::Unsupported)
        }

        pub(crate) fn unlock(&self) {}

        pub(crate) fn link(&self, from: &OsStr, to: &OsStr) -> io::Result<bool> {
            match std::fs::hard_link(self.path.join(from), self.path.join(to)) {
                Ok(()) => Ok(true),
                Err(error) => match error.kind() {
                    io::ErrorKind::PermissionDenied
                    | io::ErrorKind::TooManyLinks
                    | io::ErrorKind::Unsupported => Ok(false),
                    _ => Err(error),
                },
            }
        }

        pub(crate) fn remove(&self, name: &OsStr) -> io::Result<()> {
            match std::fs::remove_file(self.path.join(name)) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
                result => result,
            }
        }

        /// Folders cannot be synced.
        pub(crate) fn sync(&self) -> io::Result<()> {
            Ok(())
        }

        pub(crate) fn file_names(&self) -> io::Result<Vec<OsString>> {
            let mut names = Vec::new();
            for entry in std::fs::read_dir(&self.path)? {
                let entry = entry?;
                if entry.file_type()?.is_file() {
                    names.push(entry.file_name());
                }
            }
            Ok(names)
        }

        pub(crate) fn open_beneath(&self, parts: &[&OsStr]) -> Result<File, OpenError> {
            let other = |error: io::Error| match error.kind() {
                io::ErrorKind::NotFound | io::ErrorKind::NotADirectory => OpenError::NotFound,
                io::ErrorKind::InvalidFilename => OpenError::BadPath,
                _ => OpenError::Other(error),
            };
            let mut path = self.path.clone();
            for part in parts {
                path.push(part);
                if path.symlink_metadata().map_err(other)?.is_symlink() {
                    return Err(OpenError::Link);
                }
            }
            let folder = self.path.canonicalize().map_err(other)?;
            match path.canonicalize().map_err(other)?.starts_with(folder) {
                true if path.is_dir() => Err(OpenError::NotRegular(FileType::Directory)),
                true => File::open(path).map_err(other),
                false => Err(OpenError::Outside),
            }
        }
    }

    pub(crate) fn status(file: &File) -> io::Result<Status> {
        file.metadata().map(|metadata| of_metadata(&metadata))
    }

    pub(crate) fn status_at(path: &Path) -> io::Result<Status> {
        path.metadata().map(|metadata| of_metadata(&metadata))
    }

    fn of_metadata(metadata: &Metadata) -> Status {
        let file_type = match metadata.file_type() {
            kind if kind.is_file() => FileType::Regular,
            kind if kind.is_dir() => FileType::Directory,
            kind if kind.is_symlink() => FileType::Symlink,
            _ => FileType::Special("not a regular file"),
        };
        Status {
            file_type,
            length: metadata.len(),
            modified: (0, nanoseconds(metadata.modified()) as i64),
            permissions: metadata.permissions(),
            id: (nanoseconds(metadata.created()), nanoseconds(metadata.modified()) ^ metadata.len()),
            links: 1,
            is_own: true,
        }
    }

    fn nanoseconds(time: io::Result<SystemTime>) -> u64 {
        let since_epoch = time.ok().and_then(|time| time.duration_since(SystemTime::UNIX_EPOCH).ok());
        since_epoch.map_or(0, |elapsed| elapsed.as_nanos() as u64)
    }

    pub(crate) fn open_without_waiting(path: &Path) -> io::Result<File> {
        File::open(path)
    }

    pub(crate) fn try_lock(file: &File) -> io::Result<Lock> {
        match file.try_lock() {
            Ok(()) => Ok(Lock::Acquired),
            Err(std::fs::TryLockError::WouldBlock) => Ok(Lock::Taken),
            Err(std::fs::TryLockError::Error(error)) if error.kind() == io::ErrorKind::Unsupported => {
                Ok(Lock::Unsupported)
            }
            Err(std::fs::TryLockError::Error(error)) => Err(error),
        }
    }

    #[cfg(windows)]
    pub(super) fn read_at(file: &File, buffer: &mut [u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_read(file, buffer, offset)
    }

    #[cfg(windows)]
    pub(super) fn write_at(file: &File, bytes: &[u8], offset: u64) -> io::Result<usize> {
        std::os::windows::fs::FileExt::seek_write(file, bytes, offset)
    }

    pub(crate) fn sync_data(file: &File) -> io::Result<()> {
        file.sync_data()
    }

    pub(crate) fn set_length(file: &File, length: u64) -> io::Result<()> {
        file.set_len(length)
    }

    pub(crate) fn set_permissions(file: &File, permissions: Permissions) -> io::Result<()> {
        file.set_permissions(permissions)
    }

    pub(crate) fn truncated(name: &OsStr, length: usize) -> OsString {
        let text = name.to_string_lossy();
        text.get(..text.floor_char_boundary(length)).unwrap_or_default().into()
    }
}

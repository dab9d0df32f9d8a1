//! Opening files below the model's folder, and nowhere else.

use std::collections::HashMap;
use std::ffi::OsStr;
use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};

use modelexport_graph::{SourceId, Span};
use rustix::fs::{AtFlags, FileType, Mode, OFlags};
use rustix::io::Errno;

use super::{Entry, Reason};
use crate::source::{self, Sources};

/// For the last part of a path. Without NONBLOCK, opening a pipe would wait for its writer.
const READ: OFlags = OFlags::RDONLY
    .union(OFlags::NONBLOCK)
    .union(OFlags::NOCTTY)
    .union(OFlags::NOFOLLOW)
    .union(OFlags::CLOEXEC);

/// The folder of a model, held open.
#[derive(Debug)]
pub struct ModelFolder {
    handle: OwnedFd,
    path: PathBuf,
    /// Files that went through the checks, by location.
    opened: HashMap<String, SourceId>,
}

impl ModelFolder {
    /// The folder itself is the user's choice: links on the way to it are followed.
    pub fn open(path: &Path) -> Result<ModelFolder, Reason> {
        let path = if path.as_os_str().is_empty() { Path::new(".") } else { path };
        let flags = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty()).map_err(|e| Reason::Open(e.into()))?;
        Ok(ModelFolder { handle, path: path.into(), opened: HashMap::new() })
    }

    /// The bytes of an entry, which must be `expected` many.
    pub fn find(&mut self, entry: &Entry, expected: u64, sources: &mut Sources) -> Result<Span, Reason> {
        let length = entry.length.unwrap_or(expected);
        if length != expected {
            return Err(Reason::WrongLength { length, expected });
        }
        let source = match self.opened.get(&entry.location) {
            Some(&id) => id,
            None => {
                let file = self.open_file(&entry.location)?;
                check_names(&file)?;
                let path = self.path.join(parts(&entry.location)?.iter().collect::<PathBuf>());
                let id = sources.add_open_file(&path, file).map_err(of_source)?;
                self.opened.insert(entry.location.clone(), id);
                id
            }
        };
        let file_length = sources.len(source).unwrap_or(0);
        let end = u128::from(entry.offset) + u128::from(length);
        if end > file_length.into() {
            return Err(Reason::OutOfRange { offset: entry.offset, end, file_length });
        }
        Ok(Span { source, offset: entry.offset, length })
    }

    /// Opens a file by its location. It may turn out not to be a regular one.
    pub(crate) fn open_file(&self, location: &str) -> Result<File, Reason> {
        let parts = parts(location)?;
        let opened = match open_beneath(self.handle.as_fd(), &parts) {
            // Old kernels lack the call, and some sandboxes forbid it.
            Err(Errno::NOSYS | Errno::PERM | Errno::INVAL) => open_part_by_part(self.handle.as_fd(), &parts),
            result => result,
        };
        opened.map_err(|errno| self.why(&parts, errno))
    }

    /// What stands in the way. Only looks, so it may be wrong about a file that changes, but never lets one through.
    fn why(&self, parts: &[&OsStr], errno: Errno) -> Reason {
        match errno {
            Errno::NOENT => Reason::NotFound,
            Errno::LOOP | Errno::MLINK => Reason::Link,
            Errno::XDEV => Reason::Outside,
            Errno::NAMETOOLONG => Reason::BadPath,
            Errno::NOTDIR | Errno::NXIO => {
                let mut path = PathBuf::new();
                for part in parts {
                    path.push(part);
                    let stat = rustix::fs::statat(&self.handle, &path, AtFlags::SYMLINK_NOFOLLOW);
                    match stat.map(|stat| FileType::from_raw_mode(stat.st_mode)) {
                        Ok(FileType::Directory) => {}
                        Ok(FileType::Symlink) => return Reason::Link,
                        Ok(FileType::RegularFile) | Err(_) => return Reason::NotFound,
                        Ok(other) => return Reason::NotRegular { what: source::type_in_words(other) },
                    }
                }
                Reason::Open(errno.into())
            }
            _ => Reason::Open(errno.into()),
        }
    }
}

/// A file with several names may be any of the user's, linked into the folder by whoever unpacked the model; onnx
/// refuses it too.
pub(crate) fn check_names(file: &File) -> Result<(), Reason> {
    let metadata = file.metadata().map_err(Reason::Open)?;
    match metadata.nlink() {
        names if metadata.is_file() && names > 1 => Err(Reason::HardLink { names }),
        _ => Ok(()),
    }
}

fn of_source(error: source::Error) -> Reason {
    match error {
        source::Error::Open { source, .. } => Reason::Open(source),
        source::Error::NotRegular { what, .. } => Reason::NotRegular { what },
    }
}

/// The names that a location consists of.
fn parts(location: &str) -> Result<Vec<&OsStr>, Reason> {
    if location.starts_with('/') {
        return Err(Reason::Absolute);
    }
    let parts: Vec<&str> = location.split('/').filter(|part| !matches!(*part, "" | ".")).collect();
    if parts.contains(&"..") {
        return Err(Reason::Outside);
    }
    if parts.is_empty() || location.contains('\0') || location.ends_with('/') {
        return Err(Reason::BadPath);
    }
    Ok(parts.into_iter().map(OsStr::new).collect())
}

/// One call in which the kernel itself refuses links and ways out.
#[cfg(target_os = "linux")]
fn open_beneath(folder: BorrowedFd<'_>, parts: &[&OsStr]) -> rustix::io::Result<File> {
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
fn open_beneath(_: BorrowedFd<'_>, _: &[&OsStr]) -> rustix::io::Result<File> {
    Err(Errno::NOSYS)
}

/// The same by hand: each part relative to the folder before it, never through a link.
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
        let folder = ModelFolder::open(inside.path()).unwrap();
        for open in [open_beneath as Opener, open_part_by_part] {
            let open = |location: &str| {
                let parts = parts(location).unwrap();
                open(folder.handle.as_fd(), &parts).map_err(|errno| folder.why(&parts, errno))
            };
            assert_eq!(std::io::read_to_string(open("sub/w").unwrap()).unwrap(), "weights");
            assert_eq!(std::io::read_to_string(open("./sub//w").unwrap()).unwrap(), "weights");
            for location in ["sub/near", "link/w", "away/w", "link"] {
                assert!(matches!(open(location), Err(Reason::Link)), "{location}: {:?}", open(location));
            }
            for location in ["none", "none/w", "sub/w/x"] {
                assert!(matches!(open(location), Err(Reason::NotFound)), "{location}: {:?}", open(location));
            }
        }
    }
}

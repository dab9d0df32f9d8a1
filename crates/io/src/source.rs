//! Sources of weight bytes: files, or memory that a caller owns.
//!
//! A program or model holds addresses ([`Span`](modelexport_graph::Span)) into a table of sources. Files stay open after
//! they are added, so an output can replace the file that it is made from.

use std::collections::HashMap;
use std::ffi::OsString;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use modelexport_graph::SourceId;

use crate::ErrorKind;
use crate::platform::{self, FileId, FileType, Status};

/// Why a file cannot be a source.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    #[error("{}: cannot open: {source}", path.display())]
    Open { path: PathBuf, source: io::Error },
    #[error("{}: is {what}; only a regular file can be read", path.display())]
    NotRegular { path: PathBuf, what: &'static str },
}

impl Error {
    pub fn kind(&self) -> ErrorKind {
        match self {
            Error::Open { .. } => ErrorKind::Io,
            Error::NotRegular { .. } => ErrorKind::BadInput,
        }
    }
}

/// Bytes that are not in a file, such as the memory of a tensor of the calling process.
pub trait ByteSource: Send + Sync {
    /// Number of bytes; must not change.
    fn len(&self) -> u64;

    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Fills `buffer` with the bytes from `offset` on, all of it or an error.
    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()>;

    /// The bytes themselves, where they lie in memory in one piece: saves a copy.
    fn bytes(&self) -> Option<&[u8]> {
        None
    }
}

impl ByteSource for Vec<u8> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let bytes = usize::try_from(offset)
            .ok()
            .and_then(|start| self.get(start..start.checked_add(buffer.len())?))
            .ok_or(io::ErrorKind::UnexpectedEof)?;
        buffer.copy_from_slice(bytes);
        Ok(())
    }

    fn bytes(&self) -> Option<&[u8]> {
        Some(self)
    }
}

/// One source: an open file or a caller's memory.
pub struct Source {
    storage: Storage,
    length: u64,
}

enum Storage {
    File { file: File, path: PathBuf, modified: (i64, i64) },
    Memory { bytes: Arc<dyn ByteSource>, name: String },
}

impl Source {
    /// Length in bytes when the source was added.
    pub fn len(&self) -> u64 {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// The path as it was given.
    pub fn path(&self) -> Option<&Path> {
        match &self.storage {
            Storage::File { path, .. } => Some(path),
            Storage::Memory { .. } => None,
        }
    }

    /// The open file, for copies inside the kernel.
    pub fn file(&self) -> Option<&File> {
        match &self.storage {
            Storage::File { file, .. } => Some(file),
            Storage::Memory { .. } => None,
        }
    }

    /// All bytes, if the source is memory in one piece.
    pub fn bytes(&self) -> Option<&[u8]> {
        match &self.storage {
            Storage::File { .. } => None,
            Storage::Memory { bytes, .. } => bytes.bytes(),
        }
    }

    /// Whether the file is as it was when it was added, as far as its length and its time tell.
    fn is_unchanged(&self) -> bool {
        match &self.storage {
            Storage::File { file, modified, .. } => {
                let is_same = |now: Status| (now.length, now.modified) == (self.length, *modified);
                platform::status(file).is_ok_and(is_same)
            }
            Storage::Memory { .. } => true,
        }
    }

    /// Fills `buffer` with the bytes from `offset` on. A file that became shorter gives `UnexpectedEof`.
    pub fn read_at(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match &self.storage {
            Storage::File { file, .. } => platform::read_exact_at(file, buffer, offset),
            Storage::Memory { bytes, .. } => bytes.read_at(offset, buffer),
        }
    }
}

/// How messages name the source: the path, or the name that the caller gave.
impl std::fmt::Display for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match &self.storage {
            Storage::File { path, .. } => path.display().fmt(f),
            Storage::Memory { name, .. } => f.write_str(name),
        }
    }
}

impl std::fmt::Debug for Source {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Source({self}, {} bytes)", self.length)
    }
}

/// The table that a [`SourceId`] points into.
#[derive(Clone, Debug, Default)]
pub struct Sources {
    sources: Vec<Arc<Source>>,
    by_path: HashMap<PathBuf, SourceId>,
    /// Sources before this one are only ever copied from.
    first_to_refer_to: usize,
}

impl Sources {
    pub fn new() -> Self {
        Self::default()
    }

    /// Opens `path` for reading. The same path is opened once and keeps its id.
    pub fn add_file(&mut self, path: &Path) -> Result<SourceId, Error> {
        match self.find(path) {
            Some(id) => Ok(id),
            None => {
                let file = open_regular(path)?;
                self.add_open_file(path, file)
            }
        }
    }

    /// Adds a file that was opened by other means; `path` is its name for messages and references.
    /// If the path is in the table already, the file that stands there is kept.
    pub(crate) fn add_open_file(&mut self, path: &Path, file: File) -> Result<SourceId, Error> {
        if let Some(id) = self.find(path) {
            return Ok(id);
        }
        let Status { length, modified, .. } = regular_status(path, &file)?;
        let storage = Storage::File { file, path: path.into(), modified };
        let id = self.push(Source { storage, length });
        self.by_path.insert(absolute(path), id);
        Ok(id)
    }

    /// Adds bytes that a caller owns; `name` stands for them in messages.
    pub fn add_memory(&mut self, name: impl Into<String>, bytes: Arc<dyn ByteSource>) -> SourceId {
        let length = bytes.len();
        self.push(Source { storage: Storage::Memory { bytes, name: name.into() }, length })
    }

    fn push(&mut self, source: Source) -> SourceId {
        let id = SourceId(self.sources.len() as u32);
        self.sources.push(Arc::new(source));
        id
    }

    /// From now on, a model may point at what is added later; the bytes of all that is there already are copied.
    pub fn refer_to_later_ones(&mut self) {
        self.first_to_refer_to = self.sources.len();
    }

    /// Whether a model that points at its weights may point at this source.
    pub(crate) fn may_refer_to(&self, id: SourceId) -> bool {
        id.0 as usize >= self.first_to_refer_to
    }

    /// The source that was added for `path`.
    pub fn find(&self, path: &Path) -> Option<SourceId> {
        self.by_path.get(&absolute(path)).copied()
    }

    pub fn get(&self, id: SourceId) -> Option<&Source> {
        self.share(id).map(|source| &**source)
    }

    /// The source, for other threads.
    pub fn share(&self, id: SourceId) -> Option<&Arc<Source>> {
        self.sources.get(id.0 as usize)
    }

    /// Length in bytes; `None` for an id of another table.
    pub fn len(&self, id: SourceId) -> Option<u64> {
        self.get(id).map(Source::len)
    }

    pub fn path(&self, id: SourceId) -> Option<&Path> {
        self.get(id).and_then(Source::path)
    }

    /// Fills `buffer` with the bytes of a source from `offset` on.
    pub fn read_at(&self, id: SourceId, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        match self.get(id) {
            Some(source) => source.read_at(offset, buffer),
            None => Err(io::Error::new(io::ErrorKind::NotFound, format!("there is no source {}", id.0))),
        }
    }

    /// A file that somebody has changed since it was added.
    pub(crate) fn changed(&self) -> Option<&Source> {
        self.iter().map(|(_, source)| source).find(|source| !source.is_unchanged())
    }

    pub fn iter(&self) -> impl Iterator<Item = (SourceId, &Source)> + '_ {
        self.sources.iter().enumerate().map(|(i, source)| (SourceId(i as u32), &**source))
    }
}

/// Opens a regular file for reading. Links are followed: the path is the user's own.
pub fn open_regular(path: &Path) -> Result<File, Error> {
    let file =
        platform::open_without_waiting(path).map_err(|source| Error::Open { path: path.into(), source })?;
    regular_status(path, &file)?;
    Ok(file)
}

/// The length of a file, if it is a regular one.
pub(crate) fn regular_length(path: &Path, file: &File) -> Result<u64, Error> {
    regular_status(path, file).map(|status| status.length)
}

fn regular_status(path: &Path, file: &File) -> Result<Status, Error> {
    let status = platform::status(file).map_err(|source| Error::Open { path: path.into(), source })?;
    match status.file_type {
        FileType::Regular => Ok(status),
        other => Err(Error::NotRegular { path: path.into(), what: other.describe() }),
    }
}

/// Only textual: without a current folder the path stands as it is.
fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.into())
}

/// Which file a path leads to, through whatever links and however it is spelled. A file that is not there yet is known
/// by its folder and its name.
#[derive(Clone, Debug)]
pub struct FileIdentity {
    file: Option<FileId>,
    entry: Option<(FileId, OsString)>,
}

impl FileIdentity {
    pub fn of(path: &Path) -> FileIdentity {
        let id = |path: &Path| platform::status_at(path).ok().map(|status| status.id);
        let folder = path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
        let entry = path.file_name().and_then(|name| Some((id(folder)?, name.to_owned())));
        FileIdentity { file: id(path), entry }
    }

    /// Whether both are one file.
    pub fn is_same_file(&self, other: &FileIdentity) -> bool {
        self.is_same_entry(other) || self.file.is_some_and(|file| other.file == Some(file))
    }

    /// Whether both are one name in one folder: to replace one is to replace the other.
    pub fn is_same_entry(&self, other: &FileIdentity) -> bool {
        self.entry.as_ref().is_some_and(|entry| other.entry.as_ref() == Some(entry))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file_of(folder: &Path, name: &str, bytes: &[u8]) -> PathBuf {
        let path = folder.join(name);
        std::fs::write(&path, bytes).unwrap();
        path
    }

    #[test]
    fn reads_files_and_memory_at_offsets() {
        let folder = tempfile::tempdir().unwrap();
        let mut sources = Sources::new();
        let file = sources.add_file(&file_of(folder.path(), "a", b"0123456789")).unwrap();
        let memory = sources.add_memory("weight", Arc::new(b"abcdef".to_vec()));
        let mut buffer = [0; 3];
        sources.read_at(file, 7, &mut buffer).unwrap();
        assert_eq!(&buffer, b"789");
        sources.read_at(memory, 1, &mut buffer).unwrap();
        assert_eq!(&buffer, b"bcd");
        assert_eq!((sources.len(file), sources.len(memory)), (Some(10), Some(6)));
        assert_eq!(sources.path(memory), None);
        assert_eq!(sources.get(memory).unwrap().to_string(), "weight");
    }

    #[test]
    fn the_same_path_is_opened_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = file_of(folder.path(), "a", b"1");
        let other = file_of(folder.path(), "b", b"2");
        let mut sources = Sources::new();
        let first = sources.add_file(&path).unwrap();
        assert_eq!(sources.add_file(&folder.path().join("./a")).unwrap(), first);
        assert_ne!(sources.add_file(&other).unwrap(), first);
        assert_eq!(sources.iter().count(), 2);
    }

    #[test]
    fn a_file_that_was_replaced_or_removed_is_still_read() {
        let folder = tempfile::tempdir().unwrap();
        let path = file_of(folder.path(), "a", b"old");
        let mut sources = Sources::new();
        let id = sources.add_file(&path).unwrap();
        std::fs::rename(file_of(folder.path(), "b", b"new"), &path).unwrap();
        let mut buffer = [0; 3];
        sources.read_at(id, 0, &mut buffer).unwrap();
        assert_eq!(&buffer, b"old");
    }

    #[test]
    fn a_file_is_the_same_by_every_path_to_it() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let path = file_of(folder.path(), "a", b"1");
        std::os::unix::fs::symlink("a", at("link")).unwrap();
        std::os::unix::fs::symlink(".", at("folder")).unwrap();
        std::fs::hard_link(&path, at("twin")).unwrap();
        let identity = FileIdentity::of(&path);
        for (name, is_file, is_entry) in [
            ("./a", true, true),
            ("folder/a", true, true),
            ("link", true, false),
            ("twin", true, false),
            ("b", false, false),
        ] {
            let other = FileIdentity::of(&at(name));
            assert_eq!(
                (identity.is_same_file(&other), identity.is_same_entry(&other)),
                (is_file, is_entry),
                "{name}"
            );
        }
        // Neither is there.
        let missing = FileIdentity::of(&at("b"));
        assert!(missing.is_same_file(&FileIdentity::of(&at("folder/b"))));
        assert!(!missing.is_same_file(&FileIdentity::of(&at("none/b"))));
        assert!(!FileIdentity::of(&at("none/b")).is_same_file(&FileIdentity::of(&at("none/b"))));
    }

    #[test]
    fn reading_past_the_end_is_an_error_of_its_own() {
        let folder = tempfile::tempdir().unwrap();
        let path = file_of(folder.path(), "a", b"0123");
        let mut sources = Sources::new();
        let file = sources.add_file(&path).unwrap();
        let memory = sources.add_memory("m", Arc::new(vec![0u8; 4]));
        for (id, offset) in [(file, 2), (file, 4), (memory, 2), (memory, u64::MAX)] {
            let error = sources.read_at(id, offset, &mut [0; 3]).unwrap_err();
            assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof, "{id:?} {offset}");
        }
        std::fs::File::options().write(true).open(&path).unwrap().set_len(1).unwrap();
        let error = sources.read_at(file, 0, &mut [0; 2]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::UnexpectedEof);
    }

    #[test]
    fn an_unknown_id_is_not_found() {
        let error = Sources::new().read_at(SourceId(0), 0, &mut [0]).unwrap_err();
        assert_eq!(error.kind(), io::ErrorKind::NotFound);
    }

    #[test]
    fn a_missing_file_is_an_open_error() {
        let folder = tempfile::tempdir().unwrap();
        let error = Sources::new().add_file(&folder.path().join("none")).unwrap_err();
        assert!(matches!(error, Error::Open { .. }), "{error}");
        assert_eq!(error.kind(), ErrorKind::Io);
    }

    #[test]
    fn folders_pipes_and_devices_are_refused_without_waiting() {
        let folder = tempfile::tempdir().unwrap();
        let pipe = folder.path().join("pipe");
        rustix::fs::mknodat(rustix::fs::CWD, &pipe, rustix::fs::FileType::Fifo, 0o600.into(), 0).unwrap();
        for (path, expected) in
            [(folder.path(), "a folder"), (&pipe, "a named pipe"), (Path::new("/dev/null"), "a device")]
        {
            let error = Sources::new().add_file(path).unwrap_err();
            assert!(matches!(error, Error::NotRegular { what, .. } if what == expected), "{error}");
            assert_eq!(error.kind(), ErrorKind::BadInput);
        }
    }
}

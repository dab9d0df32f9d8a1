//! A file of a transaction while it is written.

use std::ffi::OsStr;
use std::fs::{File, Permissions};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::flusher::{FlushMode, Flusher};
use super::folder::{self, Folder};
use super::interrupt::{Stop, interrupt};
use super::temporary::Temporary;
use super::{Durability, Error, Role, Settings};
use crate::platform::{self, FileType};

/// Small writes are gathered up to this size and large ones cut into pieces of it: for a longer write the kernel looks
/// for larger pages, which on a machine whose memory is in pieces takes several times as long as the copy itself. They
/// are cut at multiples of it, where the kernel can take one page for all of a piece.
const PIECE: usize = 128 << 10;

/// Files that grow beyond this are flushed in the background, if they must be on the disk at the end.
const SYNC_FROM: u64 = 64 << 20;

/// Others are sent to the disk from here on, without waiting: so much the system would write at once, and slowly.
const WRITEBACK_FROM: u64 = 1 << 30;

/// Files from this size on get their place on the disk before they are written, which is a third cheaper than getting
/// it piece by piece.
const RESERVE_FROM: u64 = 1 << 20;

/// A new file, written from front to back. It gets its name when the transaction commits; dropped, it vanishes.
#[derive(Debug)]
pub struct OutputFile {
    file: Arc<File>,
    folder: Arc<Folder>,
    temporary: Temporary,
    target: PathBuf,
    role: Role,
    durability: Durability,
    stop: Stop,
    /// Written to the file, or promised by [`OutputFile::allocate`].
    written: u64,
    /// Of what was promised: bytes that nobody has written yet.
    missing: Arc<AtomicU64>,
    /// What comes after `written` and is not in the file yet.
    buffer: Vec<u8>,
    /// How long the file was made by [`OutputFile::reserve`].
    reserved: u64,
    flusher: Option<Flusher>,
}

impl OutputFile {
    /// Checks the target and makes a temporary beside it.
    pub(super) fn create(
        folder: &Arc<Folder>,
        target: &Path,
        role: Role,
        settings: Settings,
        stop: Stop,
    ) -> Result<OutputFile, Error> {
        let name = folder::file_name(target)?;
        let old_permissions = check_target(folder, target, settings.overwrite)?;
        let failed = |error| Error::of_write(target, error);
        if !interrupt().begin_work() {
            return Err(Error::Stopped { path: target.into() });
        }
        let (temporary, file) = Temporary::create(folder, name).map_err(failed)?;
        if let Some(permissions) = old_permissions {
            platform::set_permissions(&file, permissions).map_err(failed)?;
        }
        Ok(OutputFile {
            file: Arc::new(file),
            folder: folder.clone(),
            temporary,
            target: target.into(),
            role,
            durability: settings.durability,
            stop,
            written: 0,
            missing: Arc::default(),
            buffer: Vec::new(),
            reserved: 0,
            flusher: None,
        })
    }

    /// Where the file will be.
    pub fn target(&self) -> &Path {
        &self.target
    }

    /// The name that the file has until the commit, in the folder of the target.
    pub fn temporary_name(&self) -> &OsStr {
        self.temporary.name()
    }

    /// Number of bytes so far.
    pub fn position(&self) -> u64 {
        self.written + self.buffer.len() as u64
    }

    /// Takes the place on the disk that `length` bytes need, so that a disk that is too small is known at once. File
    /// systems that cannot do that take it as the file grows.
    pub fn reserve(&mut self, length: u64) -> Result<(), Error> {
        if length < RESERVE_FROM {
            return Ok(());
        }
        let is_reserved = platform::reserve(&self.file, length);
        if is_reserved.map_err(|error| Error::of_write(&self.target, error))? {
            self.reserved = length;
        }
        Ok(())
    }

    pub fn write_all(&mut self, bytes: &[u8]) -> Result<(), Error> {
        if self.buffer.len() + bytes.len() <= PIECE {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        self.flush_buffer()?;
        if bytes.len() < PIECE {
            self.buffer.extend_from_slice(bytes);
            return Ok(());
        }
        let start = self.written;
        self.written += bytes.len() as u64;
        self.writer().put(start, bytes)?;
        self.completed(bytes.len() as u64);
        Ok(())
    }

    /// Fills up with zeros to the next multiple of `alignment`.
    pub fn align(&mut self, alignment: u64) -> Result<(), Error> {
        const ZEROS: [u8; 64] = [0; 64];
        let mut missing = self.position().next_multiple_of(alignment.max(1)) - self.position();
        while missing > 0 {
            let part = missing.min(ZEROS.len() as u64);
            self.write_all(ZEROS.get(..part as usize).unwrap_or_default())?;
            missing -= part;
        }
        Ok(())
    }

    /// Skips `length` bytes that the caller fills through a [`Writer`] and reports with
    /// [`OutputFile::completed`]. Returns where they start.
    pub(crate) fn allocate(&mut self, length: u64) -> Result<u64, Error> {
        self.flush_buffer()?;
        let start = self.written;
        self.written += length;
        self.missing.fetch_add(length, Ordering::Relaxed);
        Ok(start)
    }

    /// Writes into allocated ranges, also from other threads. The file can be finished once all writers are gone.
    pub(crate) fn writer(&self) -> Writer {
        Writer {
            file: self.file.clone(),
            target: self.target.as_path().into(),
            stop: self.stop.clone(),
            missing: self.missing.clone(),
        }
    }

    /// Tells that bytes of an allocated range are written or about to be, so that they can go to the disk.
    pub(crate) fn completed(&mut self, bytes: u64) {
        if self.flusher.is_none() {
            let (from, mode) = match self.durability {
                Durability::ProcessCrash => (WRITEBACK_FROM, FlushMode::StartWriteback),
                Durability::PowerLoss | Durability::WhereReplacing => (SYNC_FROM, FlushMode::Sync),
            };
            if self.written >= from {
                self.flusher = Flusher::start(self.file.clone(), mode, self.written - bytes);
            }
        }
        if let Some(flusher) = &self.flusher {
            flusher.completed(bytes);
        }
    }

    fn flush_buffer(&mut self) -> Result<(), Error> {
        let start = self.written;
        self.written += self.buffer.len() as u64;
        let buffer = std::mem::take(&mut self.buffer);
        self.writer().put(start, &buffer)?;
        self.completed(buffer.len() as u64);
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    /// Everything is in the file and, by its durability, on the disk.
    pub(super) fn finish(mut self) -> Result<FinishedFile, Error> {
        self.flush_buffer()?;
        let missing = self.missing.load(Ordering::Relaxed);
        if self.reserved > self.written {
            platform::set_length(&self.file, self.written)
                .map_err(|source| Error::of_write(&self.target, source))?;
        }
        let flushed = self.flusher.take().map_or(Ok(()), Flusher::finish);
        let outcome = flushed.and_then(|()| match self.durability {
            _ if Arc::strong_count(&self.file) > 1 => Err(io::Error::other("it is still being written")),
            _ if missing > 0 => Err(io::Error::other(format!("{missing} of its bytes were never written"))),
            Durability::ProcessCrash => Ok(()),
            Durability::PowerLoss | Durability::WhereReplacing => platform::sync_data(&self.file),
        });
        outcome.map_err(|source| Error::of_write(&self.target, source))?;
        Ok(FinishedFile {
            file: self.file,
            folder: self.folder,
            temporary: self.temporary,
            target: self.target,
            role: self.role,
            bytes: self.written,
        })
    }
}

/// A way to write into a file from several threads.
#[derive(Clone, Debug)]
pub(crate) struct Writer {
    file: Arc<File>,
    target: Arc<Path>,
    stop: Stop,
    missing: Arc<AtomicU64>,
}

impl Writer {
    /// The file itself, for copies inside the kernel into an allocated range, which [`Writer::filled`] reports.
    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// Tells of bytes that were written into an allocated range by other ways than [`Writer::write_at`].
    pub(crate) fn filled(&self, bytes: u64) {
        self.missing.fetch_sub(bytes, Ordering::Relaxed);
    }

    /// An error once somebody wants no more of it.
    pub(crate) fn check_stop(&self) -> Result<(), Error> {
        self.stop.check(&self.target)
    }

    /// Writes into an allocated range.
    pub(crate) fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.put(offset, bytes)?;
        self.filled(bytes.len() as u64);
        Ok(())
    }

    fn put(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let (mut at, mut rest) = (offset, bytes);
        while !rest.is_empty() {
            self.check_stop()?;
            let to_multiple = PIECE - (at % PIECE as u64) as usize;
            let (piece, after) = rest.split_at(to_multiple.min(rest.len()));
            platform::write_all_at(&self.file, piece, at)
                .map_err(|source| Error::of_write(&self.target, source))?;
            at += piece.len() as u64;
            rest = after;
        }
        Ok(())
    }
}

/// A complete file under its temporary name.
#[derive(Debug)]
pub(super) struct FinishedFile {
    /// Stays open: its lock tells that the temporary is alive.
    pub file: Arc<File>,
    pub folder: Arc<Folder>,
    pub temporary: Temporary,
    pub target: PathBuf,
    pub role: Role,
    pub bytes: u64,
}

/// Whether `target` may be written; the permissions of the file that it replaces.
pub(super) fn check_target(
    folder: &Folder,
    target: &Path,
    overwrite: bool,
) -> Result<Option<Permissions>, Error> {
    let name = folder::file_name(target)?;
    let Some(status) = folder.status(name).map_err(|error| Error::of_write(target, error))? else {
        return Ok(None);
    };
    if status.file_type != FileType::Regular {
        return Err(Error::NotRegular { path: target.into(), what: status.file_type.describe() });
    }
    if !overwrite {
        return Err(Error::Exists { path: target.into() });
    }
    Ok(Some(status.permissions))
}

//! A file of a transaction while it is written.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use rustix::fs::{FileType, Mode};

use super::flusher::{Flusher, Manner};
use super::folder::{self, Folder};
use super::temporary::Temporary;
use super::{Durability, Error, Role, Settings};

/// Small writes are gathered up to this size and large ones cut into pieces of it: for a longer write the kernel looks
/// for larger pages, which on a machine whose memory is in pieces takes several times as long as the copy itself.
const PIECE: usize = 128 << 10;

/// Files that grow beyond this are flushed in the background, if they must be on the disk at the end.
const FLUSH_FROM: u64 = 64 << 20;

/// Others are sent to the disk from here on, without waiting: so much the system would write at once, and slowly.
const SEND_FROM: u64 = 1 << 30;

/// A new file, written from front to back. It gets its name when the transaction commits; dropped, it vanishes.
#[derive(Debug)]
pub struct OutputFile {
    file: Arc<File>,
    folder: Arc<Folder>,
    temporary: Temporary,
    target: PathBuf,
    role: Role,
    durability: Durability,
    stop: Option<Arc<AtomicBool>>,
    /// Written to the file, or promised by [`OutputFile::allocate`].
    written: u64,
    /// What comes after `written` and is not in the file yet.
    buffer: Vec<u8>,
    flusher: Option<Flusher>,
}

impl OutputFile {
    /// Checks the target and makes a temporary beside it.
    pub(super) fn create(
        folder: &Arc<Folder>,
        target: &Path,
        role: Role,
        settings: Settings,
        stop: Option<Arc<AtomicBool>>,
    ) -> Result<OutputFile, Error> {
        let name = folder::file_name(target)?;
        let old_mode = check_target(folder, target, settings.overwrite)?;
        let (temporary, file) =
            Temporary::create(folder, name).map_err(|errno| Error::of_write(target, errno))?;
        if let Some(mode) = old_mode {
            rustix::fs::fchmod(&file, mode).map_err(|errno| Error::of_write(target, errno))?;
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
            buffer: Vec::new(),
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
        self.write_at(start, bytes)?;
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

    /// Skips `length` bytes that the caller fills through a [`Writer`] or with [`OutputFile::write_at`], and
    /// reports with [`OutputFile::completed`]. Returns where they start.
    pub(crate) fn allocate(&mut self, length: u64) -> Result<u64, Error> {
        self.flush_buffer()?;
        let start = self.written;
        self.written += length;
        Ok(start)
    }

    /// Writes into an allocated range.
    pub(crate) fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        self.writer().write_at(offset, bytes)
    }

    /// Writes into allocated ranges, also from other threads. The file can be finished once all writers are gone.
    pub(crate) fn writer(&self) -> Writer {
        Writer { file: self.file.clone(), target: self.target.as_path().into(), stop: self.stop.clone() }
    }

    /// Tells that bytes of an allocated range are written or about to be, so that they can go to the disk.
    pub(crate) fn completed(&mut self, bytes: u64) {
        if self.flusher.is_none() {
            let (from, manner) = match self.durability {
                Durability::ProcessCrash => (SEND_FROM, Manner::Send),
                Durability::PowerLoss | Durability::WhereReplacing => (FLUSH_FROM, Manner::Flush),
            };
            if self.written >= from {
                self.flusher = Flusher::start(self.file.clone(), manner, self.written - bytes);
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
        self.write_at(start, &buffer)?;
        self.completed(buffer.len() as u64);
        self.buffer = buffer;
        self.buffer.clear();
        Ok(())
    }

    /// Everything is in the file and, by its durability, on the disk.
    pub(super) fn finish(mut self) -> Result<FinishedFile, Error> {
        self.flush_buffer()?;
        let flushed = self.flusher.take().map_or(Ok(()), Flusher::finish);
        let outcome = flushed.and_then(|()| match self.durability {
            _ if Arc::strong_count(&self.file) > 1 => Err(io::Error::other("it is still being written")),
            Durability::ProcessCrash => Ok(()),
            Durability::PowerLoss | Durability::WhereReplacing => self.file.sync_data(),
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
    stop: Option<Arc<AtomicBool>>,
}

impl Writer {
    /// The file itself, for copies inside the kernel into an allocated range.
    pub fn file(&self) -> &File {
        &self.file
    }

    /// An error once somebody wants no more of it.
    pub fn check_stop(&self) -> Result<(), Error> {
        match &self.stop {
            Some(flag) if flag.load(Ordering::Relaxed) => {
                Err(Error::Stopped { path: self.target.to_path_buf() })
            }
            _ => Ok(()),
        }
    }

    /// Writes into an allocated range.
    pub fn write_at(&self, offset: u64, bytes: &[u8]) -> Result<(), Error> {
        let mut at = offset;
        for piece in bytes.chunks(PIECE) {
            self.check_stop()?;
            self.file.write_all_at(piece, at).map_err(|source| Error::of_write(&self.target, source))?;
            at += piece.len() as u64;
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

impl FinishedFile {
    pub fn target_name(&self) -> Result<&OsStr, Error> {
        folder::file_name(&self.target)
    }
}

/// Whether `target` may be written; the permissions of the file that it replaces.
pub(super) fn check_target(folder: &Folder, target: &Path, overwrite: bool) -> Result<Option<Mode>, Error> {
    let name = folder::file_name(target)?;
    let Some(stat) = folder.stat(name).map_err(|errno| Error::of_write(target, errno))? else {
        return Ok(None);
    };
    let file_type = FileType::from_raw_mode(stat.st_mode);
    if file_type != FileType::RegularFile {
        return Err(Error::NotRegular { path: target.into(), what: crate::source::type_in_words(file_type) });
    }
    if !overwrite {
        return Err(Error::Exists { path: target.into() });
    }
    Ok(Some(Mode::from_raw_mode(stat.st_mode) & (Mode::RWXU | Mode::RWXG | Mode::RWXO)))
}

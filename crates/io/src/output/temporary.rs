//! Temporaries: recognisable by name, locked while their process lives, removed when it is done or dead.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::os::unix::ffi::{OsStrExt, OsStringExt};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::FlockOperation;
use rustix::io::{Errno, Result};

use super::folder::Folder;
use super::journal;

/// How the name of every temporary ends.
pub(super) const SUFFIX: &str = ".modelexport-tmp";

/// Leaves room for the rest of the name within the 255 bytes that file systems allow.
const LONGEST_STEM: usize = 180;

/// How often another name is tried when one is taken.
const ATTEMPTS: usize = 100;

/// A file under a temporary name. Dropping it removes the name, unless [`Temporary::keep`] was called.
#[derive(Debug)]
pub(super) struct Temporary {
    folder: Arc<Folder>,
    name: OsString,
    is_kept: bool,
}

impl Temporary {
    /// Makes and locks a file for `target_name`.
    pub fn create(folder: &Arc<Folder>, target_name: &OsStr) -> Result<(Temporary, File)> {
        for _ in 0..ATTEMPTS {
            let name = fresh_name(target_name);
            let file = match folder.create(&name) {
                Err(Errno::EXIST) => continue,
                result => result?,
            };
            let temporary = Temporary { folder: folder.clone(), name, is_kept: false };
            // A sweep that comes between creation and lock takes the file for a leftover: it holds the lock, or has
            // removed the name by now.
            match lock(&file) {
                Err(Errno::WOULDBLOCK) => continue,
                result => result?,
            }
            if folder.holds(&temporary.name, &file)? {
                return Ok((temporary, file));
            }
        }
        Err(Errno::EXIST)
    }

    /// A second name for the same file.
    pub fn link(&self, target_name: &OsStr) -> Result<Temporary> {
        let name = fresh_name(target_name);
        self.folder.link(&self.name, &name)?;
        Ok(Temporary { folder: self.folder.clone(), name, is_kept: false })
    }

    pub fn name(&self) -> &OsStr {
        &self.name
    }

    /// Leaves the name alone from now on.
    pub fn keep(&mut self) {
        self.is_kept = true;
    }
}

impl Drop for Temporary {
    fn drop(&mut self) {
        if !self.is_kept {
            // Nothing better can be done than to leave the file to the next sweep.
            let _ = self.folder.remove(&self.name);
        }
    }
}

/// Locks a file for as long as it is open. File systems without locks cost the sweep, not the output.
fn lock(file: &File) -> Result<()> {
    match rustix::fs::flock(file, FlockOperation::NonBlockingLockExclusive) {
        Err(Errno::NOLCK | Errno::NOSYS | Errno::OPNOTSUPP | Errno::INVAL) => Ok(()),
        result => result,
    }
}

/// Opens a leftover of this user whose process is dead, and locks it. `None`: it is alive, gone, or not ours.
pub(super) fn open_leftover(folder: &Folder, name: &OsStr) -> Result<Option<File>> {
    let file = match folder.open(name) {
        Ok(file) => file,
        Err(Errno::NOENT | Errno::LOOP | Errno::ACCESS | Errno::PERM | Errno::NXIO) => return Ok(None),
        Err(errno) => return Err(errno),
    };
    let stat = rustix::fs::fstat(&file)?;
    let is_file = rustix::fs::FileType::from_raw_mode(stat.st_mode).is_file();
    // In a folder that many can write to, nobody may make us rename or remove files by a name of theirs.
    if !is_file || stat.st_uid != rustix::process::geteuid().as_raw() {
        return Ok(None);
    }
    match rustix::fs::flock(&file, FlockOperation::NonBlockingLockExclusive) {
        Ok(()) => Ok(folder.holds(name, &file)?.then_some(file)),
        Err(_) => Ok(None),
    }
}

/// Removes the temporaries that dead processes left in `folder`, unless a commit that needs them is listed there.
pub(super) fn sweep(folder: &Folder) -> Result<()> {
    for name in folder.hidden_files(SUFFIX)? {
        let Some(_lock) = open_leftover(folder, &name)? else { continue };
        // Asked with the lock in hand: an owner that died during its commit left a list before it let go.
        if journal::is_any_listed(folder)? {
            return Ok(());
        }
        folder.remove(&name)?;
    }
    Ok(())
}

fn fresh_name(target_name: &OsStr) -> OsString {
    static COUNTER: AtomicU64 = AtomicU64::new(0);
    let count = COUNTER.fetch_add(1, Ordering::Relaxed);
    let process = std::process::id();
    let clock = std::time::SystemTime::UNIX_EPOCH.elapsed().map_or(0, |elapsed| elapsed.subsec_nanos());
    let mut name = b".".to_vec();
    let stem = target_name.as_bytes();
    name.extend_from_slice(stem.get(..LONGEST_STEM).unwrap_or(stem));
    name.extend_from_slice(format!(".{process:x}-{count:x}-{clock:x}{SUFFIX}").as_bytes());
    OsString::from_vec(name)
}

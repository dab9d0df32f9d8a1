//! Temporaries: recognisable by name, locked while their process lives, removed when it is done or dead.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::folder::Folder;
use super::journal;
use crate::platform::{self, FileType, Lock};

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
    pub(super) fn create(folder: &Arc<Folder>, target_name: &OsStr) -> io::Result<(Temporary, File)> {
        for _ in 0..ATTEMPTS {
            let name = fresh_name(target_name);
            let file = match folder.create(&name) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => continue,
                result => result?,
            };
            let temporary = Temporary { folder: folder.clone(), name, is_kept: false };
            // A sweep that comes between creation and lock takes the file for a leftover: it holds the lock, or has
            // removed the name by now.
            // File systems without locks cost the sweep, not the output.
            if platform::try_lock(&file)? == Lock::Taken {
                continue;
            }
            if folder.holds(&temporary.name, &file)? {
                return Ok((temporary, file));
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// A second name for the same file; `None` if the file system has no hard links.
    pub(super) fn link(&self, target_name: &OsStr) -> io::Result<Option<Temporary>> {
        let name = fresh_name(target_name);
        let is_linked = self.folder.link(&self.name, &name)?;
        Ok(is_linked.then(|| Temporary { folder: self.folder.clone(), name, is_kept: false }))
    }

    pub(super) fn name(&self) -> &OsStr {
        &self.name
    }

    /// Leaves the name alone from now on.
    pub(super) fn keep(&mut self) {
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

/// Opens a leftover of this user whose process is dead, and locks it. `None`: it is alive, gone, or not ours.
pub(super) fn open_leftover(folder: &Folder, name: &OsStr) -> io::Result<Option<File>> {
    let Some(file) = folder.open_file(name)? else { return Ok(None) };
    let status = platform::status(&file)?;
    // In a folder that many can write to, nobody may make us rename or remove files by a name of theirs.
    if status.file_type != FileType::Regular || !status.is_own {
        return Ok(None);
    }
    match platform::try_lock(&file) {
        Ok(Lock::Acquired) => Ok(folder.holds(name, &file)?.then_some(file)),
        _ => Ok(None),
    }
}

/// Removes the temporaries that dead processes left in `folder`, unless a commit that needs them is listed there.
pub(super) fn sweep(folder: &Folder) -> io::Result<()> {
    for name in folder.hidden_files(SUFFIX)? {
        let Some(_lock) = open_leftover(folder, &name)? else { continue };
        // Asked with the lock in hand: an owner that died during its commit left a list before it let go.
        if journal::has_journal(folder)? {
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
    let mut name = OsString::from(".");
    name.push(platform::truncated(target_name, LONGEST_STEM));
    name.push(format!(".{process:x}-{count:x}-{clock:x}{SUFFIX}"));
    name
}

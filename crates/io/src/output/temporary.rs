//! Temporaries: named after their target, locked while their process lives, removed when it is done.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::hash::{BuildHasher, DefaultHasher, Hash, Hasher, RandomState};
use std::io;
use std::sync::Arc;

use super::folder::Folder;
use crate::platform::{self, FileType, Lock};

/// How the name of every temporary ends.
const SUFFIX: &str = ".modelexport-tmp";

/// Leaves room for the rest of the name within the 255 bytes that file systems allow.
const LONGEST_STEM: usize = 180;

/// How often another name is tried when one is taken, and how often a name is removed that does not go.
const ATTEMPTS: usize = 10;

/// A temporary name, with a file or without. Dropping it removes the file, unless [`Temporary::keep`] was called.
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
            // Between creation and lock, another writer of the target may take the file for a leftover: it holds the
            // lock, or has removed the name by now. File systems without locks cost the sweep, not the output.
            if platform::try_lock(&file)? != Lock::Taken && folder.holds(&temporary.name, &file)? {
                return Ok((temporary, file));
            }
        }
        Err(io::ErrorKind::AlreadyExists.into())
    }

    /// A name that no file has yet.
    pub(super) fn unused(folder: &Arc<Folder>, target_name: &OsStr) -> Temporary {
        Temporary { folder: folder.clone(), name: fresh_name(target_name), is_kept: false }
    }

    /// A second name for the file at `name`; `None` if the file system has no hard links.
    pub(super) fn link(
        folder: &Arc<Folder>,
        name: &OsStr,
        target_name: &OsStr,
    ) -> io::Result<Option<Temporary>> {
        let link = Temporary::unused(folder, target_name);
        Ok(folder.link(name, &link.name)?.then_some(link))
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
            // What cannot be removed is left to the next writer of the target.
            let _ = (0..ATTEMPTS).find(|_| self.folder.remove(&self.name).is_ok());
        }
    }
}

/// Removes the temporaries of `targets` that dead processes left in `folder`. Only while the folder is locked and the
/// targets are complete: a model that was being replaced may read one of them.
pub(super) fn sweep(folder: &Folder, targets: &[&OsStr]) -> io::Result<()> {
    for name in folder.file_names()? {
        if targets.iter().any(|target| is_temporary_of(&name, target))
            && let Some(_lock) = open_leftover(folder, &name)?
        {
            folder.remove(&name)?;
        }
    }
    Ok(())
}

/// Opens a leftover of this user whose process is dead, and locks it. `None`: it is alive, gone, or not ours.
fn open_leftover(folder: &Folder, name: &OsStr) -> io::Result<Option<File>> {
    let Some(file) = folder.open_file(name)? else { return Ok(None) };
    let status = platform::status(&file)?;
    // In a folder that many can write to, nobody may make us remove files of theirs.
    let is_ours = status.file_type == FileType::Regular && status.is_own;
    let is_dead = is_ours && platform::try_lock(&file)? == Lock::Acquired && folder.holds(name, &file)?;
    Ok(is_dead.then_some(file))
}

/// `.{target}.{16 random digits}.modelexport-tmp`. Nobody can know the name before.
fn fresh_name(target_name: &OsStr) -> OsString {
    let mut name = stem(target_name);
    // Its keys come from the system's random numbers.
    name.push(format!("{:016x}{SUFFIX}", RandomState::new().hash_one(0)));
    name
}

fn is_temporary_of(name: &OsStr, target_name: &OsStr) -> bool {
    let stem = stem(target_name);
    let rest = name.as_encoded_bytes().strip_prefix(stem.as_encoded_bytes());
    let digits = rest.and_then(|rest| rest.strip_suffix(SUFFIX.as_bytes()));
    digits.is_some_and(|digits| digits.len() == 16 && digits.iter().all(u8::is_ascii_hexdigit))
}

/// How the names of all temporaries of a target begin. A long name is cut, and told from others by its hash.
fn stem(target_name: &OsStr) -> OsString {
    let mut stem = OsString::from(".");
    let start = platform::truncated(target_name, LONGEST_STEM);
    stem.push(&start);
    if start != target_name {
        let mut hasher = DefaultHasher::new();
        target_name.hash(&mut hasher);
        stem.push(format!("~{:016x}", hasher.finish()));
    }
    stem.push(".");
    stem
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_temporary_belongs_to_one_target() {
        let long = ["n".repeat(250) + "1", "n".repeat(250) + "2"];
        let targets = ["m.onnx", "m.onnx.data", "m", &long[0], &long[1]].map(OsStr::new);
        for target in targets {
            let name = fresh_name(target);
            assert!(name.len() <= 255);
            assert_ne!(name, fresh_name(target));
            let owners: Vec<_> = targets.iter().filter(|other| is_temporary_of(&name, other)).collect();
            assert_eq!(owners, [&target]);
        }
    }

    #[test]
    fn names_that_only_look_like_a_temporary_are_none() {
        for name in [
            ".m.modelexport-tmp",
            ".m.0123456789abcde.modelexport-tmp",
            ".m.0123456789abcdefa.modelexport-tmp",
            ".m.0123456789abcdeg.modelexport-tmp",
            ".m.0123456789abcdef.modelexport-tmp2",
            "m.0123456789abcdef.modelexport-tmp",
        ] {
            assert!(!is_temporary_of(OsStr::new(name), OsStr::new("m")), "{name}");
        }
        assert!(is_temporary_of(OsStr::new(".m.0123456789abcdef.modelexport-tmp"), OsStr::new("m")));
    }
}

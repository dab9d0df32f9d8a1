//! The list of renames that a commit of several files consists of, kept beside the target while it runs.
//!
//! The list appears under its name complete, after all the files that it mentions: whoever finds it there without a
//! living owner can finish the commit. It also keeps two commits of one target apart.
//!
//! Format: fields that end in NUL (names may hold anything else): a header, then `move FROM TO`, `place FROM TO`
//! (only if nothing stands there), `remove NAME` or `sync`, and `end`.

use std::ffi::{OsStr, OsString};
use std::fs::File;
use std::io::{self, Read};
use std::sync::Arc;
use std::time::{Duration, Instant};

use super::folder::Folder;
use super::temporary::{self, Temporary};
use super::{Durability, Error};
use crate::platform;

/// How the name of every list ends.
const SUFFIX: &str = ".modelexport-commit";
const HEADER: &str = "modelexport commit 1";
/// More than any list needs: some twenty names.
const MAX_JOURNAL_BYTES: u64 = 64 << 10;
/// Time to wait for another commit of the same target; one takes milliseconds.
const COMMIT_TIMEOUT: Duration = if cfg!(test) { Duration::from_millis(50) } else { Duration::from_secs(5) };

/// Leaves room for the rest of the name within the 255 bytes that file systems allow.
const LONGEST_STEM: usize = 200;

/// One step of a commit. All names are in one folder.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Step {
    /// Rename, replacing what is there.
    Rename {
        from: OsString,
        to: OsString,
    },
    /// Rename if nothing is there.
    RenameNew {
        from: OsString,
        to: OsString,
    },
    Remove {
        name: OsString,
    },
    /// All steps so far are durable before the next.
    Sync,
}

impl Step {
    pub(super) fn apply(&self, folder: &Folder, durability: Durability) -> io::Result<()> {
        match self {
            Step::Rename { from, to } => folder.rename(from, to),
            Step::RenameNew { from, to } => folder.rename_new(from, to),
            Step::Remove { name } => folder.remove(name),
            Step::Sync if durability == Durability::PowerLoss => folder.sync(),
            Step::Sync => Ok(()),
        }
    }
}

/// The list of a running commit. Dropped without [`Journal::finish`], it stays for a later recovery.
pub(super) struct Journal {
    folder: Arc<Folder>,
    name: OsString,
    /// Its lock tells that the commit is alive.
    _file: File,
}

impl Journal {
    /// Puts the list beside `target_name`, after any other commit of the same target.
    pub(super) fn start(
        folder: &Arc<Folder>,
        target_name: &OsStr,
        steps: &[Step],
        durability: Durability,
    ) -> Result<Journal, Error> {
        let name = journal_name(target_name);
        let path = folder.path_of(&name);
        let failed = |error: io::Error| Error::of_write(&path, error);
        let (mut temporary, file) = Temporary::create(folder, target_name).map_err(failed)?;
        platform::write_all_at(&file, &encode(steps), 0)
            .and_then(|()| if durability == Durability::PowerLoss { file.sync_data() } else { Ok(()) })
            .map_err(failed)?;
        let started = Instant::now();
        loop {
            match folder.rename_new(temporary.name(), &name) {
                Ok(()) => break,
                Err(error) if error.kind() != io::ErrorKind::AlreadyExists => return Err(failed(error)),
                Err(_) if started.elapsed() > COMMIT_TIMEOUT => {
                    return Err(Error::Busy { path: folder.path_of(target_name) });
                }
                Err(_) => {
                    recover_one(folder, &name)?;
                    std::thread::sleep(Duration::from_millis(2));
                }
            }
        }
        temporary.keep();
        let journal = Journal { folder: folder.clone(), name, _file: file };
        Step::Sync.apply(folder, durability).map_err(failed)?;
        Ok(journal)
    }

    /// The commit is complete, or was undone.
    pub(super) fn finish(self) -> io::Result<()> {
        self.folder.remove(&self.name)
    }
}

/// Finishes what dead processes began in `folder`.
pub(super) fn recover(folder: &Folder) -> Result<(), Error> {
    let names = folder.hidden_files(SUFFIX);
    let names = names.map_err(|error| Error::of_write(&folder.path_of(OsStr::new("")), error))?;
    names.iter().try_for_each(|name| recover_one(folder, name))
}

/// Whether a commit is listed in `folder`, under way or interrupted.
pub(super) fn has_journal(folder: &Folder) -> io::Result<bool> {
    Ok(!folder.hidden_files(SUFFIX)?.is_empty())
}

fn recover_one(folder: &Folder, name: &OsStr) -> Result<(), Error> {
    let failed = |reason: String| Error::Recovery { path: folder.path_of(name), reason };
    let Some(file) = temporary::open_leftover(folder, name).map_err(|error| failed(error.to_string()))?
    else {
        return Ok(());
    };
    let mut bytes = Vec::new();
    file.take(MAX_JOURNAL_BYTES).read_to_end(&mut bytes).map_err(|error| failed(error.to_string()))?;
    let steps =
        decode(&bytes).ok_or_else(|| failed("not a list that modelexport wrote; remove it".into()))?;
    for step in &steps {
        match (step, step.apply(folder, Durability::PowerLoss)) {
            // Done before the interruption.
            (_, Err(error)) if error.kind() == io::ErrorKind::NotFound => Ok(()),
            // Someone made the file meanwhile; theirs stays.
            (Step::RenameNew { from, .. }, Err(error)) if error.kind() == io::ErrorKind::AlreadyExists => {
                folder.remove(from)
            }
            (_, result) => result,
        }
        .map_err(|error| failed(error.to_string()))?;
    }
    folder.remove(name).map_err(|error| failed(error.to_string()))
}

fn journal_name(target_name: &OsStr) -> OsString {
    let mut name = OsString::from(".");
    name.push(platform::truncated(target_name, LONGEST_STEM));
    name.push(SUFFIX);
    name
}

fn encode(steps: &[Step]) -> Vec<u8> {
    let mut fields: Vec<&[u8]> = vec![HEADER.as_bytes()];
    for step in steps {
        match step {
            Step::Rename { from, to } => {
                fields.extend([b"move", from.as_encoded_bytes(), to.as_encoded_bytes()])
            }
            Step::RenameNew { from, to } => {
                fields.extend([b"place", from.as_encoded_bytes(), to.as_encoded_bytes()])
            }
            Step::Remove { name } => fields.extend([b"remove".as_slice(), name.as_encoded_bytes()]),
            Step::Sync => fields.push(b"sync"),
        }
    }
    fields.push(b"end");
    let mut bytes = Vec::new();
    for field in fields {
        bytes.extend_from_slice(field);
        bytes.push(0);
    }
    bytes
}

fn decode(bytes: &[u8]) -> Option<Vec<Step>> {
    let mut fields = bytes.strip_suffix(b"\0")?.split(|&byte| byte == 0);
    if fields.next()? != HEADER.as_bytes() {
        return None;
    }
    let mut steps = Vec::new();
    loop {
        let step = match fields.next()? {
            b"move" => {
                Step::Rename { from: temporary_name(fields.next()?)?, to: plain_name(fields.next()?)? }
            }
            b"place" => {
                Step::RenameNew { from: temporary_name(fields.next()?)?, to: plain_name(fields.next()?)? }
            }
            b"remove" => Step::Remove { name: temporary_name(fields.next()?)? },
            b"sync" => Step::Sync,
            b"end" => return fields.next().is_none().then_some(steps),
            _ => return None,
        };
        steps.push(step);
    }
}

/// A name in the folder itself.
fn plain_name(bytes: &[u8]) -> Option<OsString> {
    let is_separator = |byte: &u8| std::path::is_separator((*byte).into());
    let is_plain = !bytes.is_empty() && bytes != b"." && bytes != b".." && !bytes.iter().any(is_separator);
    platform::os_string(bytes).filter(|_| is_plain)
}

fn temporary_name(bytes: &[u8]) -> Option<OsString> {
    plain_name(bytes).filter(|_| bytes.ends_with(temporary::SUFFIX.as_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn temporary(stem: &str) -> OsString {
        format!(".{stem}{}", temporary::SUFFIX).into()
    }

    #[test]
    fn a_list_reads_back_as_it_was_written() {
        let steps = [
            Step::Rename { from: temporary("a"), to: "a\nb".into() },
            Step::Sync,
            Step::RenameNew { from: temporary("b"), to: platform::os_string(b"\xff").unwrap_or("c".into()) },
            Step::Remove { name: temporary("c") },
        ];
        assert_eq!(decode(&encode(&steps)).unwrap(), steps);
    }

    #[test]
    fn a_list_cannot_reach_out_of_its_folder_or_take_other_files() {
        for (from, to) in [
            (temporary("a"), "../a".into()),
            (temporary("a"), "..".into()),
            (temporary("a"), "".into()),
            ("../x.modelexport-tmp".into(), "a".into()),
            ("plain".into(), OsString::from("a")),
        ] {
            assert_eq!(decode(&encode(&[Step::Rename { from, to }])), None);
        }
    }

    #[test]
    fn a_list_that_is_cut_short_is_no_list() {
        let bytes = encode(&[Step::Rename { from: temporary("a"), to: "a".into() }, Step::Sync]);
        for end in 0..bytes.len() {
            assert_eq!(decode(&bytes[..end]), None, "{end}");
        }
    }
}

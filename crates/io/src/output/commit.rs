//! The last part of a transaction: all files are complete, only names change. What a name stood for before is kept
//! until all have changed, so that an error or a stop puts it back.

use std::ffi::OsStr;
use std::fs::File;
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::folder::Folder;
use super::interrupt::Stop;
use super::temporary::Temporary;
use super::{Durability, Error, Role, Settings};
use crate::platform::FileType;

/// What happens to one target.
#[derive(Debug)]
pub(super) struct Change {
    folder: Arc<Folder>,
    target: PathBuf,
    role: Role,
    /// The file that takes the target's place; without one, the target goes.
    new: Option<(Temporary, Arc<File>)>,
    state: State,
}

/// What became of a target, and where that is which it stood for before.
#[derive(Debug)]
enum State {
    Unchanged,
    /// Nothing was there.
    Placed,
    /// Under the temporary name of the new file.
    Exchanged,
    /// Under a name of its own.
    SetAside(Temporary),
    /// Nowhere: the file system has neither a way to exchange names nor hard links.
    Replaced,
}

/// Makes all `changes` in their order, or none.
pub(super) fn run(
    changes: &mut [Change],
    model: &Path,
    settings: Settings,
    stop: &Stop,
) -> Result<(), Error> {
    let outcome = change_all(changes, model, settings, stop);
    outcome.map_err(|error| match put_back(changes, settings) {
        states if states.is_empty() => error,
        states => Error::HalfDone { source: Box::new(error), states },
    })
}

fn change_all(changes: &mut [Change], model: &Path, settings: Settings, stop: &Stop) -> Result<(), Error> {
    let mut rest = changes.iter_mut().peekable();
    while let Some(change) = rest.next() {
        stop.check(model)?;
        change.make(settings.overwrite).map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => Error::Exists { path: change.target.clone() },
            _ => Error::of_write(&change.target, error),
        })?;
        // A companion and what follows it in its folder may reach the disk in any order; nothing else may.
        let is_beside = |next: &&mut Change| Arc::ptr_eq(&next.folder, &change.folder);
        if change.role != Role::Companion || !rest.peek().is_some_and(is_beside) {
            change.sync(settings).map_err(|error| Error::of_write(&change.target, error))?;
        }
    }
    stop.check(model)
}

/// Undoes what was changed, the last first. Returns what is left as it should not be.
fn put_back(changes: &mut [Change], settings: Settings) -> Vec<(PathBuf, String)> {
    let mut states = Vec::new();
    for change in changes.iter_mut().rev() {
        match change.undo() {
            // Nothing better can be done for the order in which names come to the disk.
            Ok(()) => drop(change.sync(settings)),
            Err(error) => states.push((change.target.clone(), change.describe(&error))),
        }
    }
    if !states.is_empty() {
        changes.iter_mut().for_each(Change::keep_temporaries);
    }
    states
}

impl Change {
    pub(super) fn put(
        folder: &Arc<Folder>,
        target: &Path,
        role: Role,
        new: (Temporary, Arc<File>),
    ) -> Change {
        Change {
            folder: folder.clone(),
            target: target.into(),
            role,
            new: Some(new),
            state: State::Unchanged,
        }
    }

    pub(super) fn remove(folder: Arc<Folder>, target: PathBuf) -> Change {
        Change { folder, target, role: Role::Companion, new: None, state: State::Unchanged }
    }

    pub(super) fn role(&self) -> Role {
        self.role
    }

    /// The name of the target, if it is in this folder.
    pub(super) fn name_in(&self, folder: &Arc<Folder>) -> Option<&OsStr> {
        self.target.file_name().filter(|_| Arc::ptr_eq(&self.folder, folder))
    }

    fn make(&mut self, overwrite: bool) -> io::Result<()> {
        let name = self.target.file_name().unwrap_or_default();
        let Some((new, _)) = &self.new else {
            let aside = Temporary::unused(&self.folder, name);
            match self.folder.rename_new(name, aside.name()) {
                Err(error) if error.kind() == io::ErrorKind::NotFound => {}
                result => {
                    result?;
                    self.state = State::SetAside(aside);
                }
            }
            return Ok(());
        };
        match self.folder.rename_new(new.name(), name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && overwrite => {}
            result => {
                result?;
                self.state = State::Placed;
                return Ok(());
            }
        }
        if self.folder.exchange(new.name(), name)? {
            self.state = State::Exchanged;
            // A folder may have come to the name meanwhile.
            return match self.folder.status(new.name())?.map(|status| status.file_type) {
                Some(FileType::Regular) | None => Ok(()),
                Some(other) => Err(io::Error::other(format!("it is {}", other.describe()))),
            };
        }
        let old = Temporary::link(&self.folder, name, name)?;
        self.folder.rename(new.name(), name)?;
        self.state = old.map_or(State::Replaced, State::SetAside);
        Ok(())
    }

    fn undo(&mut self) -> io::Result<()> {
        let name = self.target.file_name().unwrap_or_default();
        match (&self.state, &self.new) {
            (State::Unchanged, _) => {}
            (State::SetAside(old), Some(_)) => self.folder.rename(old.name(), name)?,
            (State::SetAside(old), None) => self.folder.rename_new(old.name(), name)?,
            (State::Exchanged, Some((new, _))) if self.folder.exchange(new.name(), name)? => {}
            // Whatever else came to the name meanwhile is left alone.
            (State::Placed, Some((_, file))) => {
                if self.folder.holds(name, file)? {
                    self.folder.remove(name)?;
                }
            }
            _ => return Err(io::Error::other("the file system keeps no file that is replaced")),
        }
        self.state = State::Unchanged;
        Ok(())
    }

    /// For a change that could not be undone.
    fn describe(&self, error: &io::Error) -> String {
        let is_now = if self.new.is_some() { "is the new file" } else { "is gone" };
        let old = match (&self.state, &self.new) {
            (State::Placed, _) => "there was none before".to_owned(),
            (State::Exchanged, Some((old, _))) | (State::SetAside(old), _) => {
                format!("the old one is {}", self.folder.path_of(old.name()).display())
            }
            _ => "the old one is lost".to_owned(),
        };
        format!("{is_now}, {old} ({error})")
    }

    fn keep_temporaries(&mut self) {
        if let Some((new, _)) = &mut self.new {
            new.keep();
        }
        if let State::SetAside(old) = &mut self.state {
            old.keep();
        }
    }

    fn sync(&self, settings: Settings) -> io::Result<()> {
        match settings.durability {
            Durability::ProcessCrash => Ok(()),
            Durability::PowerLoss | Durability::WhereReplacing => self.folder.sync(),
        }
    }
}

//! The last part of a transaction: all files are complete, only names change.

use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::data_copy::DataCopy;
use super::file::FinishedFile;
use super::folder::{self, Folder};
use super::journal::{Journal, Step};
use super::transaction::CommittedFile;
use super::{Error, Role, Settings};

pub(super) struct Commit {
    /// The model's folder.
    folder: Arc<Folder>,
    model: PathBuf,
    settings: Settings,
    files: Vec<FinishedFile>,
    copies: Vec<DataCopy>,
    /// Renames outside the model's folder.
    elsewhere: Vec<(Arc<Folder>, Step)>,
    /// Everything inside it.
    steps: Vec<Step>,
}

impl Commit {
    /// Plans the steps for `files`, which are in the order of their roles. With `copies`, one for each data file in
    /// the model's folder, there is a bridge among the files.
    pub(super) fn new(
        folder: Arc<Folder>,
        model: &Path,
        settings: Settings,
        files: Vec<FinishedFile>,
        copies: Vec<DataCopy>,
    ) -> Result<Commit, Error> {
        let mut elsewhere = Vec::new();
        let [mut bridge, mut steps, mut cleanup] = [const { Vec::new() }; 3];
        let mut free_copies = copies.iter();
        let mut is_data_pending = false;
        for file in &files {
            let name = file.temporary.name().to_os_string();
            let to = file.target_name()?.to_os_string();
            let step = |from, to| match settings.overwrite {
                true => Step::Rename { from, to },
                false => Step::RenameNew { from, to },
            };
            if !Arc::ptr_eq(&file.folder, &folder) {
                elsewhere.push((file.folder.clone(), step(name, to)));
                continue;
            }
            match file.role {
                Role::Bridge => bridge.extend([step(name, to), Step::Sync]),
                Role::Data => {
                    is_data_pending = true;
                    match free_copies.next() {
                        Some(copy) => {
                            steps.push(step(copy.temporary.name().to_os_string(), to));
                            cleanup.push(Step::Remove { name });
                        }
                        None => steps.push(step(name, to)),
                    }
                }
                Role::Companion | Role::Model => {
                    // The model must not be on the disk before its data.
                    if std::mem::take(&mut is_data_pending) {
                        steps.push(Step::Sync);
                    }
                    steps.push(step(name, to));
                }
            }
        }
        let steps = [bridge, steps, vec![Step::Sync], cleanup].concat();
        Ok(Commit { folder, model: model.into(), settings, files, copies, elsewhere, steps })
    }

    /// Changes the names.
    pub(super) fn run(mut self) -> Result<Vec<CommittedFile>, Error> {
        for (folder, step) in &self.elsewhere {
            for step in [step, &Step::Sync] {
                step.apply(folder, self.settings.durability)
                    .map_err(|error| failure(folder, step, &self.model, error))?;
            }
        }
        let journal = self.start_journal()?;
        for (index, step) in self.steps.iter().enumerate() {
            let Err(error) = step.apply(&self.folder, self.settings.durability) else { continue };
            let failure = failure(&self.folder, step, &self.model, error);
            if matches!(failure, Error::Exists { .. }) {
                self.undo(index);
                finish(journal, &self.model)?;
            } else if journal.is_some() {
                self.keep_temporaries();
            }
            return Err(failure);
        }
        finish(journal, &self.model)?;
        let files = self.files.iter().filter(|file| file.role != Role::Bridge);
        Ok(files
            .map(|file| CommittedFile { path: file.target.clone(), role: file.role, bytes: file.bytes })
            .collect())
    }

    /// One rename needs no list: it is done or not.
    fn start_journal(&self) -> Result<Option<Journal>, Error> {
        if self.steps.iter().filter(|step| **step != Step::Sync).count() < 2 {
            return Ok(None);
        }
        let name = folder::file_name(&self.model)?;
        Journal::start(&self.folder, name, &self.steps, self.settings.durability).map(Some)
    }

    /// After a failure half-way, the list and what it mentions stay for a recovery.
    fn keep_temporaries(&mut self) {
        self.copies.iter_mut().for_each(|copy| copy.temporary.keep());
        self.files.iter_mut().for_each(|file| file.temporary.keep());
    }

    /// Takes back the first `count` steps of a commit that replaces nothing.
    fn undo(&self, count: usize) {
        for step in self.steps.iter().take(count) {
            if let Step::RenameNew { to, .. } = step {
                // What is reported is the reason for taking back, not that it failed.
                let _ = self.folder.remove(to);
            }
        }
    }
}

#[cfg(test)]
impl Commit {
    pub fn step_count(&self) -> usize {
        self.steps.len()
    }

    /// Plays the death of the process after `count` steps: what is on the disk then stays, all locks are gone.
    pub fn die_after(mut self, count: usize) {
        let journal = self.start_journal().unwrap();
        for step in self.steps.iter().take(count) {
            step.apply(&self.folder, self.settings.durability).unwrap();
        }
        self.keep_temporaries();
        drop(journal);
    }

    /// Plays the death of the process before the first name changes.
    pub fn die_before(mut self) {
        self.keep_temporaries();
    }
}

fn finish(journal: Option<Journal>, model: &Path) -> Result<(), Error> {
    journal.map_or(Ok(()), Journal::finish).map_err(|error| Error::of_write(model, error))
}

fn failure(folder: &Folder, step: &Step, model: &Path, error: io::Error) -> Error {
    let path = match step {
        Step::Rename { to, .. } | Step::RenameNew { to, .. } | Step::Remove { name: to } => {
            folder.path_of(to)
        }
        Step::Sync => model.into(),
    };
    match step {
        Step::RenameNew { .. } if error.kind() == io::ErrorKind::AlreadyExists => Error::Exists { path },
        _ => Error::of_write(&path, error),
    }
}

//! Several files that appear together.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::commit::Commit;
use super::data_copy::DataCopy;
use super::file::{self, FinishedFile};
use super::folder::{self, Folder};
use super::journal;
use super::temporary;
use super::{Durability, Error, OutputFile, Role, Settings};

/// The files of one result. Dropped without a commit, it leaves nothing behind.
#[derive(Debug)]
pub struct Transaction {
    /// The folder of the model.
    folder: Arc<Folder>,
    model: PathBuf,
    settings: Settings,
    stop: Option<Arc<AtomicBool>>,
    /// Absolute, each with the role that it was created for.
    created: Vec<(PathBuf, Role)>,
    finished: Vec<FinishedFile>,
}

/// A file that a commit put in place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CommittedFile {
    pub path: PathBuf,
    pub role: Role,
    pub bytes: u64,
}

impl Transaction {
    /// Begins the output of `model` (or of whatever single file is the result), and checks that it may be written.
    /// Finishes interrupted commits in its folder and removes leftovers.
    pub fn begin(model: &Path, mut settings: Settings) -> Result<Transaction, Error> {
        let folder = open_folder(model)?;
        let is_replaced = file::check_target(&folder, model, settings.overwrite)?.is_some();
        if settings.durability == Durability::WhereReplacing {
            settings.durability = if is_replaced { Durability::PowerLoss } else { Durability::ProcessCrash };
        }
        Ok(Transaction {
            folder,
            model: model.into(),
            settings,
            stop: None,
            created: Vec::new(),
            finished: Vec::new(),
        })
    }

    /// From now on, writing fails with [`Error::Stopped`] once `flag` is set.
    pub fn stop_on(&mut self, flag: Arc<AtomicBool>) {
        self.stop = Some(flag);
    }

    /// The path that the transaction was begun for.
    pub fn model(&self) -> &Path {
        &self.model
    }

    /// With the durability that it came to, never [`Durability::WhereReplacing`].
    pub fn settings(&self) -> Settings {
        self.settings
    }

    /// Checks that `target` may be written, long before it is.
    pub fn check(&self, target: &Path) -> Result<(), Error> {
        file::check_target(&Folder::of(target)?, target, self.settings.overwrite).map(|_| ())
    }

    /// Makes a new file for `target`. Write it, then [`stage`](Transaction::stage) it.
    pub fn create(&mut self, target: &Path, role: Role) -> Result<OutputFile, Error> {
        let absolute = std::path::absolute(target).map_err(|source| Error::of_write(target, source))?;
        let is_taken = |(path, other): &(PathBuf, Role)| {
            *path == absolute && (*other == Role::Bridge) == (role == Role::Bridge)
        };
        if self.created.iter().any(is_taken) {
            return Err(Error::Twice { path: target.into() });
        }
        let is_beside_model = target.parent() == self.model.parent();
        let folder = if is_beside_model { self.folder.clone() } else { open_folder(target)? };
        let file = OutputFile::create(&folder, target, role, self.settings, self.stop.clone())?;
        self.created.push((absolute, role));
        Ok(file)
    }

    /// Takes a file that is completely written; it is on the disk when this returns (see [`super::Durability`]).
    pub fn stage(&mut self, file: OutputFile) -> Result<(), Error> {
        self.finished.push(file.finish()?);
        Ok(())
    }

    /// Whether a model and its data file are both about to be replaced, which needs a [`Role::Bridge`].
    pub fn needs_bridge(&self, data: &Path) -> bool {
        let exists = |path: &Path| {
            folder::file_name(path).is_ok_and(|name| matches!(self.folder.status(name), Ok(Some(_))))
        };
        data.parent() == self.model.parent() && exists(&self.model) && exists(data)
    }

    /// Puts all staged files in place, in the order of their roles.
    pub fn commit(self) -> Result<Vec<CommittedFile>, Error> {
        self.prepare()?.run()
    }

    /// All that can be done before the first name changes.
    pub(super) fn prepare(mut self) -> Result<Commit, Error> {
        // Stable: files of one role keep the order in which they were staged.
        self.finished.sort_by_key(|file| file.role);
        let has_model = self.finished.iter().any(|file| file.role == Role::Model);
        let has_bridge = has_model && self.finished.iter().any(|file| file.role == Role::Bridge);
        let copies = if has_bridge { self.copies()? } else { Vec::new() };
        if copies.is_empty() {
            self.finished.retain(|file| file.role != Role::Bridge);
        }
        for file in &self.finished {
            file::check_target(&file.folder, &file.target, self.settings.overwrite)?;
        }
        Commit::new(self.folder, &self.model, self.settings, self.finished, copies)
    }

    /// One for each data file in the model's folder, or none at all.
    fn copies(&self) -> Result<Vec<DataCopy>, Error> {
        let data = self.finished.iter().filter(|file| file.role == Role::Data && self.is_member(file));
        let copies = data.map(|file| {
            DataCopy::of(file, self.settings.durability).map_err(|error| Error::of_write(&file.target, error))
        });
        let copies: Vec<Option<DataCopy>> = copies.collect::<Result<_, _>>()?;
        Ok(copies.into_iter().collect::<Option<_>>().unwrap_or_default())
    }

    /// Whether the file is in the model's folder.
    fn is_member(&self, file: &FinishedFile) -> bool {
        Arc::ptr_eq(&file.folder, &self.folder)
    }
}

#[cfg(test)]
impl Transaction {
    /// Plays the death of the process after `count` steps of the commit.
    pub(crate) fn die_after(self, count: usize) {
        self.prepare().unwrap().die_after(count);
    }
}

/// Opens the folder of a target and puts it in order.
fn open_folder(target: &Path) -> Result<Arc<Folder>, Error> {
    folder::file_name(target)?;
    let folder = Folder::of(target)?;
    journal::recover(&folder)?;
    temporary::sweep(&folder).map_err(|error| Error::of_write(target, error))?;
    Ok(Arc::new(folder))
}

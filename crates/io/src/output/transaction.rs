//! Several files that appear together.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;

use super::commit::{self, Change};
use super::data_copy;
use super::file::{self, FinishedFile};
use super::folder::{self, Folder};
use super::interrupt::Stop;
use super::temporary;
use super::{Durability, Error, OutputFile, Role, Settings};

/// The files of one result. Dropped without a commit, it leaves nothing behind.
#[derive(Debug)]
pub struct Transaction {
    /// The folder of the model.
    folder: Arc<Folder>,
    model: PathBuf,
    settings: Settings,
    stop: Stop,
    /// Absolute, each with the role that it was created for.
    created: Vec<(PathBuf, Role)>,
    finished: Vec<FinishedFile>,
    /// Targets that go.
    removed: Vec<(Arc<Folder>, PathBuf)>,
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
    pub fn begin(model: &Path, mut settings: Settings) -> Result<Transaction, Error> {
        let folder = Arc::new(Folder::of(model)?);
        let is_replaced = file::check_target(&folder, model, settings.overwrite)?.is_some();
        if settings.durability == Durability::WhereReplacing {
            settings.durability = if is_replaced { Durability::PowerLoss } else { Durability::ProcessCrash };
        }
        Ok(Transaction {
            folder,
            model: model.into(),
            settings,
            stop: Stop::default(),
            created: Vec::new(),
            finished: Vec::new(),
            removed: Vec::new(),
        })
    }

    /// From now on, writing fails with [`Error::Stopped`] once `flag` is set.
    pub fn stop_on(&mut self, flag: Arc<AtomicBool>) {
        self.stop = Stop(Some(flag));
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
        let folder = self.folder_of(target)?;
        let file = OutputFile::create(&folder, target, role, self.settings, self.stop.clone())?;
        self.created.push((absolute, role));
        Ok(file)
    }

    /// Takes a file that is completely written; it is on the disk when this returns (see [`super::Durability`]).
    pub fn stage(&mut self, file: OutputFile) -> Result<(), Error> {
        self.finished.push(file.finish()?);
        Ok(())
    }

    /// The file at `target`, if there is one, goes when the others come.
    pub fn remove(&mut self, target: &Path) -> Result<(), Error> {
        self.removed.push((self.folder_of(target)?, target.into()));
        Ok(())
    }

    /// Whether the model and a data file may both be replaced, which needs a [`Role::Bridge`]. What is there now does
    /// not matter: another process may put its own there before the commit.
    pub fn needs_bridge(&self) -> bool {
        self.settings.overwrite
    }

    /// Puts all staged files in place, in the order of their roles.
    pub fn commit(mut self) -> Result<Vec<CommittedFile>, Error> {
        // Stable: files of one role keep the order in which they were staged.
        self.finished.sort_by_key(|file| file.role);
        let committed = self.finished.iter().filter(|file| file.role != Role::Bridge);
        let committed: Vec<_> = committed
            .map(|file| CommittedFile { path: file.target.clone(), role: file.role, bytes: file.bytes })
            .collect();
        let folder = self.folder.clone();
        let lock = folder.lock(&self.model, &self.stop)?;
        let (mut changes, mut bridged) = self.changes()?;
        commit::run(&mut changes, &self.model, self.settings, &self.stop).inspect_err(|error| {
            if matches!(error, Error::HalfDone { .. }) {
                bridged.iter_mut().for_each(|data| data.temporary.keep());
            }
        })?;
        if lock.is_some() {
            let names: Vec<_> = changes.iter().filter_map(|change| change.name_in(&folder)).collect();
            // The next writer of these targets tries again.
            let _ = temporary::sweep(&folder, &names);
        }
        drop((changes, bridged));
        Ok(committed)
    }

    /// What is to change, in this order, and the data files that the bridge reads meanwhile.
    fn changes(&mut self) -> Result<(Vec<Change>, Vec<FinishedFile>), Error> {
        let mut exists = Vec::new();
        for file in &self.finished {
            if file::check_target(&file.folder, &file.target, self.settings.overwrite)?.is_some() {
                exists.push(file.role);
            }
        }
        let needs_bridge = exists.contains(&Role::Model) && exists.contains(&Role::Data);
        let mut changes = Vec::new();
        let mut bridged = Vec::new();
        for file in self.finished.drain(..) {
            let (temporary, content) = match file.role {
                Role::Bridge if !needs_bridge => continue,
                Role::Data if needs_bridge => {
                    let copied = data_copy::copy(&file, self.settings.durability);
                    let copied = copied.map_err(|error| Error::of_write(&file.target, error))?;
                    changes.push(Change::put(&file.folder, &file.target, file.role, copied));
                    bridged.push(file);
                    continue;
                }
                _ => (file.temporary, file.file),
            };
            changes.push(Change::put(&file.folder, &file.target, file.role, (temporary, content)));
        }
        let removed = self.removed.drain(..).map(|(folder, target)| Change::remove(folder, target));
        let before_model = changes.iter().position(|change| change.role() == Role::Model);
        let before_model = before_model.unwrap_or(changes.len());
        changes.splice(before_model..before_model, removed);
        Ok((changes, bridged))
    }

    /// The folder of a target, which may be that of the model.
    fn folder_of(&self, target: &Path) -> Result<Arc<Folder>, Error> {
        folder::file_name(target)?;
        let is_beside_model = target.parent() == self.model.parent();
        if is_beside_model { Ok(self.folder.clone()) } else { Ok(Arc::new(Folder::of(target)?)) }
    }
}

//! Safe output. This is the one place that writes files.
//!
//! A [`Transaction`] gathers the files of one result (model, data file, sidecar, reports). Each is written to a
//! temporary beside its target; nothing that stood there before is touched until [`Transaction::commit`].
//!
//! # What holds
//! * **After an error or a stop**: the old files, and no temporaries. What is replaced keeps a temporary name until all
//!   names have changed, and an error half-way puts it back. If that fails, too, [`Error::HalfDone`] says which file is in
//!   which state.
//! * **After the death of the process**: each target is old or new, and the model at the target, old or new, finds the
//!   bytes that belong to it. Where a model and its data file are both replaced, the caller stages a [`Role::Bridge`]: the
//!   new model, made to refer to the data file under its temporary name. The bridge replaces the old model first; only
//!   then does a copy of the new data file take the old one's place, and last comes the final model. Nothing has to be
//!   finished afterwards. A companion is renamed directly before the final model and may be new beside an old one.
//! * **Temporaries that a dead process left** are removed by the next commit of the same targets, once it is complete, and
//!   by nobody else. They carry the target's name and are locked while their process lives. Nothing that lies in the folder
//!   is ever read as an instruction.
//! * **Several writers**: commits in one folder happen one after the other, under a lock on the folder itself, so that the
//!   last one wins and results are never mixed.
//!
//! Where a model is replaced, the death of the machine counts, too: then every file is on the disk before its name appears,
//! and names appear in the order given above. Where nothing stood before, nothing can be lost, and to wait for the disk
//! would take longer than all the rest: as with `cp`, a file that was written a moment before a power failure may then be
//! empty or cut short. [`Durability`] says so, and can be chosen.
//!
//! # What does not hold
//! * Copies of data files are clones, or real copies up to 32 MiB. Otherwise the data file has two names (hard links) while
//!   the bridge stands, and after a death in this moment until the next commit of the target; readers that distrust files
//!   with several names, onnx's own among them, refuse it so long. Without hard links, it is copied whatever its size.
//! * On file systems that can neither exchange names nor make hard links, an error between two renames cannot be undone.
//! * On file systems without locks, two writers of one target at once can mix their results, and leftovers stay.
//! * Outside Unix, folders have no locks and are not flushed, and checks come before the calls that they protect.
//!
//! # Targets
//! A target must not exist, or be a regular file and [`Settings::overwrite`] be set; it keeps its permissions. Links,
//! folders, pipes and devices are refused: to replace a link would surprise those who follow it, and to write through
//! it could not be atomic. Of a target with several names (hard links), this name alone gets the new file. Targets may lie
//! in several folders; only that of the model is locked.

mod commit;
mod data_copy;
mod error;
mod file;
mod flusher;
mod folder;
mod interrupt;
mod temporary;
mod transaction;

#[cfg(test)]
mod tests;

pub use error::Error;
pub use file::OutputFile;
pub(crate) use file::Writer;
pub use interrupt::{Interrupt, interrupt};
pub use transaction::{CommittedFile, Transaction};

/// How a transaction treats what is there, and how far its promise reaches.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Settings {
    /// Replace files that exist.
    pub overwrite: bool,
    pub durability: Durability,
}

/// What kind of crash the output survives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Durability {
    /// Like `PowerLoss` where a model exists and is replaced, like `ProcessCrash` where there is none.
    #[default]
    WhereReplacing,
    /// Also the machine's: files are flushed to the disk before they get their names. Large files are flushed in the
    /// background while they are written, so that less is left to wait for at the end.
    PowerLoss,
    /// The process's only: nothing is waited for. After a power failure, files may be empty or cut short.
    ProcessCrash,
}

/// What a file is within its transaction; determines the order in which names appear.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Role {
    /// Stands in for the model while its data file is replaced. See the module's description.
    Bridge,
    /// Weights that the model refers to by name.
    Data,
    /// Sidecars and reports.
    Companion,
    /// The model itself, last of all.
    Model,
}

//! Safe output. This is the one place that writes files.
//!
//! A [`Transaction`] gathers the files of one result (model, data file, sidecar, reports). Each is written to a
//! temporary beside its target; nothing that stood there before is touched until [`Transaction::commit`].
//!
//! # What holds after a crash
//! * **Before the commit**: the old files, as they were. Temporaries that a dead process left are removed by the next
//!   transaction in that folder (a lock on each tells the dead from the living).
//! * **During the commit**: a model and its data file are never a mix. If both exist and both are replaced, the
//!   caller stages a [`Role::Bridge`]: the new model, made to refer to the data file under its temporary name. The
//!   bridge replaces the old model first, in one step; only then does the new data file take the old one's place, and
//!   last comes the final model. At every moment the model at the target, old or new, finds the bytes that belong to it.
//!   (A large data file then has two names for a moment, which onnx's own loader refuses; runtimes do not.)
//! * The names to change are listed in a small file beside the target before the first of them is changed. The next
//!   transaction in the folder finishes what is listed there. The sidecar is renamed directly before the final model;
//!   between those two renames (microseconds) it can be newer than the model, until that recovery.
//! * A file system without hard links has no bridge; there, a crash between two adjacent renames can leave the new
//!   data file with the old model until that recovery.
//!
//! "Crash" means the death of the process, and where a model is replaced also that of the machine: then every file is
//! on the disk before its name appears, and names appear in the order given above. Where nothing stood before, nothing
//! can be lost, and to wait for the disk would take longer than all the rest: as with `cp`, a file that was written a
//! moment before a power failure may then be empty or cut short. [`Durability`] says so, and can be chosen.
//!
//! # Targets
//! A target must not exist, or be a regular file and [`Settings::overwrite`] be set; it keeps its permissions. Links,
//! folders, pipes and devices are refused: to replace a link would surprise those who follow it, and to write through
//! it could not be atomic. Targets may lie in several folders; the promises above hold within the model's folder,
//! files elsewhere are renamed before.

mod commit;
mod data_copy;
mod error;
mod file;
mod flusher;
mod folder;
mod journal;
mod temporary;
mod transaction;

#[cfg(test)]
mod tests;

pub use error::Error;
pub use file::OutputFile;
pub(crate) use file::Writer;
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
    /// Weights that the model refers to by name.
    Data,
    /// Sidecars and reports.
    Companion,
    /// Stands in for the model while its data file is replaced. See the module's description.
    Bridge,
    /// The model itself, last of all.
    Model,
}

//! Writes a model with its weights embedded, external, referenced or omitted.
//!
//! [`stage`] adds the files to a [`Transaction`], to which the caller can add others (a sidecar) before the commit.
//! [`write_model`] does everything for a model alone. The same model gives the same bytes each time.
//!
//! The mode applies only to initializers. Tensors below [`INLINE_BELOW`] bytes stay in the model in every mode: runtimes need
//! small ones (shapes, axes, scalars) at hand, and an entry about external data would be as long.

mod data_file;
mod error;
mod mode;
mod omit;
mod placing;
mod reference;
mod scaled;
mod stage;

use std::path::{Path, PathBuf};

use modelexport_graph::onnx::Model;
use serde::{Deserialize, Serialize};

use crate::output::{CommittedFile, Settings, Transaction};
use crate::source::Sources;

pub use data_file::data_beside;
pub use error::Error;
pub use mode::{ParseModeError, WeightsMode};
pub use stage::{ConcurrentWork, stage, stage_bridge, stage_while};

/// Tensors with fewer bytes stay in the model.
pub const INLINE_BELOW: u64 = 1 << 10;

/// From this many bytes of weights on, [`WeightsMode::Auto`] means `External`.
pub const EXTERNAL_FROM: u64 = 1 << 30;

/// Where each weight starts in the data file is a multiple of this.
pub const ALIGNMENT: u64 = 64;

/// Bytes written so far, of all that will be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    pub done: u64,
    pub total: u64,
}

/// What became of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Never `Auto`: what it came to.
    pub mode: WeightsMode,
    pub model_bytes: u64,
    /// The data file, if there is one, and its length.
    pub data: Option<(PathBuf, u64)>,
    /// Weights by where their bytes are now.
    pub counts: Counts,
}

/// Numbers of weights (initializers) by where their bytes are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counts {
    /// In the model file.
    pub embedded: usize,
    /// In the data file.
    pub external: usize,
    /// Of the external ones: those that share their bytes with another.
    pub shared: usize,
    /// Where they were before.
    pub referenced: usize,
    /// Of the external and embedded ones: those that could not be referenced, as their elements are not one run.
    pub copied_instead: usize,
    /// Nowhere: inputs of the model.
    pub omitted: usize,
}

/// Writes a model and its weights, and nothing else.
pub fn write_model(
    model: Model,
    sources: &Sources,
    target: &Path,
    mode: WeightsMode,
    settings: Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Written, Vec<CommittedFile>), Error> {
    let mut transaction = Transaction::begin(target, settings)?;
    let written = stage(&mut transaction, model, sources, mode, progress)?;
    Ok((written, transaction.commit()?))
}

#[cfg(test)]
mod tests;

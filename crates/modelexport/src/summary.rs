//! The files that an operation wrote, as every summary reports them.

use modelexport_io::output::CommittedFile;
use modelexport_io::weights::{self, Counts};
use serde::{Deserialize, Serialize};

/// A file that was written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct File {
    /// Where it is.
    pub path: String,
    /// Its length.
    pub bytes: u64,
}

/// Where the weights of a model are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Weights {
    /// The name of the [`weights::WeightsMode`] that was used.
    pub mode: String,
    /// Numbers of weights by where their bytes are.
    #[serde(flatten)]
    pub counts: Counts,
}

impl From<&CommittedFile> for File {
    fn from(file: &CommittedFile) -> Self {
        File { path: file.path.display().to_string(), bytes: file.bytes }
    }
}

impl From<&weights::Written> for Weights {
    fn from(written: &weights::Written) -> Self {
        Weights { mode: written.mode.name().to_owned(), counts: written.counts }
    }
}

/// All of `files`.
pub(crate) fn files(files: &[CommittedFile]) -> Vec<File> {
    files.iter().map(File::from).collect()
}

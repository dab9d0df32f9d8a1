//! What an export did, for programs; the command line and the Python package give the same.

use std::path::Path;

use modelexport_io::output::CommittedFile;
use modelexport_io::sidecar::{Sidecar, Statistics};
use modelexport_io::weights;
use serde::{Deserialize, Serialize};

use crate::diagnosis::{Diagnosis, diagnose};
use crate::export::Files;

#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    pub exported: bool,
    pub source: String,
    pub opset: i64,
    pub files: Vec<File>,
    pub weights: Weights,
    pub statistics: Statistics,
    pub diagnosis: Diagnosis,
    pub seconds: Seconds,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct File {
    pub path: String,
    pub bytes: u64,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Weights {
    pub mode: String,
    #[serde(flatten)]
    pub counts: Counts,
}

/// Weights by where their bytes are.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Counts {
    pub embedded: usize,
    pub external: usize,
    pub shared: usize,
    pub referenced: usize,
    pub copied_instead: usize,
    pub omitted: usize,
}

impl File {
    pub fn new(file: &CommittedFile) -> Self {
        File { path: file.path.display().to_string(), bytes: file.bytes }
    }
}

impl Weights {
    pub fn new(written: &weights::Written) -> Self {
        let weights::Counts { embedded, external, shared, referenced, copied_instead, omitted } =
            written.counts;
        let counts = Counts { embedded, external, shared, referenced, copied_instead, omitted };
        Weights { mode: written.mode.name().to_owned(), counts }
    }
}

#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seconds {
    pub read: f64,
    pub lower: f64,
    pub write: f64,
    pub total: f64,
}

/// What the sidecar tells, kept while the sidecar itself is written and dropped.
pub struct ForSummary {
    statistics: Statistics,
    diagnosis: Diagnosis,
}

impl ForSummary {
    pub fn new(sidecar: &Sidecar) -> Self {
        ForSummary { statistics: sidecar.statistics.clone(), diagnosis: diagnose(sidecar) }
    }
}

impl Summary {
    pub fn new(source: &Path, opset: i64, told: ForSummary, written: &Files, seconds: Seconds) -> Self {
        Summary {
            exported: true,
            source: source.display().to_string(),
            opset,
            files: written.files.iter().map(File::new).collect(),
            weights: Weights::new(&written.weights),
            statistics: told.statistics,
            diagnosis: told.diagnosis,
            seconds,
        }
    }
}

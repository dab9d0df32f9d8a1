//! The summary of an export, for people and for programs.

use modelexport_io::sidecar::Statistics;
use serde::Serialize;

use crate::diagnosis::Diagnosis;
use crate::summary::{File, Weights};

/// What an export did. The command line and the Python package report the same.
#[derive(Clone, Debug, Serialize)]
pub struct Summary {
    /// Always true; a report of unsupported operators says false.
    pub exported: bool,
    /// The archive, or the name of the program in memory.
    pub source: String,
    /// The ONNX opset of the model.
    pub opset: i64,
    /// The model first, then its data file and its sidecar.
    pub files: Vec<File>,
    /// Where the weights are.
    pub weights: Weights,
    /// The statistics of the sidecar.
    pub statistics: Statistics,
    /// How much of the model its tags tell.
    pub diagnosis: Diagnosis,
    /// How long each step took.
    pub seconds: Seconds,
}

/// How long the steps of an export took.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Seconds {
    /// Reading the program.
    pub read: f64,
    /// Lowering and tagging.
    pub lower: f64,
    /// Writing the files.
    pub write: f64,
    /// All of it.
    pub total: f64,
}

//! The summary of an export, for people and for programs.

use modelexport_graph::Name;
use modelexport_graph::aten::{Arg, OutputSpec, Program};
use modelexport_io::sidecar::Statistics;
use serde::{Deserialize, Serialize};
use serde_json::Value;

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
    /// Outputs of the program that are none of the ONNX model.
    pub constant_outputs: Vec<ConstantOutput>,
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

/// An output of the program that the capture fixed: a number or a text that is the same in every run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ConstantOutput {
    /// Its place among all outputs; the first is 0.
    pub position: usize,
    /// Its name, if the program tells one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<Name>,
    /// What it is in every run.
    pub value: Value,
}

pub(super) fn constant_outputs(program: &Program) -> Vec<ConstantOutput> {
    let outputs = program.graph.outputs.iter().zip(&program.signature.outputs);
    let users = outputs.filter_map(|(arg, spec)| match spec {
        OutputSpec::User { name } => Some((arg, name)),
        _ => None,
    });
    let constants = users.enumerate().filter_map(|(position, (arg, name))| {
        let value = match arg {
            Arg::Int(value) => (*value).into(),
            // JSON has no infinities.
            Arg::Float(value) if !value.is_finite() => value.to_string().into(),
            Arg::Float(value) => (*value).into(),
            Arg::Bool(value) => (*value).into(),
            Arg::Str(text) => text.to_string().into(),
            _ => return None,
        };
        Some(ConstantOutput { position, name: name.clone(), value })
    });
    constants.collect()
}

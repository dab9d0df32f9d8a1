//! Options that only live models have.

use std::path::PathBuf;

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use modelexport::strategies::Strategy;
use modelexport_io::ErrorKind;

use crate::failure::Failure;

#[derive(Args, Default)]
#[command(next_help_heading = "Live models")]
pub struct LiveArguments {
    /// How to export: native, or with torch's exporter and tags by the strategy of this name [default: native]
    #[arg(long, value_name = "NAME", value_parser = PossibleValuesParser::new(routes()))]
    strategy: Option<String>,

    /// Which of torch's exporters the strategies other than native use [default: dynamo]
    #[arg(long, value_name = "NAME")]
    exporter: Option<ExporterArgument>,

    /// Tokenize this text with the model's tokenizer and use it as input; repeat it for a batch
    #[arg(long, value_name = "TEXT", group = "example")]
    pub input_text: Vec<String>,

    /// Use an input of this shape, such as 1,3,224,224; repeat it for several inputs
    #[arg(long, value_name = "SIZES", group = "example")]
    pub input_shape: Vec<String>,

    /// Use this input: NAME:[SIZES]:TYPE, such as input_ids:[1,128]:int64; repeat it for several inputs
    #[arg(long, value_name = "INPUT", group = "example")]
    pub inputs: Vec<String>,

    /// Use the arrays of an .npz file as inputs, by name
    #[arg(long, value_name = "FILE", group = "example")]
    pub inputs_from: Option<PathBuf>,

    /// Axes of dynamic size, as JSON: {"input_ids": {"0": "batch", "1": "sequence"}}
    #[arg(long, value_name = "JSON")]
    dynamic_axes: Option<String>,

    /// Run the code that a Hugging Face model ships with; review it first
    #[arg(long)]
    pub trust_remote_code: bool,

    /// A Python with torch and modelexport [default: that of the active environment, otherwise python3]
    ///
    /// It imports only what is installed for it: not from the current folder, the model's or the output's, and PYTHONPATH is
    /// ignored. package.module:factory is looked for among the installed packages, then in the folders of --python-path,
    /// then in the current folder.
    #[arg(long, value_name = "PATH")]
    pub python: Option<PathBuf>,

    /// A folder that Python also imports from, after the installed packages; can be repeated
    #[arg(long, value_name = "DIR")]
    pub python_path: Vec<PathBuf>,
}

/// The native export, and the strategies for files of torch's exporters.
fn routes() -> impl Iterator<Item = &'static str> {
    let strategies = Strategy::ALL.into_iter().filter(|strategy| strategy.live_evidence().is_some());
    std::iter::once(super::NATIVE).chain(strategies.map(Strategy::name))
}

#[derive(Clone, Copy, ValueEnum)]
enum ExporterArgument {
    Dynamo,
    Torchscript,
}

impl LiveArguments {
    pub fn strategy(&self) -> &str {
        self.strategy.as_deref().unwrap_or(super::NATIVE)
    }

    pub fn exporter_given(&self) -> bool {
        self.exporter.is_some()
    }

    pub fn exporter(&self) -> &'static str {
        match self.exporter {
            None | Some(ExporterArgument::Dynamo) => "dynamo",
            Some(ExporterArgument::Torchscript) => "torchscript",
        }
    }

    /// The axes as JSON, which may be anything: Python knows what they may be.
    pub fn dynamic_axes(&self) -> Result<Option<serde_json::Value>, Failure> {
        let Some(text) = &self.dynamic_axes else { return Ok(None) };
        serde_json::from_str(text).map(Some).map_err(|error| {
            Failure::new(format!("--dynamic-axes: not valid JSON: {error}"), ErrorKind::BadInput)
        })
    }

    /// An option that was given, but for `--strategy native`, which archives have too.
    pub fn first_given(&self) -> Option<&'static str> {
        let given = [
            (self.strategy() != super::NATIVE, "--strategy"),
            (self.exporter.is_some(), "--exporter"),
            (!self.input_text.is_empty(), "--input-text"),
            (!self.input_shape.is_empty(), "--input-shape"),
            (!self.inputs.is_empty(), "--inputs"),
            (self.inputs_from.is_some(), "--inputs-from"),
            (self.dynamic_axes.is_some(), "--dynamic-axes"),
            (self.trust_remote_code, "--trust-remote-code"),
            (self.python.is_some(), "--python"),
            (!self.python_path.is_empty(), "--python-path"),
        ];
        given.into_iter().find(|(is_given, _)| *is_given).map(|(_, option)| option)
    }
}

//! `modelexport compare`: what differs between two files, module by module.

mod csv;
mod markdown;
mod text;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use modelexport::compare::{self, Category, Options};
use modelexport::tagged_file::TaggedFile;

use crate::display::json;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// Show what differs between two ONNX files, module by module
///
/// Modules and nodes that came, went, moved or changed; attributes, wiring, types and shapes; tags; weights, by how much
/// they differ. Nodes that have a new name or place are not taken for gone, nor are weights that have a new name or
/// layout, or were cast or quantised. What happened to most nodes is said once. Weights are read in pieces, and not at
/// all where both files point at the same bytes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The file before
    before: PathBuf,

    /// The file after
    after: PathBuf,

    /// Exit with 1 if there are differences of these kinds: structure, tags, weights (with commas)
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    fail_on: Vec<FailOn>,

    /// Do not compare the numbers of weights, only their names, types and shapes
    #[arg(long)]
    no_weights: bool,

    /// How to print the differences
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: CompareFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Modules, nodes, attributes, wiring, types, shapes
    Structure,
    /// Which module a node belongs to, and what is written about it
    Tags,
    /// The numbers of weights
    Weights,
}

impl FailOn {
    fn category(self) -> Category {
        match self {
            FailOn::Structure => Category::Structure,
            FailOn::Tags => Category::Tags,
            FailOn::Weights => Category::Weights,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum CompareFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For pull requests
    Markdown,
    /// For spreadsheets: one line for each difference
    Csv,
}

const EXAMPLES: &str = "\
Examples:
  modelexport compare before.onnx after.onnx
  modelexport compare before.onnx after.onnx --fail-on structure           for CI: exit 1 if the graph changed
  modelexport compare before.onnx after.onnx --fail-on structure,weights
  modelexport compare before.onnx after.onnx --format markdown >> $GITHUB_STEP_SUMMARY
  modelexport compare before.onnx after.onnx --format json | jq '.modules[] | [.path, .status]'

Without --fail-on the exit status is 0 whatever differs.";

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let mut before = TaggedFile::open_any(&arguments.before)?;
    let mut after = TaggedFile::open_any(&arguments.after)?;
    for problem in [&before.sidecar_problem, &after.sidecar_problem].into_iter().flatten() {
        session.warn(&format!("{problem}; the sidecar is left aside"));
    }
    let options = Options { weight_values: !arguments.no_weights };
    let comparison = compare::compare(&mut before, &mut after, &options);
    match arguments.format {
        CompareFormat::Text => {
            let style = session.out_style();
            text::write(&comparison, session.out(), style)?;
        }
        CompareFormat::Json => json::write(session.out(), &comparison)?,
        CompareFormat::Markdown => markdown::write(&comparison, session.out())?,
        CompareFormat::Csv => csv::write(&comparison, session.out())?,
    }
    let fails = arguments.fail_on.iter().any(|kind| comparison.summary.count(kind.category()) > 0);
    Ok(if fails { ExitStatus::Finding } else { ExitStatus::Success })
}

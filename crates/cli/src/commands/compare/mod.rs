//! `modelexport compare`: the differences between two files, module by module.

mod csv;
mod markdown;
mod text;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use modelexport::compare::{self, Category, Options};
use modelexport::json;
use modelexport::tagged_file::TaggedFile;

use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// Show the differences between two ONNX files, module by module
///
/// Reports modules and nodes that were added, removed, moved or changed; attributes, connections, types and shapes; tags;
/// and weights, with the size of the difference. Recognizes nodes that were renamed or moved, and weights that were renamed,
/// transposed, cast or quantized. A change that most nodes share is reported once. Weights are read in chunks, and not at
/// all if both files point at the same bytes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The old file
    before: PathBuf,

    /// The new file
    after: PathBuf,

    /// Exit with 1 on differences of these kinds: structure, tags, weights (comma-separated)
    #[arg(long, value_name = "KINDS", value_delimiter = ',')]
    fail_on: Vec<FailOn>,

    /// Compare only names, types and shapes of weights, not their values
    #[arg(long)]
    no_weights: bool,

    /// How to print the differences
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: CompareFormat,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum FailOn {
    /// Modules, nodes, attributes, connections, types, shapes
    Structure,
    /// The modules and tags of nodes
    Tags,
    /// The values of weights
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
    /// Human-readable text
    Text,
    /// Machine-readable JSON
    Json,
    /// Markdown for pull requests
    Markdown,
    /// Comma-separated values, one line per difference
    Csv,
}

const EXAMPLES: &str = "\
Examples:
  modelexport compare before.onnx after.onnx
  modelexport compare before.onnx after.onnx --fail-on structure           for CI: exit 1 if the graph changed
  modelexport compare before.onnx after.onnx --fail-on structure,weights
  modelexport compare before.onnx after.onnx --format markdown >> $GITHUB_STEP_SUMMARY
  modelexport compare before.onnx after.onnx --format json | jq '.modules[] | [.path, .status]'

Without --fail-on the exit status is always 0.";

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let mut before = TaggedFile::open_any(&arguments.before)?;
    let mut after = TaggedFile::open_any(&arguments.after)?;
    session.warn_of_sidecar(before.sidecar_problem.as_ref());
    session.warn_of_sidecar(after.sidecar_problem.as_ref());
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

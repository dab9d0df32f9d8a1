//! `modelexport analyze`: the size and cost of each module.

mod csv;
mod detailed;
mod folding;
mod summary;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use modelexport::analyze::{self, By, Options, graphml, model_explorer};
use modelexport::json;
use modelexport::tagged_file::TaggedFile;

use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// Show the size and cost of each module of a tagged ONNX file
///
/// Prints for each module: nodes by operator, parameters and bytes, its share of the model, multiply-adds and activation
/// bytes as far as shapes are known, and the coverage and method of its tags. Works on files that modelexport, torch or
/// winml tagged. Weights are never loaded.
///
/// Multiply-adds include matrix products, convolutions, recurrent layers and attention. A named dimension counts as 1
/// unless --dim sets its size. The body of a loop counts once.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The ONNX file
    file: PathBuf,

    /// Show only these modules: a path (encoder.layer.*), class:NAME, a tag (/Model/Encoder) or depth:N
    #[arg(long, value_name = "SELECTOR")]
    module: Option<String>,

    /// What each row shows
    #[arg(long, value_name = "WHAT", default_value = "module")]
    by: ByArgument,

    /// Show modules down to this depth below --module, or below the root
    #[arg(long, value_name = "N")]
    depth: Option<usize>,

    /// Show only the N largest rows, by multiply-adds, then parameters, then nodes
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// Set the size of a named dimension; can be repeated
    #[arg(long, value_name = "NAME=N", value_parser = parse_size)]
    dim: Vec<(String, u64)>,

    /// How to print the analysis
    #[arg(long, value_name = "FORMAT", default_value = "summary")]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  modelexport analyze model.onnx                               a page for a design review
  modelexport analyze model.onnx --dim batch=8 --dim sequence=512
  modelexport analyze model.onnx --module 'encoder.layer.*'    layer by layer
  modelexport analyze model.onnx --module class:MyAttention --format csv > attention.csv
  modelexport analyze model.onnx --by op --top 5               where the multiply-adds are
  modelexport analyze model.onnx --format json | jq .totals.multiply_adds
  modelexport analyze model.onnx --format model-explorer > model.json
  modelexport analyze model.onnx --format graphml > model.graphml";

#[derive(Clone, Copy, ValueEnum)]
enum ByArgument {
    Module,
    Class,
    Op,
}

#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
enum Format {
    /// One page of text
    #[value(alias = "text")]
    Summary,
    /// Every row with its operators
    Detailed,
    /// Machine-readable JSON
    Json,
    /// Comma-separated values
    Csv,
    /// The graph for Model Explorer, with tags as namespaces
    ModelExplorer,
    /// The graph as GraphML, nested by modules
    Graphml,
}

fn parse_size(text: &str) -> Result<(String, u64), String> {
    let parsed = text.rsplit_once('=').and_then(|(name, size)| Some((name.to_owned(), size.parse().ok()?)));
    parsed.ok_or_else(|| "expected NAME=N, such as batch=8".to_owned())
}

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let file = TaggedFile::open_any(&arguments.file)?;
    session.warn_of_sidecar(file.sidecar_problem.as_ref());
    let sizes = arguments.dim.iter().cloned().collect();
    analyze::check_sizes(&file, &sizes)?;
    match arguments.format {
        Format::ModelExplorer => {
            json::write(session.out(), &model_explorer::collection(&file))?;
            return Ok(ExitStatus::Success);
        }
        Format::Graphml => {
            graphml::write(&file, session.out())?;
            return Ok(ExitStatus::Success);
        }
        _ => {}
    }
    let options = Options {
        module: arguments.module.clone(),
        by: match arguments.by {
            ByArgument::Module => By::Module,
            ByArgument::Class => By::Class,
            ByArgument::Op => By::Op,
        },
        depth: arguments.depth,
        top: arguments.top,
        sizes,
    };
    let analysis = analyze::analyze_file(&file, &options)?;
    let (style, width) = (session.out_style(), session.width());
    match arguments.format {
        Format::Json => json::write(session.out(), &analysis)?,
        Format::Csv => csv::write(&analysis, session.out())?,
        Format::Detailed => detailed::write(&analysis, session.out(), style, width)?,
        _ => summary::write(&analysis, &options, session.out(), style, width)?,
    }
    Ok(ExitStatus::Success)
}

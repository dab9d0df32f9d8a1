//! `modelexport analyze`: what each module holds and costs.

mod csv;
mod detailed;
mod folding;
mod summary;

use std::path::PathBuf;

use clap::{Args, ValueEnum};
use modelexport::analyze::{self, By, Options, graphml, model_explorer};
use modelexport::tagged_file::TaggedFile;

use crate::display::json;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// Show what each module of a tagged ONNX file holds and costs
///
/// For each module: nodes by operator, parameters and bytes, its share of the model, multiply-adds and activation bytes
/// as far as shapes are known, coverage and method of its tags. Works on files that modelexport, torch or winml
/// tagged; weights are never loaded.
///
/// Multiply-adds are those of matrix products, convolutions, recurrent layers and attention. A dimension with a name
/// counts as 1 unless --dim says otherwise, the body of a loop once.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The ONNX file
    file: PathBuf,

    /// Only these modules: a path (encoder.layer.*), class:NAME, a tag (/Model/Encoder) or depth:N
    #[arg(long, value_name = "SELECTOR")]
    module: Option<String>,

    /// What a row is
    #[arg(long, value_name = "WHAT", default_value = "module")]
    by: ByArgument,

    /// Modules down to this depth: below those of --module, else below the root
    #[arg(long, value_name = "N")]
    depth: Option<usize>,

    /// Only the N largest rows: by multiply-adds, then parameters, then nodes
    #[arg(long, value_name = "N")]
    top: Option<usize>,

    /// The size that a named dimension of the file counts as; may be given several times
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
    /// One page for people
    #[value(alias = "text")]
    Summary,
    /// Every row with its operators
    Detailed,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
    /// The graph, for Model Explorer; namespaces are tags
    ModelExplorer,
    /// The graph, nested by modules
    Graphml,
}

fn parse_size(text: &str) -> Result<(String, u64), String> {
    let parsed = text.rsplit_once('=').and_then(|(name, size)| Some((name.to_owned(), size.parse().ok()?)));
    parsed.ok_or_else(|| "expected NAME=N, such as batch=8".to_owned())
}

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let file = TaggedFile::open_any(&arguments.file)?;
    if let Some(problem) = &file.sidecar_problem {
        session.warn(&format!("{problem}; the sidecar is left aside"));
    }
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

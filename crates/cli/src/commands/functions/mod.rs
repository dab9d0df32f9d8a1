//! `modelexport functions`: modules as ONNX local functions, and back.

mod summary;

use std::path::PathBuf;

use clap::Args;
use modelexport::functions::{Direction, Modules, Options, Outcome};
use modelexport::json;
use modelexport::{Functions, Target};
use modelexport_io::weights::WeightsMode;

use crate::arguments::Format;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::observer::SessionObserver;
use crate::session::Session;

/// Convert modules to ONNX local functions, or inline the functions again
///
/// The nodes of each selected module become a call of a function. Functions nest as the modules do. Modules that compute the
/// same share one function and pass their weights as inputs: 24 identical layers become one function and 24 calls. Calls
/// and nodes keep their tags. --inline restores the name, position, attributes and metadata of every node.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The tagged ONNX file
    file: PathBuf,

    /// The modules: a path, class:NAME, a /Tag or depth:N; `*` is a wildcard, commas separate several
    #[arg(required_unless_present_any = ["all", "inline"], conflicts_with_all = ["all", "inline"])]
    selector: Option<String>,

    /// The ONNX file to write; cannot be the input file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Convert all modules except the root
    #[arg(long, conflicts_with = "inline")]
    all: bool,

    /// Only create functions that have at least this many calls
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "inline")]
    min_instances: usize,

    /// Inline all functions that modelexport created
    #[arg(long)]
    inline: bool,

    /// Where to store the weights: embed, external, reference, none or auto
    ///
    /// embed: in the new file. external: in <name>.onnx.data beside it. reference: nothing is copied; the new file points
    /// at the existing bytes, which must be in the same folder. none: weights are omitted. auto: weights in data files stay
    /// there if the output is in the same folder; others are embedded below 1 GiB, otherwise external.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    weights: WeightsMode,

    /// Overwrite existing files
    #[arg(long)]
    overwrite: bool,

    /// How to print the summary
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  modelexport functions model.onnx class:Layer -o layers.onnx
  modelexport functions model.onnx 'encoder.layer.*,embeddings' -o parts.onnx
  modelexport functions model.onnx --all -o nested.onnx                     every module is a function
  modelexport functions model.onnx --all --min-instances 2 -o shared.onnx   only what is used more than once
  modelexport functions layers.onnx --inline -o model_again.onnx
  modelexport functions model.onnx --all -o nested.onnx --format json | jq '.functions[] | [.name, (.calls | length)]'";

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let direction = match &arguments.selector {
        _ if arguments.inline => Direction::Inline,
        Some(selector) => Direction::ToFunctions(Modules::Selected(selector.clone())),
        None => Direction::ToFunctions(Modules::All),
    };
    let functions = Functions {
        target: Target::new(&arguments.output).overwrite(arguments.overwrite),
        options: Options { min_instances: arguments.min_instances },
        weights: arguments.weights,
        ..Functions::new(&arguments.file, direction, &arguments.output)
    };
    let summary = functions.run(&mut SessionObserver::new(session))?;
    match arguments.format {
        Format::Json => json::write(session.out(), &summary)?,
        Format::Text if session.is_quiet() => {}
        Format::Text => {
            let style = session.out_style();
            summary::write_text(&summary, session.out(), style)?;
        }
    }
    if matches!(&summary.outcome, Outcome::Converted(report) if report.functions.is_empty()) {
        session.warn("no function was made");
    }
    Ok(ExitStatus::Success)
}

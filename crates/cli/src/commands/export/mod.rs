//! `modelexport export`: a captured program or a live model becomes a tagged ONNX file.

mod live;
mod report;
mod summary;

use std::path::PathBuf;
use std::time::Instant;

use clap::Args;
use modelexport::embedding::Embed;
use modelexport::export::{self, Options};
use modelexport::export_summary::{ForSummary, Seconds, Summary};
use modelexport::interface;
use modelexport::weights_from;
use modelexport_io::output::{Settings, Transaction};
use modelexport_io::weights::WeightsMode;
use modelexport_io::{ErrorKind, pt2, sidecar};

use crate::arguments::{Format, PolicyArguments, parse_embed};
use crate::display::progress::Progress;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;
use live::LiveArguments;

/// Export a model to ONNX, every node tagged with the module that it came from
///
/// SOURCE is what `torch.export.save` wrote (.pt2), which needs no Python. Or it is a live model: the folder or id of a
/// Hugging Face model, or `package.module:factory`, a function that gives an nn.Module. Beside the ONNX file comes a
/// sidecar `<name>_hierarchy.json` that lists all modules and nodes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The captured program (.pt2), the folder or id of a Hugging Face model, or package.module:factory
    source: PathBuf,

    /// The ONNX file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The ONNX opset to produce, from 14 to 24 [default: 20; that of torch with another strategy than native]
    #[arg(long, value_name = "N")]
    opset: Option<i64>,

    /// Where the weights go: embed, external, reference, none or auto
    ///
    /// embed: into the ONNX file (below 2 GiB). external: into <name>.onnx.data beside it. reference: nowhere, the
    /// ONNX file points into the .pt2, which must lie in the same folder. none: left out. auto: embed below 1 GiB,
    /// else external.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    weights: WeightsMode,

    /// Take weights that the program was captured without from safetensors files
    ///
    /// A folder with model.safetensors.index.json or model.safetensors, or such a file. For programs of the meta device,
    /// whose models are larger than memory. The ONNX file points into the files, which must lie in its folder or below,
    /// unless --weights says otherwise. Names may differ by a prefix; what does not fit is reported at once.
    #[arg(long, value_name = "DIR")]
    weights_from: Option<PathBuf>,

    /// Replace files that exist
    #[arg(long)]
    overwrite: bool,

    /// What is written into the nodes: doc-string, metadata-props, both (with a comma) or none
    #[arg(long, value_name = "WHAT", default_value = "doc-string,metadata-props", value_parser = parse_embed)]
    embed: Embed,

    /// Also write the Python stack trace of each node, which names local files
    #[arg(long)]
    source_info: bool,

    /// Leave batch normalisation as nodes of its own instead of folding it into the convolution before it
    #[arg(long)]
    keep_batch_norm: bool,

    /// Name a dynamic dimension: INPUT:AXIS=NAME, or SYMBOL=NAME; may be given several times
    #[arg(long, value_name = "DIM=NAME")]
    dim_name: Vec<String>,

    /// How to print the summary
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    #[command(flatten)]
    policy: PolicyArguments,

    #[command(flatten)]
    live: LiveArguments,
}

const DEFAULT_OPSET: i64 = 20;

const EXAMPLES: &str = "\
Examples:
  modelexport export model.pt2 -o model.onnx
  modelexport export model.pt2 -o model.onnx --opset 17 --overwrite
  modelexport export model.pt2 -o model.onnx --weights reference      copy no weights at all
  modelexport export meta.pt2 -o hub/model.onnx --weights-from hub    weights stay in safetensors shards
  modelexport export model.pt2 -o model.onnx --dim-name input_ids:0=batch --dim-name input_ids:1=sequence
  modelexport export model.pt2 -o model.onnx --modules all            torch.nn modules show in tags, too
  modelexport export model.pt2 -o model.onnx --format json | jq .statistics.nodes
  modelexport export ./my-model -o model.onnx --input-text 'Hello world'   a Hugging Face folder
  modelexport export my.package:make_model -o model.onnx --inputs 'x:[1,3,224,224]:float32'
  modelexport export ./my-model -o model.onnx --strategy htp --exporter torchscript

Next: modelexport tree model.onnx";

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    if let Some(model) = live::model_of(&arguments.source) {
        return live::run(&model, arguments, session);
    }
    if let Some(option) = arguments.live.first_given() {
        let text = format!("{option}: only for live models; {} is a file", arguments.source.display());
        return Err(Failure::new(text, ErrorKind::BadInput));
    }
    export::check_source(&arguments.source, &arguments.output)?;
    let opset = arguments.opset.unwrap_or(DEFAULT_OPSET);
    let began = Instant::now();
    let (policy, tag_format) = arguments.policy.resolve(None)?;
    let custom_operators = policy.rules().operators.clone();
    let settings = Settings { overwrite: arguments.overwrite, ..Settings::default() };
    let transaction = Transaction::begin(&arguments.output, settings).map_err(modelexport::Error::from)?;
    transaction.check(&sidecar::path_beside(&arguments.output)).map_err(modelexport::Error::from)?;

    let progress = Progress::new(session.shows_progress());
    progress.step("reading", &arguments.source);
    let mut archive = pt2::read(&arguments.source).map_err(modelexport::Error::from)?;
    let mut weights = arguments.weights;
    if let Some(folder) = &arguments.weights_from {
        let attached = weights_from::attach(&mut archive.program, folder, &[], &mut archive.sources)?;
        attached.notes().for_each(|note| session.warn(&note));
        weights = weights.of_files();
    }
    let dimension_names = interface::dimension_names(&arguments.dim_name, &archive.program)
        .map_err(modelexport::Error::from)?;
    let read = began.elapsed();

    progress.step("lowering", &arguments.source);
    let options = Options {
        lower: modelexport_lower::Options {
            opset,
            weights_can_move: weights != WeightsMode::Reference,
            fold_batch_norm: !arguments.keep_batch_norm && weights.are_copied(),
            fold_parameters: weights.are_copied(),
            dimension_names,
            custom_operators,
            ..modelexport_lower::Options::default()
        },
        policy,
        tag_format,
        embed: arguments.embed,
        source_info: arguments.source_info,
    };
    let source = export::source_of(&arguments.source, &archive.program);
    let lowered = match export::lower(archive.program, &archive.sources, &options) {
        Err(modelexport_lower::Error::Unsupported(missing)) => {
            progress.finish();
            return report::unsupported(&missing, arguments.format, session);
        }
        other => {
            other.map_err(|error| modelexport::Error::Export { path: arguments.source.clone(), error })?
        }
    };
    let described = export::describe(lowered, source, &options);
    let lowered = began.elapsed();

    progress.step("writing", &arguments.output);
    let statistics = ForSummary::new(&described.sidecar);
    let files = export::write_described(transaction, described, &archive.sources, weights, &mut |done| {
        progress.bytes(done);
    })?;
    progress.finish();
    let total = began.elapsed();

    let seconds = Seconds {
        read: read.as_secs_f64(),
        lower: (lowered - read).as_secs_f64(),
        write: (total - lowered).as_secs_f64(),
        total: total.as_secs_f64(),
    };
    let summary = Summary::new(&arguments.source, opset, statistics, &files, seconds);
    match arguments.format {
        Format::Json => summary::write_json(&summary, session.out())?,
        Format::Text if session.is_quiet() => {}
        Format::Text => {
            let style = session.out_style();
            summary::write_text(&(&summary).into(), session.out(), style)?;
        }
    }
    Ok(ExitStatus::Success)
}

//! `modelexport export`: a captured program or a live model becomes a tagged ONNX file.

mod live;
mod report;
mod summary;

use std::path::PathBuf;

use clap::Args;
use modelexport::embedding::Embed;
use modelexport::json;
use modelexport::{Error, Export, Target};
use modelexport_io::ErrorKind;
use modelexport_io::weights::WeightsMode;
use modelexport_lower::{DEFAULT_OPSET, Fuse};

use crate::arguments::{Format, PolicyArguments, parse_embed};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::observer::SessionObserver;
use crate::session::Session;
use live::LiveArguments;

/// Export a model to ONNX and tag every node with the module that it came from
///
/// SOURCE is an archive that `torch.export.save` wrote (.pt2); exporting it needs no Python. SOURCE can also be a live
/// model: the folder or id of a Hugging Face model, or `package.module:factory`, a function that returns an nn.Module. The
/// sidecar `<name>_hierarchy.json` is written beside the ONNX file and lists all modules and nodes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The captured program (.pt2), the folder or id of a Hugging Face model, or package.module:factory
    source: PathBuf,

    /// The ONNX file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// The ONNX opset, from 14 to 24 [default: 20; torch's default for strategies other than native]
    #[arg(long, value_name = "N")]
    opset: Option<i64>,

    /// Where to store the weights: embed, external, reference, none or auto
    ///
    /// embed: in the ONNX file (below 2 GiB). external: in <name>.onnx.data beside it. reference: nothing is copied; the
    /// ONNX file points into the .pt2, which must be in the same folder. none: weights are omitted. auto: embed below
    /// 1 GiB, otherwise external.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    weights: WeightsMode,

    /// Read the weights of a program that was captured on the meta device from safetensors files
    ///
    /// DIR is a folder with model.safetensors.index.json or model.safetensors, or one of these files. Use it for models
    /// that are larger than memory. The ONNX file points into the safetensors files, which must be in its folder or below,
    /// unless --weights says otherwise. Names may differ by a prefix. All mismatches are reported together.
    #[arg(long, value_name = "DIR")]
    weights_from: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long)]
    overwrite: bool,

    /// Where to store tags on nodes: doc-string, metadata-props, both (comma-separated) or none
    #[arg(long, value_name = "WHAT", default_value = "doc-string,metadata-props", value_parser = parse_embed)]
    embed: Embed,

    /// Also store the Python stack trace of each node, which contains local file paths
    #[arg(long)]
    source_info: bool,

    /// Keep batch normalization nodes instead of folding them into the preceding convolution
    #[arg(long)]
    keep_batch_norm: bool,

    /// Which patterns of nodes become one node: standard or none
    ///
    /// standard: normalization, activation and rotary embedding that a model spells out in many nodes become the one
    /// operator that standard ONNX has for it, if the opset has it: LayerNormalization from 17, Gelu from 20,
    /// RMSNormalization and RotaryEmbedding from 23, Swish from 24. The node belongs to the deepest module that holds
    /// all that it replaces. none: the graph stays as the model spells it out.
    #[arg(long, value_name = "WHAT", default_value = "standard")]
    fuse: Fuse,

    /// Name a dynamic dimension: INPUT:AXIS=NAME or SYMBOL=NAME; can be repeated
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

const EXAMPLES: &str = "\
Examples:
  modelexport export model.pt2 -o model.onnx
  modelexport export model.pt2 -o model.onnx --opset 17 --overwrite
  modelexport export model.pt2 -o model.onnx --weights reference      copy no weights at all
  modelexport export meta.pt2 -o hub/model.onnx --weights-from hub    weights stay in safetensors shards
  modelexport export model.pt2 -o model.onnx --dim-name input_ids:0=batch --dim-name input_ids:1=sequence
  modelexport export model.pt2 -o model.onnx --modules all            include torch.nn modules in tags
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
    let export = Export {
        target: Target::new(&arguments.output).overwrite(arguments.overwrite),
        opset: arguments.opset.unwrap_or(DEFAULT_OPSET),
        weights: arguments.weights,
        weights_from: arguments.weights_from.clone(),
        embed: arguments.embed,
        tags: arguments.policy.choice(),
        source_info: arguments.source_info,
        keep_batch_norm: arguments.keep_batch_norm,
        fuse: arguments.fuse,
        dimension_names: arguments.dim_name.clone(),
        ..Export::new(&arguments.source, &arguments.output)
    };
    let exported = export.run(&mut SessionObserver::new(session));
    let summary = match exported {
        Ok(exported) => exported.summary,
        Err(Error::Export { error: modelexport_lower::Error::Unsupported(missing), .. }) => {
            return report::unsupported(&missing, arguments.format, session);
        }
        Err(error) => return Err(error.into()),
    };
    match arguments.format {
        Format::Json => json::write(session.out(), &summary)?,
        Format::Text if session.is_quiet() => {}
        Format::Text => {
            let style = session.out_style();
            summary::write_text(&(&summary).into(), session.out(), style)?;
        }
    }
    Ok(ExitStatus::Success)
}

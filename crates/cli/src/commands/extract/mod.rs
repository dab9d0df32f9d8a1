//! `modelexport extract`: a module as a model of its own.

mod summary;

use std::path::{Path, PathBuf};

use clap::Args;
use modelexport::extract::Options;
use modelexport::json;
use modelexport::{Extract, Target};
use modelexport_io::weights::WeightsMode;

use crate::arguments::Format;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::observer::SessionObserver;
use crate::session::Session;

/// Extract a module of an ONNX file as a separate model
///
/// FILE is an ONNX file whose nodes record their modules: modelexport tagged it, or torch wrote it. The values that cross
/// the boundary of the module become inputs and outputs with types and shapes. They are named after the modules that
/// produce them. Weights, functions, opsets and tags are kept. Weights are never loaded into memory, so the time depends on
/// the graph and not on the size of the file.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The tagged ONNX file
    file: PathBuf,

    /// The module or modules: a path, class:NAME, a /Tag or depth:N; `*` is a wildcard, commas separate several
    selector: String,

    /// The ONNX file to write; cannot be the input file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Which call to extract if the module was called more than once; the first is 0
    #[arg(long, value_name = "N")]
    call: Option<u32>,

    /// Where to store the weights: embed, external, reference, none or auto
    ///
    /// embed: in the new file. external: in <name>.onnx.data beside it. reference: nothing is copied; the new file points
    /// at the existing bytes, which must be in the same folder. none: weights are omitted. auto: embed below 1 GiB,
    /// otherwise external.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    weights: WeightsMode,

    /// Also write the boundary values and their producers as JSON [default: <output>_manifest.json]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    manifest: Option<Option<PathBuf>>,

    /// Keep the names that boundary values have in FILE
    #[arg(long)]
    keep_names: bool,

    /// Overwrite existing files
    #[arg(long)]
    overwrite: bool,

    /// How to print the summary
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  modelexport extract model.onnx encoder.layer.0 -o layer.onnx
  modelexport extract model.onnx encoder.layer.0 -o layer.onnx --weights reference   copy no weights at all
  modelexport extract model.onnx 'encoder.layer.*' -o layers.onnx                    several modules in one model
  modelexport extract model.onnx class:Pooler -o pooler.onnx --manifest              also write pooler_manifest.json
  modelexport extract model.onnx shared --call 1 -o second_call.onnx
  modelexport extract model.onnx head -o head.onnx --format json | jq '.manifest.inputs[].name'

A module cannot be extracted if it has no nodes, shares a node with another module, or has nodes in
several branches. The error names the reason, the node and the modules, and nothing is written.

Next: modelexport tree layer.onnx";

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let manifest = arguments.manifest.as_ref().map(|given| match given {
        Some(path) => path.clone(),
        None => manifest_beside(&arguments.output),
    });
    let extract = Extract {
        target: Target::new(&arguments.output).overwrite(arguments.overwrite),
        options: Options { call: arguments.call, keep_names: arguments.keep_names },
        weights: arguments.weights,
        manifest,
        ..Extract::new(&arguments.file, &arguments.selector, &arguments.output)
    };
    let summary = extract.run(&mut SessionObserver::new(session))?;
    match arguments.format {
        Format::Json => json::write(session.out(), &summary)?,
        Format::Text if session.is_quiet() => {}
        Format::Text => {
            let style = session.out_style();
            summary::write_text(&summary, session.out(), style)?;
        }
    }
    Ok(ExitStatus::Success)
}

/// `layer_manifest.json` for `layer.onnx`.
fn manifest_beside(output: &Path) -> PathBuf {
    let mut name = output.file_stem().unwrap_or_default().to_owned();
    name.push("_manifest.json");
    output.with_file_name(name)
}

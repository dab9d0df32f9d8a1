//! `modelexport extract`: a module as a model of its own.

mod summary;

use std::path::{Path, PathBuf};

use clap::Args;
use modelexport::derived::{self, Derived};
use modelexport::extract::{self, Options};
use modelexport::tagged_file::TaggedFile;
use modelexport_io::output::{Settings, Transaction};
use modelexport_io::sidecar;
use modelexport_io::weights::WeightsMode;

use crate::arguments::Format;
use crate::display::json;
use crate::display::progress::Progress;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;
use summary::Summary;

/// Cut a module out of an ONNX file as a model of its own
///
/// FILE is an ONNX file whose nodes say where they come from: one that modelexport tagged, or one that torch wrote. The
/// values that cross the border of the module become inputs and outputs, named after the modules that make them, with
/// types and shapes. Weights, functions, opsets and tags come along. Weights are never loaded into memory, so that a
/// file of many gigabytes is cut in the time that its graph takes.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The tagged ONNX file
    file: PathBuf,

    /// The module, or several: a path, class:NAME, a /Tag or depth:N; `*` matches, commas join
    selector: String,

    /// The ONNX file to write; never the one that is read
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Which call of a module that was called more than once; the first is 0
    #[arg(long, value_name = "N")]
    call: Option<u32>,

    /// Where the weights go: embed, external, reference, none or auto
    ///
    /// embed: into the new file. external: into <name>.onnx.data beside it. reference: nowhere, the new file points at
    /// the bytes where they are now, which must be in the same folder. none: left out. auto: embed below 1 GiB, else
    /// external.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    weights: WeightsMode,

    /// Also write the list of boundary values with their producers as JSON [default: <output>_manifest.json]
    #[arg(long, value_name = "FILE", num_args = 0..=1)]
    manifest: Option<Option<PathBuf>>,

    /// Boundary values keep the names that they have in FILE
    #[arg(long)]
    keep_names: bool,

    /// Replace files that exist
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
  modelexport extract model.onnx class:Pooler -o pooler.onnx --manifest              writes pooler_manifest.json, too
  modelexport extract model.onnx shared --call 1 -o second_call.onnx
  modelexport extract model.onnx head -o head.onnx --format json | jq '.manifest.inputs[].name'

What cannot be cut out (a module without nodes, one that shares a node with its neighbour, nodes
scattered over branches) is an error that names the reason, the node and the modules; nothing is
written then.

Next: modelexport tree layer.onnx";

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let manifest = arguments.manifest.as_ref().map(|given| match given {
        Some(path) => path.clone(),
        None => manifest_beside(&arguments.output),
    });
    let outputs: Vec<&Path> = std::iter::once(&*arguments.output).chain(manifest.as_deref()).collect();
    derived::check_outputs(&arguments.file, &outputs, "extract")?;
    let settings = Settings { overwrite: arguments.overwrite, ..Settings::default() };
    let transaction = Transaction::begin(&arguments.output, settings).map_err(modelexport::Error::from)?;
    if let Some(path) = &manifest {
        transaction.check(path).map_err(modelexport::Error::from)?;
    }
    let progress = Progress::new(session.shows_progress());
    progress.step("reading", &arguments.file);
    let mut file = TaggedFile::open(&arguments.file)?;
    if let Some(problem) = &file.sidecar_problem {
        session.warn(&format!("{problem}; the sidecar is left aside"));
    }
    if file.sidecar.is_some() {
        transaction.check(&sidecar::path_beside(&arguments.output)).map_err(modelexport::Error::from)?;
    }
    let modules = file.select(&arguments.selector)?;
    let options = Options { call: arguments.call, keep_names: arguments.keep_names };
    let extracted = extract::extract(&file, &modules, &options).map_err(modelexport::Error::from)?;

    progress.step("writing", &arguments.output);
    let mut companions = Vec::new();
    if let Some(path) = manifest {
        let mut bytes = Vec::new();
        json::write(&mut bytes, &extracted.manifest)?;
        companions.push((path, bytes));
    }
    let extract::Extracted { model, sidecar, manifest } = extracted;
    let derived = Derived { model, sidecar, companions, keeps_data_files: false };
    let files = derived::write(transaction, derived, &mut file, arguments.weights, &mut |done| {
        progress.bytes(done);
    })?;
    progress.finish();

    let summary = Summary::new(&manifest, &files);
    match arguments.format {
        Format::Json => summary.write_json(session.out())?,
        Format::Text if session.is_quiet() => {}
        Format::Text => {
            let style = session.out_style();
            summary.write_text(session.out(), style)?;
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

//! `modelexport functions`: modules as ONNX local functions, and back.

mod summary;

use std::path::PathBuf;

use clap::Args;
use modelexport::derived::{self, Derived};
use modelexport::functions::{self, Options};
use modelexport::tagged_file::TaggedFile;
use modelexport_graph::ModuleId;
use modelexport_io::output::{Settings, Transaction};
use modelexport_io::sidecar;
use modelexport_io::weights::WeightsMode;

use crate::arguments::Format;
use crate::display::progress::Progress;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;
use summary::{Outcome, Summary};

/// Turn modules into ONNX local functions, or back
///
/// The nodes of each chosen module become a call of a function; functions nest as the modules do. Modules that do the
/// same share one function and give it their weights as inputs: 24 equal layers are one function and 24 calls. Calls and
/// nodes keep their tags. --inline is the way back: every node has the name, place, attributes and metadata that it had
/// before.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The tagged ONNX file
    file: PathBuf,

    /// The modules: a path, class:NAME, a /Tag or depth:N; `*` matches, commas join
    #[arg(required_unless_present_any = ["all", "inline"], conflicts_with_all = ["all", "inline"])]
    selector: Option<String>,

    /// The ONNX file to write; never the one that is read
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// All modules but the root
    #[arg(long, conflicts_with = "inline")]
    all: bool,

    /// Make only functions with at least this many calls
    #[arg(long, value_name = "N", default_value_t = 1, conflicts_with = "inline")]
    min_instances: usize,

    /// Put the nodes of all functions that modelexport made back where they were
    #[arg(long)]
    inline: bool,

    /// Where the weights go: embed, external, reference, none or auto
    ///
    /// embed: into the new file. external: into <name>.onnx.data beside it. reference: nowhere, the new file points at
    /// the bytes where they are now, which must be in the same folder. none: left out. auto: weights in data files stay
    /// there if the output is beside them; others are embedded below 1 GiB, else external.
    #[arg(long, value_name = "MODE", default_value = "auto")]
    weights: WeightsMode,

    /// Replace files that exist
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
    derived::check_outputs(&arguments.file, &[&arguments.output], "functions")?;
    let settings = Settings { overwrite: arguments.overwrite, ..Settings::default() };
    let transaction = Transaction::begin(&arguments.output, settings).map_err(modelexport::Error::from)?;
    let progress = Progress::new(session.shows_progress());
    progress.step("reading", &arguments.file);
    let mut file = match arguments.inline {
        true => TaggedFile::open_any(&arguments.file)?,
        false => TaggedFile::open(&arguments.file)?,
    };
    if let Some(problem) = &file.sidecar_problem {
        session.warn(&format!("{problem}; the sidecar is left aside"));
    }
    if file.sidecar.is_some() {
        transaction.check(&sidecar::path_beside(&arguments.output)).map_err(modelexport::Error::from)?;
    }
    let (mut model, outcome) = if arguments.inline {
        let mut model = std::mem::take(&mut file.model);
        let inlined = functions::inline(&mut model).map_err(modelexport::Error::from)?;
        (model, Outcome::Inlined(inlined))
    } else {
        let modules: Vec<ModuleId> = match &arguments.selector {
            Some(selector) => file.select(selector)?,
            None => file.hierarchy.tree.iter().map(|(id, _)| id).filter(|id| *id != ModuleId::ROOT).collect(),
        };
        let options = Options { min_instances: arguments.min_instances };
        let converted = functions::convert(&file, &modules, &options).map_err(modelexport::Error::from)?;
        (converted.model, Outcome::Converted(converted.report))
    };

    progress.step("writing", &arguments.output);
    let sidecar = functions::sidecar_for(&mut model, &file);
    let derived = Derived { model, sidecar, companions: Vec::new(), keeps_data_files: true };
    let files = derived::write(transaction, derived, &mut file, arguments.weights, &mut |done| {
        progress.bytes(done);
    })?;
    progress.finish();

    let summary = Summary::new(&arguments.file, &outcome, &files);
    match arguments.format {
        Format::Json => summary.write_json(session.out())?,
        Format::Text if session.is_quiet() => {}
        Format::Text => {
            let style = session.out_style();
            summary.write_text(session.out(), style)?;
        }
    }
    let nothing = matches!(&outcome, Outcome::Converted(report) if report.functions.is_empty());
    if nothing {
        session.warn("no function was made");
    }
    Ok(ExitStatus::Success)
}

//! `modelexport tag`: an ONNX file that another exporter wrote gets tags, and nothing else changes.

mod refusal;
mod summary;

use std::path::{Path, PathBuf};
use std::time::Instant;

use clap::Args;
use clap::builder::PossibleValue;
use modelexport::embedding::Embed;
use modelexport::strategies::evidence;
use modelexport::strategies::{Evidence, Strategy};
use modelexport::tag::{self, Choice, ForeignFile};
use modelexport::tags::Tags;
use modelexport_io::output::{Settings, Transaction};
use modelexport_io::sidecar;

use crate::arguments::{Format, PolicyArguments, parse_embed};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;
use refusal::Refusal;
use summary::{Seconds, Summary};

/// Tag an ONNX file that another exporter or an optimiser wrote
///
/// A strategy finds out which module every node came from, by evidence: a trace that TracingHierarchyBuilder wrote,
/// a captured program (.pt2), a sidecar, another tagged ONNX file, or what the file says about itself (metadata, or
/// scopes in the names of its nodes). Only tags are added: without them the file is byte for byte what it was. Beside
/// it comes a sidecar `<name>_hierarchy.json`.
///
/// How well evidence and graph fit is measured and printed. Evidence of another model is refused: exit status 1, and
/// nothing is written.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The ONNX file
    file: PathBuf,

    /// The tagged file to write; may be the same
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// What tells about the model: a trace (.json), a .pt2, a sidecar or a tagged .onnx [default: the file itself]
    #[arg(long, value_name = "PATH", conflicts_with = "from")]
    evidence: Option<PathBuf>,

    /// Give tags back: the tagged ONNX file, or its sidecar, that FILE was made from
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,

    /// How to find the modules [default: the one that places most nodes with this evidence]
    #[arg(long, value_name = "NAME")]
    strategy: Option<StrategyArgument>,

    /// Write although the evidence does not fit the graph; every tag is marked with low confidence
    #[arg(long)]
    force: bool,

    /// Replace files that exist
    #[arg(long)]
    overwrite: bool,

    /// What is written into the nodes: doc-string, metadata-props, both (with a comma) or none
    #[arg(long, value_name = "WHAT", default_value = "doc-string,metadata-props", value_parser = parse_embed)]
    embed: Embed,

    /// How to print the summary
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    #[command(flatten)]
    policy: PolicyArguments,
}

const EXAMPLES: &str = "\
Examples:
  modelexport tag model.onnx -o tagged.onnx                               torch's own metadata becomes tags
  modelexport tag model.onnx -o tagged.onnx --evidence trace.json --strategy htp
  modelexport tag model.onnx -o tagged.onnx --evidence model.pt2
  modelexport tag optimised.onnx -o tagged.onnx --from model.onnx         tags return after an optimiser
  modelexport tag int8.onnx -o int8.onnx --from model_hierarchy.json --overwrite

Which strategy suits a model: modelexport strategies model.onnx --evidence trace.json";

/// A strategy as the command line takes it: names and summaries come from the library.
#[derive(Clone, Copy)]
pub struct StrategyArgument(pub Strategy);

impl clap::ValueEnum for StrategyArgument {
    fn value_variants<'a>() -> &'a [Self] {
        const ALL: [StrategyArgument; Strategy::ALL.len()] = {
            let mut all = [StrategyArgument(Strategy::ALL[0]); Strategy::ALL.len()];
            let mut i = 0;
            while i < all.len() {
                all[i] = StrategyArgument(Strategy::ALL[i]);
                i += 1;
            }
            all
        };
        &ALL
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.summary()))
    }
}

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let began = Instant::now();
    let settings = Settings { overwrite: arguments.overwrite, ..Settings::default() };
    let transaction = Transaction::begin(&arguments.output, settings).map_err(modelexport::Error::from)?;
    transaction.check(&sidecar::path_beside(&arguments.output)).map_err(modelexport::Error::from)?;

    // Evidence is large while it is read and small afterwards, so that it comes before the model.
    let given = match arguments.from.as_deref().or(arguments.evidence.as_deref()) {
        Some(path) => Some(evidence::load(path)?),
        None => None,
    };
    let (mut file, mut evidence) = match given {
        Some(evidence) => (ForeignFile::open(&arguments.file)?, evidence),
        None => open_as_evidence(&arguments.file)?,
    };
    let candidates = candidates_of(arguments, &evidence);
    if let Some(problem) = &file.data_problem {
        session.detail(&format!("{problem}; parameters are known by their names only"));
    }
    let read = began.elapsed();

    let (policy, tag_format) = arguments.policy.resolve(evidence.policy.as_ref())?;
    let Choice { strategy, mut fit, tried } = file.attribute(&evidence, &candidates, &policy)?;
    let evidence_path = arguments.from.as_deref().or(arguments.evidence.as_deref());
    if !fit.is_enough() {
        if !arguments.force {
            let refusal = Refusal::new(&arguments.file, &evidence, evidence_path, strategy, &fit);
            if let Format::Json = arguments.format {
                refusal.write_json(session.out())?;
            }
            return Err(refusal.into_failure());
        }
        fit.forced = true;
        file.doubt();
    }
    let tags = match &evidence.tags_only {
        Some(tags) => tags.clone(),
        None => Tags::new(&evidence.modules, &policy, tag_format),
    };
    evidence.keep_modules();
    let mut sidecar = tag::describe(&file, &evidence, &tags, arguments.embed, strategy);
    sidecar.statistics.fit = Some(fit);
    let attributed = began.elapsed();

    let files = tag::write(transaction, &file, &evidence, &tags, arguments.embed, &mut sidecar, &mut |_| ())?;
    let total = began.elapsed();
    let seconds = Seconds {
        read: read.as_secs_f64(),
        tag: (attributed - read).as_secs_f64(),
        write: (total - attributed).as_secs_f64(),
        total: total.as_secs_f64(),
    };
    let summary = Summary::new(&arguments.file, &evidence, evidence_path, &sidecar, tried, &files, seconds);
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

/// Opens a file that is its own evidence, together with the sidecar beside it.
fn open_as_evidence(path: &Path) -> Result<(ForeignFile, Evidence), Failure> {
    let beside = sidecar::path_beside(path);
    let sidecar = match sidecar::read(&beside) {
        Ok(sidecar) => Some(sidecar),
        Err(error) if error.is_not_found() => None,
        Err(error) => return Err(modelexport::Error::from(error).into()),
    };
    let (file, evidence) = ForeignFile::open_as_evidence(path, sidecar)?;
    let nothing = modelexport::Error::NoHierarchy { path: path.to_owned(), sidecar: beside };
    let evidence = evidence.ok_or_else(|| {
        Failure::from(nothing).with_hint(Some(
            "give evidence: --evidence with a trace, a .pt2 or a sidecar, or --from with the tagged file that this \
             one was made from",
        ))
    })?;
    Ok((file, evidence))
}

/// The strategy that was asked for, else those of which the one is taken that places most nodes.
fn candidates_of(arguments: &Arguments, evidence: &Evidence) -> Vec<Strategy> {
    let is_own = arguments.from.is_none() && arguments.evidence.is_none();
    match arguments.strategy {
        Some(StrategyArgument(strategy)) => vec![strategy],
        None if is_own => vec![Strategy::EnhancedSemantic],
        None if arguments.from.is_some() && Strategy::Retag.is_allowed_by(evidence) => vec![Strategy::Retag],
        None => tag::candidates(evidence),
    }
}

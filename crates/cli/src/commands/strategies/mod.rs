//! `modelexport strategies`: which strategy suits a model.

mod text;

use std::path::PathBuf;

use clap::Args;
use modelexport::json;
use modelexport::strategies::{Evidence, evidence};
use modelexport::strategy_comparison::{self, Row, Subject};
use modelexport::tag::{Choice, ForeignFile, StrategyTrial};
use modelexport_io::sidecar::Fit;
use modelexport_io::{pt2, sidecar};
use serde::Serialize;

use crate::arguments::{Format, PolicyArguments};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// Compare the strategies that recover the modules of an ONNX file of another exporter
///
/// Runs every strategy that the evidence allows. Prints how many nodes each strategy placed, by which method, how far it
/// agrees with the ground truth, and where it differs. The ground truth is torch's metadata in the file or, for a .pt2, the
/// export of modelexport itself. It is removed before a strategy runs, together with all names inside the graph, except for
/// enhanced_semantic and retag, which read them. The last line recommends the strategy that places the most nodes of the
/// unchanged file. `tag` chooses the same strategy by default.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The ONNX file, or a captured program (.pt2)
    source: PathBuf,

    /// Evidence of the modules: a trace (.json), a .pt2, a sidecar or a tagged .onnx [default: SOURCE]
    #[arg(long, value_name = "PATH")]
    evidence: Option<PathBuf>,

    /// How many differing nodes to show for each strategy
    #[arg(long, value_name = "N", default_value_t = 5)]
    differing: usize,

    /// How to print the result
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,

    #[command(flatten)]
    policy: PolicyArguments,
}

const EXAMPLES: &str = "\
Examples:
  modelexport strategies model.onnx --evidence trace.json
  modelexport strategies model.onnx --evidence model.pt2 --differing 50
  modelexport strategies model.pt2                                   use modelexport's own export
  modelexport strategies model.onnx --evidence model.pt2 --format json | jq '.strategies[] | {strategy, agreement}'

Next: modelexport tag model.onnx -o tagged.onnx --evidence trace.json --strategy htp";

#[derive(Serialize)]
struct Report {
    source: String,
    evidence: String,
    evidence_kind: &'static str,
    /// Whether the true modules of the nodes are known.
    has_truth: bool,
    strategies: Vec<Row>,
    recommendation: Recommendation,
}

/// What `tag` chooses by default.
#[derive(Serialize)]
struct Recommendation {
    strategy: &'static str,
    /// How many nodes of the unchanged file each strategy placed.
    tried: Vec<StrategyTrial>,
    /// How well the evidence fits the graph.
    fit: Fit,
}

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let (subject, evidence) = read(arguments)?;
    let (policy, format) = arguments.policy.choice().resolve(evidence.policy.as_ref())?;
    let mut strategies = strategy_comparison::compare(&subject, &evidence, &policy, format)?;
    for agreement in strategies.iter_mut().filter_map(|row| row.agreement.as_mut()) {
        agreement.differing.truncate(arguments.differing);
    }
    let Choice { strategy, fit, tried } = strategy_comparison::recommend(&subject, &evidence, &policy)?;
    let recommendation = Recommendation { strategy: strategy.name(), tried, fit };
    let evidence_path = arguments.evidence.as_ref().unwrap_or(&arguments.source);
    let report = Report {
        source: arguments.source.display().to_string(),
        evidence: evidence_path.display().to_string(),
        evidence_kind: evidence.format.name(),
        has_truth: subject.truth.is_some(),
        strategies,
        recommendation,
    };
    match arguments.format {
        Format::Json => json::write(session.out(), &report)?,
        Format::Text => {
            let (style, width) = (session.out_style(), session.width());
            text::write(&report, session.out(), style, width)?;
        }
    }
    Ok(ExitStatus::Success)
}

fn read(arguments: &Arguments) -> Result<(Subject, Evidence), Failure> {
    let is_program = arguments.source.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("pt2"));
    if is_program {
        let archive = pt2::read(&arguments.source).map_err(modelexport::Error::from)?;
        let subject = Subject::from_program(archive, &arguments.source)?;
        let evidence = evidence::load(arguments.evidence.as_ref().unwrap_or(&arguments.source))?;
        return Ok((subject, evidence));
    }
    let (file, mut model) = ForeignFile::open_with_model(&arguments.source)?;
    let evidence = match &arguments.evidence {
        Some(path) => evidence::load(path)?,
        None => {
            let own = evidence::from_itself(&mut model, &file.graph, None);
            own.or_else(|| evidence::from_scopes(&file.graph))
                .ok_or_else(|| modelexport::Error::NoHierarchy {
                    path: arguments.source.clone(),
                    sidecar: sidecar::path_beside(&arguments.source),
                })
                .map_err(|error| Failure::from(error).with_hint(Some("pass evidence with --evidence")))?
        }
    };
    Ok((Subject::from_file(file, model), evidence))
}

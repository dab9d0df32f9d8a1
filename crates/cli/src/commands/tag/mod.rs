//! `modelexport tag`: an ONNX file that another exporter wrote gets tags, and nothing else changes.

mod refusal;
mod summary;

use std::path::PathBuf;

use clap::Args;
use clap::builder::PossibleValue;
use modelexport::embedding::Embed;
use modelexport::json;
use modelexport::strategies::Strategy;
use modelexport::tag::Outcome;
use modelexport::{Error, Tag, Target};

use crate::arguments::{Format, PolicyArguments, parse_embed};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::observer::SessionObserver;
use crate::session::Session;

/// Tag an ONNX file that another exporter or an optimizer wrote
///
/// A strategy recovers which module every node came from. It uses evidence: a trace of TracingHierarchyBuilder, a captured
/// program (.pt2), a sidecar, another tagged ONNX file, or the file's own metadata and scope names. Only tags are added;
/// everything else stays the same, byte for byte. The sidecar `<name>_hierarchy.json` is written beside the output.
///
/// The command measures and prints how well the evidence fits the graph. It rejects evidence of another model: the exit
/// status is 1 and nothing is written.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The ONNX file
    file: PathBuf,

    /// The tagged file to write; can be the input file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Evidence of the modules: a trace (.json), a .pt2, a sidecar or a tagged .onnx [default: the file itself]
    #[arg(long, value_name = "PATH", conflicts_with = "from")]
    evidence: Option<PathBuf>,

    /// Restore tags: the tagged ONNX file that FILE was made from, or its sidecar
    #[arg(long, value_name = "PATH")]
    from: Option<PathBuf>,

    /// Which strategy to use [default: the one that places the most nodes with this evidence]
    #[arg(long, value_name = "NAME")]
    strategy: Option<StrategyArgument>,

    /// Tag the file even if the evidence does not fit the graph; all tags get low confidence
    #[arg(long)]
    force: bool,

    /// Overwrite existing files
    #[arg(long)]
    overwrite: bool,

    /// Where to store tags on nodes: doc-string, metadata-props, both (comma-separated) or none
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
  modelexport tag model.onnx -o tagged.onnx                               use torch's own metadata
  modelexport tag model.onnx -o tagged.onnx --evidence trace.json --strategy htp
  modelexport tag model.onnx -o tagged.onnx --evidence model.pt2
  modelexport tag optimized.onnx -o tagged.onnx --from model.onnx         restore tags after an optimizer
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
    let evidence = arguments.from.as_ref().or(arguments.evidence.as_ref());
    let tag = Tag {
        target: Target::new(&arguments.output).overwrite(arguments.overwrite),
        evidence: evidence.cloned(),
        is_made_from_evidence: arguments.from.is_some(),
        strategy: arguments.strategy.map(|argument| argument.0),
        force: arguments.force,
        embed: arguments.embed,
        tags: arguments.policy.choice(),
        ..Tag::new(&arguments.file, &arguments.output)
    };
    let outcome = tag.run(&mut SessionObserver::new(session));
    let summary = match outcome {
        Ok(Outcome::Tagged(summary)) => summary,
        Ok(Outcome::Refused(refusal)) => {
            if let Format::Json = arguments.format {
                json::write(session.out(), &refusal)?;
            }
            return Err(refusal::failure(&refusal));
        }
        Err(error @ Error::NoHierarchy { .. }) if evidence.is_none() => {
            return Err(Failure::from(error).with_hint(Some(GIVE_EVIDENCE)));
        }
        Err(error) => return Err(error.into()),
    };
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

const GIVE_EVIDENCE: &str = "pass evidence: --evidence with a trace, a .pt2 or a sidecar, or --from with the tagged file \
                             that this one was made from";

//! Live models: Python loads, captures and exports them, and tells what it does; the rest is as with archives.

mod arguments;
mod conversation;
mod files;
mod interpreter;
mod source;

use std::path::Path;

use modelexport::Target;
use modelexport::diagnosis::Diagnosis;
use modelexport::export::ConstantOutput;
use modelexport::json;
use modelexport::policy::Preset;
use modelexport::summary::{File, Weights};
use modelexport::tags::TagFormat;
use modelexport_io::ErrorKind;
use modelexport_io::sidecar::Statistics;
use modelexport_io::weights::WeightsMode;
use modelexport_lower::Fuse;
use serde::Deserialize;

pub use arguments::LiveArguments;
pub use source::{LiveModel, model_of};

use super::summary::{self, Shown};
use crate::arguments::Format;
use crate::display::progress::Progress;
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;
use conversation::Answer;

/// The strategy that is no strategy: lowering the captured program here.
const NATIVE: &str = "native";

/// What Python tells about a finished export; by way of torch's exporters it knows less.
#[derive(Deserialize)]
struct LiveSummary {
    files: Vec<File>,
    opset: Option<i64>,
    strategy: Option<String>,
    statistics: Statistics,
    weights: Option<Weights>,
    #[serde(default)]
    constant_outputs: Vec<ConstantOutput>,
    diagnosis: Diagnosis,
    seconds: Seconds,
}

#[derive(Deserialize)]
struct Seconds {
    total: f64,
}

pub fn run(
    model: &LiveModel,
    arguments: &super::Arguments,
    session: &mut Session,
) -> Result<ExitStatus, Failure> {
    Target::new(&arguments.output).check_live(&files::of(model, arguments))?;
    if arguments.output.exists() && !arguments.overwrite {
        let text = format!("{}: exists already", arguments.output.display());
        let hint = "pass --overwrite to replace it, or choose another name";
        return Err(Failure::new(text, ErrorKind::Exists).with_hint(Some(hint)));
    }
    let request = request(model, arguments, session)?;
    let python = interpreter::find(arguments.live.python.as_deref());
    let progress = Progress::new(session.shows_progress());
    let answer = conversation::ask(&python, &arguments.live.python_path, &request, session, &mut |step| {
        progress.step(step, Path::new(&model.text));
        session.step(step, &model.text);
    });
    progress.finish();
    match answer? {
        Answer::Summary(summary) => print_summary(&summary, arguments, session),
        Answer::Unsupported { message, opset, operators } => match arguments.format {
            Format::Json => {
                // Torch was asked already.
                let report = serde_json::json!({
                    "exported": false,
                    "opset": opset,
                    "unsupported": operators,
                    "decompose": null,
                });
                json::write(session.out(), &report)?;
                Ok(ExitStatus::Finding)
            }
            _ => Err(Failure::finding(message)),
        },
    }
}

/// What Python is asked to do.
fn request(
    model: &LiveModel,
    arguments: &super::Arguments,
    session: &Session,
) -> Result<serde_json::Value, Failure> {
    let live = &arguments.live;
    if let Some((option, reason)) = refused(arguments) {
        return Err(Failure::new(format!("{option}: {reason}"), ErrorKind::BadInput));
    }
    let tags = arguments.policy.choice();
    let policy = serde_json::json!({
        "modules": tags.modules.map(Preset::name),
        "torch_nn_exceptions": tags.torch_nn_exceptions,
        "rules": tags.rules,
        "tag_format": tags.tag_format.map(TagFormat::name),
    });
    Ok(serde_json::json!({
        "version": env!("CARGO_PKG_VERSION"),
        "kind": model.kind.name(),
        "source": model.text,
        "output": arguments.output,
        "overwrite": arguments.overwrite,
        "opset": arguments.opset,
        "weights": arguments.weights.name(),
        "weights_from": arguments.weights_from,
        "embed": arguments.embed.name(),
        "source_info": arguments.source_info,
        "keep_batch_norm": arguments.keep_batch_norm,
        "fuse": arguments.fuse.name(),
        "policy": policy,
        "strategy": live.strategy(),
        "exporter": live.exporter(),
        "input_text": live.input_text,
        "input_shape": live.input_shape,
        "inputs": live.inputs,
        "inputs_from": live.inputs_from,
        "dynamic_axes": live.dynamic_axes()?,
        "trust_remote_code": live.trust_remote_code,
        "verbose": session.is_verbose(),
    }))
}

/// An option that was given and means nothing for this model, and why.
fn refused(arguments: &super::Arguments) -> Option<(&'static str, &'static str)> {
    let of_files = "only for captured programs (.pt2) and with --weights-from";
    let of_torch = "only for --strategy native; torch's exporters decide for themselves";
    let is_native = arguments.live.strategy() == NATIVE;
    let given = [
        (
            !arguments.dim_name.is_empty(),
            "--dim-name",
            "a live model's dimensions are named by --dynamic-axes",
        ),
        (
            arguments.weights == WeightsMode::Reference && arguments.weights_from.is_none(),
            "--weights reference",
            of_files,
        ),
        (!is_native && arguments.weights_from.is_some(), "--weights-from", of_torch),
        (!is_native && arguments.weights != WeightsMode::Auto, "--weights", of_torch),
        (!is_native && arguments.keep_batch_norm, "--keep-batch-norm", of_torch),
        (!is_native && arguments.fuse != Fuse::default(), "--fuse", of_torch),
        (!is_native && arguments.source_info, "--source-info", of_torch),
        (
            is_native && arguments.live.exporter_given(),
            "--exporter",
            "only for another --strategy than native",
        ),
    ];
    given.into_iter().find(|(is_given, ..)| *is_given).map(|(_, option, reason)| (option, reason))
}

fn print_summary(
    summary: &serde_json::Value,
    arguments: &super::Arguments,
    session: &mut Session,
) -> Result<ExitStatus, Failure> {
    match arguments.format {
        Format::Json => {
            json::write(session.out(), summary)?;
        }
        _ if session.is_quiet() => {}
        _ => {
            let parsed = LiveSummary::deserialize(summary)
                .map_err(|error| Failure::new(format!("Python's summary: {error}"), ErrorKind::BadInput))?;
            let shown = Shown {
                files: &parsed.files,
                opset: parsed.opset,
                strategy: parsed.strategy.as_deref(),
                statistics: &parsed.statistics,
                weights: parsed.weights.as_ref(),
                constant_outputs: &parsed.constant_outputs,
                diagnosis: &parsed.diagnosis,
                seconds: parsed.seconds.total,
            };
            let style = session.out_style();
            summary::write_text(&shown, session.out(), style)?;
        }
    }
    Ok(ExitStatus::Success)
}

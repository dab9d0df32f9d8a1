//! `modelexport weights`: lists, checks and moves the weights of an ONNX file.

use std::path::PathBuf;

use clap::Args;
use modelexport::weight_places::{self, WeightLocation};
use modelexport::{Target, json};
use modelexport_io::onnx::names::for_screen;
use modelexport_io::weights::WeightsMode;

use crate::arguments::Format;
use crate::display::number::{bytes, counted};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::observer::SessionObserver;
use crate::session::Session;

/// List and check where the weights of an ONNX file are stored, or move them
///
/// Checks that external weights exist and have the right size and, if the model records a hash, the right hash. With
/// --embed, --external or --reference, writes the model with its weights in another place. Weights are streamed from file to
/// file and never loaded.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The ONNX file
    source: PathBuf,

    /// Store the weights in the model
    #[arg(long, group = "form")]
    embed: bool,

    /// Store the weights in <name>.onnx.data beside the model
    #[arg(long, group = "form")]
    external: bool,

    /// Point at the weights in the safetensors files of DIR, which must hold the same bytes
    #[arg(long, group = "form", value_name = "DIR")]
    reference: Option<PathBuf>,

    /// The ONNX file to write [default: replace SOURCE, which needs --overwrite]
    #[arg(short, long, value_name = "FILE", requires = "form")]
    output: Option<PathBuf>,

    /// Overwrite existing files
    #[arg(long, requires = "form")]
    overwrite: bool,

    /// Read all weights and print their SHA-1
    #[arg(long, conflicts_with = "form")]
    hash: bool,

    /// How to print the list
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  modelexport weights model.onnx                                   check all weights
  modelexport weights model.onnx --hash --format json
  modelexport weights model.onnx --embed -o whole.onnx             one file to send
  modelexport weights model.onnx --external --overwrite
  modelexport weights model.onnx --reference checkpoint -o small.onnx";

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let target = Target::new(arguments.output.as_ref().unwrap_or(&arguments.source));
    let target = target.overwrite(arguments.overwrite);
    let source = &arguments.source;
    let mut observer = SessionObserver::new(session);
    let converted = match (&arguments.reference, arguments.embed, arguments.external) {
        (Some(folder), ..) => weight_places::refer_to(source, &target, folder, &mut observer),
        (None, true, _) => weight_places::convert(source, &target, WeightsMode::Embed, &mut observer),
        (None, _, true) => weight_places::convert(source, &target, WeightsMode::External, &mut observer),
        _ => {
            drop(observer);
            return list(arguments, session);
        }
    };
    drop(observer);
    let converted = converted?;
    match arguments.format {
        Format::Json => json::write(session.out(), &converted)?,
        Format::Text if session.is_quiet() => {}
        Format::Text => {
            for file in &converted.files {
                writeln!(session.out(), "  wrote  {} ({})", for_screen(&file.path), bytes(file.bytes))?;
            }
        }
    }
    Ok(ExitStatus::Success)
}

fn list(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let places = weight_places::list(&arguments.source, arguments.hash)?;
    let is_fine = places.iter().all(|place| place.problem.is_none());
    match arguments.format {
        Format::Json => {
            let weights: Vec<_> = places.iter().map(as_json).collect();
            let report = serde_json::json!({"fine": is_fine, "weights": weights});
            json::write(session.out(), &report)?;
        }
        Format::Text => write_text(&places, session)?,
    }
    Ok(if is_fine { ExitStatus::Success } else { ExitStatus::Finding })
}

fn as_json(place: &WeightLocation) -> serde_json::Value {
    let (location, offset) = match &place.external {
        Some((location, offset)) => (Some(location), Some(offset)),
        None => (None, None),
    };
    serde_json::json!({
        "name": place.name,
        "dtype": place.dtype.map(|dtype| dtype.name()),
        "shape": place.dims,
        "bytes": place.bytes,
        "location": location,
        "offset": offset,
        "sha1": place.hash,
        "problem": place.problem,
    })
}

fn write_text(places: &[WeightLocation], session: &mut Session) -> Result<(), Failure> {
    let style = session.out_style();
    let width = places.iter().map(|place| for_screen(&place.name).chars().count()).max().unwrap_or(0);
    for place in places {
        let kind = place.dtype.map_or("?", |dtype| dtype.name());
        let dims: Vec<String> = place.dims.iter().map(i64::to_string).collect();
        let kind = format!("{kind}[{}]", dims.join(","));
        let place_text = match &place.external {
            Some((location, offset)) => format!("{} at {offset}", for_screen(location)),
            None => "in the model".to_owned(),
        };
        let size = bytes(place.bytes);
        write!(session.out(), "{:<width$}  {kind:<24}  {size:>7}  {place_text}", for_screen(&place.name))?;
        if let Some(hash) = &place.hash {
            write!(session.out(), "  {}", style.dim(hash))?;
        }
        if let Some(problem) = &place.problem {
            write!(session.out(), "  {}", style.red(&for_screen(problem)))?;
        }
        writeln!(session.out())?;
    }
    let sum = bytes(places.iter().map(|place| place.bytes).sum());
    let outside = places.iter().filter(|place| place.external.is_some()).count();
    let bad = places.iter().filter(|place| place.problem.is_some()).count();
    let total = counted(places.len() as u64, "weight");
    writeln!(session.out(), "{total}, {sum}, {outside} outside the model, {bad} with a problem")?;
    Ok(())
}

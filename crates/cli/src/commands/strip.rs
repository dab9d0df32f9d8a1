//! `modelexport strip`: a file without tags.

use std::path::PathBuf;

use clap::Args;
use modelexport::json;
use modelexport::strip::{self, Options, Stripped};
use modelexport_io::onnx::names::for_screen;

use crate::arguments::Format;
use crate::display::number::{bytes, counted, exact};
use crate::exit::ExitStatus;
use crate::failure::Failure;
use crate::session::Session;

/// Remove all tags from an ONNX file
///
/// Stripping a file that modelexport tagged restores the original file, byte for byte. A sidecar beside the output is
/// removed. Weights in other files are not touched.
#[derive(Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The ONNX file
    file: PathBuf,

    /// The file to write
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,

    /// Also remove the metadata of other tools, such as torch's stack traces
    ///
    /// Removes all metadata_props of nodes, values, tensors, graphs and functions, the entries that exporters put on the
    /// model, and every doc_string that names a line of a Python file.
    #[arg(long)]
    all_metadata: bool,

    /// Overwrite the output if it exists
    #[arg(long)]
    overwrite: bool,

    /// How to print the summary
    #[arg(long, value_name = "FORMAT", default_value = "text")]
    format: Format,
}

const EXAMPLES: &str = "\
Examples:
  modelexport strip tagged.onnx -o plain.onnx
  modelexport strip model.onnx -o model.onnx --overwrite              in place
  modelexport strip from_torch.onnx -o shipped.onnx --all-metadata    remove local paths, too";

pub fn run(arguments: &Arguments, session: &mut Session) -> Result<ExitStatus, Failure> {
    let options = Options { all_metadata: arguments.all_metadata, overwrite: arguments.overwrite };
    let stripped = strip::strip(&arguments.file, &arguments.output, &options)?;
    for location in &stripped.weights_elsewhere {
        session.warn(&format!(
            "weights lie in {location}, which was not copied: {} finds them only in its own folder",
            stripped.output
        ));
    }
    match arguments.format {
        Format::Json => json::write(session.out(), &stripped)?,
        Format::Text if session.is_quiet() => {}
        Format::Text => {
            for (name, text) in lines(&stripped) {
                let name = session.out_style().dim(&format!("{name:<9}"));
                writeln!(session.out(), "  {name}  {}", for_screen(&text))?;
            }
        }
    }
    Ok(ExitStatus::Success)
}

fn lines(stripped: &Stripped) -> Vec<(&'static str, String)> {
    let mut lines = vec![
        (
            "wrote",
            format!(
                "{} ({}, {} before)",
                stripped.output,
                bytes(stripped.bytes_after),
                bytes(stripped.bytes_before)
            ),
        ),
        ("tags", format!("{} of {} had some", exact(stripped.tagged_nodes), counted(stripped.nodes, "node"))),
    ];
    lines.extend(stripped.removed_sidecar.iter().map(|sidecar| ("removed", sidecar.clone())));
    lines
}

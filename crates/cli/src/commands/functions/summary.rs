//! What became of the modules, for people and for programs.

use std::io::{self, Write};
use std::path::Path;

use modelexport::export::Files;
use modelexport::export_summary::{File, Weights};
use modelexport::functions::{FunctionReport, Inlined, Left, Report};
use modelexport_io::onnx::names::for_screen;
use serde::Serialize;

use crate::display::json;
use crate::display::number::{bytes, counted, exact};
use crate::display::style::Style;
use crate::display::written::weights_text;
use crate::failure::Failure;

/// Reasons for modules that stay as they were are listed up to this many; `--format json` has them all.
const MOST_LEFT: usize = 8;

#[derive(Serialize)]
#[serde(untagged)]
pub enum Outcome {
    Converted(Report),
    Inlined(Inlined),
}

#[derive(Serialize)]
pub struct Summary<'a> {
    files: Vec<File>,
    weights: Weights,
    /// Bytes of the file that was read.
    bytes_before: u64,
    #[serde(flatten)]
    outcome: &'a Outcome,
}

impl<'a> Summary<'a> {
    pub fn new(source: &Path, outcome: &'a Outcome, written: &Files) -> Self {
        Summary {
            files: written.files.iter().map(File::new).collect(),
            weights: Weights::new(&written.weights),
            bytes_before: std::fs::metadata(source).map_or(0, |found| found.len()),
            outcome,
        }
    }

    pub fn write_json(&self, out: &mut dyn Write) -> Result<(), Failure> {
        json::write(out, self)
    }

    pub fn write_text(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let mut line = |label: &str, text: &str| {
            writeln!(out, "  {}  {}", style.dim(&format!("{label:<9}")), for_screen(text))
        };
        for (i, file) in self.files.iter().enumerate() {
            line(if i == 0 { "wrote" } else { "" }, &format!("{} ({})", file.path, bytes(file.bytes)))?;
        }
        match self.outcome {
            Outcome::Inlined(inlined) => {
                let functions = counted(inlined.functions as u64, "function");
                line("inlined", &format!("{functions}, {}", counted(inlined.calls as u64, "call")))?;
                line("graph", &nodes(inlined.nodes_before, inlined.nodes_after))?;
            }
            Outcome::Converted(report) => {
                line("graph", &nodes(report.nodes_before, report.nodes_after))?;
                for (i, function) in report.functions.iter().enumerate() {
                    line(if i == 0 { "functions" } else { "" }, &function_line(function))?;
                }
            }
        }
        line("weights", &weights_text(&self.weights))?;
        if let Outcome::Converted(report) = self.outcome {
            for (i, left) in report.left.iter().take(MOST_LEFT).enumerate() {
                line(if i == 0 { "left" } else { "" }, &left_line(left))?;
            }
            if report.left.len() > MOST_LEFT {
                line("", &format!("and {} more", exact((report.left.len() - MOST_LEFT) as u64)))?;
            }
        }
        Ok(())
    }
}

fn nodes(before: usize, after: usize) -> String {
    format!("{} in the main graph, {} before", counted(after as u64, "node"), exact(before as u64))
}

fn function_line(function: &FunctionReport) -> String {
    let calls = counted(function.calls.len() as u64, "call");
    let nodes = counted(function.nodes as u64, "node");
    format!("{}  {calls} of {nodes}, {}", function.name, counted(function.inputs as u64, "input"))
}

fn left_line(left: &Left) -> String {
    let module = if left.module.is_empty() { "(root)" } else { &left.module };
    let call = if left.call == 0 { String::new() } else { format!(" (call {})", left.call) };
    format!("{module}{call}: {}", left.reason)
}

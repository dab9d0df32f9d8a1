//! What became of the modules, for people.

use std::io::{self, Write};

use modelexport::functions::{FunctionReport, Outcome, Summary, UnconvertedCall};
use modelexport_io::onnx::names::for_screen;

use crate::display::number::{bytes, counted, exact};
use crate::display::style::Style;
use crate::display::written::weights_text;

/// Reasons for modules that stay as they were are listed up to this many; `--format json` has them all.
const MOST_LEFT: usize = 8;

pub fn write_text(summary: &Summary, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let mut line = |label: &str, text: &str| {
        writeln!(out, "  {}  {}", style.dim(&format!("{label:<9}")), for_screen(text))
    };
    for (i, file) in summary.files.iter().enumerate() {
        line(if i == 0 { "wrote" } else { "" }, &format!("{} ({})", file.path, bytes(file.bytes)))?;
    }
    match &summary.outcome {
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
    line("weights", &weights_text(&summary.weights))?;
    if let Outcome::Converted(report) = &summary.outcome {
        for (i, left) in report.left.iter().take(MOST_LEFT).enumerate() {
            line(if i == 0 { "left" } else { "" }, &left_line(left))?;
        }
        if report.left.len() > MOST_LEFT {
            line("", &format!("and {} more", exact((report.left.len() - MOST_LEFT) as u64)))?;
        }
    }
    Ok(())
}

fn nodes(before: usize, after: usize) -> String {
    format!("{} in the main graph, {} before", counted(after as u64, "node"), exact(before as u64))
}

fn function_line(function: &FunctionReport) -> String {
    let calls = counted(function.calls.len() as u64, "call");
    let nodes = counted(function.nodes as u64, "node");
    format!("{}  {calls} of {nodes}, {}", function.name, counted(function.inputs as u64, "input"))
}

fn left_line(left: &UnconvertedCall) -> String {
    let module = if left.module.is_empty() { "(root)" } else { &left.module };
    let call = if left.call == 0 { String::new() } else { format!(" (call {})", left.call) };
    format!("{module}{call}: {}", left.reason)
}

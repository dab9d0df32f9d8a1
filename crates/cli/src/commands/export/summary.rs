//! What an export did, for people and for programs.

use std::io::{self, Write};

use modelexport::diagnosis::{Diagnosis, Level};
use modelexport::export::{ConstantOutput, Summary};
use modelexport::summary::{File, Weights};
use modelexport_io::onnx::names::for_screen;
use modelexport_io::sidecar::Statistics;

use crate::display::number::{bytes, counted};
use crate::display::statistics::{coverage_text, modules_text};
use crate::display::style::Style;
use crate::display::written::weights_text;

/// What the text shows; an export by way of torch's exporters knows less.
pub struct Shown<'a> {
    pub files: &'a [File],
    pub opset: Option<i64>,
    pub strategy: Option<&'a str>,
    pub statistics: &'a Statistics,
    pub weights: Option<&'a Weights>,
    pub constant_outputs: &'a [ConstantOutput],
    pub diagnosis: &'a Diagnosis,
    pub seconds: f64,
}

impl<'a> From<&'a Summary> for Shown<'a> {
    fn from(summary: &'a Summary) -> Self {
        Shown {
            files: &summary.files,
            opset: Some(summary.opset),
            strategy: None,
            statistics: &summary.statistics,
            weights: Some(&summary.weights),
            constant_outputs: &summary.constant_outputs,
            diagnosis: &summary.diagnosis,
            seconds: summary.seconds.total,
        }
    }
}

pub fn write_text(summary: &Shown<'_>, out: &mut dyn Write, style: Style) -> io::Result<()> {
    let mut line = |label: &str, text: String| {
        writeln!(out, "  {}  {}", style.dim(&format!("{label:<9}")), for_screen(&text))
    };
    for (i, file) in summary.files.iter().enumerate() {
        let label = if i == 0 { "wrote" } else { "" };
        line(label, format!("{} ({})", file.path, bytes(file.bytes)))?;
    }
    let opset = summary.opset.map(|opset| format!(", opset {opset}")).unwrap_or_default();
    line("graph", format!("{}{opset}", counted(summary.statistics.nodes, "node")))?;
    line("modules", modules_text(summary.statistics))?;
    if let Some(strategy) = summary.strategy {
        line("strategy", strategy.to_owned())?;
    }
    line("coverage", coverage_text(summary.statistics))?;
    if let Some(weights) = summary.weights {
        line("weights", weights_text(weights))?;
    }
    for (i, output) in summary.constant_outputs.iter().enumerate() {
        let label = if i == 0 { "left out" } else { "" };
        let name = output.name.as_ref().map(|name| format!(" ({name})")).unwrap_or_default();
        line(label, format!("output {}{name}, which is {} in every run", output.position, output.value))?;
    }
    line("time", format!("{:.3} s", summary.seconds))?;
    let text = for_screen(&summary.diagnosis.text).into_owned();
    match summary.diagnosis.level {
        Level::High => line("tags", text),
        Level::Zero | Level::Low => {
            writeln!(out, "  {}  {text}", style.yellow(&format!("{:<9}", "tags")))
        }
    }
}

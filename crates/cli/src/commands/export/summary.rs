//! What an export did, for people and for programs.

use std::io::{self, Write};
use std::path::Path;

use modelexport::diagnosis::{Diagnosis, Level, diagnose};
use modelexport_io::onnx::names::for_screen;
use modelexport_io::sidecar::{Sidecar, Statistics};
use modelexport_io::weights::Written;
use serde::Serialize;

use crate::display::number::{counted, exact, short};
use crate::display::style::Style;

#[derive(Serialize)]
pub struct Summary<'a> {
    exported: bool,
    source: String,
    opset: i64,
    files: Vec<File>,
    weights: Weights,
    statistics: &'a Statistics,
    diagnosis: Diagnosis,
    seconds: Seconds,
}

#[derive(Serialize)]
struct File {
    path: String,
    bytes: u64,
}

#[derive(Serialize)]
struct Weights {
    mode: String,
    tensors: u64,
    bytes: u64,
}

#[derive(Clone, Copy, Serialize)]
pub struct Seconds {
    pub read: f64,
    pub lower: f64,
    pub write: f64,
    pub total: f64,
}

impl<'a> Summary<'a> {
    pub fn new(source: &Path, opset: i64, sidecar: &'a Sidecar, written: &Written, seconds: Seconds) -> Self {
        Summary {
            exported: true,
            source: source.display().to_string(),
            opset,
            files: written
                .files
                .iter()
                .map(|file| File { path: file.path.display().to_string(), bytes: file.bytes })
                .collect(),
            weights: Weights {
                mode: written.mode.to_string(),
                tensors: written.weights,
                bytes: written.weight_bytes,
            },
            statistics: &sidecar.statistics,
            diagnosis: diagnose(sidecar),
            seconds,
        }
    }

    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub fn write_text(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let Statistics { modules, executed_modules, visible_modules, nodes, coverage, .. } = *self.statistics;
        let mut line = |label: &str, text: String| {
            writeln!(out, "  {}  {}", style.dim(&format!("{label:<9}")), for_screen(&text))
        };
        for (i, file) in self.files.iter().enumerate() {
            let label = if i == 0 { "wrote" } else { "" };
            line(label, format!("{} ({}B)", file.path, short(file.bytes)))?;
        }
        line("graph", format!("{}, opset {}", counted(nodes, "node"), self.opset))?;
        line(
            "modules",
            format!(
                "{} of {} executed, {} shown in tags",
                exact(executed_modules),
                exact(modules),
                exact(visible_modules)
            ),
        )?;
        let methods: Vec<String> =
            self.statistics.by_method.iter().map(|(method, count)| format!("{} {method}", exact(*count))).collect();
        line("coverage", format!("{:.1}% ({})", 100.0 * coverage, methods.join(", ")))?;
        let Weights { mode, tensors, bytes } = &self.weights;
        line("weights", format!("{mode}: {} in {}", short(*bytes) + "B", counted(*tensors, "tensor")))?;
        line("time", format!("{:.3} s", self.seconds.total))?;
        let text = for_screen(&self.diagnosis.text).into_owned();
        match self.diagnosis.level {
            Level::High => line("tags", text),
            Level::Zero | Level::Low => writeln!(out, "  {}  {text}", style.yellow(&format!("{:<9}", "tags"))),
        }
    }
}

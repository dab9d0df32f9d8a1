//! What an export did, for people and for programs.

use std::io::{self, Write};
use std::path::Path;

use modelexport::diagnosis::{Diagnosis, Level, diagnose};
use modelexport::export::Files;
use modelexport_io::onnx::names::for_screen;
use modelexport_io::sidecar::{Sidecar, Statistics};
use modelexport_io::weights;
use serde::Serialize;

use crate::display::number::{counted, exact, short};
use crate::display::style::Style;

#[derive(Serialize)]
pub struct Summary {
    exported: bool,
    source: String,
    opset: i64,
    files: Vec<File>,
    weights: Weights,
    statistics: Statistics,
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
    mode: &'static str,
    #[serde(flatten)]
    counts: Counts,
}

/// Weights by where their bytes are.
#[derive(Serialize)]
struct Counts {
    embedded: usize,
    external: usize,
    shared: usize,
    referenced: usize,
    copied_instead: usize,
    omitted: usize,
}

#[derive(Clone, Copy, Serialize)]
pub struct Seconds {
    pub read: f64,
    pub lower: f64,
    pub write: f64,
    pub total: f64,
}

/// What the sidecar tells, kept while the sidecar itself is written and dropped.
pub struct ForSummary {
    statistics: Statistics,
    diagnosis: Diagnosis,
}

impl ForSummary {
    pub fn new(sidecar: &Sidecar) -> Self {
        ForSummary { statistics: sidecar.statistics.clone(), diagnosis: diagnose(sidecar) }
    }
}

impl Summary {
    pub fn new(source: &Path, opset: i64, told: ForSummary, written: &Files, seconds: Seconds) -> Self {
        let weights::Counts { embedded, external, shared, referenced, copied_instead, omitted } =
            written.weights.counts;
        let files = written.files.iter();
        Summary {
            exported: true,
            source: source.display().to_string(),
            opset,
            files: files
                .map(|file| File { path: file.path.display().to_string(), bytes: file.bytes })
                .collect(),
            weights: Weights {
                mode: written.weights.mode.name(),
                counts: Counts { embedded, external, shared, referenced, copied_instead, omitted },
            },
            statistics: told.statistics,
            diagnosis: told.diagnosis,
            seconds,
        }
    }

    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub fn write_text(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
        let Statistics { modules, executed_modules, visible_modules, nodes, coverage, .. } = self.statistics;
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
        let methods: Vec<String> = self
            .statistics
            .by_method
            .iter()
            .map(|(method, count)| format!("{} {method}", exact(*count)))
            .collect();
        line("coverage", format!("{:.1}% ({})", 100.0 * coverage, methods.join(", ")))?;
        line("weights", self.weights.text())?;
        line("time", format!("{:.3} s", self.seconds.total))?;
        let text = for_screen(&self.diagnosis.text).into_owned();
        match self.diagnosis.level {
            Level::High => line("tags", text),
            Level::Zero | Level::Low => {
                writeln!(out, "  {}  {text}", style.yellow(&format!("{:<9}", "tags")))
            }
        }
    }
}

impl Weights {
    fn text(&self) -> String {
        let Counts { embedded, external, shared, referenced, copied_instead, omitted } = self.counts;
        let places = [
            (embedded, "in the model"),
            (external, "in the data file"),
            (shared, "of them shared"),
            (referenced, "left where they are"),
            (copied_instead, "copied as they cannot be referenced"),
            (omitted, "left out"),
        ];
        let places: Vec<String> = places
            .iter()
            .filter(|(count, _)| *count > 0)
            .map(|(count, place)| format!("{} {place}", exact(*count as u64)))
            .collect();
        format!("{} ({})", self.mode, if places.is_empty() { "none".to_owned() } else { places.join(", ") })
    }
}

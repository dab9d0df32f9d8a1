//! What tagging did, for people and for programs.

use std::io::{self, Write};
use std::path::Path;

use modelexport::diagnosis::{Diagnosis, Level, diagnose};
use modelexport::strategies::Evidence;
use modelexport_io::onnx::names::for_screen;
use modelexport_io::output::CommittedFile;
use modelexport_io::sidecar::{Sidecar, Statistics};
use serde::Serialize;

use crate::display::number::{bytes, counted, exact};
use crate::display::style::Style;

#[derive(Serialize)]
pub struct Summary {
    tagged: bool,
    source: String,
    /// The file that told the modules; absent if that was the source itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<String>,
    evidence_kind: &'static str,
    strategy: String,
    files: Vec<File>,
    statistics: Statistics,
    diagnosis: Diagnosis,
    seconds: Seconds,
}

#[derive(Serialize)]
struct File {
    path: String,
    bytes: u64,
}

#[derive(Clone, Copy, Serialize)]
pub struct Seconds {
    pub read: f64,
    pub tag: f64,
    pub write: f64,
    pub total: f64,
}

impl Summary {
    pub fn new(
        source: &Path,
        evidence: &Evidence,
        evidence_path: Option<&Path>,
        sidecar: &Sidecar,
        files: &[CommittedFile],
        seconds: Seconds,
    ) -> Self {
        Summary {
            tagged: true,
            source: source.display().to_string(),
            evidence: evidence_path.map(|path| path.display().to_string()),
            evidence_kind: evidence.format.name(),
            strategy: sidecar.strategy.clone(),
            files: files
                .iter()
                .map(|file| File { path: file.path.display().to_string(), bytes: file.bytes })
                .collect(),
            statistics: sidecar.statistics.clone(),
            diagnosis: diagnose(sidecar),
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
            line(label, format!("{} ({})", file.path, bytes(file.bytes)))?;
        }
        let evidence = self.evidence.as_deref().unwrap_or("the file itself");
        line("evidence", format!("{evidence} ({})", self.evidence_kind))?;
        line("strategy", self.strategy.clone())?;
        line("graph", counted(nodes, "node"))?;
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

//! What tagging did, for people and for programs.

use std::io::{self, Write};
use std::path::Path;

use modelexport::diagnosis::{Diagnosis, Level, diagnose};
use modelexport::export_summary::File;
use modelexport::strategies::Evidence;
use modelexport_io::onnx::names::for_screen;
use modelexport_io::output::CommittedFile;
use modelexport_io::sidecar::{Fit, Sidecar, Statistics};
use serde::Serialize;

use crate::display::number::{bytes, counted};
use crate::display::statistics::{coverage_text, fit_text, modules_text};
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
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<Fit>,
    files: Vec<File>,
    statistics: Statistics,
    diagnosis: Diagnosis,
    seconds: Seconds,
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
            fit: sidecar.statistics.fit.clone(),
            files: files.iter().map(File::new).collect(),
            statistics: Statistics { fit: None, ..sidecar.statistics.clone() },
            diagnosis: diagnose(sidecar),
            seconds,
        }
    }

    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub fn write_text(&self, out: &mut dyn Write, style: Style) -> io::Result<()> {
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
        if let Some(fit) = &self.fit {
            line("fit", fit_text(fit))?;
        }
        line("graph", counted(self.statistics.nodes, "node"))?;
        line("modules", modules_text(&self.statistics))?;
        line("coverage", coverage_text(&self.statistics))?;
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

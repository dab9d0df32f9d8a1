//! What tagging did, for people and for programs.

use std::io::{self, Write};
use std::path::Path;

use modelexport::diagnosis::{Diagnosis, Level, PARTIAL as PARTIAL_SHARE, diagnose};
use modelexport::export_summary::File;
use modelexport::strategies::Evidence;
use modelexport::tag::Tried;
use modelexport_io::onnx::names::for_screen;
use modelexport_io::output::CommittedFile;
use modelexport_io::sidecar::{Fit, Sidecar, Statistics};
use serde::Serialize;

use crate::display::number::{bytes, counted, exact};
use crate::display::statistics::{coverage_text, fit_text, modules_text, placed_by_evidence, placed_text};
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
    /// What each strategy placed that was tried.
    tried: Vec<Tried>,
    #[serde(skip_serializing_if = "Option::is_none")]
    fit: Option<Fit>,
    files: Vec<File>,
    statistics: Statistics,
    diagnosis: Diagnosis,
    seconds: Seconds,
}

const PARTIAL: &str = "a part of the nodes says nothing of its module, as after an optimiser: --from with the tagged file \
                       that this one was made from gives all tags back";

/// What other strategies placed, if there were others.
fn tried_text(tried: &[Tried], taken: &str) -> String {
    let others: Vec<String> = tried
        .iter()
        .filter(|one| one.strategy != taken)
        .map(|one| format!("{} {}", one.strategy, exact(one.placed)))
        .collect();
    let own = tried.iter().find(|one| one.strategy == taken).map_or(0, |one| one.placed);
    match others.is_empty() {
        true => String::new(),
        false => format!(", which places {} nodes ({})", exact(own), others.join(", ")),
    }
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
        tried: Vec<Tried>,
        files: &[CommittedFile],
        seconds: Seconds,
    ) -> Self {
        Summary {
            tagged: true,
            source: source.display().to_string(),
            evidence: evidence_path.map(|path| path.display().to_string()),
            evidence_kind: evidence.format.name(),
            strategy: sidecar.strategy.clone(),
            tried,
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
        line("strategy", format!("{}{}", self.strategy, tried_text(&self.tried, &self.strategy)))?;
        if let Some(fit) = &self.fit {
            line("fit", fit_text(fit))?;
        }
        line("graph", counted(self.statistics.nodes, "node"))?;
        line("modules", modules_text(&self.statistics))?;
        line("coverage", coverage_text(&self.statistics))?;
        let methods = self.statistics.by_method.iter().map(|(method, count)| (method.as_str(), *count));
        let placed = placed_by_evidence(methods);
        line("placed", placed_text(placed, self.statistics.attributed_nodes))?;
        line("time", format!("{:.3} s", self.seconds.total))?;
        let mut warn = |label: &str, text: &str| {
            writeln!(out, "  {}  {}", style.yellow(&format!("{label:<9}")), for_screen(text))
        };
        if self.fit.as_ref().is_some_and(|fit| fit.forced) {
            warn("forced", "the evidence does not fit: every tag has low confidence")?;
        }
        if self.evidence.is_none() && (placed as f64) < (1.0 - PARTIAL_SHARE) * self.statistics.nodes as f64 {
            warn("partial", PARTIAL)?;
        }
        let text = for_screen(&self.diagnosis.text).into_owned();
        match self.diagnosis.level {
            Level::High => writeln!(out, "  {}  {text}", style.dim(&format!("{:<9}", "tags"))),
            Level::Zero | Level::Low => {
                writeln!(out, "  {}  {text}", style.yellow(&format!("{:<9}", "tags")))
            }
        }
    }
}

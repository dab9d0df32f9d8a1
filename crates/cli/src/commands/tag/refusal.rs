//! Evidence that does not fit: nothing is written, and why.

use std::io::{self, Write};
use std::path::Path;

use modelexport::strategies::{Evidence, Strategy};
use modelexport_io::sidecar::Fit;
use serde::Serialize;

use crate::display::statistics::fit_text;
use crate::failure::Failure;

#[derive(Serialize)]
pub struct Refusal<'a> {
    tagged: bool,
    source: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    evidence: Option<String>,
    evidence_kind: &'static str,
    strategy: &'static str,
    fit: &'a Fit,
}

impl<'a> Refusal<'a> {
    pub fn new(
        source: &Path,
        evidence: &Evidence,
        evidence_path: Option<&Path>,
        strategy: Strategy,
        fit: &'a Fit,
    ) -> Self {
        Refusal {
            tagged: false,
            source: source.display().to_string(),
            evidence: evidence_path.map(|path| path.display().to_string()),
            evidence_kind: evidence.format.name(),
            strategy: strategy.name(),
            fit,
        }
    }

    pub fn write_json(&self, out: &mut dyn Write) -> io::Result<()> {
        serde_json::to_writer_pretty(&mut *out, self)?;
        writeln!(out)
    }

    pub fn into_failure(self) -> Failure {
        let evidence = self.evidence.as_deref().unwrap_or("what the file says of itself");
        let mut message =
            format!("{}: {evidence} is evidence of another model: {}", self.source, fit_text(self.fit));
        for reason in &self.fit.reasons {
            message.push_str(&format!("\n  {reason}"));
        }
        let more = self.fit.contradictions.saturating_sub(self.fit.reasons.len() as u64);
        if more > 0 {
            message.push_str(&format!("\n  and {more} more"));
        }
        Failure::finding(message).with_hint(Some(
            "give the evidence of this model; --force tags the file all the same, with low confidence",
        ))
    }
}

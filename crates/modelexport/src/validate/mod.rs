//! `validate`: whether a file is whole, and whether its tags are right.
//!
//! Three groups of checks: structure (the graph itself), tags (what nodes and sidecar say), consistency (whether what
//! they say fits the graph). Each finding names its place. Some have one right answer; [`repair()`] mends these.

mod consistency;
mod finding;
mod fit;
mod repair;
mod sidecar;
mod structure;
mod tags;

use std::path::Path;

use serde::Serialize;

use crate::Error;
use crate::tagged_file::TaggedFile;

use finding::Findings;
pub(crate) use finding::place_of;
pub use finding::{Finding, Group, Severity};
pub use repair::{Repaired, repair};

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Report {
    /// The path of the file.
    pub file: String,
    /// Number of nodes.
    pub nodes: u64,
    /// Number of modules.
    pub modules: u64,
    /// No errors and no warnings; notes may be there.
    pub valid: bool,
    /// Findings that are errors.
    pub errors: usize,
    /// Findings that are warnings.
    pub warnings: usize,
    /// Findings that are notes.
    pub notes: usize,
    /// The findings, errors first.
    pub findings: Vec<Finding>,
}

/// Checks the file at `path`.
pub fn validate(path: &Path) -> Result<Report, Error> {
    Ok(validate_file(&TaggedFile::open_any(path)?))
}

/// Checks a file that is open.
pub(crate) fn validate_file(file: &TaggedFile) -> Report {
    let mut findings = Findings::default();
    structure::check(file, &mut findings);
    if file.records_no_modules() {
        let text = "no node says which module it comes from, and no sidecar lies beside the file";
        findings.add(Group::Tags, "no-tags", Severity::Warning, file.path.display().to_string(), text);
    } else {
        tags::check(file, &mut findings);
        sidecar::check(file, &mut findings);
        consistency::check(file, &mut findings);
        fit::check(file, &mut findings);
    }
    report(file, findings)
}

fn report(file: &TaggedFile, findings: Findings) -> Report {
    let findings = findings.into_sorted();
    let count = |severity| findings.iter().filter(|finding| finding.severity == severity).count();
    let (errors, warnings) = (count(Severity::Error), count(Severity::Warning));
    Report {
        file: file.path.display().to_string(),
        nodes: file.hierarchy.attributed_nodes() + file.hierarchy.unattributed_nodes,
        modules: file.hierarchy.tree.len() as u64,
        valid: errors + warnings == 0,
        errors,
        warnings,
        notes: count(Severity::Note),
        findings,
    }
}

#[cfg(test)]
mod tests;

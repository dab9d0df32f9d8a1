//! What a check found.

use modelexport_graph::onnx::Node;
use serde::Serialize;

/// How bad it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// A runtime or a tool will fail on it, or it says something wrong.
    Error,
    /// It is likely wrong.
    Warning,
    /// Worth knowing; the file is fine.
    Note,
}

impl Severity {
    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Error => "error",
            Severity::Warning => "warning",
            Severity::Note => "note",
        }
    }
}

/// What a finding is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Group {
    /// The graph follows the rules of ONNX.
    Structure,
    /// The tags follow the tag format and fit the sidecar.
    Tags,
    /// The tags fit what the graph computes.
    Consistency,
}

impl Group {
    /// The word that reports use.
    pub fn name(self) -> &'static str {
        match self {
            Group::Structure => "structure",
            Group::Tags => "tags",
            Group::Consistency => "consistency",
        }
    }
}

/// Something that is not as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Finding {
    /// How bad it is.
    pub severity: Severity,
    /// What it is about.
    pub group: Group,
    /// Short name of the check, for programs.
    pub check: &'static str,
    /// The node, value, tensor, module or file that it is about.
    pub place: String,
    /// What is wrong, in one sentence.
    pub message: String,
    /// Whether `repair` mends it.
    pub repairable: bool,
}

#[derive(Default)]
pub(super) struct Findings(Vec<Finding>);

impl Findings {
    pub(super) fn add(
        &mut self,
        group: Group,
        check: &'static str,
        severity: Severity,
        place: String,
        message: impl Into<String>,
    ) {
        let message = message.into();
        self.0.push(Finding { severity, group, check, place, message, repairable: false });
    }

    /// One that has one right answer.
    pub(super) fn add_repairable(
        &mut self,
        group: Group,
        check: &'static str,
        severity: Severity,
        place: String,
        message: impl Into<String>,
    ) {
        self.add(group, check, severity, place, message);
        if let Some(last) = self.0.last_mut() {
            last.repairable = true;
        }
    }

    /// The worst first, those of one check together, then in the order in which they were found.
    pub(super) fn into_sorted(mut self) -> Vec<Finding> {
        self.0.sort_by_key(|finding| (finding.severity, finding.group, finding.check));
        self.0
    }
}

/// How findings name a node.
pub(crate) fn place_of(node: &Node) -> String {
    match (node.name.is_empty(), node.outputs.first()) {
        (false, _) => format!("node {}", node.name),
        (true, Some(output)) => format!("the {} that gives {output}", node.op_type),
        (true, None) => format!("a {} without a name", node.op_type),
    }
}

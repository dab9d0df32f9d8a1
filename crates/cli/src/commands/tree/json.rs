//! The tree for programs.

use std::io::Write;

use modelexport::hierarchy::FileKind;
use modelexport::json;
use modelexport::tree_view::{Count, Row};
use modelexport_io::sidecar;
use serde::Serialize;

use super::Report;
use crate::failure::Failure;

#[derive(Serialize)]
struct Document<'a> {
    file: String,
    /// `pt2` or `onnx`: nodes are ATen or ONNX nodes.
    kind: &'static str,
    /// Version of torch, or producer of the ONNX file.
    producer: &'a str,
    policy: &'a sidecar::Policy,
    evidence: Vec<EvidenceEntry>,
    totals: Totals,
    modules: Vec<ModuleEntry<'a>>,
}

#[derive(Serialize)]
struct EvidenceEntry {
    kind: &'static str,
    nodes: u64,
}

/// Of the whole model, whatever depth is shown.
#[derive(Serialize)]
struct Totals {
    modules: u64,
    executed_modules: u64,
    visible_modules: u64,
    parameters: u64,
    buffers: u64,
    nodes: u64,
    tagged_operations: u64,
    unattributed_nodes: u64,
    /// Nodes whose tag in the file is not the one shown here.
    nodes_tagged_otherwise: u64,
}

#[derive(Serialize)]
struct ModuleEntry<'a> {
    path: &'a str,
    class: &'a str,
    tag: &'a str,
    visible: bool,
    /// Why it shows in tags or not.
    reason: &'static str,
    parent: Option<&'a str>,
    depth: usize,
    executed: bool,
    order: Option<u32>,
    calls: u32,
    parameters: CountEntry,
    buffers: CountEntry,
    nodes: CountEntry,
}

#[derive(Serialize)]
struct CountEntry {
    own: u64,
    total: u64,
}

impl From<Count> for CountEntry {
    fn from(count: Count) -> Self {
        CountEntry { own: count.own, total: count.total }
    }
}

impl<'a> From<&'a Row> for ModuleEntry<'a> {
    fn from(row: &'a Row) -> Self {
        ModuleEntry {
            path: &row.path,
            class: &row.class,
            tag: &row.tag,
            visible: row.verdict.is_visible(),
            reason: row.verdict.name(),
            parent: row.parent.as_deref(),
            depth: row.depth,
            executed: row.order.is_some(),
            order: row.order,
            calls: row.calls,
            parameters: row.parameters.into(),
            buffers: row.buffers.into(),
            nodes: row.nodes.into(),
        }
    }
}

pub fn write(report: &Report<'_>, out: &mut dyn Write) -> Result<(), Failure> {
    let hierarchy = &report.loaded.hierarchy;
    let (kind, producer) = match &report.loaded.kind {
        FileKind::Pt2 { torch_version } => ("pt2", torch_version),
        FileKind::Onnx { producer } => ("onnx", producer),
    };
    let root = report.view.rows.first();
    let document = Document {
        file: report.file.to_string_lossy().into_owned(),
        kind,
        producer,
        policy: report.tags.policy(),
        evidence: hierarchy
            .evidence
            .iter()
            .map(|(kind, nodes)| EvidenceEntry { kind: kind.name(), nodes })
            .collect(),
        totals: Totals {
            modules: report.view.rows.len() as u64,
            executed_modules: report.view.executed_modules,
            visible_modules: report.view.visible_modules,
            parameters: root.map_or(0, |row| row.parameters.total),
            buffers: root.map_or(0, |row| row.buffers.total),
            nodes: hierarchy.attributed_nodes() + hierarchy.unattributed_nodes,
            tagged_operations: report.view.tagged_operations,
            unattributed_nodes: hierarchy.unattributed_nodes,
            nodes_tagged_otherwise: hierarchy.nodes_tagged_otherwise(report.tags),
        },
        modules: report.shown_rows().map(ModuleEntry::from).collect(),
    };
    Ok(json::write(out, &document)?)
}

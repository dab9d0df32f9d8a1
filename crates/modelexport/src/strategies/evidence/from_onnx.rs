//! Evidence from an ONNX file whose nodes record their modules.

use std::collections::HashMap;

use modelexport_graph::onnx::Model;
use modelexport_io::sidecar::Sidecar;

use super::super::graph::{GraphView, NodeId};
use super::from_sidecar::add_parameters;
use super::{Evidence, EvidenceFormat, OpFact, Original, OriginalGraph, ParameterId, ScopeId};
use crate::hierarchy::{self, Hierarchy};

/// What a file tells about itself, for strategies that read it; `None` if that is nothing. `graph` is that of `model`.
pub fn from_itself(model: &mut Model, graph: &GraphView, sidecar: Option<Sidecar>) -> Option<Evidence> {
    let found = hierarchy::from_onnx(model, sidecar.as_ref());
    from_hierarchy(graph, &calls_of(model), found, sidecar)
}

/// By node.
fn calls_of(model: &Model) -> Vec<Option<ScopeId>> {
    let mut calls = Vec::new();
    model.for_each_node(&mut |node| calls.push(node.origin.as_ref().map(|origin| origin.scope)));
    calls
}

/// What a file tells of whose `graph` the nodes are placed: `calls` are their places. `None` if that is nothing.
pub(crate) fn from_hierarchy(
    graph: &GraphView,
    calls: &[Option<ScopeId>],
    found: Hierarchy,
    sidecar: Option<Sidecar>,
) -> Option<Evidence> {
    if found.evidence.is_empty() {
        return None;
    }
    let mut evidence = Evidence::new(EvidenceFormat::Onnx, found.tree, found.scopes);
    evidence.tags_only = found.tags_only;
    evidence.policy = sidecar.map(|sidecar| sidecar.policy);
    add_parameters(&mut evidence);
    note_readers(&mut evidence, graph, calls);
    Some(evidence)
}

/// What a tagged model tells about another that was made from it; `None` if that is nothing.
pub fn from_onnx(mut model: Model, sidecar: Option<Sidecar>) -> Option<Evidence> {
    let found = hierarchy::from_onnx(&mut model, sidecar.as_ref());
    from_placed(GraphView::new(&model), calls_of(&model), found, sidecar)
}

/// The same of a graph whose nodes are placed: `calls` are their places.
pub(super) fn from_placed(
    graph: GraphView,
    calls: Vec<Option<ScopeId>>,
    found: Hierarchy,
    sidecar: Option<Sidecar>,
) -> Option<Evidence> {
    let mut evidence = from_hierarchy(&graph, &calls, found, sidecar)?;
    let graph = Some(OriginalGraph::new(graph, calls));
    evidence.original =
        Some(Original { graph, nodes: HashMap::new(), operators: HashMap::new(), products: HashMap::new() });
    Some(evidence)
}

/// Notes the nodes as operators, and who reads which parameter.
fn note_readers(evidence: &mut Evidence, graph: &GraphView, calls: &[Option<ScopeId>]) {
    for value in graph.main_initializers() {
        let id = evidence.parameters.find(graph.value_name(value));
        if let Some(fact) = id.and_then(|id| evidence.parameters.get_mut(id)) {
            fact.dtype = graph.constant(value).and_then(|tensor| tensor.dtype);
        }
    }
    let mut operators = HashMap::new();
    for (id, call) in graph.main_nodes().map(NodeId).zip(calls) {
        let (Some(call), Some(entry)) = (*call, graph.entry(id)) else { continue };
        let read = graph.inputs(id).map(|input| graph.value_name(input));
        let parameters: Vec<ParameterId> = read.filter_map(|name| evidence.parameters.find(name)).collect();
        for &id in &parameters {
            let fact = evidence.parameters.get_mut(id);
            if let Some(fact) = fact.filter(|fact| !fact.readers.contains(&call)) {
                fact.readers.push(call);
            }
        }
        if graph.input_slots(id).next().is_some() {
            let target = operators.entry(entry.op_type).or_insert_with(|| graph.text(entry.op_type).into());
            evidence.ops.push(OpFact { target: modelexport_graph::Name::clone(target), call, parameters });
        }
    }
}

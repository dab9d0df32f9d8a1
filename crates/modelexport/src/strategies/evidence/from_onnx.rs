//! From an ONNX file whose nodes say where they come from.

use std::collections::HashMap;

use modelexport_graph::Name;
use modelexport_graph::onnx::Model;
use modelexport_io::onnx::OnnxFile;
use modelexport_io::sidecar::Sidecar;

use super::from_sidecar::add_parameters;
use super::{Evidence, EvidenceFormat, OpFact, Original, ParameterId, ScopeId};
use crate::hierarchy::{self, Hierarchy};

/// What a file tells about itself, for strategies that read it; `None` if that is nothing.
pub fn from_itself(model: &mut Model, sidecar: Option<Sidecar>) -> Option<Evidence> {
    let found = hierarchy::from_onnx(model, sidecar.as_ref());
    from_hierarchy(model, found, sidecar)
}

fn from_hierarchy(model: &Model, found: Hierarchy, sidecar: Option<Sidecar>) -> Option<Evidence> {
    if found.evidence.is_empty() {
        return None;
    }
    let mut evidence = Evidence::new(EvidenceFormat::Onnx, found.tree, found.scopes);
    evidence.tags_only = found.tags_only;
    evidence.policy = sidecar.map(|sidecar| sidecar.policy);
    add_parameters(&mut evidence);
    note_readers(&mut evidence, model);
    Some(evidence)
}

/// What a tagged file tells about another that was made from it; `None` if that is nothing.
pub fn from_onnx(file: OnnxFile, sidecar: Option<Sidecar>) -> Option<Evidence> {
    let OnnxFile { mut model, sources } = file;
    let found = hierarchy::from_onnx(&mut model, sidecar.as_ref());
    from_placed(OnnxFile { model, sources }, found, sidecar)
}

/// The same of a file whose nodes are placed.
pub fn from_placed(file: OnnxFile, found: Hierarchy, sidecar: Option<Sidecar>) -> Option<Evidence> {
    let OnnxFile { model, sources } = file;
    let mut evidence = from_hierarchy(&model, found, sidecar)?;
    let mut nodes: HashMap<Name, Option<ScopeId>> = HashMap::new();
    model.for_each_node(&mut |node| {
        let call = node.origin.as_ref().map(|origin| origin.scope);
        nodes.entry(node.name.clone()).and_modify(|known| *known = None).or_insert(call);
    });
    nodes.remove("");
    evidence.original = Some(Original { model: Some((model, sources)), nodes });
    Some(evidence)
}

/// Notes the nodes as operators, and who reads which parameter.
fn note_readers(evidence: &mut Evidence, model: &Model) {
    for tensor in &model.graph.initializers {
        if let Some(fact) =
            evidence.parameters.find(&tensor.name).and_then(|id| evidence.parameters.get_mut(id))
        {
            fact.dtype = tensor.dtype();
        }
    }
    model.graph.for_each_node(&mut |node| {
        let Some(origin) = &node.origin else { return };
        let parameters: Vec<ParameterId> =
            node.inputs.iter().filter_map(|input| evidence.parameters.find(input)).collect();
        for &id in &parameters {
            let fact = evidence.parameters.get_mut(id);
            if let Some(fact) = fact.filter(|fact| !fact.readers.contains(&origin.scope)) {
                fact.readers.push(origin.scope);
            }
        }
        if !node.inputs.is_empty() {
            evidence.ops.push(OpFact { target: node.op_type.clone(), call: origin.scope, parameters });
        }
    });
}

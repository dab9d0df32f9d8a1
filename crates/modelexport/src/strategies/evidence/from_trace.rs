//! Evidence from a trace of a forward pass: modules, calls, and the readers of each parameter.

use modelexport_graph::module_tree::Parameter;
use modelexport_graph::{DType, ModuleId, ModuleTree, Name, ScopeId, Scopes};
use modelexport_io::trace::{self, Origin, ParameterKind, Trace};

use super::super::align::from_trace::from_trace as steps_of;
use super::super::align::weights::Classes;
use super::{Evidence, EvidenceFormat, OpFact, ParameterFact, ParameterId, sorted_dims};

pub(super) fn from_trace(trace: Trace) -> Evidence {
    let (tree, ids) = modules(&trace);
    let (scopes, call_scopes) = calls(&trace, &ids);
    let mut evidence = Evidence::new(EvidenceFormat::Trace, tree, scopes);
    evidence.torch_version = Some(trace.torch_version.clone());
    add_parameters(&mut evidence, &trace, &ids);
    note_readers(&mut evidence, &trace, &call_scopes);
    // The steps take a small part of the memory that the records of the trace do.
    let classes = Classes::new(&evidence, None);
    let class = |name: &Name| evidence.parameters.find(name).and_then(|id| classes.of(id));
    let run = steps_of(&trace, &call_scopes, &class);
    evidence.run = Some(run);
    evidence
}

/// The module tree, and the id of each module of the trace.
fn modules(trace: &Trace) -> (ModuleTree, Vec<ModuleId>) {
    let mut tree = ModuleTree::new();
    let mut ids = Vec::with_capacity(trace.modules.len());
    for entry in &trace.modules {
        let id = tree.insert(&entry.path);
        ids.push(id);
        let Some(module) = tree.get_mut(id) else { continue };
        (module.class, module.order, module.calls) = (entry.class.clone(), entry.order, entry.calls);
        module.parameters = entry.parameters.iter().map(parameter).collect();
    }
    for (entry, &id) in trace.modules.iter().zip(&ids) {
        entry.aliases.iter().for_each(|alias| tree.add_alias(id, alias));
    }
    (tree, ids)
}

fn parameter(entry: &trace::Parameter) -> Parameter {
    let elements = elements(&entry.shape);
    let bytes = DType::from_name(&entry.dtype).and_then(|dtype| dtype.byte_len(elements)).unwrap_or(0);
    Parameter {
        name: entry.name.clone(),
        elements,
        bytes,
        is_buffer: entry.kind != ParameterKind::Parameter,
        tied_to: entry.tied_to.clone(),
    }
}

fn elements(shape: &[u64]) -> u64 {
    shape.iter().fold(1u64, |product, &size| product.saturating_mul(size))
}

/// The tree of calls, and the scope of each call of the trace.
fn calls(trace: &Trace, ids: &[ModuleId]) -> (Scopes, Vec<ScopeId>) {
    let mut scopes = Scopes::new();
    let mut of_call: Vec<ScopeId> = Vec::with_capacity(trace.calls.len());
    for call in &trace.calls {
        let parent = call.parent.and_then(|parent| of_call.get(parent as usize)).copied();
        let module = ids.get(call.module as usize).copied().unwrap_or(ModuleId::ROOT);
        of_call.push(match parent {
            Some(parent) => scopes.child(parent, module, call.number),
            None => Scopes::ROOT,
        });
    }
    (scopes, of_call)
}

fn add_parameters(evidence: &mut Evidence, trace: &Trace, ids: &[ModuleId]) {
    for (entry, &owner) in trace.modules.iter().zip(ids) {
        for parameter in &entry.parameters {
            let tied = parameter.tied_to.as_ref().and_then(|first| evidence.parameters.find(first));
            let id = match tied {
                Some(id) => {
                    evidence.parameters.add_name(&parameter.name, id);
                    id
                }
                None => evidence.parameters.add(ParameterFact {
                    name: parameter.name.clone(),
                    owner,
                    readers: Vec::new(),
                    dtype: DType::from_name(&parameter.dtype),
                    elements: elements(&parameter.shape),
                    sorted_dims: Some(sorted_dims(parameter.shape.iter().copied())),
                    fingerprint: parameter.fingerprint.map(|sum| sum.0),
                }),
            };
            evidence.parameters.add_aliases(&parameter.name, &entry.aliases, id);
        }
    }
}

/// Notes who read which parameter, and all operators.
fn note_readers(evidence: &mut Evidence, trace: &Trace, call_scopes: &[ScopeId]) {
    let mut by_tensor: Vec<Option<ParameterId>> = vec![None; trace.tensors.len()];
    for (tensor, slot) in trace.tensors.iter().zip(&mut by_tensor) {
        let name: &Name = match tensor.origin {
            Origin::Parameter(name) => name,
            _ => continue,
        };
        *slot = evidence.parameters.find(name);
    }
    for op in trace.ops.iter() {
        let Some(&call) = call_scopes.get(op.call as usize) else { continue };
        let parameters: Vec<ParameterId> =
            op.inputs.iter().filter_map(|input| *by_tensor.get(input.tensor as usize)?).collect();
        for &id in &parameters {
            let fact = evidence.parameters.get_mut(id);
            if let Some(fact) = fact.filter(|fact| fact.readers.last() != Some(&call)) {
                fact.readers.push(call);
            }
        }
        if op.outputs.iter().any(Option::is_some) {
            evidence.ops.push(OpFact { target: op.target.clone(), call, parameters });
        }
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn modules_calls_and_readers_come_from_the_trace() {
        let text = r#"{
            "schema_version": "1.0", "generator": {"name": "t", "version": "1"}, "torch_version": "2.15.0",
            "modules": [
                {"path": "", "class": "m.Net", "executed": true, "order": 0, "calls": 1, "parameters": []},
                {"path": "fc", "aliases": ["again"], "class": "torch.nn.modules.linear.Linear", "executed": true,
                 "order": 1, "calls": 2, "parameters": [
                    {"name": "fc.weight", "kind": "parameter", "shape": [2, 3], "dtype": "float32",
                     "fingerprint": "00000000000000ff"}]},
                {"path": "head", "class": "m.Head", "executed": false, "order": null, "calls": 0, "parameters": [
                    {"name": "head.weight", "kind": "parameter", "shape": [2, 3], "dtype": "float32",
                     "tied_to": "fc.weight"}]}],
            "tensors": [
                {"shape": [2, 3], "dtype": "float32", "storage": 0, "origin": {"parameter": "fc.weight"}},
                {"shape": [3, 2], "dtype": "float32", "storage": 0, "origin": {"op": 0}},
                {"shape": [3, 2], "dtype": "float32", "storage": 0, "origin": {"op": 1}}],
            "calls": [
                {"module": 0, "number": 0, "parent": null},
                {"module": 1, "number": 0, "parent": 0},
                {"module": 1, "number": 1, "parent": 0}],
            "ops": [
                {"target": "aten.t.default", "call": 1, "inputs": [{"argument": "self", "tensor": 0}], "outputs": [1]},
                {"target": "aten.t.default", "call": 2, "inputs": [{"argument": "self", "tensor": 0}], "outputs": [2]}],
            "inputs": [], "outputs": []
        }"#;
        let evidence = from_trace(trace::parse(text.as_bytes(), Path::new("t.json")).unwrap());
        let weight = evidence.parameters.find("head.weight").unwrap();
        assert_eq!(evidence.parameters.find("again.weight"), Some(weight));
        let fact = evidence.parameters.get(weight).unwrap();
        let fc = evidence.modules.find("fc").unwrap();
        assert_eq!((fact.owner, fact.elements, fact.fingerprint), (fc, 6, Some(0xff)));
        let modules: Vec<ModuleId> = fact.readers.iter().map(|&call| evidence.calls().module(call)).collect();
        assert_eq!((fact.readers.len(), modules), (2, vec![fc, fc]));
        assert_eq!(evidence.modules.get(fc).unwrap().calls, 2);
        assert_eq!(evidence.modules.find("again"), Some(fc));
    }
}

//! Evidence from a captured program, whose graph shows who reads a parameter.

use std::collections::HashMap;

use modelexport_graph::aten::{Arg, Graph, InputSpec, ValueId, Weight};
use modelexport_graph::{ModuleId, ScopeId, Scopes, StridedView};
use modelexport_io::pt2::Archive;

use super::super::align::weights::Classes;
use super::super::fx_graph;
use super::{Evidence, EvidenceFormat, OpFact, ParameterFact, ParameterId, sorted_dims};
use crate::Error;

/// `read_again` gives the archive once more, for the rare program that cannot be made free of mutation: a copy to fall
/// back on would double the memory of every other.
pub(super) fn from_program(
    mut archive: Archive,
    read_again: &dyn Fn() -> Result<Archive, Error>,
) -> Result<Evidence, Error> {
    archive.program.traces = Vec::new();
    let program = &archive.program;
    let mut evidence =
        Evidence::new(EvidenceFormat::Program, program.modules.clone(), program.scopes.clone());
    evidence.torch_version = Some(program.torch_version.clone());
    let ids = add_weights(&mut evidence, &program.weights);
    let weights = program.graph.inputs.iter().zip(&program.signature.inputs);
    let known: HashMap<ValueId, ParameterId> = weights
        .filter_map(|(input, spec)| match (input, spec) {
            (
                Arg::Tensor(value),
                InputSpec::Parameter { weight }
                | InputSpec::Buffer { weight, .. }
                | InputSpec::TensorConstant { weight },
            ) => Some((*value, *ids.get(*weight as usize)?)),
            _ => None,
        })
        .collect();
    read_graph(&program.graph, &known, Scopes::ROOT, &mut evidence);
    let classes = Classes::new(&evidence, Some(&archive));
    let read_again = || read_again().map(|archive| archive.program);
    archive.program = fx_graph::without_mutation(archive.program, &read_again)?;
    evidence.run = Some(fx_graph::run(&archive.program, &evidence, &classes));
    // The steps say what the graph did in a small part of its memory.
    archive.program.graph = Graph::default();
    evidence.program = Some(archive);
    Ok(evidence)
}

/// Adds each tensor once; those that are the same view of the same bytes are one under several names.
fn add_weights(evidence: &mut Evidence, weights: &[Weight]) -> Vec<ParameterId> {
    let mut by_view: HashMap<&StridedView, ParameterId> = HashMap::new();
    let mut ids = Vec::with_capacity(weights.len());
    for weight in weights {
        let tied = weight.data.as_ref().and_then(|view| by_view.get(view)).copied();
        let id = match tied {
            Some(id) => {
                evidence.parameters.add_name(&weight.name, id);
                id
            }
            None => evidence.parameters.add(ParameterFact {
                name: weight.name.clone(),
                owner: evidence.owner_by_name(&weight.name).unwrap_or(ModuleId::ROOT),
                readers: Vec::new(),
                dtype: Some(weight.dtype),
                elements: weight.sizes.iter().fold(1u64, |product, &size| product.saturating_mul(size)),
                sorted_dims: Some(sorted_dims(weight.sizes.iter().copied())),
                fingerprint: None,
            }),
        };
        if let Some(view) = &weight.data {
            by_view.entry(view).or_insert(id);
        }
        ids.push(id);
    }
    ids
}

/// Notes all operators and who reads `known` values, those that are handed to subgraphs included.
fn read_graph(
    graph: &Graph,
    known: &HashMap<ValueId, ParameterId>,
    holder: ScopeId,
    evidence: &mut Evidence,
) {
    for node in &graph.nodes {
        let scope = node.scope.unwrap_or(holder);
        let operands = node.operands();
        let subgraphs: Vec<&Graph> = node.subgraphs().collect();
        if subgraphs.is_empty() {
            let parameters: Vec<ParameterId> =
                operands.iter().flatten().filter_map(|value| known.get(value)).copied().collect();
            for &parameter in &parameters {
                let fact = evidence.parameters.get_mut(parameter);
                if let Some(fact) = fact.filter(|fact| !fact.readers.contains(&scope)) {
                    fact.readers.push(scope);
                }
            }
            if node.outputs.iter().any(|output| matches!(output, Arg::Tensor(_) | Arg::Tensors(_))) {
                evidence.ops.push(OpFact { target: node.target.clone(), call: scope, parameters });
            }
        }
        for subgraph in subgraphs {
            let inner = subgraph.given(&operands);
            let inner = inner.filter_map(|(input, operand)| Some((input, *known.get(&operand)?)));
            read_graph(subgraph, &inner.collect(), scope, evidence);
        }
    }
}

//! Writes a weight in another order of its axes instead of transposing it in the graph, if every reader of the weight
//! is that transpose. Makes no nodes: the readers of the transpose read the weight.

use super::readers::Readers;
use crate::ir::{Attr, Constant, Graph, Ir, Node, ValueId};

/// True if a transpose was removed.
pub fn run(ir: &mut Ir, readers: &Readers<'_>) -> bool {
    let mut uses = vec![0u32; ir.values.len()];
    count_uses(&ir.graph, &mut uses);
    let mut transposes: std::collections::HashMap<ValueId, Vec<Vec<i64>>> = std::collections::HashMap::new();
    collect(&ir.graph, ir, &mut transposes);
    let mut permuted = std::collections::HashMap::new();
    let mut weights: Vec<ValueId> = transposes.keys().copied().collect();
    weights.sort();
    for weight in weights {
        let Some(permutations) = transposes.get(&weight) else { continue };
        let all = uses.get(weight.0 as usize).copied().unwrap_or(0) as usize;
        let Some(first) = permutations.first() else { continue };
        if permutations.len() != all || permutations.iter().any(|other| other != first) {
            continue;
        }
        let Some(axes) = first.iter().map(|&axis| usize::try_from(axis).ok()).collect::<Option<Vec<usize>>>()
        else {
            continue;
        };
        let Some(value) = ir.value_mut(weight) else { continue };
        let shape = value.shape.as_ref();
        let shape = shape.and_then(|shape| axes.iter().map(|&axis| shape.get(axis).cloned()).collect());
        if let Some(Constant::Weight { permutation: permutation @ None, .. }) = &mut value.constant {
            *permutation = Some(axes);
            value.shape = shape;
            permuted.insert(weight, ());
        }
    }
    if permuted.is_empty() {
        return false;
    }
    let mut graph = std::mem::take(&mut ir.graph);
    mark_copies(&mut graph, &|node| {
        transposed_weight(node, ir).is_some_and(|(id, _)| permuted.contains_key(&id))
    });
    ir.graph = graph;
    super::identity::run(ir, readers);
    true
}

fn count_uses(graph: &Graph, uses: &mut [u32]) {
    for node in &graph.nodes {
        for input in node.inputs.iter().flatten() {
            if let Some(count) = uses.get_mut(input.0 as usize) {
                *count += 1;
            }
        }
        node.subgraphs().for_each(|subgraph| count_uses(subgraph, uses));
    }
    for output in &graph.outputs {
        if let Some(count) = uses.get_mut(output.0 as usize) {
            *count += 1;
        }
    }
}

fn collect(graph: &Graph, ir: &Ir, transposes: &mut std::collections::HashMap<ValueId, Vec<Vec<i64>>>) {
    for node in &graph.nodes {
        if let Some((weight, permutation)) = transposed_weight(node, ir) {
            transposes.entry(weight).or_default().push(permutation.to_vec());
        }
        node.subgraphs().for_each(|subgraph| collect(subgraph, ir, transposes));
    }
}

/// The weight and the permutation, if the node transposes a weight.
fn transposed_weight<'n>(node: &'n Node, ir: &Ir) -> Option<(ValueId, &'n [i64])> {
    let weight = node.inputs.first().copied().flatten()?;
    let is_weight = matches!(ir.value(weight)?.constant, Some(Constant::Weight { .. }));
    match node.attribute("perm") {
        Some(Attr::Ints(permutation)) if node.op == "Transpose" && is_weight => Some((weight, permutation)),
        _ => None,
    }
}

/// Turns the nodes that `chosen` names into copies, which the identity pass removes.
fn mark_copies(graph: &mut Graph, chosen: &dyn Fn(&Node) -> bool) {
    for node in &mut graph.nodes {
        if chosen(node) {
            node.op = "Identity".into();
            node.attributes.clear();
        }
        node.subgraphs_mut().for_each(|subgraph| mark_copies(subgraph, chosen));
    }
}

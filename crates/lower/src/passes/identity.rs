//! Removes `Identity` nodes: readers take what it copies; a graph output takes the place of the value that it
//! copies, if that is made in the same graph and is no output itself. Makes no nodes.

use std::collections::HashSet;

use crate::ir::{Graph, Ir, ValueId};

/// True if a node was removed.
pub fn run(ir: &mut Ir) -> bool {
    let mut replaced: Vec<Option<ValueId>> = vec![None; ir.values.len()];
    let Ir { graph, values, .. } = ir;
    let mut renamed = Vec::new();
    let changed = bypass(graph, &mut replaced, &mut renamed);
    // An output that took over keeps its name; what it lacks comes from the value that it replaced.
    for (from, to) in renamed {
        let old = values.get(from.0 as usize).cloned().unwrap_or_default();
        if let Some(new) = values.get_mut(to.0 as usize) {
            new.name = new.name.take().or(old.name);
            new.shape = new.shape.take().or(old.shape);
            new.dtype = new.dtype.or(old.dtype);
        }
    }
    changed
}

fn resolve(replaced: &[Option<ValueId>], id: ValueId) -> ValueId {
    let mut at = id;
    while let Some(next) = replaced.get(at.0 as usize).copied().flatten() {
        at = next;
    }
    at
}

fn set(replaced: &mut [Option<ValueId>], from: ValueId, to: ValueId) {
    if let Some(slot) = replaced.get_mut(from.0 as usize) {
        *slot = Some(to);
    }
}

fn bypass(
    graph: &mut Graph,
    replaced: &mut Vec<Option<ValueId>>,
    renamed: &mut Vec<(ValueId, ValueId)>,
) -> bool {
    let mut outputs: HashSet<ValueId> = graph.outputs.iter().copied().collect();
    let made: HashSet<ValueId> = graph.nodes.iter().flat_map(|node| node.outputs.iter().copied()).collect();
    // Outputs first: a value that an output copies is replaced by the output everywhere.
    let mut changed = false;
    let mut gone = HashSet::new();
    for (i, node) in graph.nodes.iter().enumerate() {
        let (Some(from), Some(to)) = (copied(node), node.outputs.first().copied()) else { continue };
        let from = resolve(replaced, from);
        if outputs.contains(&to) {
            if made.contains(&from) && !outputs.contains(&from) {
                set(replaced, from, to);
                outputs.insert(to);
                renamed.push((from, to));
                gone.insert(i);
            }
        } else {
            set(replaced, to, from);
            gone.insert(i);
        }
    }
    changed |= !gone.is_empty();
    let mut index = 0;
    graph.nodes.retain(|_| {
        index += 1;
        !gone.contains(&(index - 1))
    });
    for node in &mut graph.nodes {
        for input in node.inputs.iter_mut().flatten() {
            *input = resolve(replaced, *input);
        }
        for output in &mut node.outputs {
            *output = resolve(replaced, *output);
        }
        for subgraph in node.subgraphs_mut() {
            changed |= bypass(subgraph, replaced, renamed);
        }
    }
    changed
}

/// What the node copies, if it is an `Identity`.
fn copied(node: &crate::ir::Node) -> Option<ValueId> {
    (node.op == "Identity" && node.domain.is_empty()).then(|| node.inputs.first().copied().flatten())?
}

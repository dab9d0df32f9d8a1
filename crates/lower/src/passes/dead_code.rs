//! Removes nodes whose results nothing reads. Makes no nodes.

use crate::ir::{Graph, Ir, ValueId};

/// True if a node was removed.
pub fn run(ir: &mut Ir) -> bool {
    let mut used = vec![false; ir.values.len()];
    sweep(&mut ir.graph, &mut used)
}

/// Backwards: a reader stands after what it reads, so that one sweep is enough.
fn sweep(graph: &mut Graph, used: &mut [bool]) -> bool {
    let mark = |used: &mut [bool], id: ValueId| {
        if let Some(slot) = used.get_mut(id.0 as usize) {
            *slot = true;
        }
    };
    for &output in &graph.outputs {
        mark(used, output);
    }
    let before = graph.nodes.len();
    let mut kept = Vec::with_capacity(before);
    let mut changed = false;
    for mut node in std::mem::take(&mut graph.nodes).into_iter().rev() {
        if !node.outputs.iter().any(|id| used.get(id.0 as usize).copied().unwrap_or(false)) {
            continue;
        }
        for subgraph in node.subgraphs_mut() {
            changed |= sweep(subgraph, used);
        }
        for input in node.inputs.iter().flatten() {
            mark(used, *input);
        }
        kept.push(node);
    }
    kept.reverse();
    graph.nodes = kept;
    changed || graph.nodes.len() != before
}

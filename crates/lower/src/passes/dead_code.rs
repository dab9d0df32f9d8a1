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
    let mut is_read = vec![false; graph.nodes.len()];
    let mut changed = false;
    for (node, is_read) in graph.nodes.iter_mut().zip(&mut is_read).rev() {
        *is_read = node.outputs.iter().any(|id| used.get(id.0 as usize).copied().unwrap_or(false));
        if !*is_read {
            changed = true;
            continue;
        }
        for subgraph in node.subgraphs_mut() {
            changed |= sweep(subgraph, used);
        }
        for input in node.inputs.iter().flatten() {
            mark(used, *input);
        }
    }
    let mut is_read = is_read.into_iter();
    graph.nodes.retain(|_| is_read.next().unwrap_or(true));
    changed
}

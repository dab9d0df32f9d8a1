//! Says the axes of a `Pad` that a `MaxPool` reads. onnxruntime merges the two into a pool that pads by itself, with
//! minus infinity instead of the number of the `Pad`, unless the axes are given, which `Pad` can have since opset 18.
//! Makes no nodes.

use std::collections::HashSet;

use crate::ir::{Graph, Ir, ValueId};

/// True if a node was changed.
pub fn run(ir: &mut Ir, opset: i64) -> bool {
    if opset < 18 {
        return false;
    }
    let mut graph = std::mem::take(&mut ir.graph);
    let changed = name_axes(&mut graph, ir);
    ir.graph = graph;
    changed
}

fn name_axes(graph: &mut Graph, ir: &mut Ir) -> bool {
    let pooled: HashSet<ValueId> = graph
        .nodes
        .iter()
        .filter(|node| node.op == "MaxPool")
        .filter_map(|node| node.inputs.first().copied().flatten())
        .collect();
    let mut changed = false;
    for node in &mut graph.nodes {
        for subgraph in node.subgraphs_mut() {
            changed |= name_axes(subgraph, ir);
        }
        let is_pooled = node.outputs.first().is_some_and(|output| pooled.contains(output));
        if node.op != "Pad" || !is_pooled || node.inputs.len() > 3 {
            continue;
        }
        let pads = node.inputs.get(1).copied().flatten().and_then(|pads| ir.literal(pads));
        let Some(rank) = pads.map(|pads| pads.element_count() as i64 / 2) else { continue };
        let axes = ir.add_literal(crate::literal::Literal::ints(&(0..rank).collect::<Vec<_>>()));
        node.inputs.resize(3, None);
        node.inputs.push(Some(axes));
        changed = true;
    }
    changed
}

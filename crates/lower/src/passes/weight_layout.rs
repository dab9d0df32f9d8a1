//! Writes a weight with its axes in another order, or with other axes, instead of transposing or reshaping it in the
//! graph, if every reader of the weight does just that. Makes no nodes: what read the moved weight reads the weight.

use std::collections::HashMap;

use modelexport_graph::Dim;
use modelexport_graph::aten::Program;
use modelexport_graph::shape::static_shape;

use super::readers::Readers;
use super::uses::Uses;
use crate::ir::{Attr, Constant, Graph, Ir, Node, ValueId};

/// How a node moves a weight.
#[derive(Clone, PartialEq, Eq)]
enum Layout {
    Permuted(Vec<usize>),
    Reshaped(Vec<u64>),
}

/// True if a node was removed. `can_permute`: weights are copied, so that their elements can be put in another order.
pub fn run(ir: &mut Ir, program: &Program, readers: &Readers<'_>, can_permute: bool) -> bool {
    let uses = Uses::of(ir);
    let mut moves: HashMap<ValueId, Vec<Layout>> = HashMap::new();
    collect(&ir.graph, ir, &mut moves);
    moves.retain(|weight, layouts| {
        let are_equal = layouts.windows(2).all(|pair| pair.first() == pair.last());
        let is_possible = layouts.first().is_some_and(|layout| match layout {
            Layout::Permuted(_) => can_permute,
            Layout::Reshaped(_) => is_one_run(*weight, ir, program),
        });
        are_equal && is_possible && layouts.len() == uses.count(*weight)
    });
    if moves.is_empty() {
        return false;
    }
    let mut graph = std::mem::take(&mut ir.graph);
    mark_copies(&mut graph, &|node| {
        moved_weight(node, ir).is_some_and(|(weight, _)| moves.contains_key(&weight))
    });
    ir.graph = graph;
    let mut weights: Vec<ValueId> = moves.keys().copied().collect();
    weights.sort();
    for weight in weights {
        if let Some(layout) = moves.remove(&weight).and_then(|layouts| layouts.into_iter().next()) {
            lay_out(ir, weight, layout);
        }
    }
    super::identity::run(ir, readers);
    true
}

fn collect(graph: &Graph, ir: &Ir, moves: &mut HashMap<ValueId, Vec<Layout>>) {
    for node in &graph.nodes {
        if let Some((weight, layout)) = moved_weight(node, ir) {
            moves.entry(weight).or_default().push(layout);
        }
        node.subgraphs().for_each(|subgraph| collect(subgraph, ir, moves));
    }
}

/// The weight and its new layout, if the node moves a weight that is as in the program.
fn moved_weight(node: &Node, ir: &Ir) -> Option<(ValueId, Layout)> {
    let weight = node.inputs.first().copied().flatten().filter(|_| node.domain.is_empty())?;
    let Some(Constant::Weight { permutation: None, sizes: None, .. }) = ir.value(weight)?.constant.as_deref()
    else {
        return None;
    };
    let layout = match (&*node.op, node.attribute("perm")) {
        ("Transpose", Some(Attr::Ints(axes))) => {
            Layout::Permuted(axes.iter().map(|&axis| usize::try_from(axis).ok()).collect::<Option<_>>()?)
        }
        ("Reshape" | "Unsqueeze" | "Squeeze" | "Flatten", _) => {
            let sizes = static_shape(ir.shape(*node.outputs.first()?)?)?;
            Layout::Reshaped(sizes.iter().map(|&size| u64::try_from(size).ok()).collect::<Option<_>>()?)
        }
        _ => return None,
    };
    Some((weight, layout))
}

/// Other axes are free only for elements that lie row after row.
fn is_one_run(id: ValueId, ir: &Ir, program: &Program) -> bool {
    let Some(Constant::Weight { weight, .. }) = ir.value(id).and_then(|value| value.constant.as_deref())
    else {
        return false;
    };
    let weight = program.weights.get(*weight as usize);
    weight.is_some_and(|weight| {
        !weight.dtype.is_complex() && weight.data.as_ref().is_none_or(|data| data.is_contiguous())
    })
}

fn lay_out(ir: &mut Ir, weight: ValueId, layout: Layout) {
    let Some(value) = ir.value_mut(weight) else { return };
    let Some(Constant::Weight { permutation, sizes, .. }) = value.constant.as_deref_mut() else { return };
    match layout {
        Layout::Permuted(axes) => {
            let shape = value.shape.as_ref();
            value.shape = shape.and_then(|shape| axes.iter().map(|&axis| shape.get(axis).cloned()).collect());
            *permutation = Some(axes);
        }
        Layout::Reshaped(new) => {
            value.shape = Some(new.iter().map(|&size| Dim::Static(size as i64)).collect());
            *sizes = Some(new);
        }
    }
}

/// Turns the nodes that `chosen` names into copies, which the identity pass removes.
fn mark_copies(graph: &mut Graph, chosen: &dyn Fn(&Node) -> bool) {
    for node in &mut graph.nodes {
        if chosen(node) {
            node.op = "Identity".into();
            node.inputs.truncate(1);
            node.attributes.clear();
        }
        node.subgraphs_mut().for_each(|subgraph| mark_copies(subgraph, chosen));
    }
}

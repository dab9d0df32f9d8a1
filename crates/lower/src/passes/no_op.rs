//! Removes nodes that give what they get: a cast to the same type, a reshape to the same shape, a product with one.
//! Makes no nodes.

use modelexport_graph::Dim;

use super::readers::Readers;
use crate::ir::{Attr, Graph, Ir, Node, ValueId};

/// True if a node was removed.
pub fn run(ir: &mut Ir, readers: &Readers<'_>) -> bool {
    let mut graph = std::mem::take(&mut ir.graph);
    let changed = mark(&mut graph, ir);
    ir.graph = graph;
    changed && super::identity::run(ir, readers)
}

/// Turns what changes nothing into copies, which the identity pass removes.
fn mark(graph: &mut Graph, ir: &Ir) -> bool {
    let mut changed = false;
    for node in &mut graph.nodes {
        if node.domain.is_empty()
            && let Some(input) = passed_on(node, ir)
        {
            node.op = "Identity".into();
            node.inputs = vec![Some(input)];
            node.attributes.clear();
            changed = true;
        }
        for subgraph in node.subgraphs_mut() {
            changed |= mark(subgraph, ir);
        }
    }
    changed
}

/// Constants of more elements are not looked through.
const MAX_CHECKED: usize = 1 << 16;

/// The input that the node gives unchanged, if it does.
fn passed_on(node: &Node, ir: &Ir) -> Option<ValueId> {
    let input = |i: usize| node.inputs.get(i).copied().flatten();
    let x = input(0)?;
    let output = *node.outputs.first()?;
    let same_shape = |value: ValueId| match (ir.shape(value), ir.shape(output)) {
        (Some(a), Some(b)) => a == b,
        _ => false,
    };
    let is_filled = |value: ValueId, number: f64| {
        ir.literal(value)
            .filter(|literal| (1..=MAX_CHECKED).contains(&literal.element_count()))
            .and_then(|literal| literal.numbers())
            .is_some_and(|numbers| numbers.iter().all(|n| n.as_f64() == number))
    };
    match &*node.op {
        "Cast" => match (node.attribute("to"), ir.dtype(x)?.onnx_code()) {
            (Some(Attr::Int(to)), Some(from)) => (*to == i64::from(from)).then_some(x),
            _ => None,
        },
        "Reshape" | "Expand" | "Tile" | "Squeeze" | "Unsqueeze" | "Flatten" => same_shape(x).then_some(x),
        // A slice that keeps the size of every axis keeps all of it, unless it goes backwards.
        "Slice" => {
            let forwards = match input(4) {
                None => true,
                Some(steps) => ir.literal(steps)?.as_ints()?.iter().all(|&step| step > 0),
            };
            (forwards && same_shape(x)).then_some(x)
        }
        "Transpose" => match node.attribute("perm") {
            Some(Attr::Ints(axes)) => axes.iter().enumerate().all(|(i, &axis)| i as i64 == axis).then_some(x),
            _ => None,
        },
        "Concat" if node.inputs.len() == 1 => Some(x),
        "Mul" | "Div" => {
            let other = input(1)?;
            if is_filled(other, 1.0) && same_shape(x) {
                Some(x)
            } else if &*node.op == "Mul" && is_filled(x, 1.0) && same_shape(other) {
                Some(other)
            } else {
                None
            }
        }
        "Where" => {
            let (then, otherwise) = (input(1)?, input(2)?);
            if is_filled(x, 1.0) && same_shape(then) {
                Some(then)
            } else if is_filled(x, 0.0) && same_shape(otherwise) {
                Some(otherwise)
            } else {
                None
            }
        }
        "Sub" => (is_filled(input(1)?, 0.0) && same_shape(x)).then_some(x),
        // Adding zero turns -0.0 into 0.0, so that it is kept for floats.
        "Add" => {
            let other = input(1)?;
            let is_integer = ir.dtype(x)?.is_integer();
            if is_integer && is_filled(other, 0.0) && same_shape(x) {
                Some(x)
            } else if is_integer && is_filled(x, 0.0) && same_shape(other) {
                Some(other)
            } else {
                None
            }
        }
        "And" => {
            let other = input(1)?;
            if is_filled(other, 1.0) && same_shape(x) {
                Some(x)
            } else if is_filled(x, 1.0) && same_shape(other) {
                Some(other)
            } else {
                all_true(ir, other)
                    .then_some(x)
                    .filter(|&x| same_shape(x))
                    .or_else(|| all_true(ir, x).then_some(other).filter(|&other| same_shape(other)))
            }
        }
        _ => None,
    }
}

/// A constant mask that lets everything through.
fn all_true(ir: &Ir, value: ValueId) -> bool {
    ir.literal(value).is_some_and(|literal| {
        literal.dtype == modelexport_graph::DType::Bool
            && !literal.bytes.is_empty()
            && literal.bytes.iter().all(|&byte| byte != 0)
            && ir.shape(value).is_some_and(|shape| shape.iter().all(|dim| matches!(dim, Dim::Static(_))))
    })
}

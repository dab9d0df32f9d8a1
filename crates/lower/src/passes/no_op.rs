//! Removes nodes that give what they get: a cast to the same type, a reshape to the same shape, a product with one.
//! Makes no nodes.

use modelexport_graph::DType;

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
    // A single number takes the shape of the other operand.
    let is_number = |value: ValueId| ir.literal(value).is_some_and(|literal| literal.dims.is_empty());
    let keeps = |value: ValueId, other: ValueId| same_shape(value) || is_number(other);
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
        "Mul" => {
            let other = input(1)?;
            if is_filled(other, 1.0) && keeps(x, other) {
                Some(x)
            } else {
                (is_filled(x, 1.0) && keeps(other, x)).then_some(other)
            }
        }
        "Div" => {
            let other = input(1)?;
            (is_filled(other, 1.0) && keeps(x, other)).then_some(x)
        }
        "Where" => {
            let (then, otherwise) = (input(1)?, input(2)?);
            if is_filled(x, 1.0) && same_shape(then) {
                Some(then)
            } else {
                (is_filled(x, 0.0) && same_shape(otherwise)).then_some(otherwise)
            }
        }
        "Sub" => {
            let other = input(1)?;
            (is_filled(other, 0.0) && keeps(x, other)).then_some(x)
        }
        // A zero may keep its sign, which the addition would have taken away. torch's exporter does so, too.
        "Add" | "Or" => {
            let other = input(1)?;
            if is_filled(other, 0.0) && keeps(x, other) {
                Some(x)
            } else {
                (is_filled(x, 0.0) && keeps(other, x)).then_some(other)
            }
        }
        "And" => {
            let other = input(1)?;
            if all_true(ir, other) && keeps(x, other) {
                Some(x)
            } else {
                (all_true(ir, x) && keeps(other, x)).then_some(other)
            }
        }
        _ => None,
    }
}

/// A constant mask that lets everything through, however large it is.
fn all_true(ir: &Ir, value: ValueId) -> bool {
    ir.literal(value).is_some_and(|literal| {
        literal.dtype == DType::Bool
            && !literal.bytes.is_empty()
            && literal.bytes.iter().all(|&byte| byte != 0)
    })
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::Arg;

    use crate::test_calls::lowered_program;
    use crate::test_program::{TestProgram, tensor};

    /// The nodes of `-(x + other)`.
    fn sum(other: f64) -> String {
        let mut program = TestProgram::new();
        let x = program.input("x", tensor(&[2]));
        let args = [("self", Arg::Tensor(x)), ("other", Arg::Float(other))];
        let sum = program.node("aten.add.Scalar", &args, tensor(&[2]));
        let negative = program.node("aten.neg.default", &[("self", Arg::Tensor(sum))], tensor(&[2]));
        lowered_program(program.outputs(&[negative]))
    }

    #[test]
    fn adding_nothing_is_left_out_and_adding_next_to_nothing_is_not() {
        assert_eq!(sum(0.0), "Neg(x)");
        assert_eq!(sum(1e-8), "Neg(Add(x, 1e-8))");
    }
}

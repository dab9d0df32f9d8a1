//! Loops: `while_loop` is `Loop`; `scan` and `map` are `Scan`. Bodies read what they need from outside.
//!
//! - `while_loop(condition_graph, body_graph, carried, additional)`: the condition is computed before the loop and at
//!   the end of each round.
//! - `scan(graph, carried, elements, additional)`: `elements` are taken apart along axis 0, results are stacked along
//!   axis 0.
//! - `map_impl(graph, elements, additional)`: the same without anything carried.

use modelexport_graph::aten::{self, Arg};
use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::builder::Builder;
use crate::context::Context;
use crate::error::Result;
use crate::ir::{Value, ValueId, model_shape};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("higher_order.while_loop", while_loop),
    Row::new("higher_order.scan", |cx| scan(cx, true)),
    Row::new("higher_order.map_impl", |cx| scan(cx, false)),
];

/// The operands in argument number `index`; none if there is no such argument.
fn operands(cx: &mut Context<'_, '_>, index: usize) -> Result<Vec<ValueId>> {
    match cx.args().nth(index) {
        Some(arg) => cx.operands(arg),
        None => Ok(Vec::new()),
    }
}

/// Formal inputs for the first `count` inputs of `graph`. Numbers are 1-D tensors of one element.
fn formal_inputs(cx: &mut Context<'_, '_>, graph: &aten::Graph, count: usize) -> Vec<ValueId> {
    let inputs = graph.inputs.iter().take(count);
    let looks: Vec<(Option<DType>, Vec<Dim>)> = inputs
        .map(|input| match input {
            Arg::Tensor(id) => match graph.tensor(*id) {
                Some(meta) => (Some(meta.dtype.real()), model_shape(meta)),
                None => (None, Vec::new()),
            },
            Arg::SymFloat(_) => (Some(DType::F64), vec![Dim::Static(1)]),
            Arg::SymBool(_) => (Some(DType::Bool), vec![Dim::Static(1)]),
            _ => (Some(DType::I64), vec![Dim::Static(1)]),
        })
        .collect();
    looks.into_iter().map(|(dtype, shape)| formal_input(cx, dtype, shape)).collect()
}

fn formal_input(cx: &mut Context<'_, '_>, dtype: Option<DType>, shape: Vec<Dim>) -> ValueId {
    cx.ir.add_value(Value { name: None, dtype, shape: Some(shape.into()), constant: None })
}

fn while_loop(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (condition, body) = (cx.graph(0)?, cx.graph(1)?);
    let (carried, additional) = (operands(cx, 2)?, operands(cx, 3)?);
    let count = carried.len();
    let with_additional = |carried: &[ValueId]| [carried, &additional].concat();

    let first = cx.inline(condition, &with_additional(&carried))?;
    let Some(&first) = first.first() else { return cx.refuse("has a condition without a result") };
    let first = scalar(cx, first);

    let round = formal_input(cx, Some(DType::I64), Vec::new());
    let goes_on = formal_input(cx, Some(DType::Bool), Vec::new());
    let formal = formal_inputs(cx, body, count);
    let mut inputs = vec![round, goes_on];
    inputs.extend(&formal);
    let graph = cx.subgraph(inputs, |lowering| {
        let next = lowering.inline(body, &with_additional(&formal))?;
        let goes_on = lowering.inline(condition, &with_additional(&next))?;
        let mut outputs: Vec<ValueId> =
            goes_on.into_iter().take(1).map(|value| scalar(&mut lowering.builder, value)).collect();
        outputs.extend(next);
        Ok(outputs)
    })?;
    if graph.outputs.len() != count + 1 {
        let results = graph.outputs.len().saturating_sub(1);
        return cx.refuse(format!("carries {count} values, but its body gives {results}"));
    }
    let mut inputs = vec![None, Some(first)];
    inputs.extend(carried.iter().copied().map(Some));
    let outputs = cx.emit_many("Loop", &inputs, attrs![body = graph], count);
    for (&output, &carried) in outputs.iter().zip(&carried) {
        let dtype = cx.dtype(carried);
        cx.set_dtype(output, dtype);
    }
    Ok(outputs.into())
}

/// A tensor of one element as a 0-D tensor.
fn scalar(builder: &mut Builder, value: ValueId) -> ValueId {
    match builder.rank(value) {
        Some(0) => value,
        Some(1) => builder.squeeze(value, &[0]),
        _ => builder.reshape_static(value, &[]),
    }
}

fn scan(cx: &mut Context<'_, '_>, carries: bool) -> Result<Outputs> {
    let body = cx.graph(0)?;
    let carried = if carries { operands(cx, 1)? } else { Vec::new() };
    let behind = usize::from(carries);
    let (elements, additional) = (operands(cx, behind + 1)?, operands(cx, behind + 2)?);
    if elements.is_empty() {
        return cx.refuse("has nothing to go through");
    }
    let formal = formal_inputs(cx, body, carried.len() + elements.len());
    let operands = [formal.as_slice(), additional.as_slice()].concat();
    let graph = cx.subgraph(formal, |lowering| lowering.inline(body, &operands))?;
    let count = graph.outputs.len();
    let inputs: Vec<Option<ValueId>> = carried.iter().chain(&elements).copied().map(Some).collect();
    let attributes = attrs![body = graph, num_scan_inputs = elements.len() as i64];
    Ok(cx.emit_many("Scan", &inputs, attributes, count).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::test_calls::lowered_program;
    use crate::test_program::{TestProgram, contiguous, tensor};

    fn of(value: aten::ValueId) -> (&'static str, Arg) {
        ("self", Arg::Tensor(value))
    }

    fn number(name: &'static str, value: i64) -> (&'static str, Arg) {
        (name, Arg::Int(value))
    }

    /// `while x.sum() < 9: x = x + 1`.
    #[test]
    fn while_loop_as_onnx() {
        let mut condition = TestProgram::new();
        let x = condition.input("x", tensor(&[3]));
        let sum = condition.node("aten.sum.default", &[of(x)], tensor(&[]));
        let below =
            condition.node("aten.lt.Scalar", &[of(sum), number("other", 9)], contiguous(DType::Bool, vec![]));
        let condition = condition.into_subgraph("condition", &[below]);
        let mut body = TestProgram::new();
        let x = body.input("x", tensor(&[3]));
        let next = body.node("aten.add.Tensor", &[of(x), number("other", 1)], tensor(&[3]));
        let body = body.into_subgraph("body", &[next]);
        let mut program = TestProgram::new();
        let x = program.input("x", tensor(&[3]));
        let carried = Arg::Tensors(vec![x]);
        let arguments = [("", condition), ("", body), ("", carried), ("", Arg::Tensors(vec![]))];
        let y = program.node("higher_order.while_loop", &arguments, tensor(&[3]));
        assert_snapshot!(lowered_program(program.outputs(&[y])), @r"
        Loop(None, Less(ReduceSum(x, keepdims=0), 9.0), x, body=(_, _, t1) {
            t2 = Add(t1, 1.0)
            Less(ReduceSum(t2, keepdims=0), 9.0), t2
        })
        ");
    }

    /// Sums of the rows so far.
    #[test]
    fn scan_as_onnx() {
        let mut body = TestProgram::new();
        let (sum, row) = (body.input("sum", tensor(&[3])), body.input("row", tensor(&[3])));
        let next = body.node("aten.add.Tensor", &[of(sum), ("other", Arg::Tensor(row))], tensor(&[3]));
        let shown = body.node("aten.clone.default", &[of(next)], tensor(&[3]));
        let body = body.into_subgraph("body", &[next, shown]);
        let mut program = TestProgram::new();
        let (first, rows) = (program.input("first", tensor(&[3])), program.input("rows", tensor(&[5, 3])));
        let (carried, elements) = (Arg::Tensors(vec![first]), Arg::Tensors(vec![rows]));
        let arguments = [("", body), ("", carried), ("", elements), ("", Arg::Tensors(vec![]))];
        let results = program.nodes("higher_order.scan", &arguments, &[tensor(&[3]), tensor(&[5, 3])]);
        assert_snapshot!(lowered_program(program.outputs(&results)), @r"
        Scan(first, rows, body=(t1, t2) {
            t3 = Add(t1, t2)
            t3, Identity(t3)
        }, num_scan_inputs=1)
        ");
    }

    /// The sine of each row.
    #[test]
    fn map_as_onnx() {
        let mut body = TestProgram::new();
        let row = body.input("row", tensor(&[3]));
        let sine = body.node("aten.sin.default", &[of(row)], tensor(&[3]));
        let body = body.into_subgraph("body", &[sine]);
        let mut program = TestProgram::new();
        let rows = program.input("rows", tensor(&[5, 3]));
        let arguments = [("", body), ("", Arg::Tensors(vec![rows])), ("", Arg::Tensors(vec![]))];
        let y = program.node("higher_order.map_impl", &arguments, tensor(&[5, 3]));
        assert_snapshot!(lowered_program(program.outputs(&[y])), @r"
        Scan(rows, body=(t1) {
            Sin(t1)
        }, num_scan_inputs=1)
        ");
    }
}

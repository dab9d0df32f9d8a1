//! `lstm_cell`, `gru_cell`, `rnn_tanh_cell`, `rnn_relu_cell`: one step, as the products and gates it consists of.

use modelexport_graph::DType;

use super::support::compute::{formula_type, tensor_as, tensor_opt_as};
use super::support::lstm;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::lstm_cell(Tensor input, Tensor[] hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> (Tensor, Tensor)",
        long_short,
    ),
    Row::new(
        "aten::gru_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
        gru,
    ),
    Row::new(
        "aten::rnn_tanh_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
        |cx| plain(cx, "Tanh"),
    ),
    Row::new(
        "aten::rnn_relu_cell(Tensor input, Tensor hx, Tensor w_ih, Tensor w_hh, Tensor? b_ih=None, Tensor? b_hh=None) -> Tensor",
        |cx| plain(cx, "Relu"),
    ),
];

/// `x @ weight^T + bias`.
fn linear(cx: &mut Context<'_, '_>, x: ValueId, weight: &str, bias: &str, dtype: DType) -> Result<ValueId> {
    let weight = tensor_as(cx, weight, dtype)?;
    let bias = tensor_opt_as(cx, bias, dtype)?;
    Ok(cx.emit_optional("Gemm", &[Some(x), Some(weight), bias], attrs![transB = 1]))
}

/// The products of input and state.
fn products(cx: &mut Context<'_, '_>, state: ValueId, dtype: DType) -> Result<(ValueId, ValueId)> {
    let x = tensor_as(cx, "input", dtype)?;
    Ok((linear(cx, x, "w_ih", "b_ih", dtype)?, linear(cx, state, "w_hh", "b_hh", dtype)?))
}

fn gate_size(cx: &Context<'_, '_>, gates: i64) -> Result<i64> {
    match cx.meta("w_ih")?.sizes.first().and_then(|size| size.as_static()) {
        Some(rows) => Ok(rows / gates),
        None => cx.wrong("w_ih", "weights of known size", "a symbolic size"),
    }
}

fn plain(cx: &mut Context<'_, '_>, activation: &'static str) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let state = tensor_as(cx, "hx", compute)?;
    let (from_input, from_state) = products(cx, state, compute)?;
    let sum = cx.emit("Add", &[from_input, from_state], vec![]);
    let y = cx.emit(activation, &[sum], vec![]);
    Ok(cx.cast(y, dtype).into())
}

fn long_short(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let states: Vec<ValueId> = cx.tensors("hx")?.into_iter().map(|state| cx.cast(state, compute)).collect();
    let [hidden, memory] = states.as_slice() else { return cx.wrong("hx", "two tensors", states.len()) };
    let (from_input, from_state) = products(cx, *hidden, compute)?;
    let sum = cx.emit("Add", &[from_input, from_state], vec![]);
    let size = gate_size(cx, 4)?;
    let (hidden, memory) = lstm::gates(cx, sum, *memory, size)?;
    let (hidden, memory) = (cx.cast(hidden, dtype), cx.cast(memory, dtype));
    Ok([hidden, memory].into())
}

/// `new + update * (state - new)`.
fn gru(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let state = tensor_as(cx, "hx", compute)?;
    let (from_input, from_state) = products(cx, state, compute)?;
    let size = gate_size(cx, 3)?;
    let (input_gates, state_gates) = (cx.split(from_input, &[size; 3], -1), cx.split(from_state, &[size; 3], -1));
    let ([reset_in, update_in, new_in], [reset_state, update_state, new_state]) =
        (input_gates.as_slice(), state_gates.as_slice())
    else {
        return cx.refuse("has no gates");
    };
    let reset = cx.emit("Add", &[*reset_in, *reset_state], vec![]);
    let reset = cx.emit("Sigmoid", &[reset], vec![]);
    let update = cx.emit("Add", &[*update_in, *update_state], vec![]);
    let update = cx.emit("Sigmoid", &[update], vec![]);
    let gated = cx.emit("Mul", &[reset, *new_state], vec![]);
    let new = cx.emit("Add", &[*new_in, gated], vec![]);
    let new = cx.emit("Tanh", &[new], vec![]);
    let difference = cx.emit("Sub", &[state, new], vec![]);
    let kept = cx.emit("Mul", &[update, difference], vec![]);
    let y = cx.emit("Add", &[new, kept], vec![]);
    Ok(cx.cast(y, dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }
}

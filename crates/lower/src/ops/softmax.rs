//! `softmax` and `log_softmax`, computed in the type of the result.
//!
//! A 0-D tensor has no axis for `Softmax`: the result is `exp(x - x)`, so that NaN and infinity give NaN.
//! `_safe_softmax` gives zeros where a row is all minus infinity.

use super::support::compute::{float_type, tensor_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", |cx| lower(cx, "Softmax")),
    Row::new("aten::_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", |cx| lower(cx, "Softmax")),
    Row::new("aten::log_softmax.int(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", |cx| {
        lower(cx, "LogSoftmax")
    }),
    Row::new("aten::_log_softmax(Tensor self, int dim, bool half_to_float) -> Tensor", |cx| lower(cx, "LogSoftmax")),
    Row::new("aten::_safe_softmax(Tensor self, int dim, ScalarType? dtype=None) -> Tensor", safe),
];

fn lower(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let x = tensor_as(cx, "self", float_type(dtype))?;
    let rank = cx.meta("self")?.sizes.len();
    if rank == 0 {
        let zero = cx.emit("Sub", &[x, x], vec![]);
        let y = if op == "Softmax" { cx.emit("Exp", &[zero], vec![]) } else { zero };
        return Ok(cx.cast(y, dtype).into());
    }
    let axis = cx.axis("dim", rank)?;
    let y = softmax(cx, op, x, axis, rank);
    Ok(cx.cast(y, dtype).into())
}

/// The last axis is written as -1, the form that fusions look for.
fn softmax(cx: &mut Context<'_, '_>, op: &'static str, x: ValueId, axis: i64, rank: usize) -> ValueId {
    let axis = if axis + 1 == rank as i64 { -1 } else { axis };
    cx.emit(op, &[x], attrs![axis = axis])
}

fn safe(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = float_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let rank = cx.meta("self")?.sizes.len();
    let axis = cx.axis("dim", rank)?;
    let y = softmax(cx, "Softmax", x, axis, rank);
    let largest = cx.reduce("ReduceMax", x, &[axis], true);
    let (low, zero) = (cx.const_scalar(compute, f64::NEG_INFINITY), cx.const_scalar(compute, 0.0));
    let dead = cx.emit("Equal", &[largest, low], vec![]);
    let y = cx.emit("Where", &[dead, zero, y], vec![]);
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

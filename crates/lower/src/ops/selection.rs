//! `where` with tensors and numbers.
//!
//! onnxruntime has no `Where` for booleans: with a boolean constant it is one of `And`, `Or` and `Not`, else it goes
//! through `uint8`.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::complex::{as_pairs, complex_operand, is_complex};
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", lower),
    Row::new("aten::where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor", lower),
    Row::new("aten::where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor", lower),
    Row::new("aten::where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", lower),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if is_complex(cx) {
        return lower_complex(cx);
    }
    let dtype = cx.out()?.dtype;
    let condition = operand(cx, "condition", DType::Bool)?;
    let (then, otherwise) = (operand(cx, "self", dtype)?, operand(cx, "other", dtype)?);
    Ok(choose(cx, condition, then, otherwise).into())
}

/// `then` where `condition` holds, else `otherwise`; both of one type.
pub(super) fn choose(cx: &mut Context<'_, '_>, condition: ValueId, then: ValueId, otherwise: ValueId) -> ValueId {
    let is_bool = cx.dtype(then) == DType::Bool;
    match (is_bool, truth(cx, then), truth(cx, otherwise)) {
        (true, Some(true), _) => cx.emit("Or", &[condition, otherwise], vec![]),
        (true, _, Some(false)) => cx.emit("And", &[condition, then], vec![]),
        (true, Some(false), _) => {
            let opposite = cx.emit("Not", &[condition], vec![]);
            cx.emit("And", &[opposite, otherwise], vec![])
        }
        (true, _, Some(true)) => {
            let opposite = cx.emit("Not", &[condition], vec![]);
            cx.emit("Or", &[opposite, then], vec![])
        }
        _ => cx.select(condition, then, otherwise),
    }
}

/// The condition holds for both parts.
fn lower_complex(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let part = cx.out()?.dtype.real();
    let condition = operand(cx, "condition", DType::Bool)?;
    let condition = cx.unsqueeze(condition, &[-1]);
    let (then, otherwise) = (complex_operand(cx, "self", part)?, complex_operand(cx, "other", part)?);
    let (then, otherwise) = (as_pairs(cx, then)?, as_pairs(cx, otherwise)?);
    Ok(cx.select(condition, then, otherwise).into())
}

/// The value of a boolean constant of one element.
fn truth(cx: &Context<'_, '_>, value: ValueId) -> Option<bool> {
    match cx.ir.literal(value).filter(|literal| literal.dtype == DType::Bool)?.bytes.as_slice() {
        [byte] => Some(*byte != 0),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.where.Scalar(condition: bool[2, 3], self=True, other=False) -> bool[2, 3]
            Identity(condition)
        aten.where.Scalar(condition: bool[s0, 3], self=0.0, other=-inf) -> f32[s0, 3]
            Where(condition, 0.0, -inf)
        aten.where.ScalarOther(condition: bool[2, 3], self: f32[2, 3], other=0) -> f32[2, 3]
            Where(condition, self, 0.0)
        aten.where.ScalarSelf(condition: bool[2, 3], self=0, other: f32[2, 3]) -> f32[2, 3]
            Where(condition, 0.0, other)
        aten.where.self(condition: bool[2, 3], self: f32[2, 3], other: f32[3]) -> f32[2, 3]
            Where(condition, self, other)
        ");
    }
}

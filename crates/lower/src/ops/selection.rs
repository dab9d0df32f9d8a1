//! `where` with tensors and numbers.
//!
//! onnxruntime has no `Where` for booleans: with a boolean constant it is one of `And`, `Or` and `Not`, else it goes
//! through `uint8`.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.where.Scalar", "where.Scalar(Tensor condition, Scalar self, Scalar other) -> Tensor", lower),
    Row::new(
        "aten.where.ScalarOther",
        "where.ScalarOther(Tensor condition, Tensor self, Scalar other) -> Tensor",
        lower,
    ),
    Row::new(
        "aten.where.ScalarSelf",
        "where.ScalarSelf(Tensor condition, Scalar self, Tensor other) -> Tensor",
        lower,
    ),
    Row::new("aten.where.self", "where.self(Tensor condition, Tensor self, Tensor other) -> Tensor", lower),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let condition = operand(cx, "condition", DType::Bool)?;
    let (then, otherwise) = (operand(cx, "self", dtype)?, operand(cx, "other", dtype)?);
    let value = match (dtype == DType::Bool, truth(cx, then), truth(cx, otherwise)) {
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
    };
    Ok(value.into())
}

/// The value of a boolean constant of one element.
fn truth(cx: &Context<'_, '_>, value: ValueId) -> Option<bool> {
    match cx.ir.literal(value).filter(|literal| literal.dtype == DType::Bool)?.bytes.as_slice() {
        [byte] => Some(*byte != 0),
        _ => None,
    }
}

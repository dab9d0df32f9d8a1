//! `add`, `sub`, `mul`: elementwise arithmetic with broadcasting, computed in the type of the result.

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.add.Tensor", "add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", |cx| {
        scaled(cx, "Add")
    }),
    Row::new("aten.sub.Tensor", "sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", |cx| {
        scaled(cx, "Sub")
    }),
    Row::new("aten.mul.Tensor", "mul.Tensor(Tensor self, Tensor other) -> Tensor", |cx| {
        let (a, b) = operands(cx)?;
        Ok(cx.emit("Mul", &[a, b], vec![]).into())
    }),
];

/// `self` and `other` in the type of the result; `other` may be a Python number, also in overloads for tensors.
fn operands(cx: &mut Context<'_, '_>) -> Result<(ValueId, ValueId)> {
    let dtype = cx.out()?.dtype;
    let a = cx.tensor("self")?;
    let a = cx.cast(a, dtype);
    let b = match cx.meta_opt("other") {
        Some(_) => {
            let b = cx.tensor("other")?;
            cx.cast(b, dtype)
        }
        None => {
            let scalar = cx.scalar_arg("other")?;
            cx.scalar_value(scalar, dtype)
        }
    };
    Ok((a, b))
}

/// `self op alpha * other`.
fn scaled(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    let (a, mut b) = operands(cx)?;
    let alpha = cx.scalar_arg("alpha")?;
    if !alpha.is(1.0) {
        let dtype = cx.out()?.dtype;
        let alpha = cx.scalar_value(alpha, dtype);
        b = cx.emit("Mul", &[b, alpha], vec![]);
    }
    Ok(cx.emit(op, &[a, b], vec![]).into())
}

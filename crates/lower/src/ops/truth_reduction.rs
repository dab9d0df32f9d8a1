//! `any` and `all`: whether some or every element is other than zero.
//!
//! From opset 20 on `ReduceMax` and `ReduceMin` take booleans; before, they go through `uint8`. Where nothing may be
//! left to reduce, the answer comes from a count, which is 0 then.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::operands::{operand, real_only};
use crate::ops::support::reduction::{reduced_axes, reduces_something};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::_is_all_true(Tensor self) -> Tensor", all),
    Row::new("aten::_is_any_true(Tensor self) -> Tensor", any),
    Row::new("aten::all(Tensor self) -> Tensor", all),
    Row::new("aten::all.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", all),
    Row::new("aten::all.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", all),
    Row::new("aten::any(Tensor self) -> Tensor", any),
    Row::new("aten::any.dim(Tensor self, int dim, bool keepdim=False) -> Tensor", any),
    Row::new("aten::any.dims(Tensor self, int[]? dim=None, bool keepdim=False) -> Tensor", any),
];

fn any(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    lower(cx, "ReduceMax", false)
}

fn all(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    lower(cx, "ReduceMin", true)
}

fn lower(cx: &mut Context<'_, '_>, op: &'static str, of_nothing: bool) -> Result<Outputs> {
    real_only(cx)?;
    let x = operand(cx, "self", DType::Bool)?;
    let dtype = cx.out()?.dtype;
    if cx.meta("self")?.sizes.is_empty() {
        return Ok(cx.cast(x, dtype).into());
    }
    let (axes, keepdim) = (reduced_axes(cx)?, cx.bool("keepdim")?);
    let value = if reduces_something(cx, &axes)? {
        cx.apply_reduce(op, x, &axes, keepdim)
    } else {
        counted(cx, x, &axes, keepdim, of_nothing)
    };
    Ok(cx.cast(value, dtype).into())
}

/// Some element is true if the count of true ones is not 0; all are if the count of false ones is 0.
fn counted(cx: &mut Context<'_, '_>, x: ValueId, axes: &[i64], keepdim: bool, all: bool) -> ValueId {
    let x = if all { cx.emit("Not", &[x], vec![]) } else { x };
    let numbers = cx.cast(x, DType::I32);
    let count = cx.reduce("ReduceSum", numbers, axes, keepdim);
    let found = cx.cast(count, DType::Bool);
    if all { cx.emit("Not", &[found], vec![]) } else { found }
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

//! `eq`, `ne`, `lt`, `le`, `gt`, `ge` and `isclose`: both operands in the type that PyTorch promotes them to.
//!
//! ONNX orders no booleans; they are compared as `uint8`. Unequal booleans are `Xor`.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::ops::support::formulas::{test_number, with_number};
use crate::ops::support::operands::{common_type, operand, real_only};
use crate::registry::{Outputs, Row};

macro_rules! comparisons {
    ($($name:literal => $lower:expr),* $(,)?) => {
        pub static ROWS: &[Row] = &[
            $(
                Row::new(concat!("aten::", $name, ".Scalar(Tensor self, Scalar other) -> Tensor"), $lower),
                Row::new(concat!("aten::", $name, ".Tensor(Tensor self, Tensor other) -> Tensor"), $lower),
            )*
            Row::new(
                "aten::isclose(Tensor self, Tensor other, float rtol=1.0000000000000001e-05, float atol=1e-08, \
                 bool equal_nan=False) -> Tensor",
                is_close,
            ),
        ];
    };
}

comparisons! {
    "eq" => |cx| compare(cx, "Equal"),
    "ge" => |cx| compare(cx, "GreaterOrEqual"),
    "greater" => |cx| compare(cx, "Greater"),
    "greater_equal" => |cx| compare(cx, "GreaterOrEqual"),
    "gt" => |cx| compare(cx, "Greater"),
    "le" => |cx| compare(cx, "LessOrEqual"),
    "less" => |cx| compare(cx, "Less"),
    "less_equal" => |cx| compare(cx, "LessOrEqual"),
    "lt" => |cx| compare(cx, "Less"),
    "ne" => differ,
    "not_equal" => differ,
}

fn operands(cx: &mut Context<'_, '_>) -> Result<[ValueId; 2]> {
    real_only(cx)?;
    let dtype = common_type(cx, &["self", "other"])?;
    Ok([operand(cx, "self", dtype)?, operand(cx, "other", dtype)?])
}

fn compare(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    let operands = operands(cx)?;
    Ok(cx.test(op, &operands).into())
}

fn differ(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let operands = operands(cx)?;
    if cx.dtype(operands[0]) == DType::Bool {
        return Ok(cx.emit("Xor", &operands, vec![]).into());
    }
    let equal = cx.test("Equal", &operands);
    Ok(cx.emit("Not", &[equal], vec![]).into())
}

/// Equal, or finitely far apart by at most `atol + rtol * |other|`.
fn is_close(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let [left, right] = operands(cx)?;
    let (rtol, atol) = (cx.float("rtol")?, cx.float("atol")?);
    let mut close = cx.test("Equal", &[left, right]);
    if cx.bool("equal_nan")? && cx.dtype(left).is_float() {
        let (a, b) = (cx.test("IsNaN", &[left]), cx.test("IsNaN", &[right]));
        let both = cx.emit("And", &[a, b], vec![]);
        close = cx.emit("Or", &[close, both], vec![]);
    }
    if rtol == 0.0 && atol == 0.0 {
        return Ok(close.into());
    }
    let dtype = cx.dtype(left);
    let float = if dtype.is_float() { math_type(dtype) } else { DType::F32 };
    let (left, right) = (cx.cast(left, float), cx.cast(right, float));
    let difference = cx.emit("Sub", &[left, right], vec![]);
    let distance = cx.emit("Abs", &[difference], vec![]);
    let magnitude = cx.emit("Abs", &[right], vec![]);
    let relative = with_number(cx, "Mul", magnitude, rtol);
    let allowed = with_number(cx, "Add", relative, atol);
    let near = cx.emit("LessOrEqual", &[distance, allowed], vec![]);
    let finite = test_number(cx, "Less", distance, f64::INFINITY);
    let near = cx.emit("And", &[near, finite], vec![]);
    Ok(cx.emit("Or", &[close, near], vec![]).into())
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

//! Bit shifts of integers.
//!
//! `BitShift` of ONNX is for unsigned numbers: a left shift is a product with a power of two or a shift of the same
//! bits as `uint64`; a right shift of signed numbers keeps the sign, which is a division that rounds down, or a shift
//! of the number's complement where it is negative. Shifts by more bits than there are give 0 (left) or the sign
//! (right), as in PyTorch.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::fill::filled;
use crate::ops::support::formulas::{test_number, with_number};
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::__lshift__.Scalar(Tensor self, Scalar other) -> Tensor", left),
    Row::new("aten::__lshift__.Tensor(Tensor self, Tensor other) -> Tensor", left),
    Row::new("aten::__rshift__.Scalar(Tensor self, Scalar other) -> Tensor", right),
    Row::new("aten::__rshift__.Tensor(Tensor self, Tensor other) -> Tensor", right),
    Row::new("aten::bitwise_left_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", left),
    Row::new("aten::bitwise_left_shift.Tensor(Tensor self, Tensor other) -> Tensor", left),
    Row::new("aten::bitwise_left_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", left),
    Row::new("aten::bitwise_right_shift.Scalar_Tensor(Scalar self, Tensor other) -> Tensor", right),
    Row::new("aten::bitwise_right_shift.Tensor(Tensor self, Tensor other) -> Tensor", right),
    Row::new("aten::bitwise_right_shift.Tensor_Scalar(Tensor self, Scalar other) -> Tensor", right),
];

/// The number of bits to shift by, if it is one number that is known now.
fn known_count(cx: &mut Context<'_, '_>) -> Result<Option<i64>> {
    if cx.meta_opt("other").is_some() {
        return Ok(None);
    }
    Ok(cx.scalar_arg("other")?.number().map(|number| number.as_i64()))
}

/// Width of the type, for comparisons with counts.
fn width(dtype: DType) -> i64 {
    dtype.bits().unwrap_or(64) as i64
}

fn integers_only(cx: &Context<'_, '_>) -> Result<DType> {
    let dtype = cx.out()?.dtype;
    if dtype.is_integer() { Ok(dtype) } else { cx.refuse(format!("shifts elements of type {dtype}")) }
}

fn left(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = integers_only(cx)?;
    let x = operand(cx, "self", dtype)?;
    if let Some(count) = known_count(cx)? {
        if !(0..width(dtype)).contains(&count) {
            let sizes = &cx.out()?.sizes;
            return Ok(filled(cx, sizes, dtype, 0.0, Some(x))?.into());
        }
        return Ok(with_number(cx, "Mul", x, 1i64 << count).into());
    }
    let count = operand(cx, "other", dtype)?;
    let shifted = shift_unsigned(cx, x, count, "LEFT");
    let in_range = in_range(cx, count, dtype);
    let zero = cx.const_scalar(dtype, 0.0);
    Ok(cx.select(in_range, shifted, zero).into())
}

fn right(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = integers_only(cx)?;
    let x = operand(cx, "self", dtype)?;
    let most = width(dtype) - i64::from(!dtype.is_unsigned());
    let count = match known_count(cx)? {
        Some(count) => {
            if count == 0 {
                return Ok(x.into());
            }
            let count = if (0..most).contains(&count) { count } else { most };
            if count < 63 && !dtype.is_unsigned() && count < most {
                let divisor = cx.const_scalar(dtype, 1i64 << count);
                let rest = cx.emit("Mod", &[x, divisor], vec![]);
                let multiple = cx.emit("Sub", &[x, rest], vec![]);
                return Ok(cx.emit("Div", &[multiple, divisor], vec![]).into());
            }
            cx.const_scalar(dtype, count)
        }
        None => {
            let count = operand(cx, "other", dtype)?;
            let in_range = in_range(cx, count, dtype);
            let most = cx.const_scalar(dtype, most);
            cx.select(in_range, count, most)
        }
    };
    if dtype.is_unsigned() {
        let shifted = shift_unsigned(cx, x, count, "RIGHT");
        let too_far = test_number(cx, "GreaterOrEqual", count, most);
        let zero = cx.const_scalar(dtype, 0.0);
        return Ok(cx.select(too_far, zero, shifted).into());
    }
    let negative = test_number(cx, "Less", x, 0.0);
    let all_ones = cx.const_scalar(dtype, -1i64);
    let complement = cx.emit("Sub", &[all_ones, x], vec![]);
    let magnitude = cx.select(negative, complement, x);
    let shifted = shift_unsigned(cx, magnitude, count, "RIGHT");
    let complement = cx.emit("Sub", &[all_ones, shifted], vec![]);
    Ok(cx.select(negative, complement, shifted).into())
}

/// The shift of the bits as `uint64`.
fn shift_unsigned(cx: &mut Context<'_, '_>, x: ValueId, count: ValueId, direction: &'static str) -> ValueId {
    let dtype = cx.dtype(x);
    let (x, count) = (cx.cast(x, DType::U64), cx.cast(count, DType::U64));
    let shifted = cx.emit("BitShift", &[x, count], attrs![direction = direction]);
    cx.cast(shifted, dtype)
}

fn in_range(cx: &mut Context<'_, '_>, count: ValueId, dtype: DType) -> ValueId {
    let below = test_number(cx, "Less", count, width(dtype));
    if dtype.is_unsigned() {
        return below;
    }
    let above = test_number(cx, "GreaterOrEqual", count, 0.0);
    cx.emit("And", &[above, below], vec![])
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

//! Bitwise `and`, `or`, `xor` and `not`, of integers and booleans.
//!
//! Booleans have `And`, `Or`, `Xor`, `Not` in every opset. The operators for integers came with opset 18: before, the
//! bits are taken apart by shifts, combined as numbers 0 and 1 and put together again; `not` is `-1 - x`.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::{Literal, Number};
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

macro_rules! bitwise {
    ($(($name:literal, $dunder:literal, $op:ident)),* $(,)?) => {
        pub static ROWS: &[Row] = &[
            $(
                Row::new(
                    concat!("aten::", $dunder, ".Scalar(Tensor self, Scalar other) -> Tensor"),
                    |cx| lower(cx, Op::$op),
                ),
                Row::new(
                    concat!("aten::", $dunder, ".Tensor(Tensor self, Tensor other) -> Tensor"),
                    |cx| lower(cx, Op::$op),
                ),
                Row::new(
                    concat!("aten::", $name, ".Scalar(Tensor self, Scalar other) -> Tensor"),
                    |cx| lower(cx, Op::$op),
                ),
                Row::new(
                    concat!("aten::", $name, ".Scalar_Tensor(Scalar self, Tensor other) -> Tensor"),
                    |cx| lower(cx, Op::$op),
                ),
                Row::new(
                    concat!("aten::", $name, ".Tensor(Tensor self, Tensor other) -> Tensor"),
                    |cx| lower(cx, Op::$op),
                ),
            )*
            Row::new("aten::bitwise_not(Tensor self) -> Tensor", not),
        ];
    };
}

bitwise! {
    ("bitwise_and", "__and__", And),
    ("bitwise_or", "__or__", Or),
    ("bitwise_xor", "__xor__", Xor),
}

#[derive(Clone, Copy)]
enum Op {
    And,
    Or,
    Xor,
}

impl Op {
    fn of_booleans(self) -> &'static str {
        match self {
            Op::And => "And",
            Op::Or => "Or",
            Op::Xor => "Xor",
        }
    }

    fn of_integers(self) -> &'static str {
        match self {
            Op::And => "BitwiseAnd",
            Op::Or => "BitwiseOr",
            Op::Xor => "BitwiseXor",
        }
    }
}

/// The opset that brought the operators for integers.
const INTEGERS_SINCE: i64 = 18;

fn lower(cx: &mut Context<'_, '_>, op: Op) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let (left, right) = (operand(cx, "self", dtype)?, operand(cx, "other", dtype)?);
    let value = if dtype == DType::Bool {
        cx.emit(op.of_booleans(), &[left, right], vec![])
    } else if cx.opset >= INTEGERS_SINCE {
        cx.emit(op.of_integers(), &[left, right], vec![])
    } else {
        by_bits(cx, op, left, right)?
    };
    Ok(value.into())
}

/// Each bit as a number on a new last axis, combined, and put together as a product with the weights of the places.
/// (A sum of 64-bit integers would go through `float64` in onnxruntime.)
fn by_bits(cx: &mut Context<'_, '_>, op: Op, left: ValueId, right: ValueId) -> Result<ValueId> {
    let dtype = cx.dtype(left);
    let count = dtype.bits().unwrap_or(64) as i64;
    let places = unsigned(cx, count, |place| place)?;
    let weights = unsigned(cx, count, |place| 1i64.wrapping_shl(place as u32))?;
    let two = cx.const_scalar(DType::U64, 2.0);
    let mut bits = |value: ValueId| {
        let unsigned = cx.cast(value, DType::U64);
        let column = cx.unsqueeze(unsigned, &[-1]);
        let shifted = cx.emit("BitShift", &[column, places], attrs![direction = "RIGHT"]);
        cx.emit("Mod", &[shifted, two], vec![])
    };
    let (left, right) = (bits(left), bits(right));
    let combined = match op {
        Op::And => cx.emit("Mul", &[left, right], vec![]),
        Op::Or => cx.emit("Max", &[left, right], vec![]),
        Op::Xor => {
            let sum = cx.emit("Add", &[left, right], vec![]);
            cx.emit("Mod", &[sum, two], vec![])
        }
    };
    let sum = cx.emit("MatMul", &[combined, weights], vec![]);
    Ok(cx.cast(sum, dtype))
}

/// One `uint64` for each bit place.
fn unsigned(cx: &mut Context<'_, '_>, count: i64, number: impl Fn(i64) -> i64) -> Result<ValueId> {
    let numbers = (0..count).map(|place| Number::Int(number(place)));
    match Literal::from_numbers(DType::U64, vec![count], numbers) {
        Some(literal) => Ok(cx.constant(literal)),
        None => cx.refuse("combines bits of a type that has none"),
    }
}

fn not(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let dtype = cx.dtype(x);
    let value = if dtype == DType::Bool {
        cx.emit("Not", &[x], vec![])
    } else if cx.opset >= INTEGERS_SINCE {
        cx.emit("BitwiseNot", &[x], vec![])
    } else {
        let all_ones = cx.const_scalar(dtype, -1i64);
        cx.emit("Sub", &[all_ones, x], vec![])
    };
    Ok(value.into())
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

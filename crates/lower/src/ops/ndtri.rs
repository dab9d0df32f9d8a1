//! `special.ndtri`, the inverse of the normal distribution.
//!
//! Acklam's quotients of polynomials, one in the middle and one in each tail (relative precision about 1e-9), in `float64`.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::formulas::{polynomial, test_number, with_number};
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new("aten::special_ndtri(Tensor self) -> Tensor", lower)];

const MIDDLE_OVER: [f64; 6] = [
    2.506628277459239,
    -30.66479806614716,
    138.357_751_867_269,
    -275.9285104469687,
    220.9460984245205,
    -39.69683028665376,
];
const MIDDLE_UNDER: [f64; 6] = [
    1.0,
    -13.28068155288572,
    66.80131188771972,
    -155.6989798598866,
    161.5858368580409,
    -54.47609879822406,
];
const TAIL_OVER: [f64; 6] = [
    2.938163982698783,
    4.374664141464968,
    -2.549732539343734,
    -2.400758277161838,
    -0.3223964580411365,
    -0.007784894002430293,
];
const TAIL_UNDER: [f64; 5] = [1.0, 3.754408661907416, 2.445134137142996, 0.3224671290700398, 0.007784695709041462];
/// Where a tail begins.
const TAIL: f64 = 0.02425;

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let p = operand(cx, "self", DType::F64)?;
    let from_middle = with_number(cx, "Sub", p, 0.5);
    let square = cx.emit("Mul", &[from_middle, from_middle], vec![]);
    let middle = quotient(cx, square, &MIDDLE_OVER, &MIDDLE_UNDER);
    let middle = cx.emit("Mul", &[middle, from_middle], vec![]);

    let one = cx.const_scalar(DType::F64, 1.0);
    let rest = cx.emit("Sub", &[one, p], vec![]);
    let nearer = cx.emit("Min", &[p, rest], vec![]);
    let log = cx.emit("Log", &[nearer], vec![]);
    let log = with_number(cx, "Mul", log, -2.0);
    let root = cx.emit("Sqrt", &[log], vec![]);
    let tail = quotient(cx, root, &TAIL_OVER, &TAIL_UNDER);
    let opposite = cx.emit("Neg", &[tail], vec![]);
    let is_upper = test_number(cx, "Greater", from_middle, 0.0);
    let tail = cx.emit("Where", &[is_upper, opposite, tail], vec![]);
    let is_tail = test_number(cx, "Less", nearer, TAIL);
    let value = cx.emit("Where", &[is_tail, tail, middle], vec![]);

    // The ends, where the quotient is one of infinities.
    let is_end = test_number(cx, "Equal", nearer, 0.0);
    let sign = cx.emit("Sign", &[from_middle], vec![]);
    let end = with_number(cx, "Mul", sign, f64::INFINITY);
    let value = cx.emit("Where", &[is_end, end, value], vec![]);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

fn quotient(cx: &mut Context<'_, '_>, x: ValueId, over: &[f64], under: &[f64]) -> ValueId {
    let (over, under) = (polynomial(cx, x, over), polynomial(cx, x, under));
    cx.emit("Div", &[over, under], vec![])
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

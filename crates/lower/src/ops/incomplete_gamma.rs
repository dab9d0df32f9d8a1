//! `igamma` and `igammac`: the regularized incomplete gamma functions `P(a, x)` and `Q(a, x) = 1 - P`, in `float64`.
//!
//! Below `a + 1` the power series gives `P`, above it the continued fraction gives `Q` (Lentz' method); both run in one
//! `Loop` until no element changes.

use modelexport_graph::DType;

use super::gamma::log_gamma;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::fill::filled;
use crate::ops::support::formulas::{test_number, with_number};
use crate::ops::support::operands::operand;
use crate::ops::support::repeat::repeat_while;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::igamma(Tensor self, Tensor other) -> Tensor", |cx| lower(cx, true)),
    Row::new("aten::igammac(Tensor self, Tensor other) -> Tensor", |cx| lower(cx, false)),
    Row::new("aten::special_gammainc(Tensor self, Tensor other) -> Tensor", |cx| lower(cx, true)),
    Row::new("aten::special_gammaincc(Tensor self, Tensor other) -> Tensor", |cx| lower(cx, false)),
];

/// Both methods need about six times the root of `a`.
const ROUNDS: i64 = 20_000;
/// The relative change that ends the rounds.
const PRECISION: f64 = 1e-15;
/// Stands for infinity at the start of the fraction.
const HUGE: f64 = 1e300;

fn lower(cx: &mut Context<'_, '_>, is_lower: bool) -> Result<Outputs> {
    let sizes = cx.out()?.sizes.clone();
    let (a, x) = (operand(cx, "self", DType::F64)?, operand(cx, "other", DType::F64)?);
    let (a, x) = (cx.expand(a, &sizes)?, cx.expand(x, &sizes)?);
    let border = with_number(cx, "Add", a, 1.0);
    let is_near = cx.emit("Less", &[x, border], vec![]);
    // Elements outside of what the methods are for run along with harmless numbers.
    let (zero, one) = (cx.const_scalar(DType::F64, 0.0), cx.const_scalar(DType::F64, 1.0));
    let plain = is_plain(cx, a, x);
    let order = cx.emit("Where", &[plain, a, one], vec![]);
    let point = cx.emit("Where", &[plain, x, one], vec![]);
    let low = cx.emit("Where", &[is_near, point, zero], vec![]);
    let border = with_number(cx, "Add", order, 1.0);
    let high = cx.emit("Max", &[point, border], vec![]);
    let [series, fraction] = methods(cx, order, low, high)?;

    let log = cx.emit("Log", &[point], vec![]);
    let growth = cx.emit("Mul", &[order, log], vec![]);
    let growth = cx.emit("Sub", &[growth, point], vec![]);
    let log_gamma = log_gamma(cx, order)?;
    let growth = cx.emit("Sub", &[growth, log_gamma], vec![]);
    let factor = cx.emit("Exp", &[growth], vec![]);
    let wanted = if is_lower { series } else { fraction };
    let other = if is_lower { fraction } else { series };
    let value = cx.emit("Mul", &[wanted, factor], vec![]);
    let rest = cx.emit("Mul", &[other, factor], vec![]);
    let rest = cx.emit("Sub", &[one, rest], vec![]);
    let value = match is_lower {
        true => cx.emit("Where", &[is_near, value, rest], vec![]),
        false => cx.emit("Where", &[is_near, rest, value], vec![]),
    };
    let value = borders(cx, [a, x], plain, value, is_lower);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

/// Whether both are positive and finite.
fn is_plain(cx: &mut Context<'_, '_>, a: ValueId, x: ValueId) -> ValueId {
    let [a, x] = [a, x].map(|value| {
        let is_positive = test_number(cx, "Greater", value, 0.0);
        let is_finite = test_number(cx, "Less", value, f64::INFINITY);
        cx.emit("And", &[is_positive, is_finite], vec![])
    });
    cx.emit("And", &[a, x], vec![])
}

/// The sum of the series at `low` and the fraction at `high`, both without their common factor.
fn methods(cx: &mut Context<'_, '_>, a: ValueId, low: ValueId, high: ValueId) -> Result<[ValueId; 2]> {
    let first = cx.emit("Reciprocal", &[a], vec![]);
    let base = with_number(cx, "Add", high, 1.0);
    let base = cx.emit("Sub", &[base, a], vec![]);
    let sizes = cx.out()?.sizes.clone();
    let under = cx.emit("Reciprocal", &[base], vec![]);
    let over = filled(cx, &sizes, DType::F64, HUGE, Some(low))?;
    for value in [first, base, under] {
        cx.set_shape(value, sizes.clone());
    }
    let rounds = cx.const_int(ROUNDS);
    let initial = [first, first, over, under, under];
    let [_, sum, _, _, fraction] = repeat_while(cx, Some(rounds), initial, |body, number, states| {
        let [term, sum, over, under, fraction] = states;
        let number = body.cast(number, DType::F64);
        let number = with_number(body, "Add", number, 1.0);
        let divisor = body.emit("Add", &[a, number], vec![]);
        let ratio = body.emit("Div", &[low, divisor], vec![]);
        let term = body.emit("Mul", &[term, ratio], vec![]);
        let sum = body.emit("Add", &[sum, term], vec![]);

        let lead = body.emit("Sub", &[a, number], vec![]);
        let numerator = body.emit("Mul", &[lead, number], vec![]);
        let twice = with_number(body, "Mul", number, 2.0);
        let denominator = body.emit("Add", &[base, twice], vec![]);
        let under = body.emit("Mul", &[numerator, under], vec![]);
        let under = body.emit("Add", &[under, denominator], vec![]);
        let under = body.emit("Reciprocal", &[under], vec![]);
        let over = body.emit("Div", &[numerator, over], vec![]);
        let over = body.emit("Add", &[over, denominator], vec![]);
        let change = body.emit("Mul", &[over, under], vec![]);
        let fraction = body.emit("Mul", &[fraction, change], vec![]);

        let least = with_number(body, "Mul", sum, PRECISION);
        let grows = body.emit("Greater", &[term, least], vec![]);
        let change = with_number(body, "Sub", change, 1.0);
        let change = body.emit("Abs", &[change], vec![]);
        let moves = test_number(body, "Greater", change, PRECISION);
        let is_open = body.emit("Or", &[grows, moves], vec![]);
        let open = body.cast(is_open, DType::I64);
        let count = body.reduce("ReduceSum", open, &[], false);
        let goes_on = test_number(body, "Greater", count, 0);
        (goes_on, [term, sum, over, under, fraction])
    });
    Ok([sum, fraction])
}

/// What is left at 0, at infinity and below 0.
fn borders(cx: &mut Context<'_, '_>, [a, x]: [ValueId; 2], plain: ValueId, value: ValueId, is_lower: bool) -> ValueId {
    let (none, all) = if is_lower { (0.0, 1.0) } else { (1.0, 0.0) };
    let [none, all, nan] = [none, all, f64::NAN].map(|number| cx.const_scalar(DType::F64, number));
    // Nothing lies below 0 or under an infinite order; everything lies below infinity or over order 0.
    let [a_zero, x_zero] = [a, x].map(|value| test_number(cx, "Equal", value, 0.0));
    let [a_infinite, x_infinite] = [a, x].map(|value| test_number(cx, "Equal", value, f64::INFINITY));
    let x_positive = test_number(cx, "Greater", x, 0.0);
    let over_zero = cx.emit("And", &[a_zero, x_positive], vec![]);
    let is_none = cx.emit("Or", &[x_zero, a_infinite], vec![]);
    let is_all = cx.emit("Or", &[over_zero, x_infinite], vec![]);
    let either = cx.emit("Where", &[is_none, none, nan], vec![]);
    let either = cx.emit("Where", &[is_all, all, either], vec![]);
    let a_undefined = cx.emit("Xor", &[a_zero, over_zero], vec![]);
    let is_both = cx.emit("And", &[is_none, is_all], vec![]);
    let is_both = cx.emit("Or", &[is_both, a_undefined], vec![]);
    let [a_negative, x_negative] = [a, x].map(|value| test_number(cx, "Less", value, 0.0));
    let is_negative = cx.emit("Or", &[a_negative, x_negative], vec![]);
    let is_undefined = cx.emit("Or", &[is_both, is_negative], vec![]);
    let either = cx.emit("Where", &[is_undefined, nan, either], vec![]);
    cx.emit("Where", &[plain, value, either], vec![])
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

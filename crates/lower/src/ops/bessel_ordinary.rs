//! Bessel functions `j0`, `j1`, `y0`, `y1`, and the spherical `j0`.
//!
//! Below 8 a quotient of polynomials in `x²`, above it waves whose amplitude and phase are polynomials in `(8 / x)²`
//! (Hart's approximations, absolute precision about 1e-8), in `float64`. PyTorch's own values are off by up to 1e-6 just
//! above 5. `y` is minus infinity at 0 and NaN below.

use modelexport_graph::DType;
use std::f64::consts::{FRAC_2_PI, FRAC_PI_4};

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::formulas::{polynomial, test_number, with_number};
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::special_bessel_j0(Tensor self) -> Tensor", |cx| first(cx, &ZERO)),
    Row::new("aten::special_bessel_j1(Tensor self) -> Tensor", |cx| first(cx, &ONE)),
    Row::new("aten::special_bessel_y0(Tensor self) -> Tensor", |cx| second(cx, &ZERO)),
    Row::new("aten::special_bessel_y1(Tensor self) -> Tensor", |cx| second(cx, &ONE)),
    Row::new("aten::special_spherical_bessel_j0(Tensor x) -> Tensor", spherical),
];

/// Coefficients of an order, for rising powers. What has order 1 is multiplied by `x` near 0.
struct Order {
    first_over: [f64; 6],
    first_under: [f64; 6],
    second_over: [f64; 6],
    second_under: [f64; 7],
    amplitude: [f64; 5],
    phase: [f64; 5],
    /// By how many eighths of a turn the waves lag.
    lag: f64,
    is_one: bool,
}

const ZERO: Order = Order {
    first_over: [57568490574.0, -13362590354.0, 651619640.7, -11214424.18, 77392.33017, -184.9052456],
    first_under: [57568490411.0, 1029532985.0, 9494680.718, 59272.64853, 267.8532712, 1.0],
    second_over: [-2957821389.0, 7062834065.0, -512359803.6, 10879881.29, -86327.92757, 228.4622733],
    second_under: [40076544269.0, 745249964.8, 7189466.438, 47447.26470, 226.1030244, 1.0, 0.0],
    amplitude: [1.0, -0.001098628627, 0.00002734510407, -0.000002073370639, 0.0000002093887211],
    phase: [-0.01562499995, 0.0001430488765, -0.000006911147651, 0.0000007621095161, -0.0000000934935152],
    lag: 1.0,
    is_one: false,
};

const ONE: Order = Order {
    first_over: [72362614232.0, -7895059235.0, 242396853.1, -2972611.439, 15704.48260, -30.16036606],
    first_under: [144725228442.0, 2300535178.0, 18583304.74, 99447.43394, 376.9991397, 1.0],
    second_over: [-4900604943000.0, 1275274390000.0, -51534381390.0, 734926455.1, -4237922.726, 8511.937935],
    second_under: [24995805700000.0, 424441966400.0, 3733650367.0, 22459040.02, 102042.6050, 354.9632885, 1.0],
    amplitude: [1.0, 0.00183105, -0.00003516396496, 0.000002457520174, -0.000000240337019],
    phase: [0.04687499995, -0.0002002690873, 0.000008449199096, -0.00000088228987, 0.000000105787412],
    lag: 3.0,
    is_one: true,
};

const BORDER: f64 = 8.0;
/// Waves of larger numbers are below what `float64` can tell from 0.
const LARGEST: f64 = 1e300;

/// The values near 0 of what is odd or even in `x`.
fn quotient(cx: &mut Context<'_, '_>, x: ValueId, over: &[f64], under: &[f64], is_odd: bool) -> ValueId {
    let square = cx.emit("Mul", &[x, x], vec![]);
    let over = polynomial(cx, square, over);
    let under: Vec<f64> = under.iter().copied().take_while(|&coefficient| coefficient != 0.0).collect();
    let under = polynomial(cx, square, &under);
    let value = cx.emit("Div", &[over, under], vec![]);
    if is_odd { cx.emit("Mul", &[value, x], vec![]) } else { value }
}

/// Amplitude times the waves `[cos, sin]` of what they lag behind `x`, each with its polynomial.
fn waves(cx: &mut Context<'_, '_>, x: ValueId, order: &Order) -> [[ValueId; 2]; 2] {
    let border = cx.const_scalar(DType::F64, BORDER);
    let inverse = cx.emit("Div", &[border, x], vec![]);
    let square = cx.emit("Mul", &[inverse, inverse], vec![]);
    let amplitude = polynomial(cx, square, &order.amplitude);
    let phase = polynomial(cx, square, &order.phase);
    let phase = cx.emit("Mul", &[phase, inverse], vec![]);
    let share = cx.const_scalar(DType::F64, FRAC_2_PI);
    let decay = cx.emit("Div", &[share, x], vec![]);
    let decay = cx.emit("Sqrt", &[decay], vec![]);
    let angle = with_number(cx, "Sub", x, order.lag * FRAC_PI_4);
    ["Cos", "Sin"].map(|wave| {
        let wave = cx.emit(wave, &[angle], vec![]);
        let wave = cx.emit("Mul", &[wave, decay], vec![]);
        [amplitude, phase].map(|factor| cx.emit("Mul", &[wave, factor], vec![]))
    })
}

fn first_kind(cx: &mut Context<'_, '_>, x: ValueId, order: &Order) -> ValueId {
    let magnitude = cx.emit("Abs", &[x], vec![]);
    let near = quotient(cx, x, &order.first_over, &order.first_under, order.is_one);
    let [[cosine, _], [_, sine]] = waves(cx, magnitude, order);
    let mut far = cx.emit("Sub", &[cosine, sine], vec![]);
    if order.is_one {
        let sign = cx.emit("Sign", &[x], vec![]);
        far = cx.emit("Mul", &[far, sign], vec![]);
    }
    let is_near = test_number(cx, "Less", magnitude, BORDER);
    cx.emit("Where", &[is_near, near, far], vec![])
}

fn first(cx: &mut Context<'_, '_>, order: &Order) -> Result<Outputs> {
    let x = operand(cx, "self", DType::F64)?;
    let value = first_kind(cx, x, order);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

fn second(cx: &mut Context<'_, '_>, order: &Order) -> Result<Outputs> {
    let x = operand(cx, "self", DType::F64)?;
    let rest = quotient(cx, x, &order.second_over, &order.second_under, order.is_one);
    let log = cx.emit("Log", &[x], vec![]);
    let first = first_kind(cx, x, order);
    let mut product = cx.emit("Mul", &[first, log], vec![]);
    if order.is_one {
        let inverse = cx.emit("Reciprocal", &[x], vec![]);
        product = cx.emit("Sub", &[product, inverse], vec![]);
    }
    let product = with_number(cx, "Mul", product, FRAC_2_PI);
    let near = cx.emit("Add", &[rest, product], vec![]);
    let [[_, cosine], [sine, _]] = waves(cx, x, order);
    let far = cx.emit("Add", &[sine, cosine], vec![]);
    let is_near = test_number(cx, "LessOrEqual", x, BORDER);
    let value = cx.emit("Where", &[is_near, near, far], vec![]);
    let is_zero = test_number(cx, "Equal", x, 0.0);
    let lowest = cx.const_scalar(DType::F64, f64::NEG_INFINITY);
    let value = cx.emit("Where", &[is_zero, lowest, value], vec![]);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

/// `sin(x) / x`; 1 at 0, and 0 at infinity.
fn spherical(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = operand(cx, "x", DType::F64)?;
    let magnitude = cx.emit("Abs", &[x], vec![]);
    let largest = cx.const_scalar(DType::F64, LARGEST);
    let bounded = cx.emit("Min", &[magnitude, largest], vec![]);
    let sine = cx.emit("Sin", &[bounded], vec![]);
    let value = cx.emit("Div", &[sine, bounded], vec![]);
    let is_zero = test_number(cx, "Equal", x, 0.0);
    let one = cx.const_scalar(DType::F64, 1.0);
    let value = cx.emit("Where", &[is_zero, one, value], vec![]);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
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

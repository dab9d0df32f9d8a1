//! `special.airy_ai`, in `float64`.
//!
//! The power series up to 2.09 on both sides of 0; quotients of polynomials in the inverse of `2/3 |x|^(3/2)` beyond, times
//! a decay above and waves below.

use modelexport_graph::DType;
use std::f64::consts::FRAC_PI_4;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::formulas::{polynomial, test_number, with_number};
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new("aten::special_airy_ai(Tensor x) -> Tensor", lower)];

/// Coefficients for rising powers.
const DECAY_OVER: [f64; 8] = [1.0, 14.026469116338967, 70.53609068404442, 159.75639135016442, 168.08922493463058, 76.27960536152345, 12.007595273964581, 0.346538101525629];
const DECAY_UNDER: [f64; 8] = [1.0, 14.095913560783403, 71.47784008255756, 164.2346928715297, 177.31808814540045, 84.51389701414746, 14.75625625848472, 0.5675945326387702];
const SINE_OVER: [f64; 9] = [-1.6778769848911465e-08, -2.776491081552329e-06, -0.0001592764962392621, -0.004062659235948854, -0.04919001326095003, -0.2797799815451191, -0.6931580360369335, -0.6264565444319123, -0.1316963234183318];
const SINE_UNDER: [f64; 9] = [4.5185009297058035e-07, 7.547203482874142e-05, 0.004402916416152112, 0.11568717379518804, 1.4752914677166642, 9.187074029072596, 26.736704094149957, 32.682503279522464, 13.356042070655324];
const COSINE_OVER: [f64; 11] = [3.415517847659236e-10, 8.117892395543892e-08, 6.98793669997261e-06, 0.000282851600836737, 0.005858041130483885, 0.06338889196289255, 0.35146565610554764, 0.9391692298166502, 1.0657989759959559, 0.39110302961568827, 0.01973399320916857];
const COSINE_UNDER: [f64; 10] = [4.9183457006293e-09, 1.1716673321441352e-06, 0.00010125908511650914, 0.004126565238242226, 0.08645808263523921, 0.9542936116189619, 5.476860694229755, 15.564662893286462, 19.835292871831214, 9.30892908077442];
/// Up to which distance from 0 the power series is used.
const BORDER: f64 = 2.09;
/// From where on the value is below the smallest number.
const LAST: f64 = 103.892;
/// Value and negative slope at 0.
const AT_ZERO: [f64; 2] = [0.355_028_053_887_817_2, 0.258_819_403_792_806_8];
/// Terms of the power series; at the border the next is below rounding.
const TERMS: i32 = 14;
/// `1 / sqrt(π)`
const SCALE: f64 = 0.5641895835477563;

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = operand(cx, "x", DType::F64)?;
    let near = near(cx, x);
    // Where another formula holds, the border stands in for the element.
    let magnitude = cx.emit("Abs", &[x], vec![]);
    let magnitude = with_number(cx, "Max", magnitude, BORDER);
    let root = cx.emit("Sqrt", &[magnitude], vec![]);
    let phase = cx.emit("Mul", &[magnitude, root], vec![]);
    let phase = with_number(cx, "Mul", phase, 2.0 / 3.0);
    let fourth_root = cx.emit("Sqrt", &[root], vec![]);
    let scale = cx.const_scalar(DType::F64, SCALE);
    let amplitude = cx.emit("Div", &[scale, fourth_root], vec![]);
    let inverse = cx.emit("Reciprocal", &[phase], vec![]);

    let share = quotient(cx, inverse, &DECAY_OVER, &DECAY_UNDER);
    let opposite = cx.emit("Neg", &[phase], vec![]);
    let decay = cx.emit("Exp", &[opposite], vec![]);
    let above = cx.emit("Mul", &[share, amplitude], vec![]);
    let above = cx.emit("Mul", &[above, decay], vec![]);
    let above = with_number(cx, "Mul", above, 0.5);

    let square = cx.emit("Mul", &[inverse, inverse], vec![]);
    let sine_share = quotient(cx, square, &SINE_OVER, &SINE_UNDER);
    let sine_share = cx.emit("Mul", &[sine_share, square], vec![]);
    let sine_share = with_number(cx, "Add", sine_share, 1.0);
    let cosine_share = quotient(cx, square, &COSINE_OVER, &COSINE_UNDER);
    let cosine_share = cx.emit("Mul", &[cosine_share, inverse], vec![]);
    let angle = with_number(cx, "Add", phase, FRAC_PI_4);
    let (sine, cosine) = (cx.emit("Sin", &[angle], vec![]), cx.emit("Cos", &[angle], vec![]));
    let (sine, cosine) = (cx.emit("Mul", &[sine, sine_share], vec![]), cx.emit("Mul", &[cosine, cosine_share], vec![]));
    let waves = cx.emit("Sub", &[sine, cosine], vec![]);
    let below = cx.emit("Mul", &[waves, amplitude], vec![]);

    let is_below = test_number(cx, "Less", x, -BORDER);
    let is_above = test_number(cx, "GreaterOrEqual", x, BORDER);
    let is_last = test_number(cx, "Greater", x, LAST);
    let value = cx.emit("Where", &[is_below, below, near], vec![]);
    let value = cx.emit("Where", &[is_above, above, value], vec![]);
    let zero = cx.const_scalar(DType::F64, 0.0);
    let value = cx.emit("Where", &[is_last, zero, value], vec![]);
    // PyTorch has no value at infinity on either side.
    let is_infinite = cx.emit("IsInf", &[x], vec![]);
    let nan = cx.const_scalar(DType::F64, f64::NAN);
    let value = cx.emit("Where", &[is_infinite, nan, value], vec![]);
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

/// `c0 f(x) - c1 g(x)`: two power series in `x³`.
fn near(cx: &mut Context<'_, '_>, x: ValueId) -> ValueId {
    let coefficients = |first: f64, shift: f64| -> Vec<f64> {
        let mut coefficient = first;
        (0..TERMS)
            .map(|k| {
                if k > 0 {
                    let last = 3.0 * f64::from(k) + shift;
                    coefficient /= last * (last - 1.0);
                }
                coefficient
            })
            .collect()
    };
    let square = cx.emit("Mul", &[x, x], vec![]);
    let cube = cx.emit("Mul", &[square, x], vec![]);
    let even = polynomial(cx, cube, &coefficients(AT_ZERO[0], 0.0));
    let odd = polynomial(cx, cube, &coefficients(AT_ZERO[1], 1.0));
    let odd = cx.emit("Mul", &[odd, x], vec![]);
    cx.emit("Sub", &[even, odd], vec![])
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

//! `pow` and `float_power`.
//!
//! Exponents that are known become the operator that PyTorch uses for them: `Sqrt` (0.5), `Reciprocal` (-1). A square
//! stays `Pow`, which runtimes compute as a product and look for in their fusions. Integers are multiplied: `Pow` goes
//! through `float64` for them. It stays for powers of a known power of two. Deviation: those that overflow.

use crate::context::{Context, Scalar};
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::kernel_type;
use crate::ops::support::integer_power::{known_power, power};
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::float_power.Scalar(Scalar self, Tensor exponent) -> Tensor", pow),
    Row::new("aten.float_power.Tensor", pow),
    Row::new("aten::float_power.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", pow),
    Row::new("aten::float_power.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", pow),
    Row::new("aten::pow.Scalar(Scalar self, Tensor exponent) -> Tensor", pow),
    // What an in-place `pow_` by a tensor becomes; PyTorch has no schema for it.
    Row::new("aten.pow.Tensor", pow),
    Row::new("aten::pow.Tensor_Scalar(Tensor self, Scalar exponent) -> Tensor", pow),
    Row::new("aten::pow.Tensor_Tensor(Tensor self, Tensor exponent) -> Tensor", pow),
];

fn pow(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let kernel = kernel_type("Pow", dtype, cx.opset);
    let base = operand(cx, "self", dtype)?;
    let base = cx.cast(base, kernel);
    let exponent = match cx.meta_opt("exponent") {
        Some(_) => None,
        None => Some(cx.scalar_arg("exponent")?),
    };
    if let Some(exponent) = exponent
        && let Some(value) = known(cx, base, exponent)
    {
        return Ok(cx.cast(value, dtype).into());
    }
    let exponent = match exponent {
        Some(exponent) => cx.scalar_value(exponent, kernel),
        None => {
            let exponent = operand(cx, "exponent", dtype)?;
            cx.cast(exponent, kernel)
        }
    };
    let value = if kernel.is_float() || is_exact(cx, base, exponent) {
        cx.emit("Pow", &[base, exponent], vec![])
    } else {
        let sizes = &cx.out()?.sizes;
        power(cx, base, exponent, sizes)?
    };
    Ok(cx.cast(value, dtype).into())
}

/// Whether integer powers are the same by way of `float64`: known ones that fit, exponents of 0, and powers of a known
/// power of two.
fn is_exact(cx: &Context<'_, '_>, base: ValueId, exponent: ValueId) -> bool {
    const EXACT: f64 = 9_007_199_254_740_992.0;
    let numbers = |value| {
        let numbers = cx.ir.literal(value).and_then(|literal| literal.numbers())?;
        Some(numbers.iter().map(|number| number.as_i64()).collect::<Vec<i64>>())
    };
    match (numbers(base), numbers(exponent)) {
        (_, Some(exponents)) if exponents.iter().all(|&exponent| exponent == 0) => true,
        (Some(bases), _) if bases.iter().all(|&base| base > 0 && base & (base - 1) == 0) => true,
        (Some(bases), Some(exponents)) => {
            let largest = |numbers: &[i64]| numbers.iter().map(|number| number.unsigned_abs()).max().unwrap_or(0) as f64;
            exponents.iter().all(|&exponent| exponent >= 0) && largest(&bases).powf(largest(&exponents)) < EXACT
        }
        _ => false,
    }
}

/// The power, if the exponent has an operator of its own.
fn known(cx: &mut Context<'_, '_>, base: ValueId, exponent: Scalar) -> Option<ValueId> {
    if exponent.is(1.0) {
        return Some(base);
    }
    if !cx.dtype(base).is_float() {
        let exponent = u64::try_from(exponent.number()?.as_i64()).ok().filter(|&exponent| exponent > 0)?;
        return Some(known_power(cx, base, exponent));
    }
    if exponent.is(0.5) {
        Some(cx.emit("Sqrt", &[base], vec![]))
    } else if exponent.is(-1.0) {
        Some(cx.emit("Reciprocal", &[base], vec![]))
    } else {
        None
    }
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

//! Determinants: `Det`, which runtimes have for `float32`; signs, logarithms and other types from the `LU` factors.

use modelexport_graph::{DType, Dim};

use super::support::elimination::{factorize, push_unread_factors};
use super::support::matrices::{Fill, Matrices, diagonal, indices, results_of_nothing};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", |cx| {
        let Outputs(mut results) = det(cx, "A")?;
        push_unread_factors(cx, &mut results, [1, 2])?;
        Ok(results.into())
    }),
    Row::new("aten::_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)", |cx| {
        let Outputs(mut results) = slogdet(cx, "A")?;
        push_unread_factors(cx, &mut results, [2, 3])?;
        Ok(results.into())
    }),
    Row::new("aten::det(Tensor self) -> Tensor", |cx| det(cx, "self")),
    Row::new("aten::linalg_det(Tensor A) -> Tensor", |cx| det(cx, "A")),
    Row::new("aten::slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", |cx| slogdet(cx, "self")),
    Row::new("aten::linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", |cx| slogdet(cx, "A")),
    Row::new("aten::logdet(Tensor self) -> Tensor", logdet),
];

fn det(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(1.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, name)?, cx.out()?.dtype);
    let value = if cx.dtype(a.value) == DType::F32 {
        cx.emit("Det", &[a.value], vec![])
    } else {
        let (pivots, parity) = pivots(cx, &a)?;
        let product = cx.reduce("ReduceProd", pivots, &[-1], false);
        cx.emit("Mul", &[product, parity], vec![])
    };
    let value = cx.reshape(value, &a.batch)?;
    Ok(cx.cast(value, dtype).into())
}

/// `[…, n]`: the diagonal of `U`; and 1 or -1 for an even or odd number of exchanges.
fn pivots(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<(ValueId, ValueId)> {
    let factors = factorize(cx, a)?;
    let (diagonal, steps) = (diagonal(cx, &factors.lu)?, indices(cx, &a.rows)?);
    let stays = cx.test("Equal", &[factors.pivots, steps]);
    let (one, minus_one) = (cx.const_like(diagonal, 1.0), cx.const_like(diagonal, -1.0));
    let signs = cx.select(stays, one, minus_one);
    Ok((diagonal, cx.reduce("ReduceProd", signs, &[-1], false)))
}

fn sign_and_logarithm(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<[ValueId; 2]> {
    let (pivots, parity) = pivots(cx, a)?;
    let signs = cx.emit("Sign", &[pivots], vec![]);
    let sign = cx.reduce("ReduceProd", signs, &[-1], false);
    let sign = cx.emit("Mul", &[sign, parity], vec![]);
    let magnitude = cx.emit("Abs", &[pivots], vec![]);
    let logarithms = cx.emit("Log", &[magnitude], vec![]);
    Ok([sign, cx.reduce("ReduceSum", logarithms, &[-1], false)])
}

fn slogdet(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(1.0), Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, name)?, cx.out()?.dtype);
    let results = sign_and_logarithm(cx, &a)?;
    Ok(results.map(|value| rounded(cx, value, &a.batch, dtype)).into())
}

/// NaN for negative determinants.
fn logdet(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, "self")?, cx.out()?.dtype);
    let [sign, logarithm] = sign_and_logarithm(cx, &a)?;
    let (zero, undefined) = (cx.const_like(sign, 0.0), cx.const_like(sign, f64::NAN));
    let negative = cx.test("Less", &[sign, zero]);
    let value = cx.select(negative, undefined, logarithm);
    Ok(rounded(cx, value, &a.batch, dtype).into())
}

fn rounded(cx: &mut Context<'_, '_>, value: ValueId, sizes: &[Dim], dtype: DType) -> ValueId {
    cx.set_shape(value, sizes.to_vec());
    cx.cast(value, dtype)
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

//! Pseudo-inverses and polar factors, which are products of singular vectors with their own transposes: signs cancel.
//! So are square roots of symmetric matrices.

use modelexport_graph::DType;

use super::support::jacobi::{eigenvalues, is_wide, orthogonalize, symmetric, upright};
use super::support::matrices::{Fill, Matrices, results_of_nothing};
use super::support::tolerance::counts;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::linalg_matrix_sqrth(Tensor self) -> Tensor", square_root),
    Row::new(
        "aten::linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
        pseudo_inverse,
    ),
    Row::new(
        "aten::linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
        pseudo_inverse,
    ),
    Row::new("aten::linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor", pseudo_inverse),
    Row::new(
        "aten::linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
        pseudo_inverse,
    ),
    Row::new("aten::linalg_polar(Tensor A) -> (Tensor U, Tensor H)", polar),
    Row::new("aten::pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor", pseudo_inverse),
];

/// `a · diagonal(scale) · bᵀ` for `scale` `[…, 1, n]`.
fn scaled_product(cx: &mut Context<'_, '_>, a: &Matrices, scale: ValueId, b: &Matrices) -> ValueId {
    let scaled = cx.emit("Mul", &[a.value, scale], vec![]);
    let turned = b.transposed(cx);
    cx.emit("MatMul", &[scaled, turned.value], vec![])
}

fn pseudo_inverse(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let dtype = cx.out()?.dtype;
    let mut a = Matrices::argument_as(cx, "self", DType::F64)?;
    // `pinverse` has no such argument: false.
    if cx.bool("hermitian")? {
        a = symmetric(cx, &a, false);
    }
    let tall = upright(cx, &a);
    let found = orthogonalize(cx, &tall)?;
    let counted = counts(cx, &a, dtype, found.values)?;
    let (zero, one) = (cx.const_like(found.values, 0.0), cx.const_like(found.values, 1.0));
    let divisor = cx.select(counted, found.values, one);
    let square = cx.emit("Mul", &[divisor, divisor], vec![]);
    let inverse = cx.emit("Reciprocal", &[square], vec![]);
    let scale = cx.select(counted, inverse, zero);
    let value = if is_wide(&a) {
        scaled_product(cx, &found.left, scale, &found.right)
    } else {
        scaled_product(cx, &found.right, scale, &found.left)
    };
    Ok(cx.cast(value, dtype).into())
}

fn polar(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "A", &[Fill::Number(0.0); 2])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument_as(cx, "A", DType::F64)?, cx.out()?.dtype);
    let found = orthogonalize(cx, &a)?;
    let inverse = cx.emit("Reciprocal", &[found.values], vec![]);
    let turn = scaled_product(cx, &found.left, inverse, &found.right);
    let stretch = scaled_product(cx, &found.right, found.values, &found.right);
    Ok([cx.cast(turn, dtype), cx.cast(stretch, dtype)].into())
}

/// NaN where an eigenvalue is negative.
fn square_root(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument_as(cx, "self", DType::F64)?, cx.out()?.dtype);
    let a = symmetric(cx, &a, false);
    let (values, vectors) = eigenvalues(cx, &a)?;
    let roots = cx.emit("Sqrt", &[values], vec![]);
    let value = scaled_product(cx, &vectors, roots, &vectors);
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

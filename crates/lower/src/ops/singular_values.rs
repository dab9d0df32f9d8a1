//! Singular values, eigenvalues of symmetric matrices, and ranks.

use modelexport_graph::DType;

use super::support::jacobi::{orthogonalize, singular_values, sorted_eigenvalues, symmetric, upright};
use super::support::matrices::{Fill, Matrices, results_of_nothing};
use super::support::tolerance::counts;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor", eigvalsh),
    Row::new(
        "aten::linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
        |cx| rank(cx, "self"),
    ),
    Row::new(
        "aten::linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
        |cx| rank(cx, "input"),
    ),
    Row::new("aten::linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor", |cx| rank(cx, "self")),
    Row::new("aten::linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor", |cx| {
        rank(cx, "input")
    }),
    Row::new("aten::linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", svdvals),
];

fn svdvals(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "A", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument_as(cx, "A", DType::F64)?, cx.out()?.dtype);
    let values = singular_values(cx, &a)?;
    Ok(cx.cast(values, dtype).into())
}

fn eigvalsh(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument_as(cx, "self", DType::F64)?, cx.out()?.dtype);
    let upper = cx.str_opt("UPLO")?.is_some_and(|side| side.eq_ignore_ascii_case("U"));
    let a = symmetric(cx, &a, upper);
    let values = sorted_eigenvalues(cx, &a)?;
    Ok(cx.cast(values, dtype).into())
}

fn rank(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let dtype = cx.meta(name)?.dtype;
    let mut a = Matrices::argument_as(cx, name, DType::F64)?;
    if cx.bool("hermitian")? {
        a = symmetric(cx, &a, false);
    }
    let tall = upright(cx, &a);
    let values = orthogonalize(cx, &tall)?.values;
    let counted = counts(cx, &a, dtype, values)?;
    let counted = cx.cast(counted, DType::I64);
    Ok(cx.reduce("ReduceSum", counted, &[-2, -1], false).into())
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

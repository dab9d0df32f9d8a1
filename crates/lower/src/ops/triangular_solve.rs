//! Systems with a triangular matrix, of which the other triangle is not read. A diagonal with a zero gives infinities and
//! NaN, as in PyTorch.

use super::support::matrices::{Fill, Matrices, results_of_nothing};
use super::support::substitution::{Triangle, substitute};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::linalg_solve_triangular(Tensor self, Tensor B, *, bool upper, bool left=True, bool unitriangular=False) -> Tensor",
        |cx| {
            let left = cx.bool("left")?;
            solve(cx, ["self", "B"], left, false)?.map_or_else(|| nothing(cx), |value| Ok(value.into()))
        },
    ),
    Row::new(
        "aten::triangular_solve(Tensor self, Tensor A, bool upper=True, bool transpose=False, bool unitriangular=False) -> (Tensor solution, Tensor cloned_coefficient)",
        with_coefficient,
    ),
];

fn nothing(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    Ok(super::support::fill::filled(cx, &out.sizes, out.dtype, 0.0, None)?.into())
}

/// The solution and the matrix, both broadcast.
fn with_coefficient(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let transposed = cx.bool("transpose")?;
    let solution = match solve(cx, ["A", "self"], true, transposed)? {
        Some(solution) => solution.into(),
        None => nothing(cx)?,
    };
    let Some(wanted) = cx.out_at(1) else { return Ok(solution) };
    let a = cx.tensor("A")?;
    let mut results = solution.0;
    results.push(cx.expand(a, &wanted.sizes)?);
    Ok(results.into())
}

/// `None` if there are no elements.
fn solve(cx: &mut Context<'_, '_>, [t, right]: [&str; 2], left: bool, transposed: bool) -> Result<Option<ValueId>> {
    for name in [t, right] {
        if results_of_nothing(cx, name, &[Fill::Number(0.0)])?.is_some() {
            return Ok(None);
        }
    }
    let (out, compute) = (cx.out()?, math_type(cx.out()?.dtype));
    let batch = out.sizes.get(..out.sizes.len().saturating_sub(2)).unwrap_or_default();
    let mut triangle = Triangle { upper: cx.bool("upper")?, unit: cx.bool("unitriangular")? };
    let mut t = Matrices::argument_as(cx, t, compute)?;
    let mut right = Matrices::argument_as(cx, right, compute)?;
    // X T = B is Tᵀ Xᵀ = Bᵀ.
    if transposed == left {
        t = t.transposed(cx);
        triangle = triangle.transposed();
    }
    if !left {
        right = right.transposed(cx);
    }
    let right = right.expanded(cx, batch)?;
    let mut solution = substitute(cx, &t, triangle, &right)?;
    if !left {
        solution = solution.transposed(cx);
    }
    Ok(Some(cx.cast(solution.value, out.dtype)))
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

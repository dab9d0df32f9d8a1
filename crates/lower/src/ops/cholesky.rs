//! Cholesky factors by a loop over the columns, and what is solved with them.
//!
//! Of a matrix that is not positive definite, for which PyTorch raises an error, NaN come out. `linalg_cholesky_ex` tells
//! the first minor that is not positive in `info`; its factor means nothing there, as in PyTorch.

use modelexport_graph::DType;

use super::support::fill::filled;
use super::support::matrices::{
    Fill, Matrices, column, identity, indices, results_of_nothing, row, row_numbers, rounds, triangle,
};
use super::support::substitution::{Triangle, substitute};
use crate::context::Context;
use crate::error::Result;
use crate::kernels::math_type;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::cholesky_inverse(Tensor self, bool upper=False) -> Tensor", inverse),
    Row::new("aten::cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", solve),
    Row::new("aten::linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", factor),
    Row::new(
        "aten::linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
        factor,
    ),
];

/// With `info` if the node gives it.
fn factor(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0); 2])? {
        return Ok(results);
    }
    let (mut a, dtype, upper) = (Matrices::argument(cx, "self")?, cx.out()?.dtype, cx.bool("upper")?);
    // Only the triangle that is wanted is read.
    if upper {
        a = a.transposed(cx);
    }
    let (rows, columns) = (row_numbers(cx, &a.rows)?, indices(cx, &a.columns)?);
    let info = filled(cx, &a.batch, DType::I64, 0, None)?;
    cx.set_shape(a.value, a.sizes());
    let rank = a.rank();
    let [factor, info] = rounds(cx, &a.rows, [a.value, info], |b, at, [rest, info]| {
        let (zero, values) = (b.const_like(rest, 0.0), column(b, rest, at));
        let pivot = row(b, values, at);
        let root = b.emit("Sqrt", &[pivot], vec![]);
        let quotient = b.emit("Div", &[values, root], vec![]);
        let open = b.test("GreaterOrEqual", &[rows, at]);
        let vector = b.select(open, quotient, zero);
        let turned = b.transpose_last(vector, rank);
        let product = b.emit("Mul", &[vector, turned], vec![]);
        let rest = b.emit("Sub", &[rest, product], vec![]);
        let here = b.test("Equal", &[columns, at]);
        let rest = b.select(here, vector, rest);

        let positive = b.test("Greater", &[pivot, zero]);
        let positive = b.squeeze(positive, &[-2, -1]);
        let none = b.const_int(0);
        let is_first = b.test("Equal", &[info, none]);
        let (one, at) = (b.const_int(1), b.squeeze(at, &[0]));
        let number = b.emit("Add", &[at, one], vec![]);
        let found = b.select(is_first, number, info);
        [rest, b.select(positive, info, found)]
    })?;
    let mut factor = Matrices { value: triangle(cx, factor, false), ..a };
    if upper {
        factor = factor.transposed(cx);
    }
    let mut results = vec![cx.cast(factor.value, dtype)];
    if cx.out_count() > 1 {
        results.push(cx.cast(info, DType::I32));
    }
    Ok(results.into())
}

/// `X` where `L Lᵀ X = B`, or `Uᵀ U X = B` if `upper`.
fn solve_with(cx: &mut Context<'_, '_>, factor: &Matrices, right: &Matrices, upper: bool) -> Result<Matrices> {
    let transposed = factor.transposed(cx);
    let (first, second) = if upper { (&transposed, factor) } else { (factor, &transposed) };
    let half = substitute(cx, first, Triangle { upper: false, unit: false }, right)?;
    substitute(cx, second, Triangle { upper: true, unit: false }, &half)
}

fn solve(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    for name in ["self", "input2"] {
        if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0)])? {
            return Ok(results);
        }
    }
    let (out, upper) = (cx.out()?, cx.bool("upper")?);
    let compute = math_type(out.dtype);
    let batch = out.sizes.get(..out.sizes.len().saturating_sub(2)).unwrap_or_default();
    let factor = Matrices::argument_as(cx, "input2", compute)?;
    let right = Matrices::argument_as(cx, "self", compute)?.expanded(cx, batch)?;
    let solution = solve_with(cx, &factor, &right, upper)?;
    Ok(cx.cast(solution.value, out.dtype).into())
}

fn inverse(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (factor, upper, dtype) = (Matrices::argument(cx, "self")?, cx.bool("upper")?, cx.out()?.dtype);
    let compute = cx.dtype(factor.value);
    let one = identity(cx, &factor.rows, &factor.columns, compute)?;
    let one = Matrices::of(cx, one, &[factor.rows.clone(), factor.columns.clone()])?;
    let one = one.expanded(cx, &factor.batch)?;
    let solution = solve_with(cx, &factor, &one, upper)?;
    Ok(cx.cast(solution.value, dtype).into())
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

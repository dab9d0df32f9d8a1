//! Inverses and solutions of linear systems, from the `LU` factors.
//!
//! Of a singular matrix, for which PyTorch raises an error, infinities and NaN come out. The variants that give `info`
//! tell the first column without a pivot there, and their other results mean nothing, as in PyTorch.

use modelexport_graph::shape::static_numel;
use modelexport_graph::{DType, Dim};

use super::support::compute::{product, tensor_as};
use super::support::elimination::{
    Factors, factorize, first_without_pivot, push_unread_factors, permutation, solve as solve_factored, solve_in_order,
};
use super::support::fill::filled;
use super::support::matrices::{Fill, Matrices, results_of_nothing};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
        |cx| {
            let Outputs(solved) = solve(cx)?;
            let (mut results, info) = match solved.as_slice() {
                [solution, info] => (vec![*solution], *info),
                _ => return cx.refuse("has no solution"),
            };
            push_unread_factors(cx, &mut results, [1, 2])?;
            results.push(info);
            Ok(results.into())
        },
    ),
    Row::new("aten::inverse(Tensor self) -> Tensor", |cx| inverse(cx, "self")),
    Row::new("aten::linalg_inv(Tensor A) -> Tensor", |cx| inverse(cx, "A")),
    Row::new("aten::linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)", |cx| {
        inverse(cx, "A")
    }),
    Row::new("aten::linalg_tensorinv(Tensor self, int ind=2) -> Tensor", tensor_inverse),
    Row::new("aten::linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", solve),
    Row::new(
        "aten::linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
        solve,
    ),
    Row::new("aten::linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor", tensor_solve),
];

/// The inverse of `a`, and the factors that it comes from.
pub(crate) fn inverse_of(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<(Matrices, Factors)> {
    let factors = factorize(cx, a)?;
    let dtype = cx.dtype(a.value);
    let value = permutation(cx, factors.order, &a.rows, dtype, true)?;
    let inverse = solve_in_order(cx, &factors.lu, &Matrices { value, ..a.clone() })?;
    Ok((inverse, factors))
}

/// With `info` if the node gives it.
fn inverse(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0); 2])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, name)?, cx.out()?.dtype);
    let (inverse, factors) = inverse_of(cx, &a)?;
    with_info(cx, inverse.value, dtype, &factors)
}

fn with_info(
    cx: &mut Context<'_, '_>,
    value: ValueId,
    dtype: DType,
    factors: &Factors,
) -> Result<Outputs> {
    let mut results = vec![cx.cast(value, dtype)];
    if cx.out_count() > 1 {
        results.push(first_without_pivot(cx, &factors.lu)?);
    }
    Ok(results.into())
}

fn tensor_inverse(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (sizes, out) = (cx.meta("self")?.sizes.clone(), cx.out()?);
    let Some((rows, columns)) = usize::try_from(cx.int("ind")?).ok().and_then(|at| sizes.split_at_checked(at)) else {
        return cx.wrong("ind", "an axis of the argument", cx.int("ind")?);
    };
    let matrix = [product(rows), product(columns)];
    let x = tensor_as(cx, "self", math_type(out.dtype))?;
    let x = cx.reshape(x, &matrix)?;
    let a = Matrices::of(cx, x, &matrix)?;
    let (inverse, _) = inverse_of(cx, &a)?;
    let value = cx.reshape(inverse.value, &out.sizes)?;
    Ok(cx.cast(value, out.dtype).into())
}

/// With `info` if the node gives it.
fn solve(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    if static_numel(&out.sizes) == Some(0) {
        let mut results = vec![filled(cx, &out.sizes, out.dtype, 0.0, None)?];
        if cx.out_count() > 1 {
            let batch = Matrices::argument(cx, "A")?.batch;
            results.push(filled(cx, &batch, DType::I32, 0, None)?);
        }
        return Ok(results.into());
    }
    let (a, sizes) = (Matrices::argument(cx, "A")?, cx.meta("B")?.sizes.clone());
    let is_vector = sizes.len() == 1 || sizes == a.with_sizes(&[&a.rows]);
    let mut right_sizes = sizes;
    let mut right = tensor_as(cx, "B", math_type(out.dtype))?;
    let mut result_sizes = out.sizes.clone();
    if is_vector {
        right = cx.unsqueeze(right, &[-1]);
        right_sizes.push(Dim::Static(1));
        result_sizes.push(Dim::Static(1));
    }
    let right = Matrices::of(cx, right, &right_sizes)?;
    let batch = result_sizes.get(..result_sizes.len().saturating_sub(2)).unwrap_or_default();
    let (factors, solution) = if cx.bool("left")? {
        let (factors, right) = (expanded_factors(cx, &a, batch)?, right.expanded(cx, batch)?);
        let solution = solve_factored(cx, &factors, &right)?;
        (factors, solution)
    } else {
        // X A = B is Aᵀ Xᵀ = Bᵀ.
        let (a, right) = (a.transposed(cx), right.transposed(cx));
        let (factors, right) = (expanded_factors(cx, &a, batch)?, right.expanded(cx, batch)?);
        let solution = solve_factored(cx, &factors, &right)?;
        (factors, solution.transposed(cx))
    };
    let mut value = solution.value;
    if is_vector {
        value = cx.squeeze(value, &[-1]);
    }
    let mut results = vec![cx.cast(value, out.dtype)];
    if cx.out_count() > 1 {
        results.push(first_without_pivot(cx, &Matrices { batch: a.batch.clone(), ..factors.lu })?);
    }
    Ok(results.into())
}

/// The factors of `a`, whose rows are exchanged for each matrix of `batch`.
fn expanded_factors(cx: &mut Context<'_, '_>, a: &Matrices, batch: &[Dim]) -> Result<Factors> {
    let factors = factorize(cx, a)?;
    let sizes: Vec<Dim> = batch.iter().chain([&a.rows]).cloned().collect();
    let order = cx.expand(factors.order, &sizes)?;
    Ok(Factors { order, ..factors })
}

fn tensor_solve(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let compute = math_type(out.dtype);
    let mut a = tensor_as(cx, "self", compute)?;
    let rank = cx.meta("self")?.sizes.len();
    if let Some(moved) = cx.ints_opt("dims")? {
        let moved: Vec<i64> =
            moved.into_iter().map(|axis| cx.normalize_axis("dims", axis, rank)).collect::<Result<_>>()?;
        let stay = (0..rank as i64).filter(|axis| !moved.contains(axis));
        let order: Vec<i64> = stay.chain(moved.iter().copied()).collect();
        a = cx.transpose(a, &order);
    }
    let (count, one) = (product(&out.sizes), Dim::Static(1));
    let square = [count.clone(), count.clone()];
    let a = cx.reshape(a, &square)?;
    let a = Matrices::of(cx, a, &square)?;
    let right = tensor_as(cx, "other", compute)?;
    let right = cx.reshape(right, &[count.clone(), one.clone()])?;
    let right = Matrices::of(cx, right, &[count, one])?;
    let factors = factorize(cx, &a)?;
    let solution = solve_factored(cx, &factors, &right)?;
    let value = cx.reshape(solution.value, &out.sizes)?;
    Ok(cx.cast(value, out.dtype).into())
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

//! `P L U` factors of matrices, and systems solved with them.
//!
//! Without row exchanges (`pivot=False`) PyTorch has no factors on a CPU, and neither are there any here.

use modelexport_graph::{DType, Dim};

use super::support::elimination::{
    factorize, first_without_pivot, order_of, permutation, rows_in_order, solve_in_order,
};
use super::support::fill::filled;
use super::support::matrices::{Fill, Matrices, identity, indices, results_of_nothing, triangle};
use super::support::substitution::{Triangle, substitute};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)",
        |cx| factors(cx, "self"),
    ),
    Row::new("aten::linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)", unpacked_factors),
    Row::new("aten::linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)", |cx| {
        factors(cx, "A")
    }),
    Row::new(
        "aten::linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
        |cx| factors(cx, "A"),
    ),
    Row::new(
        "aten::linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
        |cx| {
            let (left, adjoint) = (cx.bool("left")?, cx.bool("adjoint")?);
            solve(cx, ["LU", "pivots", "B"], left, adjoint)
        },
    ),
    Row::new("aten::lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", |cx| {
        solve(cx, ["LU_data", "LU_pivots", "self"], true, false)
    }),
    Row::new(
        "aten::lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
        unpack,
    ),
];

fn exchanges_rows(cx: &Context<'_, '_>) -> Result<()> {
    if cx.bool("pivot")? {
        return Ok(());
    }
    cx.refuse("`pivot=False` is not supported: PyTorch has it for GPUs only")
}

/// `LU`, pivots counted from 1, and `info` if the node gives it.
fn factors(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    exchanges_rows(cx)?;
    if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0); 3])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, name)?, cx.out()?.dtype);
    let factors = factorize(cx, &a)?;
    let one = cx.const_int(1);
    let pivots = cx.emit("Add", &[factors.pivots, one], vec![]);
    let mut results = vec![cx.cast(factors.lu.value, dtype), cx.cast(pivots, DType::I32)];
    if cx.out_count() > 2 {
        results.push(first_without_pivot(cx, &factors.lu)?);
    }
    Ok(results.into())
}

fn unpacked_factors(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    exchanges_rows(cx)?;
    let (identity, zeros) = (Fill::Identity, Fill::Number(0.0));
    if let Some(results) = results_of_nothing(cx, "A", &[identity, zeros, zeros])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, "A")?, cx.out()?.dtype);
    let factors = factorize(cx, &a)?;
    let permutation = permutation(cx, factors.order, &a.rows, dtype, false)?;
    let [lower, upper] = halves(cx, &factors.lu)?;
    Ok([permutation, cx.cast(lower, dtype), cx.cast(upper, dtype)].into())
}

/// `L` with its ones, and `U`.
fn halves(cx: &mut Context<'_, '_>, lu: &Matrices) -> Result<[ValueId; 2]> {
    let (count, dtype) = (lu.diagonal_length(), cx.dtype(lu.value));
    let mut part = |axis: i64, is_whole: bool| -> Result<ValueId> {
        if is_whole {
            return Ok(lu.value);
        }
        let (start, end, axis) = (cx.const_ints(&[0]), cx.dim_value(&count)?, cx.const_ints(&[axis]));
        Ok(cx.emit("Slice", &[lu.value, start, end, axis], vec![]))
    };
    let (lower, upper) = (part(-1, lu.columns == count)?, part(-2, lu.rows == count)?);
    let below = cx.const_int(-1);
    let lower = cx.emit("Trilu", &[lower, below], attrs![upper = 0]);
    let ones = identity(cx, &lu.rows, &count, dtype)?;
    Ok([cx.emit("Add", &[lower, ones], vec![]), triangle(cx, upper, true)])
}

fn unpack(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (identity, zeros) = (Fill::Identity, Fill::Number(0.0));
    let (wants_data, wants_pivots) = (cx.bool("unpack_data")?, cx.bool("unpack_pivots")?);
    let first = if wants_pivots { identity } else { zeros };
    if let Some(results) = results_of_nothing(cx, "LU_data", &[first, zeros, zeros])? {
        return Ok(results);
    }
    let (lu, dtype) = (Matrices::argument(cx, "LU_data")?, cx.meta("LU_data")?.dtype);
    // What is not wanted is an empty tensor.
    let mut results = Vec::with_capacity(3);
    for meta in cx.out_metas() {
        results.push(filled(cx, &meta.sizes, meta.dtype, 0.0, None)?);
    }
    let [p, l, u] = results.as_mut_slice() else { return cx.refuse("does not give three results") };
    if wants_pivots {
        let (pivots, sizes) = (cx.tensor("LU_pivots")?, cx.meta("LU_pivots")?.sizes.clone());
        let order = order_of(cx, pivots, &sizes, &lu.rows)?;
        *p = permutation(cx, order, &lu.rows, dtype, false)?;
    }
    if wants_data {
        let [lower, upper] = halves(cx, &lu)?;
        (*l, *u) = (cx.cast(lower, dtype), cx.cast(upper, dtype));
    }
    Ok(results.into())
}

/// Solves with the factors `LU` and `pivots`; on the right side (`X A = B`) as the transposed system.
fn solve(cx: &mut Context<'_, '_>, [lu, pivots, right]: [&str; 3], left: bool, adjoint: bool) -> Result<Outputs> {
    let out = cx.out()?;
    for name in [lu, right] {
        if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0)])? {
            return Ok(results);
        }
    }
    let batch = out.sizes.get(..out.sizes.len().saturating_sub(2)).unwrap_or_default();
    let compute = math_type(out.dtype);
    let (lu, mut right) = (Matrices::argument_as(cx, lu, compute)?, Matrices::argument_as(cx, right, compute)?);
    if !left {
        right = right.transposed(cx);
    }
    let right = right.expanded(cx, batch)?;
    let (values, sizes) = (cx.tensor(pivots)?, cx.meta(pivots)?.sizes.clone());
    let order = order_of(cx, values, &sizes, &lu.rows)?;
    let sizes: Vec<Dim> = batch.iter().chain([&lu.rows]).cloned().collect();
    let order = cx.expand(order, &sizes)?;
    let mut solution = if adjoint == left {
        // (P L U)ᵀ X = B
        let transposed = lu.transposed(cx);
        let half = substitute(cx, &transposed, Triangle { upper: false, unit: false }, &right)?;
        let whole = substitute(cx, &transposed, Triangle { upper: true, unit: true }, &half)?;
        let places = indices(cx, &lu.rows)?;
        let places = cx.expand(places, &sizes)?;
        let back = cx.emit("ScatterElements", &[order, order, places], attrs![axis = -1]);
        let value = rows_in_order(cx, &whole, back)?;
        Matrices { value, ..whole }
    } else {
        let value = rows_in_order(cx, &right, order)?;
        solve_in_order(cx, &lu, &Matrices { value, ..right })?
    };
    if !left {
        solution = solution.transposed(cx);
    }
    Ok(cx.cast(solution.value, out.dtype).into())
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

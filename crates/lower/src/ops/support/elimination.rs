//! Gaussian elimination with row exchanges: `P L U = A` by a loop over the columns, in the order of LAPACK's `getrf`.
//!
//! A column without a pivot is left as it is, as LAPACK does: the factors of a singular matrix are those of PyTorch.

use modelexport_graph::{DType, Dim};

use super::fill::filled;
use super::matrices::{Matrices, column, diagonal, indices, rounds, row, row_numbers};
use super::substitution::{Triangle, substitute};
use crate::attrs;
use crate::builder::Builder;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// The factors of matrices.
pub(crate) struct Factors {
    /// `L` below the diagonal (without its ones), `U` on it and above.
    pub lu: Matrices,
    /// `[…, rows]`: the row of `A` that row `i` of `L U` is.
    pub order: ValueId,
    /// `[…, min(rows, columns)]`: the row, counted from 0, with which row `i` was exchanged in round `i`.
    pub pivots: ValueId,
}

pub(crate) fn factorize(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<Factors> {
    let count = a.diagonal_length();
    let (rows, places) = (row_numbers(cx, &a.rows)?, indices(cx, &a.rows)?);
    let (columns, steps) = (indices(cx, &a.columns)?, indices(cx, &count)?);
    let shape = cx.shape_value(&a.sizes())?;
    let order = cx.expand(places, &a.with_sizes(&[&a.rows]))?;
    let pivots = cx.expand(steps, &a.with_sizes(&[&count]))?;
    cx.set_shape(a.value, a.sizes());
    let [lu, order, pivots] = rounds(cx, &count, [a.value, order, pivots], |b, at, [lu, order, pivots]| {
        let pivot = pivot_row(b, lu, rows, at);
        let exchanged = exchange(b, places, at, pivot);
        let wanted = b.unsqueeze(exchanged, &[-1]);
        let wanted = b.emit("Expand", &[wanted, shape], vec![]);
        let lu = b.emit("GatherElements", &[lu, wanted], attrs![axis = -2]);
        let order = b.emit("GatherElements", &[order, exchanged], attrs![axis = -1]);
        let here = b.test("Equal", &[steps, at]);
        let pivots = b.select(here, pivot, pivots);
        [eliminate(b, lu, rows, columns, at), order, pivots]
    })?;
    Ok(Factors { lu: Matrices { value: lu, ..a.clone() }, order, pivots })
}

/// `[…, 1]`: the row on or below the diagonal that has the largest element of column `at`.
fn pivot_row(b: &mut Builder, matrices: ValueId, rows: ValueId, at: ValueId) -> ValueId {
    let values = column(b, matrices, at);
    let magnitude = b.emit("Abs", &[values], vec![]);
    let open = b.test("GreaterOrEqual", &[rows, at]);
    let never = b.const_like(magnitude, -1.0);
    let open = b.select(open, magnitude, never);
    let pivot = b.emit("ArgMax", &[open], attrs![axis = -2, keepdims = 1]);
    b.squeeze(pivot, &[-1])
}

/// `[…, rows]`: `places` with `at` and `pivot` exchanged.
pub(crate) fn exchange(b: &mut Builder, places: ValueId, at: ValueId, pivot: ValueId) -> ValueId {
    let (is_at, is_pivot) = (b.test("Equal", &[places, at]), b.test("Equal", &[places, pivot]));
    let other = b.select(is_pivot, at, places);
    b.select(is_at, pivot, other)
}

/// Subtracts multiples of row `at` from the rows below; the multiples take the place of the zeros.
fn eliminate(b: &mut Builder, matrices: ValueId, rows: ValueId, columns: ValueId, at: ValueId) -> ValueId {
    let (values, pivot_row) = (column(b, matrices, at), row(b, matrices, at));
    let pivot = column(b, pivot_row, at);
    let (zero, one) = (b.const_like(matrices, 0.0), b.const_like(matrices, 1.0));
    let no_pivot = b.test("Equal", &[pivot, zero]);
    let pivot = b.select(no_pivot, one, pivot);
    let quotient = b.emit("Div", &[values, pivot], vec![]);
    let below = b.test("Greater", &[rows, at]);
    let factor = b.select(below, quotient, zero);
    let product = b.emit("Mul", &[factor, pivot_row], vec![]);
    let rest = b.emit("Sub", &[matrices, product], vec![]);
    let (is_behind, is_here) = (b.test("Greater", &[columns, at]), b.test("Equal", &[columns, at]));
    let here = b.select(below, quotient, values);
    let done = b.select(is_here, here, matrices);
    b.select(is_behind, rest, done)
}

/// `[…, rows]`: the order of rows that LAPACK's pivots, counted from 1, make.
pub(crate) fn order_of(
    cx: &mut Context<'_, '_>,
    pivots: ValueId,
    sizes: &[Dim],
    rows: &Dim,
) -> Result<ValueId> {
    let [batch @ .., count] = sizes else { return cx.refuse("has pivots without dimensions") };
    let places = indices(cx, rows)?;
    let wanted: Vec<_> = batch.iter().chain([rows]).cloned().collect();
    let order = cx.expand(places, &wanted)?;
    let pivots = cx.cast(pivots, DType::I64);
    let one = cx.const_int(1);
    let pivots = cx.emit("Sub", &[pivots, one], vec![]);
    let [order] = rounds(cx, count, [order], |b, at, [order]| {
        let pivot = column(b, pivots, at);
        let exchanged = exchange(b, places, at, pivot);
        [b.emit("GatherElements", &[order, exchanged], attrs![axis = -1])]
    })?;
    Ok(order)
}

/// The rows of `matrices` in the order `order`, `[…, rows]`.
pub(crate) fn rows_in_order(
    cx: &mut Context<'_, '_>,
    matrices: &Matrices,
    order: ValueId,
) -> Result<ValueId> {
    let shape = cx.shape_value(&matrices.sizes())?;
    let order = cx.unsqueeze(order, &[-1]);
    let order = cx.emit("Expand", &[order, shape], vec![]);
    Ok(cx.emit("GatherElements", &[matrices.value, order], attrs![axis = -2]))
}

/// `X` where `A X = B`, for factors of `A` and `B` with the same batch axes.
pub(crate) fn solve(cx: &mut Context<'_, '_>, factors: &Factors, right: &Matrices) -> Result<Matrices> {
    let value = rows_in_order(cx, right, factors.order)?;
    solve_in_order(cx, &factors.lu, &Matrices { value, ..right.clone() })
}

/// [`solve`] for rows that are in order.
pub(crate) fn solve_in_order(cx: &mut Context<'_, '_>, lu: &Matrices, right: &Matrices) -> Result<Matrices> {
    let half = substitute(cx, lu, Triangle { upper: false, unit: true }, right)?;
    substitute(cx, lu, Triangle { upper: true, unit: false }, &half)
}

/// `[…, rows, rows]`: ones where row `order[i]` stands in column `i`, or in the other direction if `inverse`.
pub(crate) fn permutation(
    cx: &mut Context<'_, '_>,
    order: ValueId,
    rows: &Dim,
    dtype: DType,
    inverse: bool,
) -> Result<ValueId> {
    let equal = if inverse {
        let (order, column) = (cx.unsqueeze(order, &[-1]), indices(cx, rows)?);
        cx.test("Equal", &[order, column])
    } else {
        let (order, row) = (cx.unsqueeze(order, &[-2]), row_numbers(cx, rows)?);
        cx.test("Equal", &[row, order])
    };
    Ok(cx.cast(equal, dtype))
}

/// Appends what stands for results number `first` to `last`, the factors that operators inside PyTorch give beside their
/// result. They are for gradients, and those of the transposed matrix for some layouts in memory: refused if read.
pub(crate) fn push_unread_factors(
    cx: &mut Context<'_, '_>,
    results: &mut Vec<ValueId>,
    [first, last]: [usize; 2],
) -> Result<()> {
    for index in first..=last {
        if cx.is_read(index) {
            return cx.refuse("gives factors that depend on the layout in memory; use `linalg.lu_factor`");
        }
        if let Some(meta) = cx.out_at(index) {
            results.push(filled(cx, &meta.sizes, meta.dtype, 0, None)?);
        }
    }
    Ok(())
}

/// PyTorch's `info`: the first column without a pivot, counted from 1; 0 if all have one. `int32`.
pub(crate) fn first_without_pivot(cx: &mut Context<'_, '_>, lu: &Matrices) -> Result<ValueId> {
    let count = lu.diagonal_length();
    let (diagonal, steps) = (diagonal(cx, lu)?, indices(cx, &count)?);
    let diagonal = match lu.rows == lu.columns {
        true => diagonal,
        false => {
            let (start, end, axis) = (cx.const_ints(&[0]), cx.dim_value(&count)?, cx.const_ints(&[-1]));
            cx.emit("Slice", &[diagonal, start, end, axis], vec![])
        }
    };
    let zero = cx.const_like(diagonal, 0.0);
    let missing = cx.test("Equal", &[diagonal, zero]);
    // The larger the earlier: n for the first column.
    let end = cx.dim_value(&count)?;
    let early = cx.emit("Sub", &[end, steps], vec![]);
    let none = cx.const_int(0);
    let found = cx.select(missing, early, none);
    let found = cx.reduce("ReduceMax", found, &[-1], false);
    let one = cx.const_int(1);
    let first = cx.emit("Add", &[end, one], vec![]);
    let first = cx.emit("Sub", &[first, found], vec![]);
    let is_none = cx.test("Equal", &[found, none]);
    let first = cx.select(is_none, none, first);
    let first = cx.reshape(first, &lu.batch.clone())?;
    Ok(cx.cast(first, DType::I32))
}

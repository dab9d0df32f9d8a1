//! Householder reflections `I - tau v vᵀ`, packed as LAPACK does: `v` below the diagonal, its first element, 1, not
//! written.

use modelexport_graph::Dim;

use super::fill::filled;
use super::matrices::{Matrices, column, indices, rounds, row, row_numbers};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// `R` on and above the diagonal of the matrices, reflections below; and `[…, min(rows, columns)]`, the `tau` of each.
/// Signs are those of LAPACK's `geqrf`.
pub(crate) fn triangularize(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<(Matrices, ValueId)> {
    let count = a.diagonal_length();
    let (rows, columns, steps) = (row_numbers(cx, &a.rows)?, indices(cx, &a.columns)?, indices(cx, &count)?);
    let dtype = cx.dtype(a.value);
    let taus = filled(cx, &a.with_sizes(&[&count]), dtype, 0.0, None)?;
    cx.set_shape(a.value, a.sizes());
    let [packed, taus] = rounds(cx, &count, [a.value, taus], |b, at, [matrices, taus]| {
        let (zero, one) = (b.const_like(matrices, 0.0), b.const_like(matrices, 1.0));
        let values = column(b, matrices, at);
        let first = row(b, values, at);
        let (below, here) = (b.test("Greater", &[rows, at]), b.test("Equal", &[rows, at]));
        let rest = b.select(below, values, zero);
        let rest_norm = b.reduce("ReduceL2", rest, &[-2], true);
        let is_done = b.test("Equal", &[rest_norm, zero]);
        let from_first = b.select(below, values, zero);
        let from_first = b.select(here, values, from_first);
        let norm = b.reduce("ReduceL2", from_first, &[-2], true);
        let negative_norm = b.emit("Neg", &[norm], vec![]);
        let is_negative = b.test("Less", &[first, zero]);
        let turned = b.select(is_negative, norm, negative_norm);
        let turned = b.select(is_done, first, turned);

        let difference = b.emit("Sub", &[turned, first], vec![]);
        let safe = b.select(is_done, one, turned);
        let tau = b.emit("Div", &[difference, safe], vec![]);
        let scale = b.emit("Neg", &[difference], vec![]);
        let scale = b.select(is_done, one, scale);
        let vector = b.emit("Div", &[rest, scale], vec![]);
        let whole = b.select(here, one, vector);

        let products = b.emit("Mul", &[whole, matrices], vec![]);
        let products = b.reduce("ReduceSum", products, &[-2], true);
        let scaled = b.emit("Mul", &[tau, whole], vec![]);
        let change = b.emit("Mul", &[scaled, products], vec![]);
        let changed = b.emit("Sub", &[matrices, change], vec![]);
        let new_values = b.select(here, turned, values);
        let new_values = b.select(below, vector, new_values);
        let (is_behind, is_here) = (b.test("Greater", &[columns, at]), b.test("Equal", &[columns, at]));
        let kept = b.select(is_here, new_values, matrices);
        let matrices = b.select(is_behind, changed, kept);
        let (tau, is_step) = (b.squeeze(tau, &[-1]), b.test("Equal", &[steps, at]));
        [matrices, b.select(is_step, tau, taus)]
    })?;
    Ok((Matrices { value: packed, ..a.clone() }, taus))
}

/// `Q C`, or `Qᵀ C` if `transposed`, for the product `Q` of `count` reflections.
pub(crate) fn reflect(
    cx: &mut Context<'_, '_>,
    packed: &Matrices,
    taus: ValueId,
    count: &Dim,
    c: &Matrices,
    transposed: bool,
) -> Result<Matrices> {
    let rows = row_numbers(cx, &packed.rows)?;
    let last = if transposed {
        None
    } else {
        let (count, one) = (cx.dim_value(count)?, cx.const_ints(&[1]));
        Some(cx.emit("Sub", &[count, one], vec![]))
    };
    let (packed, taus) = (packed.value, cx.unsqueeze(taus, &[-2]));
    cx.set_shape(c.value, c.sizes());
    let [value] = rounds(cx, count, [c.value], |b, round, [c]| {
        let at = last.map_or(round, |last| b.emit("Sub", &[last, round], vec![]));
        let (values, tau) = (column(b, packed, at), column(b, taus, at));
        let (zero, one) = (b.const_like(values, 0.0), b.const_like(values, 1.0));
        let (below, here) = (b.test("Greater", &[rows, at]), b.test("Equal", &[rows, at]));
        let vector = b.select(below, values, zero);
        let vector = b.select(here, one, vector);
        let products = b.emit("Mul", &[vector, c], vec![]);
        let products = b.reduce("ReduceSum", products, &[-2], true);
        let scaled = b.emit("Mul", &[tau, vector], vec![]);
        let change = b.emit("Mul", &[scaled, products], vec![]);
        [b.emit("Sub", &[c, change], vec![])]
    })?;
    Ok(Matrices { value, ..c.clone() })
}

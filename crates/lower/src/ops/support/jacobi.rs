//! Singular values by one-sided Jacobi rotations, which make the columns of a matrix orthogonal to each other.
//!
//! Round `r` rotates every pair of columns `i`, `j` with `i + j = r` modulo their number, all at once, so that each pair
//! has its turn once in as many rounds as there are columns, a sweep. The loop ends with a sweep in which no pair was
//! further from orthogonal than rounding makes it. All in `float64`: results are right to the last digit of
//! `float32`, and to about 14 digits for `float64`.

use modelexport_graph::{DType, Dim};

use super::compute::product;
use super::matrices::{Matrices, identity, indices, rounds_while, row_numbers, triangle};
use crate::attrs;
use crate::builder::Builder;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// Sweeps after which the loop ends in any case. Matrices of 100 columns take about 15.
const MOST_SWEEPS: i64 = 40;

/// `A = left · rightᵀ`, where `rightᵀ right = I` and the columns of `left` are orthogonal.
pub(crate) struct Orthogonal {
    pub left: Matrices,
    pub right: Matrices,
    /// `[…, 1, columns]`: the norms of the columns of `left`, the singular values, in no order.
    pub values: ValueId,
}

/// Makes the columns of `a` orthogonal. `a` is of type `float64` and should not have more columns than rows.
pub(crate) fn orthogonalize(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<Orthogonal> {
    let count = product(&[Dim::Static(MOST_SWEEPS), a.columns.clone()]);
    let count = cx.dim_value(&count)?;
    let count = cx.squeeze(count, &[0]);
    let (places, size) = (indices(cx, &a.columns)?, cx.dim_value(&a.columns)?);
    let one = identity(cx, &a.columns, &a.columns, DType::F64)?;
    let right = Matrices::of(cx, one, &[a.columns.clone(), a.columns.clone()])?.expanded(cx, &a.batch)?;
    let nothing = cx.const_scalar(DType::Bool, false);
    cx.set_shape(a.value, a.sizes());
    let [left, turned, _] =
        rounds_while(cx, count, [a.value, right.value, nothing], |b, at, [left, right, has_turned]| {
            let partners = b.emit("Sub", &[at, places], vec![]);
            let partners = b.emit("Mod", &[partners, size], vec![]);
            let others = b.emit("Gather", &[left, partners], attrs![axis = -1]);
            let (tangent, turns) = tangents(b, left, others, places, partners);
            let square = b.emit("Mul", &[tangent, tangent], vec![]);
            let one = b.const_like(tangent, 1.0);
            let sum = b.emit("Add", &[square, one], vec![]);
            let length = b.emit("Sqrt", &[sum], vec![]);
            let new_left = rotated(b, left, others, tangent, length);
            let others = b.emit("Gather", &[right, partners], attrs![axis = -1]);
            let new_right = rotated(b, right, others, tangent, length);
            // A sweep begins with round 0, n, 2n, …
            let place = b.emit("Mod", &[at, size], vec![]);
            let (zero, unit) = (b.const_ints(&[0]), b.const_ints(&[1]));
            let is_first = b.test("Equal", &[place, zero]);
            let is_first = b.squeeze(is_first, &[0]);
            let later = b.emit("Not", &[is_first], vec![]);
            let before = b.emit("And", &[later, has_turned], vec![]);
            let has_turned = b.emit("Or", &[before, turns], vec![]);
            let behind = b.emit("Add", &[place, unit], vec![]);
            let is_open = b.test("Less", &[behind, size]);
            let is_open = b.squeeze(is_open, &[0]);
            let goes_on = b.emit("Or", &[is_open, has_turned], vec![]);
            (goes_on, [new_left, new_right, has_turned])
        });
    let values = cx.reduce("ReduceL2", left, &[-2], true);
    Ok(Orthogonal {
        left: Matrices { value: left, ..a.clone() },
        right: Matrices { value: turned, ..right },
        values,
    })
}

fn rotated(b: &mut Builder, own: ValueId, others: ValueId, tangent: ValueId, length: ValueId) -> ValueId {
    let part = b.emit("Mul", &[tangent, others], vec![]);
    let rest = b.emit("Sub", &[own, part], vec![]);
    b.emit("Div", &[rest, length], vec![])
}

/// `[…, 1, columns]`: the tangent of the angle by which each column is turned towards its partner; and whether any pair
/// is far from orthogonal.
fn tangents(
    b: &mut Builder,
    left: ValueId,
    others: ValueId,
    places: ValueId,
    partners: ValueId,
) -> (ValueId, ValueId) {
    let (zero, one) = (b.const_like(left, 0.0), b.const_like(left, 1.0));
    let squares = b.reduce("ReduceSumSquare", left, &[-2], true);
    let other_squares = b.emit("Gather", &[squares, partners], attrs![axis = -1]);
    let products = b.emit("Mul", &[left, others], vec![]);
    let inner = b.reduce("ReduceSum", products, &[-2], true);
    let is_alone = b.test("Equal", &[places, partners]);
    let inner = b.select(is_alone, zero, inner);
    let difference = b.emit("Sub", &[other_squares, squares], vec![]);

    // sign(d) 2 p / (|d| + sqrt(d² + 4 p²)); of equal columns the first is turned forwards, the second backwards.
    let (is_first, minus) = (b.test("Less", &[places, partners]), b.const_like(left, -1.0));
    let tie = b.select(is_first, one, minus);
    let sign = b.emit("Sign", &[difference], vec![]);
    let is_tie = b.test("Equal", &[difference, zero]);
    let sign = b.select(is_tie, tie, sign);
    let twice = b.emit("Add", &[inner, inner], vec![]);
    let signed = b.emit("Mul", &[twice, sign], vec![]);
    let (p2, d2) = (b.emit("Mul", &[twice, twice], vec![]), b.emit("Mul", &[difference, difference], vec![]));
    let root = b.emit("Add", &[p2, d2], vec![]);
    let root = b.emit("Sqrt", &[root], vec![]);
    let magnitude = b.emit("Abs", &[difference], vec![]);
    let divisor = b.emit("Add", &[magnitude, root], vec![]);
    let is_zero = b.test("Equal", &[divisor, zero]);
    let safe = b.select(is_zero, one, divisor);
    let tangent = b.emit("Div", &[signed, safe], vec![]);

    // Far from orthogonal: by more than 1e-12 of the product of norms, and more than rounding of the largest makes.
    let (relative, absolute) = (b.const_like(left, 1e-24), b.const_like(left, 1e-30));
    let norms = b.emit("Mul", &[squares, other_squares], vec![]);
    let limit = b.emit("Mul", &[norms, relative], vec![]);
    let largest = b.reduce("ReduceMax", squares, &[-1], true);
    let largest = b.emit("Mul", &[largest, largest], vec![]);
    let rounding = b.emit("Mul", &[largest, absolute], vec![]);
    let limit = b.emit("Add", &[limit, rounding], vec![]);
    let is_far = b.test("Greater", &[p2, limit]);
    let is_far = b.cast(is_far, DType::F64);
    let any = b.reduce("ReduceMax", is_far, &[], false);
    (tangent, b.cast(any, DType::Bool))
}

/// `[…, min(rows, columns)]`: the singular values, the largest first.
pub(crate) fn singular_values(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<ValueId> {
    let count = a.diagonal_length();
    let tall = upright(cx, a);
    let found = orthogonalize(cx, &tall)?;
    let values = cx.squeeze(found.values, &[-2]);
    sorted(cx, values, &count, &a.batch, true)
}

/// `a`, or its transpose if that certainly has fewer columns.
pub(crate) fn upright(cx: &mut Context<'_, '_>, a: &Matrices) -> Matrices {
    if is_wide(a) { a.transposed(cx) } else { a.clone() }
}

pub(crate) fn is_wide(a: &Matrices) -> bool {
    matches!((&a.rows, &a.columns), (Dim::Static(rows), Dim::Static(columns)) if rows < columns)
}

fn sorted(
    cx: &mut Context<'_, '_>,
    values: ValueId,
    count: &Dim,
    batch: &[Dim],
    descending: bool,
) -> Result<ValueId> {
    let [values, _] = sorted_with_places(cx, values, count, descending)?;
    cx.set_shape(values, batch.iter().chain([count]).cloned().collect());
    Ok(values)
}

/// The first `count` values along the last axis, and where they stood.
pub(crate) fn sorted_with_places(
    cx: &mut Context<'_, '_>,
    values: ValueId,
    count: &Dim,
    descending: bool,
) -> Result<[ValueId; 2]> {
    let size = cx.dim_value(count)?;
    let attributes = attrs![axis = -1, largest = descending, sorted = 1];
    let results = cx.emit_many("TopK", &[Some(values), Some(size)], attributes, 2);
    match *results.as_slice() {
        [values, places] => Ok([values, places]),
        _ => cx.refuse("has nothing to sort"),
    }
}

/// The symmetric matrices whose lower (or upper) triangles those of `a` are.
pub(crate) fn symmetric(cx: &mut Context<'_, '_>, a: &Matrices, upper: bool) -> Matrices {
    let half = triangle(cx, a.value, upper);
    let other = cx.transpose_last(half, a.rank());
    let offset = cx.const_int(if upper { -1 } else { 1 });
    let other = cx.emit("Trilu", &[other, offset], attrs![upper = !upper]);
    let value = cx.emit("Add", &[half, other], vec![]);
    cx.set_shape(value, a.sizes());
    Matrices { value, ..a.clone() }
}

/// Eigenvalues of symmetric matrices, `[…, 1, n]` in no order, and the eigenvectors in the columns of a matrix.
///
/// The singular values of a matrix without negative eigenvalues are its eigenvalues: a multiple of the identity, no
/// smaller than any eigenvalue, is added and subtracted again.
pub(crate) fn eigenvalues(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<(ValueId, Matrices)> {
    let sums = cx.reduce("ReduceL1", a.value, &[-1], true);
    let bound = cx.reduce("ReduceMax", sums, &[-2], true);
    let (row, column) = (row_numbers(cx, &a.rows)?, indices(cx, &a.columns)?);
    let is_diagonal = cx.test("Equal", &[row, column]);
    let zero = cx.const_like(a.value, 0.0);
    let shift = cx.select(is_diagonal, bound, zero);
    let shifted = cx.emit("Add", &[a.value, shift], vec![]);
    let found = orthogonalize(cx, &Matrices { value: shifted, ..a.clone() })?;
    let values = cx.emit("Sub", &[found.values, bound], vec![]);
    Ok((values, found.right))
}

/// `[…, n]`: the eigenvalues of symmetric matrices, the smallest first.
pub(crate) fn sorted_eigenvalues(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<ValueId> {
    let (values, _) = eigenvalues(cx, a)?;
    let values = cx.squeeze(values, &[-2]);
    sorted(cx, values, &a.columns, &a.batch, false)
}

//! `L D Lᵀ` factors of symmetric matrices with LAPACK's exchanges (`sytf2`, Bunch and Kaufman), and systems solved with
//! them.
//!
//! `D` has blocks of one or two rows, and each matrix of a batch its own: a loop over the columns passes over one whose
//! block the round before has dealt with. Pivots are counted from 1; both of a block of two are negative.

use modelexport_graph::{DType, Dim};

use super::support::elimination::exchange;
use super::support::fill::filled;
use super::support::jacobi::symmetric;
use super::support::matrices::{
    Fill, Matrices, column, indices, results_of_nothing, row, row_numbers, rounds,
};
use crate::attrs;
use crate::builder::Builder;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)", factor),
    Row::new(
        "aten::linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)",
        factor,
    ),
    Row::new("aten::linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor", solve),
];

/// What the rounds of a loop compare with.
struct Places {
    /// `[n, 1]` and `[n]`.
    rows: ValueId,
    columns: ValueId,
    /// `[1]`: the last row.
    last: ValueId,
}

impl Places {
    fn new(cx: &mut Context<'_, '_>, size: &Dim) -> Result<Places> {
        let (rows, columns) = (row_numbers(cx, size)?, indices(cx, size)?);
        let (size, one) = (cx.dim_value(size)?, cx.const_ints(&[1]));
        Ok(Places { rows, columns, last: cx.emit("Sub", &[size, one], vec![]) })
    }

    fn is_row(&self, b: &mut Builder, at: ValueId) -> ValueId {
        b.test("Equal", &[self.rows, at])
    }

    fn is_column(&self, b: &mut Builder, at: ValueId) -> ValueId {
        b.test("Equal", &[self.columns, at])
    }

    /// The row behind `at`, or the last: what is read there does not count then.
    fn next(&self, b: &mut Builder, at: ValueId) -> ValueId {
        let one = b.const_ints(&[1]);
        let next = b.emit("Add", &[at, one], vec![]);
        b.emit("Min", &[next, self.last], vec![])
    }
}

fn sum_where(b: &mut Builder, condition: ValueId, value: ValueId, axis: i64) -> ValueId {
    let zero = b.const_like(value, 0.0);
    let kept = b.select(condition, value, zero);
    b.reduce("ReduceSum", kept, &[axis], true)
}

fn and(b: &mut Builder, values: &[ValueId]) -> ValueId {
    fold(b, "And", values)
}

fn or(b: &mut Builder, values: &[ValueId]) -> ValueId {
    fold(b, "Or", values)
}

fn fold(b: &mut Builder, op: &'static str, values: &[ValueId]) -> ValueId {
    let mut values = values.iter().copied();
    let first = values.next().unwrap_or_else(|| b.const_scalar(DType::Bool, true));
    values.fold(first, |all, value| b.emit(op, &[all, value], vec![]))
}

fn not(b: &mut Builder, value: ValueId) -> ValueId {
    b.emit("Not", &[value], vec![])
}

/// The choice of a pivot, `[…, 1, 1]` each.
struct Choice {
    /// The row that is exchanged with the last of the block.
    pivot: ValueId,
    is_pair: ValueId,
    /// There is nothing in the column.
    is_empty: ValueId,
}

/// `sytf2`'s choice for column `at` of what remains, a symmetric matrix.
fn choose(b: &mut Builder, places: &Places, rest: ValueId, at: ValueId, is_done: ValueId) -> Choice {
    let alpha = b.const_like(rest, (1.0 + 17f64.sqrt()) / 8.0);
    let zero = b.const_like(rest, 0.0);
    let values = column(b, rest, at);
    let magnitude = b.emit("Abs", &[values], vec![]);
    let own = row(b, magnitude, at);
    let below = b.test("Greater", &[places.rows, at]);
    let never = b.const_like(rest, -1.0);
    let candidates = b.select(below, magnitude, never);
    let other = b.emit("ArgMax", &[candidates], attrs![axis = -2, keepdims = 1]);
    let largest = b.reduce("ReduceMax", candidates, &[-2], true);
    let largest = b.emit("Max", &[largest, zero], vec![]);

    let is_other = places.is_column(b, other);
    let other_values = sum_where(b, is_other, rest, -1);
    let other_magnitude = b.emit("Abs", &[other_values], vec![]);
    let is_other = places.is_row(b, other);
    let other_own = sum_where(b, is_other, other_magnitude, -2);
    let is_open = b.test("GreaterOrEqual", &[places.rows, at]);
    let is_not_other = not(b, is_other);
    let counts = and(b, &[is_open, is_not_other]);
    let other_largest = b.select(counts, other_magnitude, zero);
    let other_largest = b.reduce("ReduceMax", other_largest, &[-2], true);

    let bound = b.emit("Mul", &[alpha, largest], vec![]);
    let is_large = b.test("GreaterOrEqual", &[own, bound]);
    let (own_scaled, bound_scaled) =
        (b.emit("Mul", &[own, other_largest], vec![]), b.emit("Mul", &[bound, largest], vec![]));
    let is_large_enough = b.test("GreaterOrEqual", &[own_scaled, bound_scaled]);
    let either = b.emit("Max", &[own, largest], vec![]);
    let is_empty = b.test("Equal", &[either, zero]);
    let stays = or(b, &[is_done, is_empty, is_large, is_large_enough]);
    let other_bound = b.emit("Mul", &[alpha, other_largest], vec![]);
    let other_is_small = b.test("Less", &[other_own, other_bound]);
    let moves = not(b, stays);
    let is_pair = and(b, &[moves, other_is_small]);
    let is_open = not(b, is_done);
    Choice { pivot: b.select(stays, at, other), is_pair, is_empty: and(b, &[is_empty, is_open]) }
}

fn factor(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0); 3])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, "self")?, cx.out()?.dtype);
    let a = symmetric(cx, &a, false);
    let compute = cx.dtype(a.value);
    let places = Places::new(cx, &a.rows)?;
    let (shape, one) = (cx.shape_value(&a.sizes())?, Dim::Static(1));
    let factors = filled(cx, &a.sizes(), compute, 0.0, None)?;
    let pivots = filled(cx, &a.with_sizes(&[&one, &a.columns]), DType::I64, 0, None)?;
    let single = a.with_sizes(&[&one, &one]);
    let (done, info) = (filled(cx, &single, DType::Bool, 0, None)?, filled(cx, &single, DType::I64, 0, None)?);
    let initial = [a.value, factors, pivots, done, info];
    let [_, factors, pivots, _, info] = rounds(cx, &a.rows, initial, |b, at, [rest, factors, pivots, done, info]| {
        let choice = choose(b, &places, rest, at, done);
        let is_pair = choice.is_pair;
        let next = places.next(b, at);
        let last = b.select(is_pair, next, at);
        let rest = exchanged(b, &places, rest, last, choice.pivot, shape);

        let (zero, unit) = (b.const_like(rest, 0.0), b.const_like(rest, 1.0));
        let (first, second) = (column(b, rest, at), column(b, rest, next));
        let [d11, d21, d22] = [row(b, first, at), row(b, first, next), row(b, second, next)];
        let is_behind = b.test("Greater", &[places.rows, last]);
        let open = not(b, done);
        let counts = and(b, &[is_behind, open]);
        let first = b.select(counts, first, zero);
        let counts = and(b, &[is_behind, is_pair]);
        let second = b.select(counts, second, zero);
        let [left, right] = divided(b, is_pair, [first, second], [d11, d21, d22], unit);
        let right = b.select(is_pair, right, zero);
        let left = b.select(done, zero, left);
        let mut remains = rest;
        for (vector, values) in [(left, first), (right, second)] {
            let turned = b.transpose_last(values, a.rank());
            let product = b.emit("Mul", &[vector, turned], vec![]);
            remains = b.emit("Sub", &[remains, product], vec![]);
        }

        let (is_row, is_next_row) = (places.is_row(b, at), places.is_row(b, next));
        let is_pair_row = and(b, &[is_next_row, is_pair]);
        let values = b.select(is_pair_row, d21, left);
        let values = b.select(is_row, d11, values);
        let (is_column, is_next_column) = (places.is_column(b, at), places.is_column(b, next));
        let is_new = and(b, &[is_column, open]);
        let factors = b.select(is_new, values, factors);
        let values = b.select(is_next_row, d22, right);
        let is_pair_column = and(b, &[is_next_column, is_pair]);
        let factors = b.select(is_pair_column, values, factors);

        let one = b.const_ints(&[1]);
        let number = b.emit("Add", &[choice.pivot, one], vec![]);
        let negative = b.emit("Neg", &[number], vec![]);
        let number = b.select(is_pair, negative, number);
        let is_written = or(b, &[is_new, is_pair_column]);
        let pivots = b.select(is_written, number, pivots);
        let none = b.const_int(0);
        let is_first = b.test("Equal", &[info, none]);
        let is_found = and(b, &[is_first, choice.is_empty]);
        let number = b.emit("Add", &[at, one], vec![]);
        [remains, factors, pivots, is_pair, b.select(is_found, number, info)]
    })?;
    let pivots = cx.squeeze(pivots, &[-2]);
    let mut results = vec![cx.cast(factors, dtype), cx.cast(pivots, DType::I32)];
    if cx.out_count() > 2 {
        let info = cx.squeeze(info, &[-2, -1]);
        results.push(cx.cast(info, DType::I32));
    }
    Ok(results.into())
}

/// Rows and columns `at` and `pivot`, `[…, 1, 1]`, exchanged.
fn exchanged(
    b: &mut Builder,
    places: &Places,
    matrices: ValueId,
    at: ValueId,
    pivot: ValueId,
    shape: ValueId,
) -> ValueId {
    let by_row = exchange(b, places.rows, at, pivot);
    let by_row = b.emit("Expand", &[by_row, shape], vec![]);
    let matrices = b.emit("GatherElements", &[matrices, by_row], attrs![axis = -2]);
    let by_column = exchange(b, places.columns, at, pivot);
    let by_column = b.emit("Expand", &[by_column, shape], vec![]);
    b.emit("GatherElements", &[matrices, by_column], attrs![axis = -1])
}

/// The two vectors times the inverse of the block; the first by `d11` alone if there is no pair. A block of zero divides
/// by 1.
fn divided(
    b: &mut Builder,
    is_pair: ValueId,
    [first, second]: [ValueId; 2],
    [d11, d21, d22]: [ValueId; 3],
    one: ValueId,
) -> [ValueId; 2] {
    let (product, square) = (b.emit("Mul", &[d11, d22], vec![]), b.emit("Mul", &[d21, d21], vec![]));
    let determinant = b.emit("Sub", &[product, square], vec![]);
    let divisor = b.select(is_pair, determinant, d11);
    let zero = b.const_like(one, 0.0);
    let is_zero = b.test("Equal", &[divisor, zero]);
    let divisor = b.select(is_zero, one, divisor);
    let mut part = |scale: ValueId, plus: ValueId, minus: ValueId| {
        let (plus, minus) = (b.emit("Mul", &[plus, scale], vec![]), b.emit("Mul", &[minus, d21], vec![]));
        b.emit("Sub", &[plus, minus], vec![])
    };
    let (left, right) = (part(d22, first, second), part(d11, second, first));
    let left = b.select(is_pair, left, first);
    [left, right].map(|value| b.emit("Div", &[value, divisor], vec![]))
}

fn solve(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    for name in ["LD", "B"] {
        if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0)])? {
            return Ok(results);
        }
    }
    let out = cx.out()?;
    let batch = out.sizes.get(..out.sizes.len().saturating_sub(2)).unwrap_or_default();
    let compute = math_type(out.dtype);
    let factors = Matrices::argument_as(cx, "LD", compute)?;
    let right = Matrices::argument_as(cx, "B", compute)?.expanded(cx, batch)?;
    let pivots = cx.tensor("pivots")?;
    let pivots = cx.cast(pivots, DType::I64);
    let pivots = cx.unsqueeze(pivots, &[-2]);
    let places = Places::new(cx, &factors.rows)?;
    let shape = cx.shape_value(&right.sizes())?;
    let one = Dim::Static(1);
    let done = filled(cx, &factors.with_sizes(&[&one, &one]), DType::Bool, 0, None)?;
    cx.set_shape(right.value, right.sizes());
    let lower = factors.value;
    let block = |b: &mut Builder, at: ValueId, done: ValueId| {
        let (number, none) = (column(b, pivots, at), b.const_int(0));
        let (is_negative, is_open) = (b.test("Less", &[number, none]), not(b, done));
        let (magnitude, one) = (b.emit("Abs", &[number], vec![]), b.const_int(1));
        let pivot = b.emit("Sub", &[magnitude, one], vec![]);
        (and(b, &[is_negative, is_open]), pivot)
    };
    let swapped = |b: &mut Builder, values: ValueId, at: ValueId, pivot: ValueId| {
        let order = exchange(b, places.rows, at, pivot);
        let order = b.emit("Expand", &[order, shape], vec![]);
        b.emit("GatherElements", &[values, order], attrs![axis = -2])
    };

    let [half, _] = rounds(cx, &factors.rows, [right.value, done], |b, at, [old, done]| {
        let (is_pair, pivot) = block(b, at, done);
        let next = places.next(b, at);
        let last = b.select(is_pair, next, at);
        let values = swapped(b, old, last, pivot);
        let (zero, unit) = (b.const_like(values, 0.0), b.const_like(values, 1.0));
        let [first, second] = [column(b, lower, at), column(b, lower, next)];
        let block = [row(b, first, at), row(b, first, next), row(b, second, next)];
        let [own, other] = [row(b, values, at), row(b, values, next)];
        let is_behind = b.test("Greater", &[places.rows, last]);
        let mut rest = values;
        let is_pair_behind = and(b, &[is_behind, is_pair]);
        for (condition, vector, solved) in [(is_behind, first, own), (is_pair_behind, second, other)] {
            let vector = b.select(condition, vector, zero);
            let product = b.emit("Mul", &[vector, solved], vec![]);
            rest = b.emit("Sub", &[rest, product], vec![]);
        }
        let [own, other] = divided(b, is_pair, [own, other], block, unit);
        let (is_row, is_next) = (places.is_row(b, at), places.is_row(b, next));
        let is_pair_row = and(b, &[is_next, is_pair]);
        let rest = b.select(is_pair_row, other, rest);
        let rest = b.select(is_row, own, rest);
        [b.select(done, old, rest), is_pair]
    })?;
    let [solution, _] = rounds(cx, &factors.rows, [half, done], |b, round, [old, done]| {
        let at = b.emit("Sub", &[places.last, round], vec![]);
        let (is_pair, pivot) = block(b, at, done);
        let (one, none) = (b.const_ints(&[1]), b.const_ints(&[0]));
        let before = b.emit("Sub", &[at, one], vec![]);
        let before = b.emit("Max", &[before, none], vec![]);
        let zero = b.const_like(old, 0.0);
        let is_behind = b.test("Greater", &[places.rows, at]);
        let (is_row, is_before) = (places.is_row(b, at), places.is_row(b, before));
        let is_pair_row = and(b, &[is_before, is_pair]);
        let mut rest = old;
        for (place, condition) in [(before, is_pair_row), (at, is_row)] {
            let vector = column(b, lower, place);
            let vector = b.select(is_behind, vector, zero);
            let products = b.emit("Mul", &[vector, old], vec![]);
            let sum = b.reduce("ReduceSum", products, &[-2], true);
            let less = b.emit("Sub", &[old, sum], vec![]);
            rest = b.select(condition, less, rest);
        }
        let rest = swapped(b, rest, at, pivot);
        [b.select(done, old, rest), is_pair]
    })?;
    Ok(cx.cast(solution, out.dtype).into())
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

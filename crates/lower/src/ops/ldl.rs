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
    Row::new(
        "aten.linalg_ldl_factor.default",
        "linalg_ldl_factor(Tensor self, *, bool hermitian=False) -> (Tensor LD, Tensor pivots)",
        factor,
    ),
    Row::new(
        "aten.linalg_ldl_factor_ex.default",
        "linalg_ldl_factor_ex(Tensor self, *, bool hermitian=False, bool check_errors=False) -> (Tensor LD, Tensor pivots, Tensor info)",
        factor,
    ),
    Row::new(
        "aten.linalg_ldl_solve.default",
        "linalg_ldl_solve(Tensor LD, Tensor pivots, Tensor B, *, bool hermitian=False) -> Tensor",
        solve,
    ),
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
        assert_snapshot!(lowered(ROWS), @"
        aten.linalg_ldl_factor.default(self: f32[4, 4]) -> (f32[4, 4], i32[4])
            t1 = Trilu(self, upper=0)
            _, t52, t53, _, _ = Loop(4, None, Add(t1, Trilu(Transpose(t1, perm=[1, 0]), 1, upper=1)), f32[4, 4], [[0, 0, 0, 0]], [[false]], [[0]], body=(t2, t3, t4, t5, t6, t7, t8) {
                t9 = Unsqueeze(t2, [0])
                t10 = Abs(Gather(t4, t9, axis=-1))
                t11 = Gather(t10, t9, axis=-2)
                t12 = Where(Greater([[0], [1], [2], [3]], t9), t10, -1.0)
                t13 = ArgMax(t12, axis=-2, keepdims=1)
                t14 = Max(ReduceMax(t12, [-2], keepdims=1), 0.0)
                t15 = ReduceSum(Where(Equal([0, 1, 2, 3], t13), t4, 0.0), [-1], keepdims=1)
                t16 = Abs(t15)
                t17 = Equal([[0], [1], [2], [3]], t13)
                t18 = Where(And(GreaterOrEqual([[0], [1], [2], [3]], t9), Not(t17)), t16, 0.0)
                t19 = ReduceMax(t18, [-2], keepdims=1)
                t20 = Mul(0.6403882, t14)
                t21 = Equal(Max(t11, t14), 0.0)
                t22 = Or(Or(Or(t7, t21), GreaterOrEqual(t11, t20)), GreaterOrEqual(Mul(t11, t19), Mul(t20, t14)))
                t23 = Less(ReduceSum(Where(t17, t16, 0.0), [-2], keepdims=1), Mul(0.6403882, t19))
                t24 = And(Not(t22), t23)
                t25 = Not(t7)
                t26 = Where(t22, t9, t13)
                t27 = Add(t9, [1])
                t28 = Min(t27, [3])
                t29 = Where(t24, t28, t9)
                t30 = Where(Equal([[0], [1], [2], [3]], t26), t29, [[0], [1], [2], [3]])
                t31 = Expand(Where(Equal([[0], [1], [2], [3]], t29), t26, t30), [4, 4])
                t32 = Where(Equal([0, 1, 2, 3], t29), t26, Where(Equal([0, 1, 2, 3], t26), t29, [0, 1, 2, 3]))
                t33 = GatherElements(GatherElements(t4, t31, axis=-2), Expand(t32, [4, 4]), axis=-1)
                t34 = Gather(t33, t9, axis=-1)
                t35 = Gather(t33, t28, axis=-1)
                t36 = Gather(t34, t9, axis=-2)
                t37 = Gather(t34, t28, axis=-2)
                t38 = Gather(t35, t28, axis=-2)
                t39 = Greater([[0], [1], [2], [3]], t29)
                t40 = Where(And(t39, t25), t34, 0.0)
                t41 = Where(And(t39, t24), t35, 0.0)
                t42 = Where(t24, Sub(Mul(t36, t38), Mul(t37, t37)), t36)
                t43 = Where(Equal(t42, 0.0), 1.0, t42)
                t44 = Where(t24, Div(Sub(Mul(t41, t36), Mul(t40, t37)), t43), 0.0)
                t45 = Where(t7, 0.0, Div(Where(t24, Sub(Mul(t40, t38), Mul(t41, t37)), t40), t43))
                t46 = Sub(Sub(t33, Mul(t45, Transpose(t40, perm=[1, 0]))), Mul(t44, Transpose(t41, perm=[1, 0])))
                t47 = Equal([[0], [1], [2], [3]], t28)
                t48 = Where(Equal([[0], [1], [2], [3]], t9), t36, Where(And(t47, t24), t37, t45))
                t49 = And(Equal([0, 1, 2, 3], t9), t25)
                t50 = And(Equal([0, 1, 2, 3], t28), t24)
                t51 = Add(t26, [1])
                Identity(t3), t46, Where(t50, Where(t47, t38, t44), Where(t49, t48, t5)), Where(Or(t49, t50), Where(t24, Neg(t51), t51), t6), t24, Where(And(Equal(t8, 0), And(t21, t25)), t27, t8)
            })
            t52, Cast(Squeeze(t53, [-2]), to=i32)
        aten.linalg_ldl_factor.default(self: f32[s0, s1, s1]) -> (f32[s0, s1, s1], i32[s0, s1])
            t1 = Trilu(self, upper=0)
            t2 = Shape(self, start=1, end=2)
            t3 = Squeeze(t2, [0])
            t4 = Range(0, t3, 1)
            t5 = Unsqueeze(t4, [1])
            t6 = Shape(self, start=0, end=1)
            t7 = Concat(t6, t2, t2, axis=0)
            t8 = Concat(t6, [1, 1], axis=0)
            _, t56, t57, _, _ = Loop(t3, None, Add(t1, Trilu(Transpose(t1, perm=[0, 2, 1]), 1, upper=1)), ConstantOfShape(t7, value=[0.0]), ConstantOfShape(Concat(t6, [1], t2, axis=0), value=[0]), ConstantOfShape(t8, value=[false]), ConstantOfShape(t8, value=[0]), body=(t9, t10, t11, t12, t13, t14, t15) {
                t16 = Unsqueeze(t9, [0])
                t17 = Abs(Gather(t11, t16, axis=-1))
                t18 = Gather(t17, t16, axis=-2)
                t19 = Where(Greater(t5, t16), t17, -1.0)
                t20 = ArgMax(t19, axis=-2, keepdims=1)
                t21 = Max(ReduceMax(t19, [-2], keepdims=1), 0.0)
                t22 = Abs(ReduceSum(Where(Equal(t4, t20), t11, 0.0), [-1], keepdims=1))
                t23 = Equal(t5, t20)
                t24 = ReduceMax(Where(And(GreaterOrEqual(t5, t16), Not(t23)), t22, 0.0), [-2], keepdims=1)
                t25 = Mul(0.6403882, t21)
                t26 = Equal(Max(t18, t21), 0.0)
                t27 = Or(Or(Or(t14, t26), GreaterOrEqual(t18, t25)), GreaterOrEqual(Mul(t18, t24), Mul(t25, t21)))
                t28 = Less(ReduceSum(Where(t23, t22, 0.0), [-2], keepdims=1), Mul(0.6403882, t24))
                t29 = And(Not(t27), t28)
                t30 = Not(t14)
                t31 = Where(t27, t16, t20)
                t32 = Add(t16, [1])
                t33 = Min(t32, Sub(t2, [1]))
                t34 = Where(t29, t33, t16)
                t35 = Expand(Where(Equal(t5, t34), t31, Where(Equal(t5, t31), t34, t5)), t7)
                t36 = Expand(Where(Equal(t4, t34), t31, Where(Equal(t4, t31), t34, t4)), t7)
                t37 = GatherElements(GatherElements(t11, t35, axis=-2), t36, axis=-1)
                t38 = Gather(t37, t16, axis=-1)
                t39 = Gather(t37, t33, axis=-1)
                t40 = Gather(t38, t16, axis=-2)
                t41 = Gather(t38, t33, axis=-2)
                t42 = Gather(t39, t33, axis=-2)
                t43 = Greater(t5, t34)
                t44 = Where(And(t43, t30), t38, 0.0)
                t45 = Where(And(t43, t29), t39, 0.0)
                t46 = Where(t29, Sub(Mul(t40, t42), Mul(t41, t41)), t40)
                t47 = Where(Equal(t46, 0.0), 1.0, t46)
                t48 = Where(t29, Div(Sub(Mul(t45, t40), Mul(t44, t41)), t47), 0.0)
                t49 = Where(t14, 0.0, Div(Where(t29, Sub(Mul(t44, t42), Mul(t45, t41)), t44), t47))
                t50 = Sub(Sub(t37, Mul(t49, Transpose(t44, perm=[0, 2, 1]))), Mul(t48, Transpose(t45, perm=[0, 2, 1])))
                t51 = Equal(t5, t33)
                t52 = And(Equal(t4, t16), t30)
                t53 = Where(t52, Where(Equal(t5, t16), t40, Where(And(t51, t29), t41, t49)), t12)
                t54 = And(Equal(t4, t33), t29)
                t55 = Add(t31, [1])
                Identity(t10), t50, Where(t54, Where(t51, t42, t48), t53), Where(Or(t52, t54), Where(t29, Neg(t55), t55), t13), t29, Where(And(Equal(t15, 0), And(t26, t30)), t32, t15)
            })
            t56, Cast(Squeeze(t57, [-2]), to=i32)
        aten.linalg_ldl_factor_ex.default(self: f32[4, 4]) -> (f32[4, 4], i32[4], i32[])
            t1 = Trilu(self, upper=0)
            _, t52, t53, _, t54 = Loop(4, None, Add(t1, Trilu(Transpose(t1, perm=[1, 0]), 1, upper=1)), f32[4, 4], [[0, 0, 0, 0]], [[false]], [[0]], body=(t2, t3, t4, t5, t6, t7, t8) {
                t9 = Unsqueeze(t2, [0])
                t10 = Abs(Gather(t4, t9, axis=-1))
                t11 = Gather(t10, t9, axis=-2)
                t12 = Where(Greater([[0], [1], [2], [3]], t9), t10, -1.0)
                t13 = ArgMax(t12, axis=-2, keepdims=1)
                t14 = Max(ReduceMax(t12, [-2], keepdims=1), 0.0)
                t15 = ReduceSum(Where(Equal([0, 1, 2, 3], t13), t4, 0.0), [-1], keepdims=1)
                t16 = Abs(t15)
                t17 = Equal([[0], [1], [2], [3]], t13)
                t18 = Where(And(GreaterOrEqual([[0], [1], [2], [3]], t9), Not(t17)), t16, 0.0)
                t19 = ReduceMax(t18, [-2], keepdims=1)
                t20 = Mul(0.6403882, t14)
                t21 = Equal(Max(t11, t14), 0.0)
                t22 = Or(Or(Or(t7, t21), GreaterOrEqual(t11, t20)), GreaterOrEqual(Mul(t11, t19), Mul(t20, t14)))
                t23 = Less(ReduceSum(Where(t17, t16, 0.0), [-2], keepdims=1), Mul(0.6403882, t19))
                t24 = And(Not(t22), t23)
                t25 = Not(t7)
                t26 = Where(t22, t9, t13)
                t27 = Add(t9, [1])
                t28 = Min(t27, [3])
                t29 = Where(t24, t28, t9)
                t30 = Where(Equal([[0], [1], [2], [3]], t26), t29, [[0], [1], [2], [3]])
                t31 = Expand(Where(Equal([[0], [1], [2], [3]], t29), t26, t30), [4, 4])
                t32 = Where(Equal([0, 1, 2, 3], t29), t26, Where(Equal([0, 1, 2, 3], t26), t29, [0, 1, 2, 3]))
                t33 = GatherElements(GatherElements(t4, t31, axis=-2), Expand(t32, [4, 4]), axis=-1)
                t34 = Gather(t33, t9, axis=-1)
                t35 = Gather(t33, t28, axis=-1)
                t36 = Gather(t34, t9, axis=-2)
                t37 = Gather(t34, t28, axis=-2)
                t38 = Gather(t35, t28, axis=-2)
                t39 = Greater([[0], [1], [2], [3]], t29)
                t40 = Where(And(t39, t25), t34, 0.0)
                t41 = Where(And(t39, t24), t35, 0.0)
                t42 = Where(t24, Sub(Mul(t36, t38), Mul(t37, t37)), t36)
                t43 = Where(Equal(t42, 0.0), 1.0, t42)
                t44 = Where(t24, Div(Sub(Mul(t41, t36), Mul(t40, t37)), t43), 0.0)
                t45 = Where(t7, 0.0, Div(Where(t24, Sub(Mul(t40, t38), Mul(t41, t37)), t40), t43))
                t46 = Sub(Sub(t33, Mul(t45, Transpose(t40, perm=[1, 0]))), Mul(t44, Transpose(t41, perm=[1, 0])))
                t47 = Equal([[0], [1], [2], [3]], t28)
                t48 = Where(Equal([[0], [1], [2], [3]], t9), t36, Where(And(t47, t24), t37, t45))
                t49 = And(Equal([0, 1, 2, 3], t9), t25)
                t50 = And(Equal([0, 1, 2, 3], t28), t24)
                t51 = Add(t26, [1])
                Identity(t3), t46, Where(t50, Where(t47, t38, t44), Where(t49, t48, t5)), Where(Or(t49, t50), Where(t24, Neg(t51), t51), t6), t24, Where(And(Equal(t8, 0), And(t21, t25)), t27, t8)
            })
            t52, Cast(Squeeze(t53, [-2]), to=i32), Cast(Squeeze(t54, [-2, -1]), to=i32)
        aten.linalg_ldl_factor_ex.default(self: f32[s0, s1, s1]) -> (f32[s0, s1, s1], i32[s0, s1], i32[s0])
            t1 = Trilu(self, upper=0)
            t2 = Shape(self, start=1, end=2)
            t3 = Squeeze(t2, [0])
            t4 = Range(0, t3, 1)
            t5 = Unsqueeze(t4, [1])
            t6 = Shape(self, start=0, end=1)
            t7 = Concat(t6, t2, t2, axis=0)
            t8 = Concat(t6, [1, 1], axis=0)
            _, t56, t57, _, t58 = Loop(t3, None, Add(t1, Trilu(Transpose(t1, perm=[0, 2, 1]), 1, upper=1)), ConstantOfShape(t7, value=[0.0]), ConstantOfShape(Concat(t6, [1], t2, axis=0), value=[0]), ConstantOfShape(t8, value=[false]), ConstantOfShape(t8, value=[0]), body=(t9, t10, t11, t12, t13, t14, t15) {
                t16 = Unsqueeze(t9, [0])
                t17 = Abs(Gather(t11, t16, axis=-1))
                t18 = Gather(t17, t16, axis=-2)
                t19 = Where(Greater(t5, t16), t17, -1.0)
                t20 = ArgMax(t19, axis=-2, keepdims=1)
                t21 = Max(ReduceMax(t19, [-2], keepdims=1), 0.0)
                t22 = Abs(ReduceSum(Where(Equal(t4, t20), t11, 0.0), [-1], keepdims=1))
                t23 = Equal(t5, t20)
                t24 = ReduceMax(Where(And(GreaterOrEqual(t5, t16), Not(t23)), t22, 0.0), [-2], keepdims=1)
                t25 = Mul(0.6403882, t21)
                t26 = Equal(Max(t18, t21), 0.0)
                t27 = Or(Or(Or(t14, t26), GreaterOrEqual(t18, t25)), GreaterOrEqual(Mul(t18, t24), Mul(t25, t21)))
                t28 = Less(ReduceSum(Where(t23, t22, 0.0), [-2], keepdims=1), Mul(0.6403882, t24))
                t29 = And(Not(t27), t28)
                t30 = Not(t14)
                t31 = Where(t27, t16, t20)
                t32 = Add(t16, [1])
                t33 = Min(t32, Sub(t2, [1]))
                t34 = Where(t29, t33, t16)
                t35 = Expand(Where(Equal(t5, t34), t31, Where(Equal(t5, t31), t34, t5)), t7)
                t36 = Expand(Where(Equal(t4, t34), t31, Where(Equal(t4, t31), t34, t4)), t7)
                t37 = GatherElements(GatherElements(t11, t35, axis=-2), t36, axis=-1)
                t38 = Gather(t37, t16, axis=-1)
                t39 = Gather(t37, t33, axis=-1)
                t40 = Gather(t38, t16, axis=-2)
                t41 = Gather(t38, t33, axis=-2)
                t42 = Gather(t39, t33, axis=-2)
                t43 = Greater(t5, t34)
                t44 = Where(And(t43, t30), t38, 0.0)
                t45 = Where(And(t43, t29), t39, 0.0)
                t46 = Where(t29, Sub(Mul(t40, t42), Mul(t41, t41)), t40)
                t47 = Where(Equal(t46, 0.0), 1.0, t46)
                t48 = Where(t29, Div(Sub(Mul(t45, t40), Mul(t44, t41)), t47), 0.0)
                t49 = Where(t14, 0.0, Div(Where(t29, Sub(Mul(t44, t42), Mul(t45, t41)), t44), t47))
                t50 = Sub(Sub(t37, Mul(t49, Transpose(t44, perm=[0, 2, 1]))), Mul(t48, Transpose(t45, perm=[0, 2, 1])))
                t51 = Equal(t5, t33)
                t52 = And(Equal(t4, t16), t30)
                t53 = Where(t52, Where(Equal(t5, t16), t40, Where(And(t51, t29), t41, t49)), t12)
                t54 = And(Equal(t4, t33), t29)
                t55 = Add(t31, [1])
                Identity(t10), t50, Where(t54, Where(t51, t42, t48), t53), Where(Or(t52, t54), Where(t29, Neg(t55), t55), t13), t29, Where(And(Equal(t15, 0), And(t26, t30)), t32, t15)
            })
            t56, Cast(Squeeze(t57, [-2]), to=i32), Cast(Squeeze(t58, [-2, -1]), to=i32)
        aten.linalg_ldl_solve.default(LD: f32[4, 4], pivots: i32[4], B: f32[4, 3]) -> f32[4, 3]
            t1 = Unsqueeze(Cast(pivots, to=i64), [-2])
            t28, _ = Loop(4, None, B, [[false]], body=(t2, t3, t4, t5) {
                t6 = Unsqueeze(t2, [0])
                t7 = Gather(t1, t6, axis=-1)
                t8 = Sub(Abs(t7), 1)
                t9 = And(Less(t7, 0), Not(t5))
                t10 = Min(Add(t6, [1]), [3])
                t11 = Where(t9, t10, t6)
                t12 = Where(Equal([[0], [1], [2], [3]], t8), t11, [[0], [1], [2], [3]])
                t13 = Expand(Where(Equal([[0], [1], [2], [3]], t11), t8, t12), [4, 3])
                t14 = GatherElements(t4, t13, axis=-2)
                t15 = Gather(LD, t6, axis=-1)
                t16 = Gather(LD, t10, axis=-1)
                t17 = Gather(t15, t6, axis=-2)
                t18 = Gather(t15, t10, axis=-2)
                t19 = Gather(t16, t10, axis=-2)
                t20 = Gather(t14, t6, axis=-2)
                t21 = Gather(t14, t10, axis=-2)
                t22 = Greater([[0], [1], [2], [3]], t11)
                t23 = Sub(Sub(t14, Mul(Where(t22, t15, 0.0), t20)), Mul(Where(And(t22, t9), t16, 0.0), t21))
                t24 = Where(t9, Sub(Mul(t17, t19), Mul(t18, t18)), t17)
                t25 = Where(Equal(t24, 0.0), 1.0, t24)
                t26 = Where(And(Equal([[0], [1], [2], [3]], t10), t9), Div(Sub(Mul(t21, t17), Mul(t20, t18)), t25), t23)
                t27 = Where(Equal([[0], [1], [2], [3]], t6), Div(Where(t9, Sub(Mul(t20, t19), Mul(t21, t18)), t20), t25), t26)
                Identity(t3), Where(t5, t4, t27), t9
            })
            t45, _ = Loop(4, None, t28, [[false]], body=(t29, t30, t31, t32) {
                t33 = Sub([3], Unsqueeze(t29, [0]))
                t34 = Gather(t1, t33, axis=-1)
                t35 = Sub(Abs(t34), 1)
                t36 = And(Less(t34, 0), Not(t32))
                t37 = Max(Sub(t33, [1]), [0])
                t38 = Greater([[0], [1], [2], [3]], t33)
                t39 = Equal([[0], [1], [2], [3]], t33)
                t40 = ReduceSum(Mul(Where(t38, Gather(LD, t37, axis=-1), 0.0), t31), [-2], keepdims=1)
                t41 = Where(And(Equal([[0], [1], [2], [3]], t37), t36), Sub(t31, t40), t31)
                t42 = ReduceSum(Mul(Where(t38, Gather(LD, t33, axis=-1), 0.0), t31), [-2], keepdims=1)
                t43 = Where(Equal([[0], [1], [2], [3]], t35), t33, [[0], [1], [2], [3]])
                t44 = GatherElements(Where(t39, Sub(t31, t42), t41), Expand(Where(t39, t35, t43), [4, 3]), axis=-2)
                Identity(t30), Where(t32, t31, t44), t36
            })
            t45
        aten.linalg_ldl_solve.default(LD: f32[s0, 4, 4], pivots: i32[s0, 4], B: f32[s0, 4, s1]) -> f32[s0, 4, s1]
            t1 = Unsqueeze(Cast(pivots, to=i64), [-2])
            t2 = Shape(LD, start=0, end=1)
            t3 = Concat(t2, [4], Shape(B, start=2, end=3), axis=0)
            t4 = ConstantOfShape(Concat(t2, [1, 1], axis=0), value=[false])
            t31, _ = Loop(4, None, B, t4, body=(t5, t6, t7, t8) {
                t9 = Unsqueeze(t5, [0])
                t10 = Gather(t1, t9, axis=-1)
                t11 = Sub(Abs(t10), 1)
                t12 = And(Less(t10, 0), Not(t8))
                t13 = Min(Add(t9, [1]), [3])
                t14 = Where(t12, t13, t9)
                t15 = Where(Equal([[0], [1], [2], [3]], t11), t14, [[0], [1], [2], [3]])
                t16 = Expand(Where(Equal([[0], [1], [2], [3]], t14), t11, t15), t3)
                t17 = GatherElements(t7, t16, axis=-2)
                t18 = Gather(LD, t9, axis=-1)
                t19 = Gather(LD, t13, axis=-1)
                t20 = Gather(t18, t9, axis=-2)
                t21 = Gather(t18, t13, axis=-2)
                t22 = Gather(t19, t13, axis=-2)
                t23 = Gather(t17, t9, axis=-2)
                t24 = Gather(t17, t13, axis=-2)
                t25 = Greater([[0], [1], [2], [3]], t14)
                t26 = Sub(Sub(t17, Mul(Where(t25, t18, 0.0), t23)), Mul(Where(And(t25, t12), t19, 0.0), t24))
                t27 = Where(t12, Sub(Mul(t20, t22), Mul(t21, t21)), t20)
                t28 = Where(Equal(t27, 0.0), 1.0, t27)
                t29 = Where(And(Equal([[0], [1], [2], [3]], t13), t12), Div(Sub(Mul(t24, t20), Mul(t23, t21)), t28), t26)
                t30 = Where(Equal([[0], [1], [2], [3]], t9), Div(Where(t12, Sub(Mul(t23, t22), Mul(t24, t21)), t23), t28), t29)
                Identity(t6), Where(t8, t7, t30), t12
            })
            t48, _ = Loop(4, None, t31, t4, body=(t32, t33, t34, t35) {
                t36 = Sub([3], Unsqueeze(t32, [0]))
                t37 = Gather(t1, t36, axis=-1)
                t38 = Sub(Abs(t37), 1)
                t39 = And(Less(t37, 0), Not(t35))
                t40 = Max(Sub(t36, [1]), [0])
                t41 = Greater([[0], [1], [2], [3]], t36)
                t42 = Equal([[0], [1], [2], [3]], t36)
                t43 = ReduceSum(Mul(Where(t41, Gather(LD, t40, axis=-1), 0.0), t34), [-2], keepdims=1)
                t44 = Where(And(Equal([[0], [1], [2], [3]], t40), t39), Sub(t34, t43), t34)
                t45 = ReduceSum(Mul(Where(t41, Gather(LD, t36, axis=-1), 0.0), t34), [-2], keepdims=1)
                t46 = Where(Equal([[0], [1], [2], [3]], t38), t36, [[0], [1], [2], [3]])
                t47 = GatherElements(Where(t42, Sub(t34, t45), t44), Expand(Where(t42, t38, t46), t3), axis=-2)
                Identity(t33), Where(t35, t34, t47), t39
            })
            t48
        ");
    }
}

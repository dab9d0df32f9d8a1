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
        "aten._lu_with_info.default",
        "_lu_with_info(Tensor self, bool pivot=True, bool check_errors=True) -> (Tensor LU, Tensor pivots, Tensor info)",
        |cx| factors(cx, "self"),
    ),
    Row::new(
        "aten.linalg_lu.default",
        "linalg_lu(Tensor A, *, bool pivot=True) -> (Tensor P, Tensor L, Tensor U)",
        unpacked_factors,
    ),
    Row::new(
        "aten.linalg_lu_factor.default",
        "linalg_lu_factor(Tensor A, *, bool pivot=True) -> (Tensor LU, Tensor pivots)",
        |cx| factors(cx, "A"),
    ),
    Row::new(
        "aten.linalg_lu_factor_ex.default",
        "linalg_lu_factor_ex(Tensor A, *, bool pivot=True, bool check_errors=False) -> (Tensor LU, Tensor pivots, Tensor info)",
        |cx| factors(cx, "A"),
    ),
    Row::new(
        "aten.linalg_lu_solve.default",
        "linalg_lu_solve(Tensor LU, Tensor pivots, Tensor B, *, bool left=True, bool adjoint=False) -> Tensor",
        |cx| {
            let (left, adjoint) = (cx.bool("left")?, cx.bool("adjoint")?);
            solve(cx, ["LU", "pivots", "B"], left, adjoint)
        },
    ),
    Row::new("aten.lu_solve.default", "lu_solve(Tensor self, Tensor LU_data, Tensor LU_pivots) -> Tensor", |cx| {
        solve(cx, ["LU_data", "LU_pivots", "self"], true, false)
    }),
    Row::new(
        "aten.lu_unpack.default",
        "lu_unpack(Tensor LU_data, Tensor LU_pivots, bool unpack_data=True, bool unpack_pivots=True) -> (Tensor P, Tensor L, Tensor U)",
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
        assert_snapshot!(lowered(ROWS), @"
        aten._lu_with_info.default(self: f32[4, 4]) -> (f32[4, 4], i32[4], i32[])
            t18, _, t19 = Loop(4, None, self, [0, 1, 2, 3], [0, 1, 2, 3], body=(t1, t2, t3, t4, t5) {
                t6 = Unsqueeze(t1, [0])
                t7 = Where(GreaterOrEqual([[0], [1], [2], [3]], t6), Abs(Gather(t3, t6, axis=-1)), -1.0)
                t8 = Squeeze(ArgMax(t7, axis=-2, keepdims=1), [-1])
                t9 = Equal([0, 1, 2, 3], t6)
                t10 = Where(t9, t8, Where(Equal([0, 1, 2, 3], t8), t6, [0, 1, 2, 3]))
                t11 = GatherElements(t3, Expand(Unsqueeze(t10, [-1]), [4, 4]), axis=-2)
                t12 = Gather(t11, t6, axis=-1)
                t13 = Gather(t11, t6, axis=-2)
                t14 = Gather(t13, t6, axis=-1)
                t15 = Div(t12, Where(Equal(t14, 0.0), 1.0, t14))
                t16 = Greater([[0], [1], [2], [3]], t6)
                t17 = Where(Greater([0, 1, 2, 3], t6), Sub(t11, Mul(Where(t16, t15, 0.0), t13)), Where(t9, Where(t16, t15, t12), t11))
                Identity(t2), t17, GatherElements(t4, t10, axis=-1), Where(t9, t8, t5)
            })
            t20 = Equal(ReduceSum(Where(bool[4, 4], t18, 0.0), [-2], keepdims=0), 0.0)
            t21 = ReduceMax(Where(t20, [4, 3, 2, 1], 0), [-1], keepdims=0)
            t22 = Cast(Reshape(Where(Equal(t21, 0), 0, Sub([5], t21)), i64[0]), to=i32)
            t18, Cast(Add(t19, 1), to=i32), t22
        aten._lu_with_info.default(self: f32[s0, s1, s2]) -> (f32[s0, s1, s2], i32[s0, Min(s2, s1)], i32[s0])
            t1 = Shape(self, start=1, end=2)
            t2 = Range(0, Squeeze(t1, [0]), 1)
            t3 = Unsqueeze(t2, [1])
            t4 = Shape(self, start=2, end=3)
            t5 = Range(0, Squeeze(t4, [0]), 1)
            t6 = Min(t1, t4)
            t7 = Squeeze(t6, [0])
            t8 = Range(0, t7, 1)
            t9 = Shape(self, start=0, end=1)
            t26, _, t27 = Loop(t7, None, self, Expand(t2, Concat(t9, t1, axis=0)), Expand(t8, Concat(t9, t6, axis=0)), body=(t10, t11, t12, t13, t14) {
                t15 = Unsqueeze(t10, [0])
                t16 = Where(GreaterOrEqual(t3, t15), Abs(Gather(t12, t15, axis=-1)), -1.0)
                t17 = Squeeze(ArgMax(t16, axis=-2, keepdims=1), [-1])
                t18 = Where(Equal(t2, t15), t17, Where(Equal(t2, t17), t15, t2))
                t19 = GatherElements(t12, Expand(Unsqueeze(t18, [-1]), Concat(t9, t1, t4, axis=0)), axis=-2)
                t20 = Gather(t19, t15, axis=-1)
                t21 = Gather(t19, t15, axis=-2)
                t22 = Gather(t21, t15, axis=-1)
                t23 = Div(t20, Where(Equal(t22, 0.0), 1.0, t22))
                t24 = Greater(t3, t15)
                t25 = Where(Greater(t5, t15), Sub(t19, Mul(Where(t24, t23, 0.0), t21)), Where(Equal(t5, t15), Where(t24, t23, t20), t19))
                Identity(t11), t25, GatherElements(t13, t18, axis=-1), Where(Equal(t8, t15), t17, t14)
            })
            t28 = Slice(ReduceSum(Where(Equal(t3, t5), t26, 0.0), [-2], keepdims=0), [0], t6, [-1])
            t29 = ReduceMax(Where(Equal(t28, 0.0), Sub(t6, t8), 0), [-1], keepdims=0)
            t30 = Cast(Reshape(Where(Equal(t29, 0), 0, Sub(Add(t6, 1), t29)), [-1]), to=i32)
            t26, Cast(Add(t27, 1), to=i32), t30
        aten.linalg_lu.default(A: f32[4, 4]) -> (f32[4, 4], f32[4, 4], f32[4, 4])
            t18, t19, _ = Loop(4, None, A, [0, 1, 2, 3], [0, 1, 2, 3], body=(t1, t2, t3, t4, t5) {
                t6 = Unsqueeze(t1, [0])
                t7 = Where(GreaterOrEqual([[0], [1], [2], [3]], t6), Abs(Gather(t3, t6, axis=-1)), -1.0)
                t8 = Squeeze(ArgMax(t7, axis=-2, keepdims=1), [-1])
                t9 = Equal([0, 1, 2, 3], t6)
                t10 = Where(t9, t8, Where(Equal([0, 1, 2, 3], t8), t6, [0, 1, 2, 3]))
                t11 = GatherElements(t3, Expand(Unsqueeze(t10, [-1]), [4, 4]), axis=-2)
                t12 = Gather(t11, t6, axis=-1)
                t13 = Gather(t11, t6, axis=-2)
                t14 = Gather(t13, t6, axis=-1)
                t15 = Div(t12, Where(Equal(t14, 0.0), 1.0, t14))
                t16 = Greater([[0], [1], [2], [3]], t6)
                t17 = Where(Greater([0, 1, 2, 3], t6), Sub(t11, Mul(Where(t16, t15, 0.0), t13)), Where(t9, Where(t16, t15, t12), t11))
                Identity(t2), t17, GatherElements(t4, t10, axis=-1), Where(t9, t8, t5)
            })
            t20 = Cast(Equal([[0], [1], [2], [3]], Unsqueeze(t19, [-2])), to=f32)
            t20, Add(Trilu(t18, -1, upper=0), f32[4, 4]), Trilu(t18, upper=1)
        aten.linalg_lu.default(A: f32[s0, s1, s2]) -> (f32[s0, s1, s1], f32[s0, s1, Min(s2, s1)], f32[s0, Min(s2, s1), s2])
            t1 = Shape(A, start=1, end=2)
            t2 = Range(0, Squeeze(t1, [0]), 1)
            t3 = Unsqueeze(t2, [1])
            t4 = Shape(A, start=2, end=3)
            t5 = Range(0, Squeeze(t4, [0]), 1)
            t6 = Min(t1, t4)
            t7 = Squeeze(t6, [0])
            t8 = Range(0, t7, 1)
            t9 = Shape(A, start=0, end=1)
            t26, t27, _ = Loop(t7, None, A, Expand(t2, Concat(t9, t1, axis=0)), Expand(t8, Concat(t9, t6, axis=0)), body=(t10, t11, t12, t13, t14) {
                t15 = Unsqueeze(t10, [0])
                t16 = Where(GreaterOrEqual(t3, t15), Abs(Gather(t12, t15, axis=-1)), -1.0)
                t17 = Squeeze(ArgMax(t16, axis=-2, keepdims=1), [-1])
                t18 = Where(Equal(t2, t15), t17, Where(Equal(t2, t17), t15, t2))
                t19 = GatherElements(t12, Expand(Unsqueeze(t18, [-1]), Concat(t9, t1, t4, axis=0)), axis=-2)
                t20 = Gather(t19, t15, axis=-1)
                t21 = Gather(t19, t15, axis=-2)
                t22 = Gather(t21, t15, axis=-1)
                t23 = Div(t20, Where(Equal(t22, 0.0), 1.0, t22))
                t24 = Greater(t3, t15)
                t25 = Where(Greater(t5, t15), Sub(t19, Mul(Where(t24, t23, 0.0), t21)), Where(Equal(t5, t15), Where(t24, t23, t20), t19))
                Identity(t11), t25, GatherElements(t13, t18, axis=-1), Where(Equal(t8, t15), t17, t14)
            })
            t28 = Add(Trilu(Slice(t26, [0], t6, [-1]), -1, upper=0), Cast(Equal(t3, t8), to=f32))
            Cast(Equal(t3, Unsqueeze(t27, [-2])), to=f32), t28, Trilu(Slice(t26, [0], t6, [-2]), upper=1)
        aten.linalg_lu_factor.default(A: f32[4, 4]) -> (f32[4, 4], i32[4])
            t18, _, t19 = Loop(4, None, A, [0, 1, 2, 3], [0, 1, 2, 3], body=(t1, t2, t3, t4, t5) {
                t6 = Unsqueeze(t1, [0])
                t7 = Where(GreaterOrEqual([[0], [1], [2], [3]], t6), Abs(Gather(t3, t6, axis=-1)), -1.0)
                t8 = Squeeze(ArgMax(t7, axis=-2, keepdims=1), [-1])
                t9 = Equal([0, 1, 2, 3], t6)
                t10 = Where(t9, t8, Where(Equal([0, 1, 2, 3], t8), t6, [0, 1, 2, 3]))
                t11 = GatherElements(t3, Expand(Unsqueeze(t10, [-1]), [4, 4]), axis=-2)
                t12 = Gather(t11, t6, axis=-1)
                t13 = Gather(t11, t6, axis=-2)
                t14 = Gather(t13, t6, axis=-1)
                t15 = Div(t12, Where(Equal(t14, 0.0), 1.0, t14))
                t16 = Greater([[0], [1], [2], [3]], t6)
                t17 = Where(Greater([0, 1, 2, 3], t6), Sub(t11, Mul(Where(t16, t15, 0.0), t13)), Where(t9, Where(t16, t15, t12), t11))
                Identity(t2), t17, GatherElements(t4, t10, axis=-1), Where(t9, t8, t5)
            })
            t18, Cast(Add(t19, 1), to=i32)
        aten.linalg_lu_factor.default(A: f32[s0, s1, s2]) -> (f32[s0, s1, s2], i32[s0, Min(s2, s1)])
            t1 = Shape(A, start=1, end=2)
            t2 = Range(0, Squeeze(t1, [0]), 1)
            t3 = Unsqueeze(t2, [1])
            t4 = Shape(A, start=2, end=3)
            t5 = Range(0, Squeeze(t4, [0]), 1)
            t6 = Min(t1, t4)
            t7 = Squeeze(t6, [0])
            t8 = Range(0, t7, 1)
            t9 = Shape(A, start=0, end=1)
            t26, _, t27 = Loop(t7, None, A, Expand(t2, Concat(t9, t1, axis=0)), Expand(t8, Concat(t9, t6, axis=0)), body=(t10, t11, t12, t13, t14) {
                t15 = Unsqueeze(t10, [0])
                t16 = Where(GreaterOrEqual(t3, t15), Abs(Gather(t12, t15, axis=-1)), -1.0)
                t17 = Squeeze(ArgMax(t16, axis=-2, keepdims=1), [-1])
                t18 = Where(Equal(t2, t15), t17, Where(Equal(t2, t17), t15, t2))
                t19 = GatherElements(t12, Expand(Unsqueeze(t18, [-1]), Concat(t9, t1, t4, axis=0)), axis=-2)
                t20 = Gather(t19, t15, axis=-1)
                t21 = Gather(t19, t15, axis=-2)
                t22 = Gather(t21, t15, axis=-1)
                t23 = Div(t20, Where(Equal(t22, 0.0), 1.0, t22))
                t24 = Greater(t3, t15)
                t25 = Where(Greater(t5, t15), Sub(t19, Mul(Where(t24, t23, 0.0), t21)), Where(Equal(t5, t15), Where(t24, t23, t20), t19))
                Identity(t11), t25, GatherElements(t13, t18, axis=-1), Where(Equal(t8, t15), t17, t14)
            })
            t26, Cast(Add(t27, 1), to=i32)
        aten.linalg_lu_factor_ex.default(A: f32[4, 4]) -> (f32[4, 4], i32[4], i32[])
            t18, _, t19 = Loop(4, None, A, [0, 1, 2, 3], [0, 1, 2, 3], body=(t1, t2, t3, t4, t5) {
                t6 = Unsqueeze(t1, [0])
                t7 = Where(GreaterOrEqual([[0], [1], [2], [3]], t6), Abs(Gather(t3, t6, axis=-1)), -1.0)
                t8 = Squeeze(ArgMax(t7, axis=-2, keepdims=1), [-1])
                t9 = Equal([0, 1, 2, 3], t6)
                t10 = Where(t9, t8, Where(Equal([0, 1, 2, 3], t8), t6, [0, 1, 2, 3]))
                t11 = GatherElements(t3, Expand(Unsqueeze(t10, [-1]), [4, 4]), axis=-2)
                t12 = Gather(t11, t6, axis=-1)
                t13 = Gather(t11, t6, axis=-2)
                t14 = Gather(t13, t6, axis=-1)
                t15 = Div(t12, Where(Equal(t14, 0.0), 1.0, t14))
                t16 = Greater([[0], [1], [2], [3]], t6)
                t17 = Where(Greater([0, 1, 2, 3], t6), Sub(t11, Mul(Where(t16, t15, 0.0), t13)), Where(t9, Where(t16, t15, t12), t11))
                Identity(t2), t17, GatherElements(t4, t10, axis=-1), Where(t9, t8, t5)
            })
            t20 = Equal(ReduceSum(Where(bool[4, 4], t18, 0.0), [-2], keepdims=0), 0.0)
            t21 = ReduceMax(Where(t20, [4, 3, 2, 1], 0), [-1], keepdims=0)
            t22 = Cast(Reshape(Where(Equal(t21, 0), 0, Sub([5], t21)), i64[0]), to=i32)
            t18, Cast(Add(t19, 1), to=i32), t22
        aten.linalg_lu_factor_ex.default(A: f32[s0, s1, s2]) -> (f32[s0, s1, s2], i32[s0, Min(s2, s1)], i32[s0])
            t1 = Shape(A, start=1, end=2)
            t2 = Range(0, Squeeze(t1, [0]), 1)
            t3 = Unsqueeze(t2, [1])
            t4 = Shape(A, start=2, end=3)
            t5 = Range(0, Squeeze(t4, [0]), 1)
            t6 = Min(t1, t4)
            t7 = Squeeze(t6, [0])
            t8 = Range(0, t7, 1)
            t9 = Shape(A, start=0, end=1)
            t26, _, t27 = Loop(t7, None, A, Expand(t2, Concat(t9, t1, axis=0)), Expand(t8, Concat(t9, t6, axis=0)), body=(t10, t11, t12, t13, t14) {
                t15 = Unsqueeze(t10, [0])
                t16 = Where(GreaterOrEqual(t3, t15), Abs(Gather(t12, t15, axis=-1)), -1.0)
                t17 = Squeeze(ArgMax(t16, axis=-2, keepdims=1), [-1])
                t18 = Where(Equal(t2, t15), t17, Where(Equal(t2, t17), t15, t2))
                t19 = GatherElements(t12, Expand(Unsqueeze(t18, [-1]), Concat(t9, t1, t4, axis=0)), axis=-2)
                t20 = Gather(t19, t15, axis=-1)
                t21 = Gather(t19, t15, axis=-2)
                t22 = Gather(t21, t15, axis=-1)
                t23 = Div(t20, Where(Equal(t22, 0.0), 1.0, t22))
                t24 = Greater(t3, t15)
                t25 = Where(Greater(t5, t15), Sub(t19, Mul(Where(t24, t23, 0.0), t21)), Where(Equal(t5, t15), Where(t24, t23, t20), t19))
                Identity(t11), t25, GatherElements(t13, t18, axis=-1), Where(Equal(t8, t15), t17, t14)
            })
            t28 = Slice(ReduceSum(Where(Equal(t3, t5), t26, 0.0), [-2], keepdims=0), [0], t6, [-1])
            t29 = ReduceMax(Where(Equal(t28, 0.0), Sub(t6, t8), 0), [-1], keepdims=0)
            t30 = Cast(Reshape(Where(Equal(t29, 0), 0, Sub(Add(t6, 1), t29)), [-1]), to=i32)
            t26, Cast(Add(t27, 1), to=i32), t30
        aten.linalg_lu_solve.default(LU: f32[3, 4, 4], pivots: i32[3, 4], B: f32[3, 4, 2], adjoint=True) -> f32[3, 4, 2]
            t7 = Loop(4, None, [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]], body=(t1, t2, t3) {
                t4 = Unsqueeze(t1, [0])
                t5 = Gather(Sub(Cast(pivots, to=i64), 1), t4, axis=-1)
                t6 = Where(Equal([0, 1, 2, 3], t4), t5, Where(Equal([0, 1, 2, 3], t5), t4, [0, 1, 2, 3]))
                Identity(t2), GatherElements(t3, t6, axis=-1)
            })
            t8 = Transpose(LU, perm=[0, 2, 1])
            t16 = Loop(4, None, B, body=(t9, t10, t11) {
                t12 = Unsqueeze(t9, [0])
                t13 = Gather(t8, t12, axis=-1)
                t14 = Div(Gather(t11, t12, axis=-2), Gather(t13, t12, axis=-2))
                t15 = Mul(Where(Greater([[0], [1], [2], [3]], t12), t13, 0.0), t14)
                Identity(t10), Where(Equal([[0], [1], [2], [3]], t12), t14, Sub(t11, t15))
            })
            t24 = Loop(4, None, t16, body=(t17, t18, t19) {
                t20 = Sub([3], Unsqueeze(t17, [0]))
                t21 = Gather(t19, t20, axis=-2)
                t22 = Where(Less([[0], [1], [2], [3]], t20), Gather(t8, t20, axis=-1), 0.0)
                t23 = Where(Equal([[0], [1], [2], [3]], t20), t21, Sub(t19, Mul(t22, t21)))
                Identity(t18), t23
            })
            t25 = ScatterElements(t7, t7, [[0, 1, 2, 3], [0, 1, 2, 3], [0, 1, 2, 3]], axis=-1)
            GatherElements(t24, Expand(Unsqueeze(t25, [-1]), [3, 4, 2]), axis=-2)
        aten.lu_solve.default(self: f32[4, 2], LU_data: f32[4, 4], LU_pivots: i32[4]) -> f32[4, 2]
            t7 = Loop(4, None, [0, 1, 2, 3], body=(t1, t2, t3) {
                t4 = Unsqueeze(t1, [0])
                t5 = Gather(Sub(Cast(LU_pivots, to=i64), 1), t4, axis=-1)
                t6 = Where(Equal([0, 1, 2, 3], t4), t5, Where(Equal([0, 1, 2, 3], t5), t4, [0, 1, 2, 3]))
                Identity(t2), GatherElements(t3, t6, axis=-1)
            })
            t8 = GatherElements(self, Expand(Unsqueeze(t7, [-1]), [4, 2]), axis=-2)
            t16 = Loop(4, None, t8, body=(t9, t10, t11) {
                t12 = Unsqueeze(t9, [0])
                t13 = Gather(t11, t12, axis=-2)
                t14 = Where(Greater([[0], [1], [2], [3]], t12), Gather(LU_data, t12, axis=-1), 0.0)
                t15 = Where(Equal([[0], [1], [2], [3]], t12), t13, Sub(t11, Mul(t14, t13)))
                Identity(t10), t15
            })
            Loop(4, None, t16, body=(t17, t18, t19) {
                t20 = Sub([3], Unsqueeze(t17, [0]))
                t21 = Gather(LU_data, t20, axis=-1)
                t22 = Div(Gather(t19, t20, axis=-2), Gather(t21, t20, axis=-2))
                t23 = Sub(t19, Mul(Where(Less([[0], [1], [2], [3]], t20), t21, 0.0), t22))
                Identity(t18), Where(Equal([[0], [1], [2], [3]], t20), t22, t23)
            })
        aten.lu_solve.default(self: f32[s0, 4, s1], LU_data: f32[s0, 4, 4], LU_pivots: i32[s0, 4]) -> f32[s0, 4, s1]
            t1 = Shape(self, start=0, end=1)
            t8 = Loop(4, None, Expand([0, 1, 2, 3], Concat(t1, [4], axis=0)), body=(t2, t3, t4) {
                t5 = Unsqueeze(t2, [0])
                t6 = Gather(Sub(Cast(LU_pivots, to=i64), 1), t5, axis=-1)
                t7 = Where(Equal([0, 1, 2, 3], t5), t6, Where(Equal([0, 1, 2, 3], t6), t5, [0, 1, 2, 3]))
                Identity(t3), GatherElements(t4, t7, axis=-1)
            })
            t9 = Expand(Unsqueeze(t8, [-1]), Concat(t1, [4], Shape(self, start=2, end=3), axis=0))
            t17 = Loop(4, None, GatherElements(self, t9, axis=-2), body=(t10, t11, t12) {
                t13 = Unsqueeze(t10, [0])
                t14 = Gather(t12, t13, axis=-2)
                t15 = Where(Greater([[0], [1], [2], [3]], t13), Gather(LU_data, t13, axis=-1), 0.0)
                t16 = Where(Equal([[0], [1], [2], [3]], t13), t14, Sub(t12, Mul(t15, t14)))
                Identity(t11), t16
            })
            Loop(4, None, t17, body=(t18, t19, t20) {
                t21 = Sub([3], Unsqueeze(t18, [0]))
                t22 = Gather(LU_data, t21, axis=-1)
                t23 = Div(Gather(t20, t21, axis=-2), Gather(t22, t21, axis=-2))
                t24 = Sub(t20, Mul(Where(Less([[0], [1], [2], [3]], t21), t22, 0.0), t23))
                Identity(t19), Where(Equal([[0], [1], [2], [3]], t21), t23, t24)
            })
        aten.lu_unpack.default(LU_data: f32[4, 4], LU_pivots: i32[4]) -> (f32[4, 4], f32[4, 4], f32[4, 4])
            t7 = Loop(4, None, [0, 1, 2, 3], body=(t1, t2, t3) {
                t4 = Unsqueeze(t1, [0])
                t5 = Gather(Sub(Cast(LU_pivots, to=i64), 1), t4, axis=-1)
                t6 = Where(Equal([0, 1, 2, 3], t4), t5, Where(Equal([0, 1, 2, 3], t5), t4, [0, 1, 2, 3]))
                Identity(t2), GatherElements(t3, t6, axis=-1)
            })
            t8 = Cast(Equal([[0], [1], [2], [3]], Unsqueeze(t7, [-2])), to=f32)
            t8, Add(Trilu(LU_data, -1, upper=0), f32[4, 4]), Trilu(LU_data, upper=1)
        aten.lu_unpack.default(LU_data: f32[s0, 4, 4], LU_pivots: i32[s1, 4]) -> (f32[s0, 4, 4], f32[s0, 4, 4], f32[s0, 4, 4])
            t1 = Expand([0, 1, 2, 3], Concat(Shape(LU_pivots, start=0, end=1), [4], axis=0))
            t8 = Loop(4, None, t1, body=(t2, t3, t4) {
                t5 = Unsqueeze(t2, [0])
                t6 = Gather(Sub(Cast(LU_pivots, to=i64), 1), t5, axis=-1)
                t7 = Where(Equal([0, 1, 2, 3], t5), t6, Where(Equal([0, 1, 2, 3], t6), t5, [0, 1, 2, 3]))
                Identity(t3), GatherElements(t4, t7, axis=-1)
            })
            t9 = Cast(Equal([[0], [1], [2], [3]], Unsqueeze(t8, [-2])), to=f32)
            t9, Add(Trilu(LU_data, -1, upper=0), f32[4, 4]), Trilu(LU_data, upper=1)
        ");
    }
}

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
        "aten._linalg_solve_ex.default",
        "_linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor LU, Tensor pivots, Tensor info)",
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
    Row::new("aten.inverse.default", "inverse(Tensor self) -> Tensor", |cx| inverse(cx, "self")),
    Row::new("aten.linalg_inv.default", "linalg_inv(Tensor A) -> Tensor", |cx| inverse(cx, "A")),
    Row::new(
        "aten.linalg_inv_ex.default",
        "linalg_inv_ex(Tensor A, *, bool check_errors=False) -> (Tensor inverse, Tensor info)",
        |cx| inverse(cx, "A"),
    ),
    Row::new("aten.linalg_tensorinv.default", "linalg_tensorinv(Tensor self, int ind=2) -> Tensor", tensor_inverse),
    Row::new("aten.linalg_solve.default", "linalg_solve(Tensor A, Tensor B, *, bool left=True) -> Tensor", solve),
    Row::new(
        "aten.linalg_solve_ex.default",
        "linalg_solve_ex(Tensor A, Tensor B, *, bool left=True, bool check_errors=False) -> (Tensor result, Tensor info)",
        solve,
    ),
    Row::new(
        "aten.linalg_tensorsolve.default",
        "linalg_tensorsolve(Tensor self, Tensor other, int[]? dims=None) -> Tensor",
        tensor_solve,
    ),
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
        assert_snapshot!(lowered(ROWS), @"
        aten._linalg_solve_ex.default(A: f32[2, 4, 4], B: f32[2, 4, 4]) -> (f32[2, 4, 4], unread f32[2, 4, 4], unread i32[2, 4], i32[2])
            t18, t19, _ = Loop(4, None, A, [[0, 1, 2, 3], [0, 1, 2, 3]], [[0, 1, 2, 3], [0, 1, 2, 3]], body=(t1, t2, t3, t4, t5) {
                t6 = Unsqueeze(t1, [0])
                t7 = Where(GreaterOrEqual([[0], [1], [2], [3]], t6), Abs(Gather(t3, t6, axis=-1)), -1.0)
                t8 = Squeeze(ArgMax(t7, axis=-2, keepdims=1), [-1])
                t9 = Equal([0, 1, 2, 3], t6)
                t10 = Where(t9, t8, Where(Equal([0, 1, 2, 3], t8), t6, [0, 1, 2, 3]))
                t11 = GatherElements(t3, Expand(Unsqueeze(t10, [-1]), [2, 4, 4]), axis=-2)
                t12 = Gather(t11, t6, axis=-1)
                t13 = Gather(t11, t6, axis=-2)
                t14 = Gather(t13, t6, axis=-1)
                t15 = Div(t12, Where(Equal(t14, 0.0), 1.0, t14))
                t16 = Greater([[0], [1], [2], [3]], t6)
                t17 = Where(Greater([0, 1, 2, 3], t6), Sub(t11, Mul(Where(t16, t15, 0.0), t13)), Where(t9, Where(t16, t15, t12), t11))
                Identity(t2), t17, GatherElements(t4, t10, axis=-1), Where(t9, t8, t5)
            })
            t20 = GatherElements(B, Expand(Unsqueeze(t19, [-1]), [2, 4, 4]), axis=-2)
            t28 = Loop(4, None, t20, body=(t21, t22, t23) {
                t24 = Unsqueeze(t21, [0])
                t25 = Gather(t23, t24, axis=-2)
                t26 = Where(Greater([[0], [1], [2], [3]], t24), Gather(t18, t24, axis=-1), 0.0)
                t27 = Where(Equal([[0], [1], [2], [3]], t24), t25, Sub(t23, Mul(t26, t25)))
                Identity(t22), t27
            })
            t36 = Loop(4, None, t28, body=(t29, t30, t31) {
                t32 = Sub([3], Unsqueeze(t29, [0]))
                t33 = Gather(t18, t32, axis=-1)
                t34 = Div(Gather(t31, t32, axis=-2), Gather(t33, t32, axis=-2))
                t35 = Sub(t31, Mul(Where(Less([[0], [1], [2], [3]], t32), t33, 0.0), t34))
                Identity(t30), Where(Equal([[0], [1], [2], [3]], t32), t34, t35)
            })
            t37 = Equal(ReduceSum(Where(bool[4, 4], t18, 0.0), [-2], keepdims=0), 0.0)
            t38 = ReduceMax(Where(t37, [4, 3, 2, 1], 0), [-1], keepdims=0)
            t39 = Cast(Reshape(Where(Equal(t38, 0), 0, Sub([5], t38)), [2]), to=i32)
            t36, t39
        aten.inverse.default(self: f32[4, 4]) -> f32[4, 4]
            t18, t19, _ = Loop(4, None, self, [0, 1, 2, 3], [0, 1, 2, 3], body=(t1, t2, t3, t4, t5) {
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
            t27 = Loop(4, None, Cast(Equal(Unsqueeze(t19, [-1]), [0, 1, 2, 3]), to=f32), body=(t20, t21, t22) {
                t23 = Unsqueeze(t20, [0])
                t24 = Gather(t22, t23, axis=-2)
                t25 = Where(Greater([[0], [1], [2], [3]], t23), Gather(t18, t23, axis=-1), 0.0)
                t26 = Where(Equal([[0], [1], [2], [3]], t23), t24, Sub(t22, Mul(t25, t24)))
                Identity(t21), t26
            })
            Loop(4, None, t27, body=(t28, t29, t30) {
                t31 = Sub([3], Unsqueeze(t28, [0]))
                t32 = Gather(t18, t31, axis=-1)
                t33 = Div(Gather(t30, t31, axis=-2), Gather(t32, t31, axis=-2))
                t34 = Sub(t30, Mul(Where(Less([[0], [1], [2], [3]], t31), t32, 0.0), t33))
                Identity(t29), Where(Equal([[0], [1], [2], [3]], t31), t33, t34)
            })
        aten.inverse.default(self: f32[s0, s1, s1]) -> f32[s0, s1, s1]
            t1 = Shape(self, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = Range(0, t2, 1)
            t4 = Unsqueeze(t3, [1])
            t5 = Shape(self, start=0, end=1)
            t6 = Expand(t3, Concat(t5, t1, axis=0))
            t24, t25, _ = Loop(t2, None, self, t6, t6, body=(t7, t8, t9, t10, t11) {
                t12 = Unsqueeze(t7, [0])
                t13 = Where(GreaterOrEqual(t4, t12), Abs(Gather(t9, t12, axis=-1)), -1.0)
                t14 = Squeeze(ArgMax(t13, axis=-2, keepdims=1), [-1])
                t15 = Equal(t3, t12)
                t16 = Where(t15, t14, Where(Equal(t3, t14), t12, t3))
                t17 = GatherElements(t9, Expand(Unsqueeze(t16, [-1]), Concat(t5, t1, t1, axis=0)), axis=-2)
                t18 = Gather(t17, t12, axis=-1)
                t19 = Gather(t17, t12, axis=-2)
                t20 = Gather(t19, t12, axis=-1)
                t21 = Div(t18, Where(Equal(t20, 0.0), 1.0, t20))
                t22 = Greater(t4, t12)
                t23 = Where(Greater(t3, t12), Sub(t17, Mul(Where(t22, t21, 0.0), t19)), Where(t15, Where(t22, t21, t18), t17))
                Identity(t8), t23, GatherElements(t10, t16, axis=-1), Where(t15, t14, t11)
            })
            t32 = Loop(t2, None, Cast(Equal(Unsqueeze(t25, [-1]), t3), to=f32), body=(t26, t27, t28) {
                t29 = Unsqueeze(t26, [0])
                t30 = Gather(t28, t29, axis=-2)
                t31 = Mul(Where(Greater(t4, t29), Gather(t24, t29, axis=-1), 0.0), t30)
                Identity(t27), Where(Equal(t4, t29), t30, Sub(t28, t31))
            })
            Loop(t2, None, t32, body=(t33, t34, t35) {
                t36 = Sub(Sub(t1, [1]), Unsqueeze(t33, [0]))
                t37 = Gather(t24, t36, axis=-1)
                t38 = Div(Gather(t35, t36, axis=-2), Gather(t37, t36, axis=-2))
                t39 = Where(Equal(t4, t36), t38, Sub(t35, Mul(Where(Less(t4, t36), t37, 0.0), t38)))
                Identity(t34), t39
            })
        aten.linalg_inv.default(A: f32[4, 4]) -> f32[4, 4]
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
            t27 = Loop(4, None, Cast(Equal(Unsqueeze(t19, [-1]), [0, 1, 2, 3]), to=f32), body=(t20, t21, t22) {
                t23 = Unsqueeze(t20, [0])
                t24 = Gather(t22, t23, axis=-2)
                t25 = Where(Greater([[0], [1], [2], [3]], t23), Gather(t18, t23, axis=-1), 0.0)
                t26 = Where(Equal([[0], [1], [2], [3]], t23), t24, Sub(t22, Mul(t25, t24)))
                Identity(t21), t26
            })
            Loop(4, None, t27, body=(t28, t29, t30) {
                t31 = Sub([3], Unsqueeze(t28, [0]))
                t32 = Gather(t18, t31, axis=-1)
                t33 = Div(Gather(t30, t31, axis=-2), Gather(t32, t31, axis=-2))
                t34 = Sub(t30, Mul(Where(Less([[0], [1], [2], [3]], t31), t32, 0.0), t33))
                Identity(t29), Where(Equal([[0], [1], [2], [3]], t31), t33, t34)
            })
        aten.linalg_inv.default(A: f32[s0, s1, s1]) -> f32[s0, s1, s1]
            t1 = Shape(A, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = Range(0, t2, 1)
            t4 = Unsqueeze(t3, [1])
            t5 = Shape(A, start=0, end=1)
            t6 = Expand(t3, Concat(t5, t1, axis=0))
            t24, t25, _ = Loop(t2, None, A, t6, t6, body=(t7, t8, t9, t10, t11) {
                t12 = Unsqueeze(t7, [0])
                t13 = Where(GreaterOrEqual(t4, t12), Abs(Gather(t9, t12, axis=-1)), -1.0)
                t14 = Squeeze(ArgMax(t13, axis=-2, keepdims=1), [-1])
                t15 = Equal(t3, t12)
                t16 = Where(t15, t14, Where(Equal(t3, t14), t12, t3))
                t17 = GatherElements(t9, Expand(Unsqueeze(t16, [-1]), Concat(t5, t1, t1, axis=0)), axis=-2)
                t18 = Gather(t17, t12, axis=-1)
                t19 = Gather(t17, t12, axis=-2)
                t20 = Gather(t19, t12, axis=-1)
                t21 = Div(t18, Where(Equal(t20, 0.0), 1.0, t20))
                t22 = Greater(t4, t12)
                t23 = Where(Greater(t3, t12), Sub(t17, Mul(Where(t22, t21, 0.0), t19)), Where(t15, Where(t22, t21, t18), t17))
                Identity(t8), t23, GatherElements(t10, t16, axis=-1), Where(t15, t14, t11)
            })
            t32 = Loop(t2, None, Cast(Equal(Unsqueeze(t25, [-1]), t3), to=f32), body=(t26, t27, t28) {
                t29 = Unsqueeze(t26, [0])
                t30 = Gather(t28, t29, axis=-2)
                t31 = Mul(Where(Greater(t4, t29), Gather(t24, t29, axis=-1), 0.0), t30)
                Identity(t27), Where(Equal(t4, t29), t30, Sub(t28, t31))
            })
            Loop(t2, None, t32, body=(t33, t34, t35) {
                t36 = Sub(Sub(t1, [1]), Unsqueeze(t33, [0]))
                t37 = Gather(t24, t36, axis=-1)
                t38 = Div(Gather(t35, t36, axis=-2), Gather(t37, t36, axis=-2))
                t39 = Where(Equal(t4, t36), t38, Sub(t35, Mul(Where(Less(t4, t36), t37, 0.0), t38)))
                Identity(t34), t39
            })
        aten.linalg_inv_ex.default(A: f32[4, 4]) -> (f32[4, 4], i32[])
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
            t27 = Loop(4, None, Cast(Equal(Unsqueeze(t19, [-1]), [0, 1, 2, 3]), to=f32), body=(t20, t21, t22) {
                t23 = Unsqueeze(t20, [0])
                t24 = Gather(t22, t23, axis=-2)
                t25 = Where(Greater([[0], [1], [2], [3]], t23), Gather(t18, t23, axis=-1), 0.0)
                t26 = Where(Equal([[0], [1], [2], [3]], t23), t24, Sub(t22, Mul(t25, t24)))
                Identity(t21), t26
            })
            t35 = Loop(4, None, t27, body=(t28, t29, t30) {
                t31 = Sub([3], Unsqueeze(t28, [0]))
                t32 = Gather(t18, t31, axis=-1)
                t33 = Div(Gather(t30, t31, axis=-2), Gather(t32, t31, axis=-2))
                t34 = Sub(t30, Mul(Where(Less([[0], [1], [2], [3]], t31), t32, 0.0), t33))
                Identity(t29), Where(Equal([[0], [1], [2], [3]], t31), t33, t34)
            })
            t36 = Equal(ReduceSum(Where(bool[4, 4], t18, 0.0), [-2], keepdims=0), 0.0)
            t37 = ReduceMax(Where(t36, [4, 3, 2, 1], 0), [-1], keepdims=0)
            t38 = Cast(Reshape(Where(Equal(t37, 0), 0, Sub([5], t37)), i64[0]), to=i32)
            t35, t38
        aten.linalg_inv_ex.default(A: f32[s0, s1, s1]) -> (f32[s0, s1, s1], i32[s0])
            t1 = Shape(A, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = Range(0, t2, 1)
            t4 = Unsqueeze(t3, [1])
            t5 = Shape(A, start=0, end=1)
            t6 = Expand(t3, Concat(t5, t1, axis=0))
            t24, t25, _ = Loop(t2, None, A, t6, t6, body=(t7, t8, t9, t10, t11) {
                t12 = Unsqueeze(t7, [0])
                t13 = Where(GreaterOrEqual(t4, t12), Abs(Gather(t9, t12, axis=-1)), -1.0)
                t14 = Squeeze(ArgMax(t13, axis=-2, keepdims=1), [-1])
                t15 = Equal(t3, t12)
                t16 = Where(t15, t14, Where(Equal(t3, t14), t12, t3))
                t17 = GatherElements(t9, Expand(Unsqueeze(t16, [-1]), Concat(t5, t1, t1, axis=0)), axis=-2)
                t18 = Gather(t17, t12, axis=-1)
                t19 = Gather(t17, t12, axis=-2)
                t20 = Gather(t19, t12, axis=-1)
                t21 = Div(t18, Where(Equal(t20, 0.0), 1.0, t20))
                t22 = Greater(t4, t12)
                t23 = Where(Greater(t3, t12), Sub(t17, Mul(Where(t22, t21, 0.0), t19)), Where(t15, Where(t22, t21, t18), t17))
                Identity(t8), t23, GatherElements(t10, t16, axis=-1), Where(t15, t14, t11)
            })
            t32 = Loop(t2, None, Cast(Equal(Unsqueeze(t25, [-1]), t3), to=f32), body=(t26, t27, t28) {
                t29 = Unsqueeze(t26, [0])
                t30 = Gather(t28, t29, axis=-2)
                t31 = Mul(Where(Greater(t4, t29), Gather(t24, t29, axis=-1), 0.0), t30)
                Identity(t27), Where(Equal(t4, t29), t30, Sub(t28, t31))
            })
            t40 = Loop(t2, None, t32, body=(t33, t34, t35) {
                t36 = Sub(Sub(t1, [1]), Unsqueeze(t33, [0]))
                t37 = Gather(t24, t36, axis=-1)
                t38 = Div(Gather(t35, t36, axis=-2), Gather(t37, t36, axis=-2))
                t39 = Where(Equal(t4, t36), t38, Sub(t35, Mul(Where(Less(t4, t36), t37, 0.0), t38)))
                Identity(t34), t39
            })
            t41 = Equal(ReduceSum(Where(Equal(t4, t3), t24, 0.0), [-2], keepdims=0), 0.0)
            t42 = ReduceMax(Where(t41, Sub(t1, t3), 0), [-1], keepdims=0)
            t43 = Cast(Reshape(Where(Equal(t42, 0), 0, Sub(Add(t1, 1), t42)), [-1]), to=i32)
            t40, t43
        aten.linalg_tensorinv.default(self: f32[2, 3, 6]) -> f32[6, 2, 3]
            t18, t19, _ = Loop(6, None, Reshape(self, [6, 6]), [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], body=(t1, t2, t3, t4, t5) {
                t6 = Unsqueeze(t1, [0])
                t7 = Where(GreaterOrEqual([[0], [1], [2], [3], [4], [5]], t6), Abs(Gather(t3, t6, axis=-1)), -1.0)
                t8 = Squeeze(ArgMax(t7, axis=-2, keepdims=1), [-1])
                t9 = Equal([0, 1, 2, 3, 4, 5], t6)
                t10 = Where(t9, t8, Where(Equal([0, 1, 2, 3, 4, 5], t8), t6, [0, 1, 2, 3, 4, 5]))
                t11 = GatherElements(t3, Expand(Unsqueeze(t10, [-1]), [6, 6]), axis=-2)
                t12 = Gather(t11, t6, axis=-1)
                t13 = Gather(t11, t6, axis=-2)
                t14 = Gather(t13, t6, axis=-1)
                t15 = Div(t12, Where(Equal(t14, 0.0), 1.0, t14))
                t16 = Greater([[0], [1], [2], [3], [4], [5]], t6)
                t17 = Where(Greater([0, 1, 2, 3, 4, 5], t6), Sub(t11, Mul(Where(t16, t15, 0.0), t13)), Where(t9, Where(t16, t15, t12), t11))
                Identity(t2), t17, GatherElements(t4, t10, axis=-1), Where(t9, t8, t5)
            })
            t20 = Cast(Equal(Unsqueeze(t19, [-1]), [0, 1, 2, 3, 4, 5]), to=f32)
            t28 = Loop(6, None, t20, body=(t21, t22, t23) {
                t24 = Unsqueeze(t21, [0])
                t25 = Gather(t23, t24, axis=-2)
                t26 = Where(Greater([[0], [1], [2], [3], [4], [5]], t24), Gather(t18, t24, axis=-1), 0.0)
                t27 = Where(Equal([[0], [1], [2], [3], [4], [5]], t24), t25, Sub(t23, Mul(t26, t25)))
                Identity(t22), t27
            })
            t37 = Loop(6, None, t28, body=(t29, t30, t31) {
                t32 = Sub([5], Unsqueeze(t29, [0]))
                t33 = Gather(t18, t32, axis=-1)
                t34 = Div(Gather(t31, t32, axis=-2), Gather(t33, t32, axis=-2))
                t35 = Mul(Where(Less([[0], [1], [2], [3], [4], [5]], t32), t33, 0.0), t34)
                t36 = Where(Equal([[0], [1], [2], [3], [4], [5]], t32), t34, Sub(t31, t35))
                Identity(t30), t36
            })
            Reshape(t37, [6, 2, 3])
        aten.linalg_solve.default(A: f32[4, 4], B: f32[4, 2]) -> f32[4, 2]
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
            t20 = GatherElements(B, Expand(Unsqueeze(t19, [-1]), [4, 2]), axis=-2)
            t28 = Loop(4, None, t20, body=(t21, t22, t23) {
                t24 = Unsqueeze(t21, [0])
                t25 = Gather(t23, t24, axis=-2)
                t26 = Where(Greater([[0], [1], [2], [3]], t24), Gather(t18, t24, axis=-1), 0.0)
                t27 = Where(Equal([[0], [1], [2], [3]], t24), t25, Sub(t23, Mul(t26, t25)))
                Identity(t22), t27
            })
            Loop(4, None, t28, body=(t29, t30, t31) {
                t32 = Sub([3], Unsqueeze(t29, [0]))
                t33 = Gather(t18, t32, axis=-1)
                t34 = Div(Gather(t31, t32, axis=-2), Gather(t33, t32, axis=-2))
                t35 = Sub(t31, Mul(Where(Less([[0], [1], [2], [3]], t32), t33, 0.0), t34))
                Identity(t30), Where(Equal([[0], [1], [2], [3]], t32), t34, t35)
            })
        aten.linalg_solve.default(A: f32[s0, s1, s1], B: f32[s0, s1, s2]) -> f32[s0, s1, s2]
            t1 = Shape(A, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = Range(0, t2, 1)
            t4 = Unsqueeze(t3, [1])
            t5 = Shape(A, start=0, end=1)
            t6 = Expand(t3, Concat(t5, t1, axis=0))
            t24, t25, _ = Loop(t2, None, A, t6, t6, body=(t7, t8, t9, t10, t11) {
                t12 = Unsqueeze(t7, [0])
                t13 = Where(GreaterOrEqual(t4, t12), Abs(Gather(t9, t12, axis=-1)), -1.0)
                t14 = Squeeze(ArgMax(t13, axis=-2, keepdims=1), [-1])
                t15 = Equal(t3, t12)
                t16 = Where(t15, t14, Where(Equal(t3, t14), t12, t3))
                t17 = GatherElements(t9, Expand(Unsqueeze(t16, [-1]), Concat(t5, t1, t1, axis=0)), axis=-2)
                t18 = Gather(t17, t12, axis=-1)
                t19 = Gather(t17, t12, axis=-2)
                t20 = Gather(t19, t12, axis=-1)
                t21 = Div(t18, Where(Equal(t20, 0.0), 1.0, t20))
                t22 = Greater(t4, t12)
                t23 = Where(Greater(t3, t12), Sub(t17, Mul(Where(t22, t21, 0.0), t19)), Where(t15, Where(t22, t21, t18), t17))
                Identity(t8), t23, GatherElements(t10, t16, axis=-1), Where(t15, t14, t11)
            })
            t26 = Expand(Unsqueeze(t25, [-1]), Concat(t5, t1, Shape(B, start=2, end=3), axis=0))
            t33 = Loop(t2, None, GatherElements(B, t26, axis=-2), body=(t27, t28, t29) {
                t30 = Unsqueeze(t27, [0])
                t31 = Gather(t29, t30, axis=-2)
                t32 = Mul(Where(Greater(t4, t30), Gather(t24, t30, axis=-1), 0.0), t31)
                Identity(t28), Where(Equal(t4, t30), t31, Sub(t29, t32))
            })
            Loop(t2, None, t33, body=(t34, t35, t36) {
                t37 = Sub(Sub(t1, [1]), Unsqueeze(t34, [0]))
                t38 = Gather(t24, t37, axis=-1)
                t39 = Div(Gather(t36, t37, axis=-2), Gather(t38, t37, axis=-2))
                t40 = Where(Equal(t4, t37), t39, Sub(t36, Mul(Where(Less(t4, t37), t38, 0.0), t39)))
                Identity(t35), t40
            })
        aten.linalg_solve_ex.default(A: f32[4, 4], B: f32[4, 2]) -> (f32[4, 2], i32[])
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
            t20 = GatherElements(B, Expand(Unsqueeze(t19, [-1]), [4, 2]), axis=-2)
            t28 = Loop(4, None, t20, body=(t21, t22, t23) {
                t24 = Unsqueeze(t21, [0])
                t25 = Gather(t23, t24, axis=-2)
                t26 = Where(Greater([[0], [1], [2], [3]], t24), Gather(t18, t24, axis=-1), 0.0)
                t27 = Where(Equal([[0], [1], [2], [3]], t24), t25, Sub(t23, Mul(t26, t25)))
                Identity(t22), t27
            })
            t36 = Loop(4, None, t28, body=(t29, t30, t31) {
                t32 = Sub([3], Unsqueeze(t29, [0]))
                t33 = Gather(t18, t32, axis=-1)
                t34 = Div(Gather(t31, t32, axis=-2), Gather(t33, t32, axis=-2))
                t35 = Sub(t31, Mul(Where(Less([[0], [1], [2], [3]], t32), t33, 0.0), t34))
                Identity(t30), Where(Equal([[0], [1], [2], [3]], t32), t34, t35)
            })
            t37 = Equal(ReduceSum(Where(bool[4, 4], t18, 0.0), [-2], keepdims=0), 0.0)
            t38 = ReduceMax(Where(t37, [4, 3, 2, 1], 0), [-1], keepdims=0)
            t39 = Cast(Reshape(Where(Equal(t38, 0), 0, Sub([5], t38)), i64[0]), to=i32)
            t36, t39
        aten.linalg_solve_ex.default(A: f32[s0, s1, s1], B: f32[s0, s1, s2]) -> (f32[s0, s1, s2], i32[s0])
            t1 = Shape(A, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = Range(0, t2, 1)
            t4 = Unsqueeze(t3, [1])
            t5 = Shape(A, start=0, end=1)
            t6 = Expand(t3, Concat(t5, t1, axis=0))
            t24, t25, _ = Loop(t2, None, A, t6, t6, body=(t7, t8, t9, t10, t11) {
                t12 = Unsqueeze(t7, [0])
                t13 = Where(GreaterOrEqual(t4, t12), Abs(Gather(t9, t12, axis=-1)), -1.0)
                t14 = Squeeze(ArgMax(t13, axis=-2, keepdims=1), [-1])
                t15 = Equal(t3, t12)
                t16 = Where(t15, t14, Where(Equal(t3, t14), t12, t3))
                t17 = GatherElements(t9, Expand(Unsqueeze(t16, [-1]), Concat(t5, t1, t1, axis=0)), axis=-2)
                t18 = Gather(t17, t12, axis=-1)
                t19 = Gather(t17, t12, axis=-2)
                t20 = Gather(t19, t12, axis=-1)
                t21 = Div(t18, Where(Equal(t20, 0.0), 1.0, t20))
                t22 = Greater(t4, t12)
                t23 = Where(Greater(t3, t12), Sub(t17, Mul(Where(t22, t21, 0.0), t19)), Where(t15, Where(t22, t21, t18), t17))
                Identity(t8), t23, GatherElements(t10, t16, axis=-1), Where(t15, t14, t11)
            })
            t26 = Expand(Unsqueeze(t25, [-1]), Concat(t5, t1, Shape(B, start=2, end=3), axis=0))
            t33 = Loop(t2, None, GatherElements(B, t26, axis=-2), body=(t27, t28, t29) {
                t30 = Unsqueeze(t27, [0])
                t31 = Gather(t29, t30, axis=-2)
                t32 = Mul(Where(Greater(t4, t30), Gather(t24, t30, axis=-1), 0.0), t31)
                Identity(t28), Where(Equal(t4, t30), t31, Sub(t29, t32))
            })
            t41 = Loop(t2, None, t33, body=(t34, t35, t36) {
                t37 = Sub(Sub(t1, [1]), Unsqueeze(t34, [0]))
                t38 = Gather(t24, t37, axis=-1)
                t39 = Div(Gather(t36, t37, axis=-2), Gather(t38, t37, axis=-2))
                t40 = Where(Equal(t4, t37), t39, Sub(t36, Mul(Where(Less(t4, t37), t38, 0.0), t39)))
                Identity(t35), t40
            })
            t42 = Equal(ReduceSum(Where(Equal(t4, t3), t24, 0.0), [-2], keepdims=0), 0.0)
            t43 = ReduceMax(Where(t42, Sub(t1, t3), 0), [-1], keepdims=0)
            t44 = Cast(Reshape(Where(Equal(t43, 0), 0, Sub(Add(t1, 1), t43)), [-1]), to=i32)
            t41, t44
        aten.linalg_tensorsolve.default(self: f32[2, 3, 6], other: f32[2, 3]) -> f32[6]
            t18, t19, _ = Loop(6, None, Reshape(self, [6, 6]), [0, 1, 2, 3, 4, 5], [0, 1, 2, 3, 4, 5], body=(t1, t2, t3, t4, t5) {
                t6 = Unsqueeze(t1, [0])
                t7 = Where(GreaterOrEqual([[0], [1], [2], [3], [4], [5]], t6), Abs(Gather(t3, t6, axis=-1)), -1.0)
                t8 = Squeeze(ArgMax(t7, axis=-2, keepdims=1), [-1])
                t9 = Equal([0, 1, 2, 3, 4, 5], t6)
                t10 = Where(t9, t8, Where(Equal([0, 1, 2, 3, 4, 5], t8), t6, [0, 1, 2, 3, 4, 5]))
                t11 = GatherElements(t3, Expand(Unsqueeze(t10, [-1]), [6, 6]), axis=-2)
                t12 = Gather(t11, t6, axis=-1)
                t13 = Gather(t11, t6, axis=-2)
                t14 = Gather(t13, t6, axis=-1)
                t15 = Div(t12, Where(Equal(t14, 0.0), 1.0, t14))
                t16 = Greater([[0], [1], [2], [3], [4], [5]], t6)
                t17 = Where(Greater([0, 1, 2, 3, 4, 5], t6), Sub(t11, Mul(Where(t16, t15, 0.0), t13)), Where(t9, Where(t16, t15, t12), t11))
                Identity(t2), t17, GatherElements(t4, t10, axis=-1), Where(t9, t8, t5)
            })
            t20 = GatherElements(Reshape(other, [6, 1]), Expand(Unsqueeze(t19, [-1]), [6, 1]), axis=-2)
            t28 = Loop(6, None, t20, body=(t21, t22, t23) {
                t24 = Unsqueeze(t21, [0])
                t25 = Gather(t23, t24, axis=-2)
                t26 = Where(Greater([[0], [1], [2], [3], [4], [5]], t24), Gather(t18, t24, axis=-1), 0.0)
                t27 = Where(Equal([[0], [1], [2], [3], [4], [5]], t24), t25, Sub(t23, Mul(t26, t25)))
                Identity(t22), t27
            })
            t37 = Loop(6, None, t28, body=(t29, t30, t31) {
                t32 = Sub([5], Unsqueeze(t29, [0]))
                t33 = Gather(t18, t32, axis=-1)
                t34 = Div(Gather(t31, t32, axis=-2), Gather(t33, t32, axis=-2))
                t35 = Mul(Where(Less([[0], [1], [2], [3], [4], [5]], t32), t33, 0.0), t34)
                t36 = Where(Equal([[0], [1], [2], [3], [4], [5]], t32), t34, Sub(t31, t35))
                Identity(t30), t36
            })
            Reshape(t37, [6])
        ");
    }
}

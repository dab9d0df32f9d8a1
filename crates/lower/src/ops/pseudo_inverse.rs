//! Pseudo-inverses and polar factors, which are products of singular vectors with their own transposes: signs cancel.
//! So are square roots of symmetric matrices.

use modelexport_graph::DType;

use super::support::jacobi::{eigenvalues, is_wide, orthogonalize, symmetric, upright};
use super::support::matrices::{Fill, Matrices, results_of_nothing};
use super::support::tolerance::counts;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.linalg_matrix_sqrth.default", "linalg_matrix_sqrth(Tensor self) -> Tensor", square_root),
    Row::new(
        "aten.linalg_pinv.atol_rtol_float",
        "linalg_pinv.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
        pseudo_inverse,
    ),
    Row::new(
        "aten.linalg_pinv.atol_rtol_tensor",
        "linalg_pinv.atol_rtol_tensor(Tensor self, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
        pseudo_inverse,
    ),
    Row::new(
        "aten.linalg_pinv.default",
        "linalg_pinv(Tensor self, float rcond, bool hermitian=False) -> Tensor",
        pseudo_inverse,
    ),
    Row::new(
        "aten.linalg_pinv.rcond_tensor",
        "linalg_pinv.rcond_tensor(Tensor self, Tensor rcond, bool hermitian=False) -> Tensor",
        pseudo_inverse,
    ),
    Row::new("aten.linalg_polar.default", "linalg_polar(Tensor A) -> (Tensor U, Tensor H)", polar),
    Row::new(
        "aten.pinverse.default",
        "pinverse(Tensor self, float rcond=1.0000000000000001e-15) -> Tensor",
        pseudo_inverse,
    ),
];

/// `a · diagonal(scale) · bᵀ` for `scale` `[…, 1, n]`.
fn scaled_product(cx: &mut Context<'_, '_>, a: &Matrices, scale: ValueId, b: &Matrices) -> ValueId {
    let scaled = cx.emit("Mul", &[a.value, scale], vec![]);
    let turned = b.transposed(cx);
    cx.emit("MatMul", &[scaled, turned.value], vec![])
}

fn pseudo_inverse(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let dtype = cx.out()?.dtype;
    let mut a = Matrices::argument_as(cx, "self", DType::F64)?;
    // `pinverse` has no such argument: false.
    if cx.bool("hermitian")? {
        a = symmetric(cx, &a, false);
    }
    let tall = upright(cx, &a);
    let found = orthogonalize(cx, &tall)?;
    let counted = counts(cx, &a, dtype, found.values)?;
    let (zero, one) = (cx.const_like(found.values, 0.0), cx.const_like(found.values, 1.0));
    let divisor = cx.select(counted, found.values, one);
    let square = cx.emit("Mul", &[divisor, divisor], vec![]);
    let inverse = cx.emit("Reciprocal", &[square], vec![]);
    let scale = cx.select(counted, inverse, zero);
    let value = if is_wide(&a) {
        scaled_product(cx, &found.left, scale, &found.right)
    } else {
        scaled_product(cx, &found.right, scale, &found.left)
    };
    Ok(cx.cast(value, dtype).into())
}

fn polar(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "A", &[Fill::Number(0.0); 2])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument_as(cx, "A", DType::F64)?, cx.out()?.dtype);
    let found = orthogonalize(cx, &a)?;
    let inverse = cx.emit("Reciprocal", &[found.values], vec![]);
    let turn = scaled_product(cx, &found.left, inverse, &found.right);
    let stretch = scaled_product(cx, &found.right, found.values, &found.right);
    Ok([cx.cast(turn, dtype), cx.cast(stretch, dtype)].into())
}

/// NaN where an eigenvalue is negative.
fn square_root(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument_as(cx, "self", DType::F64)?, cx.out()?.dtype);
    let a = symmetric(cx, &a, false);
    let (values, vectors) = eigenvalues(cx, &a)?;
    let roots = cx.emit("Sqrt", &[values], vec![]);
    let value = scaled_product(cx, &vectors, roots, &vectors);
    Ok(cx.cast(value, dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.linalg_matrix_sqrth.default(self: f32[4, 4]) -> f32[4, 4]
            t1 = Trilu(Cast(self, to=f64), upper=0)
            t2 = Add(t1, Trilu(Transpose(t1, perm=[1, 0]), 1, upper=1))
            t3 = ReduceMax(ReduceL1(t2, [-1], keepdims=1), [-2], keepdims=1)
            t26, t27, _ = Loop(160, None, Add(t2, Where(bool[4, 4], t3, 0.0:f64)), f64[4, 4], false, body=(t4, _, t5, t6, t7) {
                t8 = Unsqueeze(t4, [0])
                t9 = Mod(Sub(t8, [0, 1, 2, 3]), [4])
                t10 = Gather(t5, t9, axis=-1)
                t11 = ReduceSumSquare(t5, [-2], keepdims=1)
                t12 = Gather(t11, t9, axis=-1)
                t13 = Where(Equal([0, 1, 2, 3], t9), 0.0:f64, ReduceSum(Mul(t5, t10), [-2], keepdims=1))
                t14 = Sub(t12, t11)
                t15 = Where(Equal(t14, 0.0:f64), Where(Less([0, 1, 2, 3], t9), 1.0:f64, -1.0:f64), Sign(t14))
                t16 = Add(t13, t13)
                t17 = Mul(t16, t16)
                t18 = Add(Abs(t14), Sqrt(Add(t17, Mul(t14, t14))))
                t19 = Div(Mul(t16, t15), Where(Equal(t18, 0.0:f64), 1.0:f64, t18))
                t20 = ReduceMax(t11, [-1], keepdims=1)
                t21 = Add(Mul(Mul(t11, t12), 1e-24:f64), Mul(Mul(t20, t20), 1e-30:f64))
                t22 = Cast(ReduceMax(Cast(Greater(t17, t21), to=f64), keepdims=0), to=bool)
                t23 = Sqrt(Add(Mul(t19, t19), 1.0:f64))
                t24 = Mod(t8, [4])
                t25 = Or(And(Not(Squeeze(Equal(t24, [0]), [0])), t7), t22)
                Or(Squeeze(Less(Add(t24, [1]), [4]), [0]), t25), Div(Sub(t5, Mul(t19, t10)), t23), Div(Sub(t6, Mul(t19, Gather(t6, t9, axis=-1))), t23), t25
            })
            t28 = MatMul(Mul(t27, Sqrt(Sub(ReduceL2(t26, [-2], keepdims=1), t3))), Transpose(t27, perm=[1, 0]))
            Cast(t28, to=f32)
        aten.linalg_matrix_sqrth.default(self: f32[s0, 3, 3]) -> f32[s0, 3, 3]
            t1 = Trilu(Cast(self, to=f64), upper=0)
            t2 = Add(t1, Trilu(Transpose(t1, perm=[0, 2, 1]), 1, upper=1))
            t3 = ReduceMax(ReduceL1(t2, [-1], keepdims=1), [-2], keepdims=1)
            t4 = Where([[true, false, false], [false, true, false], [false, false, true]], t3, 0.0:f64)
            t5 = Expand([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, Concat(Shape(self, start=0, end=1), [3, 3], axis=0))
            t28, t29, _ = Loop(120, None, Add(t2, t4), t5, false, body=(t6, _, t7, t8, t9) {
                t10 = Unsqueeze(t6, [0])
                t11 = Mod(Sub(t10, [0, 1, 2]), [3])
                t12 = Gather(t7, t11, axis=-1)
                t13 = ReduceSumSquare(t7, [-2], keepdims=1)
                t14 = Gather(t13, t11, axis=-1)
                t15 = Where(Equal([0, 1, 2], t11), 0.0:f64, ReduceSum(Mul(t7, t12), [-2], keepdims=1))
                t16 = Sub(t14, t13)
                t17 = Where(Equal(t16, 0.0:f64), Where(Less([0, 1, 2], t11), 1.0:f64, -1.0:f64), Sign(t16))
                t18 = Add(t15, t15)
                t19 = Mul(t18, t18)
                t20 = Add(Abs(t16), Sqrt(Add(t19, Mul(t16, t16))))
                t21 = Div(Mul(t18, t17), Where(Equal(t20, 0.0:f64), 1.0:f64, t20))
                t22 = ReduceMax(t13, [-1], keepdims=1)
                t23 = Add(Mul(Mul(t13, t14), 1e-24:f64), Mul(Mul(t22, t22), 1e-30:f64))
                t24 = Cast(ReduceMax(Cast(Greater(t19, t23), to=f64), keepdims=0), to=bool)
                t25 = Sqrt(Add(Mul(t21, t21), 1.0:f64))
                t26 = Mod(t10, [3])
                t27 = Or(And(Not(Squeeze(Equal(t26, [0]), [0])), t9), t24)
                Or(Squeeze(Less(Add(t26, [1]), [3]), [0]), t27), Div(Sub(t7, Mul(t21, t12)), t25), Div(Sub(t8, Mul(t21, Gather(t8, t11, axis=-1))), t25), t27
            })
            t30 = MatMul(Mul(t29, Sqrt(Sub(ReduceL2(t28, [-2], keepdims=1), t3))), Transpose(t29, perm=[0, 2, 1]))
            Cast(t30, to=f32)
        aten.linalg_pinv.atol_rtol_float(self: f32[4, 3]) -> f32[3, 4]
            t23, t24, _ = Loop(120, None, Cast(self, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Mod(Sub(t5, [0, 1, 2]), [3])
                t7 = Gather(t2, t6, axis=-1)
                t8 = ReduceSumSquare(t2, [-2], keepdims=1)
                t9 = Gather(t8, t6, axis=-1)
                t10 = Where(Equal([0, 1, 2], t6), 0.0:f64, ReduceSum(Mul(t2, t7), [-2], keepdims=1))
                t11 = Sub(t9, t8)
                t12 = Where(Equal(t11, 0.0:f64), Where(Less([0, 1, 2], t6), 1.0:f64, -1.0:f64), Sign(t11))
                t13 = Add(t10, t10)
                t14 = Mul(t13, t13)
                t15 = Add(Abs(t11), Sqrt(Add(t14, Mul(t11, t11))))
                t16 = Div(Mul(t13, t12), Where(Equal(t15, 0.0:f64), 1.0:f64, t15))
                t17 = ReduceMax(t8, [-1], keepdims=1)
                t18 = Add(Mul(Mul(t8, t9), 1e-24:f64), Mul(Mul(t17, t17), 1e-30:f64))
                t19 = Cast(ReduceMax(Cast(Greater(t14, t18), to=f64), keepdims=0), to=bool)
                t20 = Sqrt(Add(Mul(t16, t16), 1.0:f64))
                t21 = Mod(t5, [3])
                t22 = Or(And(Not(Squeeze(Equal(t21, [0]), [0])), t4), t19)
                Or(Squeeze(Less(Add(t21, [1]), [3]), [0]), t22), Div(Sub(t2, Mul(t16, t7)), t20), Div(Sub(t3, Mul(t16, Gather(t3, t6, axis=-1))), t20), t22
            })
            t25 = ReduceL2(t23, [-2], keepdims=1)
            t26 = Mul(ReduceMax(t25, [-1], keepdims=1), 4.76837158203125e-7:f64)
            t27 = Greater(t25, t26)
            t28 = Where(t27, t25, 1.0:f64)
            t29 = MatMul(Mul(t24, Where(t27, Reciprocal(Mul(t28, t28)), 0.0:f64)), Transpose(t23, perm=[1, 0]))
            Cast(t29, to=f32)
        aten.linalg_pinv.atol_rtol_tensor(self: f32[4, 3]) -> f32[3, 4]
            t23, t24, _ = Loop(120, None, Cast(self, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Mod(Sub(t5, [0, 1, 2]), [3])
                t7 = Gather(t2, t6, axis=-1)
                t8 = ReduceSumSquare(t2, [-2], keepdims=1)
                t9 = Gather(t8, t6, axis=-1)
                t10 = Where(Equal([0, 1, 2], t6), 0.0:f64, ReduceSum(Mul(t2, t7), [-2], keepdims=1))
                t11 = Sub(t9, t8)
                t12 = Where(Equal(t11, 0.0:f64), Where(Less([0, 1, 2], t6), 1.0:f64, -1.0:f64), Sign(t11))
                t13 = Add(t10, t10)
                t14 = Mul(t13, t13)
                t15 = Add(Abs(t11), Sqrt(Add(t14, Mul(t11, t11))))
                t16 = Div(Mul(t13, t12), Where(Equal(t15, 0.0:f64), 1.0:f64, t15))
                t17 = ReduceMax(t8, [-1], keepdims=1)
                t18 = Add(Mul(Mul(t8, t9), 1e-24:f64), Mul(Mul(t17, t17), 1e-30:f64))
                t19 = Cast(ReduceMax(Cast(Greater(t14, t18), to=f64), keepdims=0), to=bool)
                t20 = Sqrt(Add(Mul(t16, t16), 1.0:f64))
                t21 = Mod(t5, [3])
                t22 = Or(And(Not(Squeeze(Equal(t21, [0]), [0])), t4), t19)
                Or(Squeeze(Less(Add(t21, [1]), [3]), [0]), t22), Div(Sub(t2, Mul(t16, t7)), t20), Div(Sub(t3, Mul(t16, Gather(t3, t6, axis=-1))), t20), t22
            })
            t25 = ReduceL2(t23, [-2], keepdims=1)
            t26 = Mul(ReduceMax(t25, [-1], keepdims=1), 4.76837158203125e-7:f64)
            t27 = Greater(t25, t26)
            t28 = Where(t27, t25, 1.0:f64)
            t29 = MatMul(Mul(t24, Where(t27, Reciprocal(Mul(t28, t28)), 0.0:f64)), Transpose(t23, perm=[1, 0]))
            Cast(t29, to=f32)
        aten.linalg_pinv.atol_rtol_tensor(self: f32[s0, s1, s2]) -> f32[s0, s2, s1]
            t1 = Shape(self, start=2, end=3)
            t2 = Range(0, Squeeze(t1, [0]), 1)
            t3 = Expand(Cast(Equal(Unsqueeze(t2, [1]), t2), to=f64), Concat(Shape(self, start=0, end=1), t1, t1, axis=0))
            t26, t27, _ = Loop(Squeeze(Mul([40], t1), [0]), None, Cast(self, to=f64), t3, false, body=(t4, _, t5, t6, t7) {
                t8 = Unsqueeze(t4, [0])
                t9 = Mod(Sub(t8, t2), t1)
                t10 = Gather(t5, t9, axis=-1)
                t11 = ReduceSumSquare(t5, [-2], keepdims=1)
                t12 = Gather(t11, t9, axis=-1)
                t13 = Where(Equal(t2, t9), 0.0:f64, ReduceSum(Mul(t5, t10), [-2], keepdims=1))
                t14 = Sub(t12, t11)
                t15 = Where(Equal(t14, 0.0:f64), Where(Less(t2, t9), 1.0:f64, -1.0:f64), Sign(t14))
                t16 = Add(t13, t13)
                t17 = Mul(t16, t16)
                t18 = Add(Abs(t14), Sqrt(Add(t17, Mul(t14, t14))))
                t19 = Div(Mul(t16, t15), Where(Equal(t18, 0.0:f64), 1.0:f64, t18))
                t20 = ReduceMax(t11, [-1], keepdims=1)
                t21 = Add(Mul(Mul(t11, t12), 1e-24:f64), Mul(Mul(t20, t20), 1e-30:f64))
                t22 = Cast(ReduceMax(Cast(Greater(t17, t21), to=f64), keepdims=0), to=bool)
                t23 = Sqrt(Add(Mul(t19, t19), 1.0:f64))
                t24 = Mod(t8, t1)
                t25 = Or(And(Not(Squeeze(Equal(t24, [0]), [0])), t7), t22)
                Or(Squeeze(Less(Add(t24, [1]), t1), [0]), t25), Div(Sub(t5, Mul(t19, t10)), t23), Div(Sub(t6, Mul(t19, Gather(t6, t9, axis=-1))), t23), t25
            })
            t28 = ReduceL2(t26, [-2], keepdims=1)
            t29 = Squeeze(Cast(Max(Shape(self, start=1, end=2), t1), to=f64), [0])
            t30 = Mul(ReduceMax(t28, [-1], keepdims=1), Mul(t29, 1.1920928955078125e-7:f64))
            t31 = Greater(t28, t30)
            t32 = Where(t31, t28, 1.0:f64)
            t33 = MatMul(Mul(t27, Where(t31, Reciprocal(Mul(t32, t32)), 0.0:f64)), Transpose(t26, perm=[0, 2, 1]))
            Cast(t33, to=f32)
        aten.linalg_pinv.default(self: f32[4, 3], rcond=1e-15) -> f32[3, 4]
            t23, t24, _ = Loop(120, None, Cast(self, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Mod(Sub(t5, [0, 1, 2]), [3])
                t7 = Gather(t2, t6, axis=-1)
                t8 = ReduceSumSquare(t2, [-2], keepdims=1)
                t9 = Gather(t8, t6, axis=-1)
                t10 = Where(Equal([0, 1, 2], t6), 0.0:f64, ReduceSum(Mul(t2, t7), [-2], keepdims=1))
                t11 = Sub(t9, t8)
                t12 = Where(Equal(t11, 0.0:f64), Where(Less([0, 1, 2], t6), 1.0:f64, -1.0:f64), Sign(t11))
                t13 = Add(t10, t10)
                t14 = Mul(t13, t13)
                t15 = Add(Abs(t11), Sqrt(Add(t14, Mul(t11, t11))))
                t16 = Div(Mul(t13, t12), Where(Equal(t15, 0.0:f64), 1.0:f64, t15))
                t17 = ReduceMax(t8, [-1], keepdims=1)
                t18 = Add(Mul(Mul(t8, t9), 1e-24:f64), Mul(Mul(t17, t17), 1e-30:f64))
                t19 = Cast(ReduceMax(Cast(Greater(t14, t18), to=f64), keepdims=0), to=bool)
                t20 = Sqrt(Add(Mul(t16, t16), 1.0:f64))
                t21 = Mod(t5, [3])
                t22 = Or(And(Not(Squeeze(Equal(t21, [0]), [0])), t4), t19)
                Or(Squeeze(Less(Add(t21, [1]), [3]), [0]), t22), Div(Sub(t2, Mul(t16, t7)), t20), Div(Sub(t3, Mul(t16, Gather(t3, t6, axis=-1))), t20), t22
            })
            t25 = ReduceL2(t23, [-2], keepdims=1)
            t26 = Greater(t25, Mul(ReduceMax(t25, [-1], keepdims=1), 1e-15:f64))
            t27 = Where(t26, t25, 1.0:f64)
            t28 = MatMul(Mul(t24, Where(t26, Reciprocal(Mul(t27, t27)), 0.0:f64)), Transpose(t23, perm=[1, 0]))
            Cast(t28, to=f32)
        aten.linalg_pinv.rcond_tensor(self: f32[4, 3], rcond: f32[]) -> f32[3, 4]
            t23, t24, _ = Loop(120, None, Cast(self, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Mod(Sub(t5, [0, 1, 2]), [3])
                t7 = Gather(t2, t6, axis=-1)
                t8 = ReduceSumSquare(t2, [-2], keepdims=1)
                t9 = Gather(t8, t6, axis=-1)
                t10 = Where(Equal([0, 1, 2], t6), 0.0:f64, ReduceSum(Mul(t2, t7), [-2], keepdims=1))
                t11 = Sub(t9, t8)
                t12 = Where(Equal(t11, 0.0:f64), Where(Less([0, 1, 2], t6), 1.0:f64, -1.0:f64), Sign(t11))
                t13 = Add(t10, t10)
                t14 = Mul(t13, t13)
                t15 = Add(Abs(t11), Sqrt(Add(t14, Mul(t11, t11))))
                t16 = Div(Mul(t13, t12), Where(Equal(t15, 0.0:f64), 1.0:f64, t15))
                t17 = ReduceMax(t8, [-1], keepdims=1)
                t18 = Add(Mul(Mul(t8, t9), 1e-24:f64), Mul(Mul(t17, t17), 1e-30:f64))
                t19 = Cast(ReduceMax(Cast(Greater(t14, t18), to=f64), keepdims=0), to=bool)
                t20 = Sqrt(Add(Mul(t16, t16), 1.0:f64))
                t21 = Mod(t5, [3])
                t22 = Or(And(Not(Squeeze(Equal(t21, [0]), [0])), t4), t19)
                Or(Squeeze(Less(Add(t21, [1]), [3]), [0]), t22), Div(Sub(t2, Mul(t16, t7)), t20), Div(Sub(t3, Mul(t16, Gather(t3, t6, axis=-1))), t20), t22
            })
            t25 = ReduceL2(t23, [-2], keepdims=1)
            t26 = Mul(ReduceMax(t25, [-1], keepdims=1), Unsqueeze(Cast(rcond, to=f64), [-2, -1]))
            t27 = Greater(t25, t26)
            t28 = Where(t27, t25, 1.0:f64)
            t29 = MatMul(Mul(t24, Where(t27, Reciprocal(Mul(t28, t28)), 0.0:f64)), Transpose(t23, perm=[1, 0]))
            Cast(t29, to=f32)
        aten.linalg_polar.default(A: f32[4, 4]) -> (f32[4, 4], f32[4, 4])
            t23, t24, _ = Loop(160, None, Cast(A, to=f64), f64[4, 4], false, body=(t1, _, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Mod(Sub(t5, [0, 1, 2, 3]), [4])
                t7 = Gather(t2, t6, axis=-1)
                t8 = ReduceSumSquare(t2, [-2], keepdims=1)
                t9 = Gather(t8, t6, axis=-1)
                t10 = Where(Equal([0, 1, 2, 3], t6), 0.0:f64, ReduceSum(Mul(t2, t7), [-2], keepdims=1))
                t11 = Sub(t9, t8)
                t12 = Where(Equal(t11, 0.0:f64), Where(Less([0, 1, 2, 3], t6), 1.0:f64, -1.0:f64), Sign(t11))
                t13 = Add(t10, t10)
                t14 = Mul(t13, t13)
                t15 = Add(Abs(t11), Sqrt(Add(t14, Mul(t11, t11))))
                t16 = Div(Mul(t13, t12), Where(Equal(t15, 0.0:f64), 1.0:f64, t15))
                t17 = ReduceMax(t8, [-1], keepdims=1)
                t18 = Add(Mul(Mul(t8, t9), 1e-24:f64), Mul(Mul(t17, t17), 1e-30:f64))
                t19 = Cast(ReduceMax(Cast(Greater(t14, t18), to=f64), keepdims=0), to=bool)
                t20 = Sqrt(Add(Mul(t16, t16), 1.0:f64))
                t21 = Mod(t5, [4])
                t22 = Or(And(Not(Squeeze(Equal(t21, [0]), [0])), t4), t19)
                Or(Squeeze(Less(Add(t21, [1]), [4]), [0]), t22), Div(Sub(t2, Mul(t16, t7)), t20), Div(Sub(t3, Mul(t16, Gather(t3, t6, axis=-1))), t20), t22
            })
            t25 = ReduceL2(t23, [-2], keepdims=1)
            t26 = Transpose(t24, perm=[1, 0])
            Cast(MatMul(Mul(t23, Reciprocal(t25)), t26), to=f32), Cast(MatMul(Mul(t24, t25), t26), to=f32)
        aten.pinverse.default(self: f32[4, 3]) -> f32[3, 4]
            t23, t24, _ = Loop(120, None, Cast(self, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Mod(Sub(t5, [0, 1, 2]), [3])
                t7 = Gather(t2, t6, axis=-1)
                t8 = ReduceSumSquare(t2, [-2], keepdims=1)
                t9 = Gather(t8, t6, axis=-1)
                t10 = Where(Equal([0, 1, 2], t6), 0.0:f64, ReduceSum(Mul(t2, t7), [-2], keepdims=1))
                t11 = Sub(t9, t8)
                t12 = Where(Equal(t11, 0.0:f64), Where(Less([0, 1, 2], t6), 1.0:f64, -1.0:f64), Sign(t11))
                t13 = Add(t10, t10)
                t14 = Mul(t13, t13)
                t15 = Add(Abs(t11), Sqrt(Add(t14, Mul(t11, t11))))
                t16 = Div(Mul(t13, t12), Where(Equal(t15, 0.0:f64), 1.0:f64, t15))
                t17 = ReduceMax(t8, [-1], keepdims=1)
                t18 = Add(Mul(Mul(t8, t9), 1e-24:f64), Mul(Mul(t17, t17), 1e-30:f64))
                t19 = Cast(ReduceMax(Cast(Greater(t14, t18), to=f64), keepdims=0), to=bool)
                t20 = Sqrt(Add(Mul(t16, t16), 1.0:f64))
                t21 = Mod(t5, [3])
                t22 = Or(And(Not(Squeeze(Equal(t21, [0]), [0])), t4), t19)
                Or(Squeeze(Less(Add(t21, [1]), [3]), [0]), t22), Div(Sub(t2, Mul(t16, t7)), t20), Div(Sub(t3, Mul(t16, Gather(t3, t6, axis=-1))), t20), t22
            })
            t25 = ReduceL2(t23, [-2], keepdims=1)
            t26 = Greater(t25, Mul(ReduceMax(t25, [-1], keepdims=1), 1e-15:f64))
            t27 = Where(t26, t25, 1.0:f64)
            t28 = MatMul(Mul(t24, Where(t26, Reciprocal(Mul(t27, t27)), 0.0:f64)), Transpose(t23, perm=[1, 0]))
            Cast(t28, to=f32)
        ");
    }
}

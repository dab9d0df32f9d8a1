//! Singular values, eigenvalues of symmetric matrices, and ranks.

use modelexport_graph::DType;

use super::support::jacobi::{orthogonalize, singular_values, sorted_eigenvalues, symmetric, upright};
use super::support::matrices::{Fill, Matrices, results_of_nothing};
use super::support::tolerance::counts;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.linalg_eigvalsh.default", "linalg_eigvalsh(Tensor self, str UPLO=\"L\") -> Tensor", eigvalsh),
    Row::new(
        "aten.linalg_matrix_rank.atol_rtol_float",
        "linalg_matrix_rank.atol_rtol_float(Tensor self, *, float? atol=None, float? rtol=None, bool hermitian=False) -> Tensor",
        |cx| rank(cx, "self"),
    ),
    Row::new(
        "aten.linalg_matrix_rank.atol_rtol_tensor",
        "linalg_matrix_rank.atol_rtol_tensor(Tensor input, *, Tensor? atol=None, Tensor? rtol=None, bool hermitian=False) -> Tensor",
        |cx| rank(cx, "input"),
    ),
    Row::new(
        "aten.linalg_matrix_rank.default",
        "linalg_matrix_rank(Tensor self, float tol, bool hermitian=False) -> Tensor",
        |cx| rank(cx, "self"),
    ),
    Row::new(
        "aten.linalg_matrix_rank.tol_tensor",
        "linalg_matrix_rank.tol_tensor(Tensor input, Tensor tol, bool hermitian=False) -> Tensor",
        |cx| rank(cx, "input"),
    ),
    Row::new("aten.linalg_svdvals.default", "linalg_svdvals(Tensor A, *, str? driver=None) -> Tensor", svdvals),
];

fn svdvals(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "A", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument_as(cx, "A", DType::F64)?, cx.out()?.dtype);
    let values = singular_values(cx, &a)?;
    Ok(cx.cast(values, dtype).into())
}

fn eigvalsh(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument_as(cx, "self", DType::F64)?, cx.out()?.dtype);
    let upper = cx.str_opt("UPLO")?.is_some_and(|side| side.eq_ignore_ascii_case("U"));
    let a = symmetric(cx, &a, upper);
    let values = sorted_eigenvalues(cx, &a)?;
    Ok(cx.cast(values, dtype).into())
}

fn rank(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let dtype = cx.meta(name)?.dtype;
    let mut a = Matrices::argument_as(cx, name, DType::F64)?;
    if cx.bool("hermitian")? {
        a = symmetric(cx, &a, false);
    }
    let tall = upright(cx, &a);
    let values = orthogonalize(cx, &tall)?.values;
    let counted = counts(cx, &a, dtype, values)?;
    let counted = cx.cast(counted, DType::I64);
    Ok(cx.reduce("ReduceSum", counted, &[-2, -1], false).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.linalg_eigvalsh.default(self: f32[4, 4]) -> f32[4]
            t1 = Trilu(Cast(self, to=f64), upper=0)
            t2 = Add(t1, Trilu(Transpose(t1, perm=[1, 0]), 1, upper=1))
            t3 = ReduceMax(ReduceL1(t2, [-1], keepdims=1), [-2], keepdims=1)
            t26, _, _ = Loop(160, None, Add(t2, Where(bool[4, 4], t3, 0.0:f64)), f64[4, 4], false, body=(t4, _, t5, t6, t7) {
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
            t27, _ = TopK(Squeeze(Sub(ReduceL2(t26, [-2], keepdims=1), t3), [-2]), [4], axis=-1, largest=0, sorted=1)
            Cast(t27, to=f32)
        aten.linalg_eigvalsh.default(self: f32[s0, s1, s1]) -> f32[s0, s1]
            t1 = Trilu(Cast(self, to=f64), upper=0)
            t2 = Add(t1, Trilu(Transpose(t1, perm=[0, 2, 1]), 1, upper=1))
            t3 = ReduceMax(ReduceL1(t2, [-1], keepdims=1), [-2], keepdims=1)
            t4 = Shape(self, start=1, end=2)
            t5 = Range(0, Squeeze(t4, [0]), 1)
            t6 = Equal(Unsqueeze(t5, [1]), t5)
            t7 = Expand(Cast(t6, to=f64), Concat(Shape(self, start=0, end=1), t4, t4, axis=0))
            t30, _, _ = Loop(Squeeze(Mul([40], t4), [0]), None, Add(t2, Where(t6, t3, 0.0:f64)), t7, false, body=(t8, _, t9, t10, t11) {
                t12 = Unsqueeze(t8, [0])
                t13 = Mod(Sub(t12, t5), t4)
                t14 = Gather(t9, t13, axis=-1)
                t15 = ReduceSumSquare(t9, [-2], keepdims=1)
                t16 = Gather(t15, t13, axis=-1)
                t17 = Where(Equal(t5, t13), 0.0:f64, ReduceSum(Mul(t9, t14), [-2], keepdims=1))
                t18 = Sub(t16, t15)
                t19 = Where(Equal(t18, 0.0:f64), Where(Less(t5, t13), 1.0:f64, -1.0:f64), Sign(t18))
                t20 = Add(t17, t17)
                t21 = Mul(t20, t20)
                t22 = Add(Abs(t18), Sqrt(Add(t21, Mul(t18, t18))))
                t23 = Div(Mul(t20, t19), Where(Equal(t22, 0.0:f64), 1.0:f64, t22))
                t24 = ReduceMax(t15, [-1], keepdims=1)
                t25 = Add(Mul(Mul(t15, t16), 1e-24:f64), Mul(Mul(t24, t24), 1e-30:f64))
                t26 = Cast(ReduceMax(Cast(Greater(t21, t25), to=f64), keepdims=0), to=bool)
                t27 = Sqrt(Add(Mul(t23, t23), 1.0:f64))
                t28 = Mod(t12, t4)
                t29 = Or(And(Not(Squeeze(Equal(t28, [0]), [0])), t11), t26)
                Or(Squeeze(Less(Add(t28, [1]), t4), [0]), t29), Div(Sub(t9, Mul(t23, t14)), t27), Div(Sub(t10, Mul(t23, Gather(t10, t13, axis=-1))), t27), t29
            })
            t31, _ = TopK(Squeeze(Sub(ReduceL2(t30, [-2], keepdims=1), t3), [-2]), t4, axis=-1, largest=0, sorted=1)
            Cast(t31, to=f32)
        aten.linalg_matrix_rank.atol_rtol_float(self: f32[4, 3]) -> i64[]
            t23, _, _ = Loop(120, None, Cast(self, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
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
            t24 = ReduceL2(t23, [-2], keepdims=1)
            t25 = Mul(ReduceMax(t24, [-1], keepdims=1), 4.76837158203125e-7:f64)
            ReduceSum(Cast(Greater(t24, t25), to=i64), [-2, -1], keepdims=0)
        aten.linalg_matrix_rank.atol_rtol_tensor(input: f32[4, 3]) -> i64[]
            t23, _, _ = Loop(120, None, Cast(input, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
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
            t24 = ReduceL2(t23, [-2], keepdims=1)
            t25 = Mul(ReduceMax(t24, [-1], keepdims=1), 4.76837158203125e-7:f64)
            ReduceSum(Cast(Greater(t24, t25), to=i64), [-2, -1], keepdims=0)
        aten.linalg_matrix_rank.atol_rtol_tensor(input: f32[s0, s1, s2]) -> i64[s0]
            t1 = Shape(input, start=2, end=3)
            t2 = Range(0, Squeeze(t1, [0]), 1)
            t3 = Expand(Cast(Equal(Unsqueeze(t2, [1]), t2), to=f64), Concat(Shape(input, start=0, end=1), t1, t1, axis=0))
            t26, _, _ = Loop(Squeeze(Mul([40], t1), [0]), None, Cast(input, to=f64), t3, false, body=(t4, _, t5, t6, t7) {
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
            t27 = ReduceL2(t26, [-2], keepdims=1)
            t28 = Squeeze(Cast(Max(Shape(input, start=1, end=2), t1), to=f64), [0])
            t29 = Mul(ReduceMax(t27, [-1], keepdims=1), Mul(t28, 1.1920928955078125e-7:f64))
            ReduceSum(Cast(Greater(t27, t29), to=i64), [-2, -1], keepdims=0)
        aten.linalg_matrix_rank.default(self: f32[4, 3], tol=0.5) -> i64[]
            t23, _, _ = Loop(120, None, Cast(self, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
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
            t24 = ReduceL2(t23, [-2], keepdims=1)
            t25 = Greater(t24, Max(Mul(ReduceMax(t24, [-1], keepdims=1), 0.0:f64), 0.5:f64))
            ReduceSum(Cast(t25, to=i64), [-2, -1], keepdims=0)
        aten.linalg_matrix_rank.tol_tensor(input: f32[4, 3], tol: f32[]) -> i64[]
            t23, _, _ = Loop(120, None, Cast(input, to=f64), [[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]]:f64, false, body=(t1, _, t2, t3, t4) {
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
            t24 = ReduceL2(t23, [-2], keepdims=1)
            t25 = Max(Mul(ReduceMax(t24, [-1], keepdims=1), 0.0:f64), Unsqueeze(Cast(tol, to=f64), [-2, -1]))
            ReduceSum(Cast(Greater(t24, t25), to=i64), [-2, -1], keepdims=0)
        aten.linalg_svdvals.default(A: f32[4, 4]) -> f32[4]
            t23, _, _ = Loop(160, None, Cast(A, to=f64), f64[4, 4], false, body=(t1, _, t2, t3, t4) {
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
            t24, _ = TopK(Squeeze(ReduceL2(t23, [-2], keepdims=1), [-2]), [4], axis=-1, largest=1, sorted=1)
            Cast(t24, to=f32)
        aten.linalg_svdvals.default(A: f32[s0, s1, s2]) -> f32[s0, Min(s2, s1)]
            t1 = Shape(A, start=2, end=3)
            t2 = Range(0, Squeeze(t1, [0]), 1)
            t3 = Expand(Cast(Equal(Unsqueeze(t2, [1]), t2), to=f64), Concat(Shape(A, start=0, end=1), t1, t1, axis=0))
            t26, _, _ = Loop(Squeeze(Mul([40], t1), [0]), None, Cast(A, to=f64), t3, false, body=(t4, _, t5, t6, t7) {
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
            t27, _ = TopK(Squeeze(ReduceL2(t26, [-2], keepdims=1), [-2]), Min(Shape(A, start=1, end=2), t1), axis=-1, largest=1, sorted=1)
            Cast(t27, to=f32)
        ");
    }
}

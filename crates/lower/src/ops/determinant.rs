//! Determinants: `Det`, which runtimes have for `float32`; signs, logarithms and other types from the `LU` factors.

use modelexport_graph::{DType, Dim};

use super::support::elimination::{factorize, push_unread_factors};
use super::support::matrices::{Fill, Matrices, diagonal, indices, results_of_nothing};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten._linalg_det.default", "_linalg_det(Tensor A) -> (Tensor result, Tensor LU, Tensor pivots)", |cx| {
        let Outputs(mut results) = det(cx, "A")?;
        push_unread_factors(cx, &mut results, [1, 2])?;
        Ok(results.into())
    }),
    Row::new(
        "aten._linalg_slogdet.default",
        "_linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet, Tensor LU, Tensor pivots)",
        |cx| {
            let Outputs(mut results) = slogdet(cx, "A")?;
            push_unread_factors(cx, &mut results, [2, 3])?;
            Ok(results.into())
        },
    ),
    Row::new("aten.det.default", "det(Tensor self) -> Tensor", |cx| det(cx, "self")),
    Row::new("aten.linalg_det.default", "linalg_det(Tensor A) -> Tensor", |cx| det(cx, "A")),
    Row::new("aten.slogdet.default", "slogdet(Tensor self) -> (Tensor sign, Tensor logabsdet)", |cx| {
        slogdet(cx, "self")
    }),
    Row::new("aten.linalg_slogdet.default", "linalg_slogdet(Tensor A) -> (Tensor sign, Tensor logabsdet)", |cx| {
        slogdet(cx, "A")
    }),
    Row::new("aten.logdet.default", "logdet(Tensor self) -> Tensor", logdet),
];

fn det(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(1.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, name)?, cx.out()?.dtype);
    let value = if cx.dtype(a.value) == DType::F32 {
        cx.emit("Det", &[a.value], vec![])
    } else {
        let (pivots, parity) = pivots(cx, &a)?;
        let product = cx.reduce("ReduceProd", pivots, &[-1], false);
        cx.emit("Mul", &[product, parity], vec![])
    };
    let value = cx.reshape(value, &a.batch)?;
    Ok(cx.cast(value, dtype).into())
}

/// `[…, n]`: the diagonal of `U`; and 1 or -1 for an even or odd number of exchanges.
fn pivots(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<(ValueId, ValueId)> {
    let factors = factorize(cx, a)?;
    let (diagonal, steps) = (diagonal(cx, &factors.lu)?, indices(cx, &a.rows)?);
    let stays = cx.test("Equal", &[factors.pivots, steps]);
    let (one, minus_one) = (cx.const_like(diagonal, 1.0), cx.const_like(diagonal, -1.0));
    let signs = cx.select(stays, one, minus_one);
    Ok((diagonal, cx.reduce("ReduceProd", signs, &[-1], false)))
}

fn sign_and_logarithm(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<[ValueId; 2]> {
    let (pivots, parity) = pivots(cx, a)?;
    let signs = cx.emit("Sign", &[pivots], vec![]);
    let sign = cx.reduce("ReduceProd", signs, &[-1], false);
    let sign = cx.emit("Mul", &[sign, parity], vec![]);
    let magnitude = cx.emit("Abs", &[pivots], vec![]);
    let logarithms = cx.emit("Log", &[magnitude], vec![]);
    Ok([sign, cx.reduce("ReduceSum", logarithms, &[-1], false)])
}

fn slogdet(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(1.0), Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, name)?, cx.out()?.dtype);
    let results = sign_and_logarithm(cx, &a)?;
    Ok(results.map(|value| rounded(cx, value, &a.batch, dtype)).into())
}

/// NaN for negative determinants.
fn logdet(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, "self")?, cx.out()?.dtype);
    let [sign, logarithm] = sign_and_logarithm(cx, &a)?;
    let (zero, undefined) = (cx.const_like(sign, 0.0), cx.const_like(sign, f64::NAN));
    let negative = cx.test("Less", &[sign, zero]);
    let value = cx.select(negative, undefined, logarithm);
    Ok(rounded(cx, value, &a.batch, dtype).into())
}

fn rounded(cx: &mut Context<'_, '_>, value: ValueId, sizes: &[Dim], dtype: DType) -> ValueId {
    cx.set_shape(value, sizes.to_vec());
    cx.cast(value, dtype)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten._linalg_det.default(A: f32[2, 3, 3]) -> (f32[2], unread f32[2, 3, 3], unread i32[2, 3])
            Reshape(Det(A), [2])
        aten._linalg_slogdet.default(A: f32[2, 3, 3]) -> (f32[2], f32[2], unread f32[2, 3, 3], unread i32[2, 3])
            t18, _, t19 = Loop(3, None, A, [[0, 1, 2], [0, 1, 2]], [[0, 1, 2], [0, 1, 2]], body=(t1, t2, t3, t4, t5) {
                t6 = Unsqueeze(t1, [0])
                t7 = Where(GreaterOrEqual([[0], [1], [2]], t6), Abs(Gather(t3, t6, axis=-1)), -1.0)
                t8 = Squeeze(ArgMax(t7, axis=-2, keepdims=1), [-1])
                t9 = Equal([0, 1, 2], t6)
                t10 = Where(t9, t8, Where(Equal([0, 1, 2], t8), t6, [0, 1, 2]))
                t11 = GatherElements(t3, Expand(Unsqueeze(t10, [-1]), [2, 3, 3]), axis=-2)
                t12 = Gather(t11, t6, axis=-1)
                t13 = Gather(t11, t6, axis=-2)
                t14 = Gather(t13, t6, axis=-1)
                t15 = Div(t12, Where(Equal(t14, 0.0), 1.0, t14))
                t16 = Greater([[0], [1], [2]], t6)
                t17 = Where(Greater([0, 1, 2], t6), Sub(t11, Mul(Where(t16, t15, 0.0), t13)), Where(t9, Where(t16, t15, t12), t11))
                Identity(t2), t17, GatherElements(t4, t10, axis=-1), Where(t9, t8, t5)
            })
            t20 = Where([[true, false, false], [false, true, false], [false, false, true]], t18, 0.0)
            t21 = ReduceSum(t20, [-2], keepdims=0)
            t22 = ReduceProd(Where(Equal(t19, [0, 1, 2]), 1.0, -1.0), [-1], keepdims=0)
            Mul(ReduceProd(Sign(t21), [-1], keepdims=0), t22), ReduceSum(Log(Abs(t21)), [-1], keepdims=0)
        aten.det.default(self: f32[4, 4]) -> f32[]
            Reshape(Det(self), i64[0])
        aten.det.default(self: f32[s0, s1, s1]) -> f32[s0]
            Reshape(Det(self), [-1])
        aten.linalg_det.default(A: f32[4, 4]) -> f32[]
            Reshape(Det(A), i64[0])
        aten.linalg_det.default(A: f32[s0, s1, s1]) -> f32[s0]
            Reshape(Det(A), [-1])
        aten.slogdet.default(self: f32[4, 4]) -> (f32[], f32[])
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
            t20 = ReduceSum(Where(bool[4, 4], t18, 0.0), [-2], keepdims=0)
            t21 = ReduceProd(Where(Equal(t19, [0, 1, 2, 3]), 1.0, -1.0), [-1], keepdims=0)
            Mul(ReduceProd(Sign(t20), [-1], keepdims=0), t21), ReduceSum(Log(Abs(t20)), [-1], keepdims=0)
        aten.slogdet.default(self: f32[s0, s1, s1]) -> (f32[s0], f32[s0])
            t1 = Shape(self, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = Range(0, t2, 1)
            t4 = Unsqueeze(t3, [1])
            t5 = Shape(self, start=0, end=1)
            t6 = Expand(t3, Concat(t5, t1, axis=0))
            t24, _, t25 = Loop(t2, None, self, t6, t6, body=(t7, t8, t9, t10, t11) {
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
            t26 = ReduceSum(Where(Equal(t4, t3), t24, 0.0), [-2], keepdims=0)
            t27 = ReduceProd(Where(Equal(t25, t3), 1.0, -1.0), [-1], keepdims=0)
            Mul(ReduceProd(Sign(t26), [-1], keepdims=0), t27), ReduceSum(Log(Abs(t26)), [-1], keepdims=0)
        aten.linalg_slogdet.default(A: f32[4, 4]) -> (f32[], f32[])
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
            t20 = ReduceSum(Where(bool[4, 4], t18, 0.0), [-2], keepdims=0)
            t21 = ReduceProd(Where(Equal(t19, [0, 1, 2, 3]), 1.0, -1.0), [-1], keepdims=0)
            Mul(ReduceProd(Sign(t20), [-1], keepdims=0), t21), ReduceSum(Log(Abs(t20)), [-1], keepdims=0)
        aten.linalg_slogdet.default(A: f32[s0, s1, s1]) -> (f32[s0], f32[s0])
            t1 = Shape(A, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = Range(0, t2, 1)
            t4 = Unsqueeze(t3, [1])
            t5 = Shape(A, start=0, end=1)
            t6 = Expand(t3, Concat(t5, t1, axis=0))
            t24, _, t25 = Loop(t2, None, A, t6, t6, body=(t7, t8, t9, t10, t11) {
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
            t26 = ReduceSum(Where(Equal(t4, t3), t24, 0.0), [-2], keepdims=0)
            t27 = ReduceProd(Where(Equal(t25, t3), 1.0, -1.0), [-1], keepdims=0)
            Mul(ReduceProd(Sign(t26), [-1], keepdims=0), t27), ReduceSum(Log(Abs(t26)), [-1], keepdims=0)
        aten.logdet.default(self: f32[4, 4]) -> f32[]
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
            t20 = ReduceSum(Where(bool[4, 4], t18, 0.0), [-2], keepdims=0)
            t21 = ReduceProd(Where(Equal(t19, [0, 1, 2, 3]), 1.0, -1.0), [-1], keepdims=0)
            Where(Less(Mul(ReduceProd(Sign(t20), [-1], keepdims=0), t21), 0.0), NaN, ReduceSum(Log(Abs(t20)), [-1], keepdims=0))
        aten.logdet.default(self: f32[s0, s1, s1]) -> f32[s0]
            t1 = Shape(self, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = Range(0, t2, 1)
            t4 = Unsqueeze(t3, [1])
            t5 = Shape(self, start=0, end=1)
            t6 = Expand(t3, Concat(t5, t1, axis=0))
            t24, _, t25 = Loop(t2, None, self, t6, t6, body=(t7, t8, t9, t10, t11) {
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
            t26 = ReduceSum(Where(Equal(t4, t3), t24, 0.0), [-2], keepdims=0)
            t27 = ReduceProd(Where(Equal(t25, t3), 1.0, -1.0), [-1], keepdims=0)
            Where(Less(Mul(ReduceProd(Sign(t26), [-1], keepdims=0), t27), 0.0), NaN, ReduceSum(Log(Abs(t26)), [-1], keepdims=0))
        ");
    }
}

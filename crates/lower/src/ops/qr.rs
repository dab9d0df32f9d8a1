//! Factors `Q R` by Householder reflections, with the signs of LAPACK; and products of such reflections.

use modelexport_graph::Dim;

use super::support::compute::tensor_as;
use super::support::fill::filled;
use super::support::matrices::{Fill, Matrices, identity, results_of_nothing, triangle};
use super::support::reflections::{reflect, triangularize};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.geqrf.default", "geqrf(Tensor self) -> (Tensor a, Tensor tau)", packed),
    Row::new("aten.linalg_qr.default", "linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)", factors),
    Row::new(
        "aten.linalg_householder_product.default",
        "linalg_householder_product(Tensor input, Tensor tau) -> Tensor",
        |cx| product(cx, "input", "tau"),
    ),
    Row::new("aten.orgqr.default", "orgqr(Tensor self, Tensor input2) -> Tensor", |cx| product(cx, "self", "input2")),
    Row::new(
        "aten.ormqr.default",
        "ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
        multiply,
    ),
];

fn packed(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0); 2])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, "self")?, cx.out()?.dtype);
    let (packed, taus) = triangularize(cx, &a)?;
    Ok([cx.cast(packed.value, dtype), cx.cast(taus, dtype)].into())
}

fn factors(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "A", &[Fill::Identity, Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype, mode) = (Matrices::argument(cx, "A")?, cx.out()?.dtype, cx.str_opt("mode")?);
    let count = a.diagonal_length();
    let (packed, taus) = triangularize(cx, &a)?;
    let is_complete = mode.as_deref() == Some("complete");
    let upper = if is_complete || a.rows == count {
        packed.value
    } else {
        let (start, end, axis) = (cx.const_ints(&[0]), cx.dim_value(&count)?, cx.const_ints(&[-2]));
        cx.emit("Slice", &[packed.value, start, end, axis], vec![])
    };
    let upper = triangle(cx, upper, true);
    let q = match mode.as_deref() {
        Some("r") => filled(cx, &cx.out()?.sizes, dtype, 0.0, None)?,
        _ => {
            let columns = if is_complete { a.rows.clone() } else { count.clone() };
            first_columns(cx, &packed, taus, &count, &columns)?
        }
    };
    Ok([cx.cast(q, dtype), cx.cast(upper, dtype)].into())
}

/// The first columns of the product of `count` reflections.
fn first_columns(
    cx: &mut Context<'_, '_>,
    packed: &Matrices,
    taus: ValueId,
    count: &Dim,
    columns: &Dim,
) -> Result<ValueId> {
    let dtype = cx.dtype(packed.value);
    let one = identity(cx, &packed.rows, columns, dtype)?;
    let one = Matrices::of(cx, one, &[packed.rows.clone(), columns.clone()])?.expanded(cx, &packed.batch)?;
    Ok(reflect(cx, packed, taus, count, &one, false)?.value)
}

fn product(cx: &mut Context<'_, '_>, packed: &str, taus: &str) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, packed, &[Fill::Identity])? {
        return Ok(results);
    }
    let dtype = cx.out()?.dtype;
    let Some(count) = cx.meta(taus)?.sizes.last().cloned() else { return cx.refuse("has no reflections") };
    let (packed, taus) = (Matrices::argument(cx, packed)?, tensor_as(cx, taus, math_type(dtype))?);
    let columns = packed.columns.clone();
    let q = first_columns(cx, &packed, taus, &count, &columns)?;
    Ok(cx.cast(q, dtype).into())
}

/// `Q C`, `Qᵀ C`, `C Q` or `C Qᵀ`.
fn multiply(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    for name in ["self", "input3"] {
        if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0)])? {
            return Ok(results);
        }
    }
    let (out, left) = (cx.out()?, cx.bool("left")?);
    let Some(count) = cx.meta("input2")?.sizes.last().cloned() else { return cx.refuse("has no reflections") };
    let compute = math_type(out.dtype);
    let (packed, taus) = (Matrices::argument_as(cx, "self", compute)?, tensor_as(cx, "input2", compute)?);
    let mut c = Matrices::argument_as(cx, "input3", compute)?;
    if !left {
        c = c.transposed(cx);
    }
    // C Q is the transpose of Qᵀ Cᵀ.
    let mut product = reflect(cx, &packed, taus, &count, &c, cx.bool("transpose")? == left)?;
    if !left {
        product = product.transposed(cx);
    }
    Ok(cx.cast(product.value, out.dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.geqrf.default(self: f32[4, 4]) -> (f32[4, 4], f32[4])
            Loop(4, None, self, [0.0, 0.0, 0.0, 0.0], body=(t1, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Gather(t3, t5, axis=-1)
                t7 = Gather(t6, t5, axis=-2)
                t8 = Greater([[0], [1], [2], [3]], t5)
                t9 = Equal([[0], [1], [2], [3]], t5)
                t10 = Where(t8, t6, 0.0)
                t11 = Equal(ReduceL2(t10, [-2], keepdims=1), 0.0)
                t12 = ReduceL2(Where(t9, t6, t10), [-2], keepdims=1)
                t13 = Where(t11, t7, Where(Less(t7, 0.0), t12, Neg(t12)))
                t14 = Sub(t13, t7)
                t15 = Div(t14, Where(t11, 1.0, t13))
                t16 = Div(t10, Where(t11, 1.0, Neg(t14)))
                t17 = Where(t9, 1.0, t16)
                t18 = Mul(Mul(t15, t17), ReduceSum(Mul(t17, t3), [-2], keepdims=1))
                t19 = Equal([0, 1, 2, 3], t5)
                t20 = Where(Greater([0, 1, 2, 3], t5), Sub(t3, t18), Where(t19, Where(t8, t16, Where(t9, t13, t6)), t3))
                Identity(t2), t20, Where(t19, Squeeze(t15, [-1]), t4)
            })
        aten.linalg_qr.default(A: f32[4, 4]) -> (f32[4, 4], f32[4, 4])
            t21, t22 = Loop(4, None, A, [0.0, 0.0, 0.0, 0.0], body=(t1, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Gather(t3, t5, axis=-1)
                t7 = Gather(t6, t5, axis=-2)
                t8 = Greater([[0], [1], [2], [3]], t5)
                t9 = Equal([[0], [1], [2], [3]], t5)
                t10 = Where(t8, t6, 0.0)
                t11 = Equal(ReduceL2(t10, [-2], keepdims=1), 0.0)
                t12 = ReduceL2(Where(t9, t6, t10), [-2], keepdims=1)
                t13 = Where(t11, t7, Where(Less(t7, 0.0), t12, Neg(t12)))
                t14 = Sub(t13, t7)
                t15 = Div(t14, Where(t11, 1.0, t13))
                t16 = Div(t10, Where(t11, 1.0, Neg(t14)))
                t17 = Where(t9, 1.0, t16)
                t18 = Mul(Mul(t15, t17), ReduceSum(Mul(t17, t3), [-2], keepdims=1))
                t19 = Equal([0, 1, 2, 3], t5)
                t20 = Where(Greater([0, 1, 2, 3], t5), Sub(t3, t18), Where(t19, Where(t8, t16, Where(t9, t13, t6)), t3))
                Identity(t2), t20, Where(t19, Squeeze(t15, [-1]), t4)
            })
            t30 = Loop(4, None, f32[4, 4], body=(t23, t24, t25) {
                t26 = Sub([3], Unsqueeze(t23, [0]))
                t27 = Where(Greater([[0], [1], [2], [3]], t26), Gather(t21, t26, axis=-1), 0.0)
                t28 = Where(Equal([[0], [1], [2], [3]], t26), 1.0, t27)
                t29 = Mul(Mul(Gather(Unsqueeze(t22, [-2]), t26, axis=-1), t28), ReduceSum(Mul(t28, t25), [-2], keepdims=1))
                Identity(t24), Sub(t25, t29)
            })
            t30, Trilu(t21, upper=1)
        aten.linalg_qr.default(A: f32[s0, s1, s2]) -> (f32[s0, s1, Min(s2, s1)], f32[s0, Min(s2, s1), s2])
            t1 = Shape(A, start=1, end=2)
            t2 = Unsqueeze(Range(0, Squeeze(t1, [0]), 1), [1])
            t3 = Shape(A, start=2, end=3)
            t4 = Range(0, Squeeze(t3, [0]), 1)
            t5 = Min(t1, t3)
            t6 = Squeeze(t5, [0])
            t7 = Range(0, t6, 1)
            t8 = Shape(A, start=0, end=1)
            t28, t29 = Loop(t6, None, A, ConstantOfShape(Concat(t8, t5, axis=0), value=[0.0]), body=(t9, t10, t11, t12) {
                t13 = Unsqueeze(t9, [0])
                t14 = Gather(t11, t13, axis=-1)
                t15 = Gather(t14, t13, axis=-2)
                t16 = Greater(t2, t13)
                t17 = Equal(t2, t13)
                t18 = Where(t16, t14, 0.0)
                t19 = Equal(ReduceL2(t18, [-2], keepdims=1), 0.0)
                t20 = ReduceL2(Where(t17, t14, t18), [-2], keepdims=1)
                t21 = Where(t19, t15, Where(Less(t15, 0.0), t20, Neg(t20)))
                t22 = Sub(t21, t15)
                t23 = Div(t22, Where(t19, 1.0, t21))
                t24 = Div(t18, Where(t19, 1.0, Neg(t22)))
                t25 = Where(t17, 1.0, t24)
                t26 = Mul(Mul(t23, t25), ReduceSum(Mul(t25, t11), [-2], keepdims=1))
                t27 = Where(Equal(t4, t13), Where(t16, t24, Where(t17, t21, t14)), t11)
                Identity(t10), Where(Greater(t4, t13), Sub(t11, t26), t27), Where(Equal(t7, t13), Squeeze(t23, [-1]), t12)
            })
            t30 = Expand(Cast(Equal(t2, t7), to=f32), Concat(t8, t1, t5, axis=0))
            t37 = Loop(t6, None, t30, body=(t31, t32, t33) {
                t34 = Sub(Sub(t5, [1]), Unsqueeze(t31, [0]))
                t35 = Where(Equal(t2, t34), 1.0, Where(Greater(t2, t34), Gather(t28, t34, axis=-1), 0.0))
                t36 = Mul(Mul(Gather(Unsqueeze(t29, [-2]), t34, axis=-1), t35), ReduceSum(Mul(t35, t33), [-2], keepdims=1))
                Identity(t32), Sub(t33, t36)
            })
            t37, Trilu(Slice(t28, [0], t5, [-2]), upper=1)
        aten.linalg_householder_product.default(input: f32[4, 4], tau: f32[4]) -> f32[4, 4]
            Loop(4, None, f32[4, 4], body=(t1, t2, t3) {
                t4 = Sub([3], Unsqueeze(t1, [0]))
                t5 = Where(Greater([[0], [1], [2], [3]], t4), Gather(input, t4, axis=-1), 0.0)
                t6 = Where(Equal([[0], [1], [2], [3]], t4), 1.0, t5)
                t7 = Mul(Mul(Gather(Unsqueeze(tau, [-2]), t4, axis=-1), t6), ReduceSum(Mul(t6, t3), [-2], keepdims=1))
                Identity(t2), Sub(t3, t7)
            })
        aten.linalg_householder_product.default(input: f32[s0, 5, 3], tau: f32[s0, 3]) -> f32[s0, 5, 3]
            t1 = Expand(f32[5, 3], Concat(Shape(input, start=0, end=1), [5, 3], axis=0))
            Loop(3, None, t1, body=(t2, t3, t4) {
                t5 = Sub([2], Unsqueeze(t2, [0]))
                t6 = Where(Greater([[0], [1], [2], [3], [4]], t5), Gather(input, t5, axis=-1), 0.0)
                t7 = Where(Equal([[0], [1], [2], [3], [4]], t5), 1.0, t6)
                t8 = Mul(Mul(Gather(Unsqueeze(tau, [-2]), t5, axis=-1), t7), ReduceSum(Mul(t7, t4), [-2], keepdims=1))
                Identity(t3), Sub(t4, t8)
            })
        aten.orgqr.default(self: f32[4, 4], input2: f32[4]) -> f32[4, 4]
            Loop(4, None, f32[4, 4], body=(t1, t2, t3) {
                t4 = Sub([3], Unsqueeze(t1, [0]))
                t5 = Where(Greater([[0], [1], [2], [3]], t4), Gather(self, t4, axis=-1), 0.0)
                t6 = Where(Equal([[0], [1], [2], [3]], t4), 1.0, t5)
                t7 = Mul(Mul(Gather(Unsqueeze(input2, [-2]), t4, axis=-1), t6), ReduceSum(Mul(t6, t3), [-2], keepdims=1))
                Identity(t2), Sub(t3, t7)
            })
        aten.orgqr.default(self: f32[s0, 5, 3], input2: f32[s0, 3]) -> f32[s0, 5, 3]
            t1 = Expand(f32[5, 3], Concat(Shape(self, start=0, end=1), [5, 3], axis=0))
            Loop(3, None, t1, body=(t2, t3, t4) {
                t5 = Sub([2], Unsqueeze(t2, [0]))
                t6 = Where(Greater([[0], [1], [2], [3], [4]], t5), Gather(self, t5, axis=-1), 0.0)
                t7 = Where(Equal([[0], [1], [2], [3], [4]], t5), 1.0, t6)
                t8 = Mul(Mul(Gather(Unsqueeze(input2, [-2]), t5, axis=-1), t7), ReduceSum(Mul(t7, t4), [-2], keepdims=1))
                Identity(t3), Sub(t4, t8)
            })
        aten.ormqr.default(self: f32[5, 3], input2: f32[3], input3: f32[5, 2]) -> f32[5, 2]
            Loop(3, None, input3, body=(t1, t2, t3) {
                t4 = Sub([2], Unsqueeze(t1, [0]))
                t5 = Where(Greater([[0], [1], [2], [3], [4]], t4), Gather(self, t4, axis=-1), 0.0)
                t6 = Where(Equal([[0], [1], [2], [3], [4]], t4), 1.0, t5)
                t7 = Mul(Mul(Gather(Unsqueeze(input2, [-2]), t4, axis=-1), t6), ReduceSum(Mul(t6, t3), [-2], keepdims=1))
                Identity(t2), Sub(t3, t7)
            })
        ");
    }
}

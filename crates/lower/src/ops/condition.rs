//! `linalg_cond`: the norm of a matrix times that of its inverse, for spectral and nuclear norms by singular values.

use modelexport_graph::DType;

use super::linear_systems::inverse_of;
use super::norms::largest_or_smallest_sum;
use super::support::elimination::first_without_pivot;
use super::support::jacobi::{orthogonalize, upright};
use super::support::matrices::{Fill, Matrices, results_of_nothing};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.linalg_cond.default", "linalg_cond(Tensor self, Scalar? p=None) -> Tensor", |cx| {
        let order = match cx.scalar_opt("p")? {
            None => 2.0,
            Some(scalar) => match scalar.number() {
                Some(number) => number.as_f64(),
                None => return cx.wrong("p", "a number that is known when exporting", scalar),
            },
        };
        lower(cx, Norm::Order(order))
    }),
    Row::new("aten.linalg_cond.p_str", "linalg_cond.p_str(Tensor self, str p) -> Tensor", |cx| {
        match cx.str_opt("p")?.as_deref() {
            Some("fro") => lower(cx, Norm::Frobenius),
            Some("nuc") => lower(cx, Norm::Nuclear),
            other => cx.wrong("p", "`fro` or `nuc`", other),
        }
    }),
];

#[derive(Clone, Copy, Debug)]
enum Norm {
    Order(f64),
    Frobenius,
    Nuclear,
}

fn lower(cx: &mut Context<'_, '_>, norm: Norm) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, out) = (Matrices::argument_as(cx, "self", DType::F64)?, cx.out()?);
    let value = match norm {
        Norm::Order(order) if order.abs() == 2.0 => {
            let values = values(cx, &a)?;
            let largest = cx.reduce("ReduceMax", values, &[-2, -1], false);
            let smallest = cx.reduce("ReduceMin", values, &[-2, -1], false);
            let [over, under] = if order > 0.0 { [largest, smallest] } else { [smallest, largest] };
            cx.emit("Div", &[over, under], vec![])
        }
        Norm::Nuclear => {
            let values = values(cx, &a)?;
            let inverse = cx.emit("Reciprocal", &[values], vec![]);
            let sums = [values, inverse].map(|values| cx.reduce("ReduceSum", values, &[-2, -1], false));
            cx.emit("Mul", &sums, vec![])
        }
        Norm::Order(_) | Norm::Frobenius => by_inverse(cx, &a, norm)?,
    };
    let value = cx.reshape(value, &out.sizes)?;
    Ok(cx.cast(value, out.dtype).into())
}

fn values(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<ValueId> {
    let tall = upright(cx, a);
    Ok(orthogonalize(cx, &tall)?.values)
}

/// Infinite for singular matrices.
fn by_inverse(cx: &mut Context<'_, '_>, a: &Matrices, norm: Norm) -> Result<ValueId> {
    let (inverse, factors) = inverse_of(cx, a)?;
    let mut norms = [a.value, inverse.value];
    for value in &mut norms {
        *value = match norm {
            Norm::Order(order) => largest_or_smallest_sum(cx, *value, order, [-2, -1])?,
            _ => cx.reduce("ReduceL2", *value, &[-2, -1], true),
        };
    }
    let product = cx.emit("Mul", &norms, vec![]);
    let product = cx.squeeze(product, &[-2, -1]);
    let (missing, none) = (first_without_pivot(cx, &factors.lu)?, cx.const_scalar(DType::I32, 0));
    let is_singular = cx.test("Greater", &[missing, none]);
    let infinity = cx.const_like(product, f64::INFINITY);
    Ok(cx.select(is_singular, infinity, product))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.linalg_cond.default(self: f32[4, 4]) -> f32[]
            t23, _, _ = Loop(160, None, Cast(self, to=f64), f64[4, 4], false, body=(t1, _, t2, t3, t4) {
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
            t24 = ReduceL2(t23, [-2], keepdims=1)
            t25 = Div(ReduceMax(t24, [-2, -1], keepdims=0), ReduceMin(t24, [-2, -1], keepdims=0))
            Cast(Reshape(t25, i64[0]), to=f32)
        aten.linalg_cond.p_str(self: f32[4, 4], p='fro') -> f32[]
            t1 = Cast(self, to=f64)
            t19, t20, _ = Loop(4, None, t1, [0, 1, 2, 3], [0, 1, 2, 3], body=(t2, t3, t4, t5, t6) {
                t7 = Unsqueeze(t2, [0])
                t8 = Where(GreaterOrEqual([[0], [1], [2], [3]], t7), Abs(Gather(t4, t7, axis=-1)), -1.0:f64)
                t9 = Squeeze(ArgMax(t8, axis=-2, keepdims=1), [-1])
                t10 = Equal([0, 1, 2, 3], t7)
                t11 = Where(t10, t9, Where(Equal([0, 1, 2, 3], t9), t7, [0, 1, 2, 3]))
                t12 = GatherElements(t4, Expand(Unsqueeze(t11, [-1]), [4, 4]), axis=-2)
                t13 = Gather(t12, t7, axis=-1)
                t14 = Gather(t12, t7, axis=-2)
                t15 = Gather(t14, t7, axis=-1)
                t16 = Div(t13, Where(Equal(t15, 0.0:f64), 1.0:f64, t15))
                t17 = Greater([[0], [1], [2], [3]], t7)
                t18 = Where(Greater([0, 1, 2, 3], t7), Sub(t12, Mul(Where(t17, t16, 0.0:f64), t14)), Where(t10, Where(t17, t16, t13), t12))
                Identity(t3), t18, GatherElements(t5, t11, axis=-1), Where(t10, t9, t6)
            })
            t28 = Loop(4, None, Cast(Equal(Unsqueeze(t20, [-1]), [0, 1, 2, 3]), to=f64), body=(t21, t22, t23) {
                t24 = Unsqueeze(t21, [0])
                t25 = Gather(t23, t24, axis=-2)
                t26 = Where(Greater([[0], [1], [2], [3]], t24), Gather(t19, t24, axis=-1), 0.0:f64)
                t27 = Where(Equal([[0], [1], [2], [3]], t24), t25, Sub(t23, Mul(t26, t25)))
                Identity(t22), t27
            })
            t36 = Loop(4, None, t28, body=(t29, t30, t31) {
                t32 = Sub([3], Unsqueeze(t29, [0]))
                t33 = Gather(t19, t32, axis=-1)
                t34 = Div(Gather(t31, t32, axis=-2), Gather(t33, t32, axis=-2))
                t35 = Mul(Where(Less([[0], [1], [2], [3]], t32), t33, 0.0:f64), t34)
                Identity(t30), Where(Equal([[0], [1], [2], [3]], t32), t34, Sub(t31, t35))
            })
            t37 = Mul(ReduceL2(t1, [-2, -1], keepdims=1), ReduceL2(t36, [-2, -1], keepdims=1))
            t38 = Equal(ReduceSum(Where(bool[4, 4], t19, 0.0:f64), [-2], keepdims=0), 0.0:f64)
            t39 = ReduceMax(Where(t38, [4, 3, 2, 1], 0), [-1], keepdims=0)
            t40 = Cast(Reshape(Where(Equal(t39, 0), 0, Sub([5], t39)), i64[0]), to=i32)
            t41 = Reshape(Where(Greater(t40, 0:i32), inf:f64, Squeeze(t37, [-2, -1])), i64[0])
            Cast(t41, to=f32)
        ");
    }
}

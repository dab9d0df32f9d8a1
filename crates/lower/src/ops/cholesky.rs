//! Cholesky factors by a loop over the columns, and what is solved with them.
//!
//! Of a matrix that is not positive definite, for which PyTorch raises an error, NaN come out. `linalg_cholesky_ex` tells
//! the first minor that is not positive in `info`; its factor means nothing there, as in PyTorch.

use modelexport_graph::DType;

use super::support::fill::filled;
use super::support::matrices::{
    Fill, Matrices, column, identity, indices, results_of_nothing, row, row_numbers, rounds, triangle,
};
use super::support::substitution::{Triangle, substitute};
use crate::context::Context;
use crate::error::Result;
use crate::kernels::math_type;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.cholesky_inverse.default", "cholesky_inverse(Tensor self, bool upper=False) -> Tensor", inverse),
    Row::new("aten.cholesky_solve.default", "cholesky_solve(Tensor self, Tensor input2, bool upper=False) -> Tensor", solve),
    Row::new("aten.linalg_cholesky.default", "linalg_cholesky(Tensor self, *, bool upper=False) -> Tensor", factor),
    Row::new(
        "aten.linalg_cholesky_ex.default",
        "linalg_cholesky_ex(Tensor self, *, bool upper=False, bool check_errors=False) -> (Tensor L, Tensor info)",
        factor,
    ),
];

/// With `info` if the node gives it.
fn factor(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0); 2])? {
        return Ok(results);
    }
    let (mut a, dtype, upper) = (Matrices::argument(cx, "self")?, cx.out()?.dtype, cx.bool("upper")?);
    // Only the triangle that is wanted is read.
    if upper {
        a = a.transposed(cx);
    }
    let (rows, columns) = (row_numbers(cx, &a.rows)?, indices(cx, &a.columns)?);
    let info = filled(cx, &a.batch, DType::I64, 0, None)?;
    cx.set_shape(a.value, a.sizes());
    let rank = a.rank();
    let [factor, info] = rounds(cx, &a.rows, [a.value, info], |b, at, [rest, info]| {
        let (zero, values) = (b.const_like(rest, 0.0), column(b, rest, at));
        let pivot = row(b, values, at);
        let root = b.emit("Sqrt", &[pivot], vec![]);
        let quotient = b.emit("Div", &[values, root], vec![]);
        let open = b.test("GreaterOrEqual", &[rows, at]);
        let vector = b.select(open, quotient, zero);
        let turned = b.transpose_last(vector, rank);
        let product = b.emit("Mul", &[vector, turned], vec![]);
        let rest = b.emit("Sub", &[rest, product], vec![]);
        let here = b.test("Equal", &[columns, at]);
        let rest = b.select(here, vector, rest);

        let positive = b.test("Greater", &[pivot, zero]);
        let positive = b.squeeze(positive, &[-2, -1]);
        let none = b.const_int(0);
        let is_first = b.test("Equal", &[info, none]);
        let (one, at) = (b.const_int(1), b.squeeze(at, &[0]));
        let number = b.emit("Add", &[at, one], vec![]);
        let found = b.select(is_first, number, info);
        [rest, b.select(positive, info, found)]
    })?;
    let mut factor = Matrices { value: triangle(cx, factor, false), ..a };
    if upper {
        factor = factor.transposed(cx);
    }
    let mut results = vec![cx.cast(factor.value, dtype)];
    if cx.out_count() > 1 {
        results.push(cx.cast(info, DType::I32));
    }
    Ok(results.into())
}

/// `X` where `L Lᵀ X = B`, or `Uᵀ U X = B` if `upper`.
fn solve_with(cx: &mut Context<'_, '_>, factor: &Matrices, right: &Matrices, upper: bool) -> Result<Matrices> {
    let transposed = factor.transposed(cx);
    let (first, second) = if upper { (&transposed, factor) } else { (factor, &transposed) };
    let half = substitute(cx, first, Triangle { upper: false, unit: false }, right)?;
    substitute(cx, second, Triangle { upper: true, unit: false }, &half)
}

fn solve(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    for name in ["self", "input2"] {
        if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0)])? {
            return Ok(results);
        }
    }
    let (out, upper) = (cx.out()?, cx.bool("upper")?);
    let compute = math_type(out.dtype);
    let batch = out.sizes.get(..out.sizes.len().saturating_sub(2)).unwrap_or_default();
    let factor = Matrices::argument_as(cx, "input2", compute)?;
    let right = Matrices::argument_as(cx, "self", compute)?.expanded(cx, batch)?;
    let solution = solve_with(cx, &factor, &right, upper)?;
    Ok(cx.cast(solution.value, out.dtype).into())
}

fn inverse(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (factor, upper, dtype) = (Matrices::argument(cx, "self")?, cx.bool("upper")?, cx.out()?.dtype);
    let compute = cx.dtype(factor.value);
    let one = identity(cx, &factor.rows, &factor.columns, compute)?;
    let one = Matrices::of(cx, one, &[factor.rows.clone(), factor.columns.clone()])?;
    let one = one.expanded(cx, &factor.batch)?;
    let solution = solve_with(cx, &factor, &one, upper)?;
    Ok(cx.cast(solution.value, dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.cholesky_inverse.default(self: f32[4, 4]) -> f32[4, 4]
            t8 = Loop(4, None, f32[4, 4], body=(t1, t2, t3) {
                t4 = Unsqueeze(t1, [0])
                t5 = Gather(self, t4, axis=-1)
                t6 = Div(Gather(t3, t4, axis=-2), Gather(t5, t4, axis=-2))
                t7 = Sub(t3, Mul(Where(Greater([[0], [1], [2], [3]], t4), t5, 0.0), t6))
                Identity(t2), Where(Equal([[0], [1], [2], [3]], t4), t6, t7)
            })
            Loop(4, None, t8, body=(t9, t10, t11) {
                t12 = Sub([3], Unsqueeze(t9, [0]))
                t13 = Gather(Transpose(self, perm=[1, 0]), t12, axis=-1)
                t14 = Div(Gather(t11, t12, axis=-2), Gather(t13, t12, axis=-2))
                t15 = Sub(t11, Mul(Where(Less([[0], [1], [2], [3]], t12), t13, 0.0), t14))
                Identity(t10), Where(Equal([[0], [1], [2], [3]], t12), t14, t15)
            })
        aten.cholesky_inverse.default(self: f32[s0, s1, s1]) -> f32[s0, s1, s1]
            t1 = Shape(self, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = Range(0, t2, 1)
            t4 = Unsqueeze(t3, [1])
            t5 = Expand(Cast(Equal(t4, t3), to=f32), Concat(Shape(self, start=0, end=1), t1, t1, axis=0))
            t13 = Loop(t2, None, t5, body=(t6, t7, t8) {
                t9 = Unsqueeze(t6, [0])
                t10 = Gather(self, t9, axis=-1)
                t11 = Div(Gather(t8, t9, axis=-2), Gather(t10, t9, axis=-2))
                t12 = Where(Equal(t4, t9), t11, Sub(t8, Mul(Where(Greater(t4, t9), t10, 0.0), t11)))
                Identity(t7), t12
            })
            Loop(t2, None, t13, body=(t14, t15, t16) {
                t17 = Sub(Sub(t1, [1]), Unsqueeze(t14, [0]))
                t18 = Gather(Transpose(self, perm=[0, 2, 1]), t17, axis=-1)
                t19 = Div(Gather(t16, t17, axis=-2), Gather(t18, t17, axis=-2))
                t20 = Where(Equal(t4, t17), t19, Sub(t16, Mul(Where(Less(t4, t17), t18, 0.0), t19)))
                Identity(t15), t20
            })
        aten.cholesky_solve.default(self: f32[4, 2], input2: f32[4, 4]) -> f32[4, 2]
            t8 = Loop(4, None, self, body=(t1, t2, t3) {
                t4 = Unsqueeze(t1, [0])
                t5 = Gather(input2, t4, axis=-1)
                t6 = Div(Gather(t3, t4, axis=-2), Gather(t5, t4, axis=-2))
                t7 = Sub(t3, Mul(Where(Greater([[0], [1], [2], [3]], t4), t5, 0.0), t6))
                Identity(t2), Where(Equal([[0], [1], [2], [3]], t4), t6, t7)
            })
            Loop(4, None, t8, body=(t9, t10, t11) {
                t12 = Sub([3], Unsqueeze(t9, [0]))
                t13 = Gather(Transpose(input2, perm=[1, 0]), t12, axis=-1)
                t14 = Div(Gather(t11, t12, axis=-2), Gather(t13, t12, axis=-2))
                t15 = Sub(t11, Mul(Where(Less([[0], [1], [2], [3]], t12), t13, 0.0), t14))
                Identity(t10), Where(Equal([[0], [1], [2], [3]], t12), t14, t15)
            })
        aten.cholesky_solve.default(self: f32[s0, s1, s2], input2: f32[s0, s1, s1]) -> f32[s0, s1, s2]
            t1 = Shape(self, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = Unsqueeze(Range(0, t2, 1), [1])
            t11 = Loop(t2, None, self, body=(t4, t5, t6) {
                t7 = Unsqueeze(t4, [0])
                t8 = Gather(input2, t7, axis=-1)
                t9 = Div(Gather(t6, t7, axis=-2), Gather(t8, t7, axis=-2))
                t10 = Where(Equal(t3, t7), t9, Sub(t6, Mul(Where(Greater(t3, t7), t8, 0.0), t9)))
                Identity(t5), t10
            })
            Loop(t2, None, t11, body=(t12, t13, t14) {
                t15 = Sub(Sub(t1, [1]), Unsqueeze(t12, [0]))
                t16 = Gather(Transpose(input2, perm=[0, 2, 1]), t15, axis=-1)
                t17 = Div(Gather(t14, t15, axis=-2), Gather(t16, t15, axis=-2))
                t18 = Where(Equal(t3, t15), t17, Sub(t14, Mul(Where(Less(t3, t15), t16, 0.0), t17)))
                Identity(t13), t18
            })
        aten.linalg_cholesky.default(self: f32[4, 4]) -> f32[4, 4]
            t11, _ = Loop(4, None, self, 0, body=(t1, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Gather(t3, t5, axis=-1)
                t7 = Gather(t6, t5, axis=-2)
                t8 = Where(GreaterOrEqual([[0], [1], [2], [3]], t5), Div(t6, Sqrt(t7)), 0.0)
                t9 = Where(Equal([0, 1, 2, 3], t5), t8, Sub(t3, Mul(t8, Transpose(t8, perm=[1, 0]))))
                t10 = Where(Squeeze(Greater(t7, 0.0), [-2, -1]), t4, Where(Equal(t4, 0), Add(t1, 1), t4))
                Identity(t2), t9, t10
            })
            Trilu(t11, upper=0)
        aten.linalg_cholesky.default(self: f32[s0, s1, s1]) -> f32[s0, s1, s1]
            t1 = Squeeze(Shape(self, start=1, end=2), [0])
            t2 = Range(0, t1, 1)
            t13, _ = Loop(t1, None, self, ConstantOfShape(Shape(self, start=0, end=1), value=[0]), body=(t3, t4, t5, t6) {
                t7 = Unsqueeze(t3, [0])
                t8 = Gather(t5, t7, axis=-1)
                t9 = Gather(t8, t7, axis=-2)
                t10 = Where(GreaterOrEqual(Unsqueeze(t2, [1]), t7), Div(t8, Sqrt(t9)), 0.0)
                t11 = Where(Equal(t2, t7), t10, Sub(t5, Mul(t10, Transpose(t10, perm=[0, 2, 1]))))
                t12 = Where(Squeeze(Greater(t9, 0.0), [-2, -1]), t6, Where(Equal(t6, 0), Add(t3, 1), t6))
                Identity(t4), t11, t12
            })
            Trilu(t13, upper=0)
        aten.linalg_cholesky_ex.default(self: f32[4, 4]) -> (f32[4, 4], i32[])
            t11, t12 = Loop(4, None, self, 0, body=(t1, t2, t3, t4) {
                t5 = Unsqueeze(t1, [0])
                t6 = Gather(t3, t5, axis=-1)
                t7 = Gather(t6, t5, axis=-2)
                t8 = Where(GreaterOrEqual([[0], [1], [2], [3]], t5), Div(t6, Sqrt(t7)), 0.0)
                t9 = Where(Equal([0, 1, 2, 3], t5), t8, Sub(t3, Mul(t8, Transpose(t8, perm=[1, 0]))))
                t10 = Where(Squeeze(Greater(t7, 0.0), [-2, -1]), t4, Where(Equal(t4, 0), Add(t1, 1), t4))
                Identity(t2), t9, t10
            })
            Trilu(t11, upper=0), Cast(t12, to=i32)
        aten.linalg_cholesky_ex.default(self: f32[s0, s1, s1]) -> (f32[s0, s1, s1], i32[s0])
            t1 = Squeeze(Shape(self, start=1, end=2), [0])
            t2 = Range(0, t1, 1)
            t13, t14 = Loop(t1, None, self, ConstantOfShape(Shape(self, start=0, end=1), value=[0]), body=(t3, t4, t5, t6) {
                t7 = Unsqueeze(t3, [0])
                t8 = Gather(t5, t7, axis=-1)
                t9 = Gather(t8, t7, axis=-2)
                t10 = Where(GreaterOrEqual(Unsqueeze(t2, [1]), t7), Div(t8, Sqrt(t9)), 0.0)
                t11 = Where(Equal(t2, t7), t10, Sub(t5, Mul(t10, Transpose(t10, perm=[0, 2, 1]))))
                t12 = Where(Squeeze(Greater(t9, 0.0), [-2, -1]), t6, Where(Equal(t6, 0), Add(t3, 1), t6))
                Identity(t4), t11, t12
            })
            Trilu(t13, upper=0), Cast(t14, to=i32)
        ");
    }
}

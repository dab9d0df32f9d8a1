//! `linalg_vander`: the powers 0, 1, … of each element in a new last axis, by a loop that multiplies once more those that
//! are not done. `Pow` of integers goes through floats in runtimes.

use super::support::fill::filled;
use super::support::matrices::{Fill, indices, results_of_nothing, rounds};
use super::support::operands::{operand, real_only};
use crate::context::Context;
use crate::error::Result;
use crate::kernels::{kernel_type, math_type};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new("aten::linalg_vander(Tensor x, *, SymInt? N=None) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    if let Some(results) = results_of_nothing(cx, "x", &[Fill::Number(1.0)])? {
        return Ok(results);
    }
    let out = cx.out()?;
    let Some(count) = out.sizes.last() else { return cx.refuse("does not give matrices") };
    let kernel = kernel_type("Mul", math_type(out.dtype), cx.opset);
    let x = operand(cx, "x", out.dtype)?;
    let x = cx.cast(x, kernel);
    let x = cx.unsqueeze(x, &[-1]);
    let columns = indices(cx, count)?;
    let ones = filled(cx, &out.sizes, kernel, 1, None)?;
    let [powers] = rounds(cx, count, [ones], |b, at, [powers]| {
        let product = b.emit("Mul", &[powers, x], vec![]);
        let open = b.test("Greater", &[columns, at]);
        [b.select(open, product, powers)]
    })?;
    Ok(cx.cast(powers, out.dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.linalg_vander.default(x: f32[3]) -> f32[3, 3]
            Loop(3, None, [[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]], body=(t1, t2, t3) {
                t4 = Where(Greater([0, 1, 2], Unsqueeze(t1, [0])), Mul(t3, Unsqueeze(x, [-1])), t3)
                Identity(t2), t4
            })
        aten.linalg_vander.default(x: f32[s0, s1]) -> f32[s0, s1, s1]
            t1 = Shape(x, start=1, end=2)
            t2 = Squeeze(t1, [0])
            t3 = ConstantOfShape(Concat(Shape(x, start=0, end=1), t1, t1, axis=0), value=[1.0])
            Loop(t2, None, t3, body=(t4, t5, t6) {
                t7 = Where(Greater(Range(0, t2, 1), Unsqueeze(t4, [0])), Mul(t6, Unsqueeze(x, [-1])), t6)
                Identity(t5), t7
            })
        ");
    }
}

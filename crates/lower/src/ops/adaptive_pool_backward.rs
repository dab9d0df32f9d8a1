//! Gradients of average pools that are told the size of their result: each element takes its part of the gradients of
//! the windows that cover it.
//!
//! That is the product with the matrix of weights of the pool (see `adaptive_pool`), transposed, along each axis; an
//! infinity spreads as NaN. Where one window covers a whole axis, its gradient is divided and repeated.

use super::adaptive_pool::{computed_weights, const_weights};
use super::support::axis_product::multiply_axis;
use super::support::compute::{formula_type, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten._adaptive_avg_pool2d_backward.default",
        "_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor",
        |cx| lower(cx, 2),
    ),
    Row::new(
        "aten._adaptive_avg_pool3d_backward.default",
        "_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor",
        |cx| lower(cx, 3),
    ),
];

fn lower(cx: &mut Context<'_, '_>, axes: usize) -> Result<Outputs> {
    let out = cx.out()?;
    if !out.dtype.is_float() {
        return cx.refuse(format!("the gradient of an average of {} is not supported", out.dtype));
    }
    let compute = formula_type(out.dtype);
    let mut y = tensor_as(cx, "grad_output", compute)?;
    let mut sizes = cx.meta("grad_output")?.sizes.clone();
    let rank = sizes.len();
    let mut repeats = false;
    for axis in rank.saturating_sub(axes)..rank {
        let (Some(pooled), Some(image)) = (sizes.get(axis).cloned(), out.sizes.get(axis).cloned()) else { continue };
        if pooled == image {
            continue;
        }
        if pooled.is(1) {
            let count = cx.dim_value(&image)?;
            let count = cx.cast(count, compute);
            y = cx.emit("Div", &[y, count], vec![]);
            repeats = true;
            continue;
        }
        let Some(windows) = pooled.as_static() else {
            return cx.wrong("grad_output", "a number of windows that is known when exporting", "a symbolic size");
        };
        let weights = match image.as_static() {
            Some(image) => const_weights(cx, image, windows, compute)?,
            None => computed_weights(cx, &image, windows, compute)?,
        };
        let weights = cx.transpose(weights, &[1, 0]);
        if let Some(size) = sizes.get_mut(axis) {
            *size = image;
        }
        y = multiply_axis(cx, y, weights, &sizes, axis)?;
    }
    let y = if repeats { cx.expand(y, &out.sizes)? } else { y };
    Ok(cx.cast(y, out.dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::{lowered, refused};

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten._adaptive_avg_pool2d_backward.default(grad_output: f32[2, 3, 5, 3], self: f32[2, 3, 10, 7]) -> f32[2, 3, 10, 7]
            MatMul(MatMul(f32[10, 5], grad_output), f32[3, 7])
        aten._adaptive_avg_pool2d_backward.default(grad_output: f32[s0, 3, 4, 3], self: f32[s1, 3, s2, s3]) -> f32[s1, 3, s2, s3]
            t1 = Shape(self, start=2, end=3)
            t2 = Div(Mul([[0], [1], [2], [3]], t1), [4])
            t3 = Div(Add(Mul([[1], [2], [3], [4]], t1), [3]), [4])
            t4 = Range(0, Squeeze(t1, [0]), 1)
            t5 = Div(Cast(Xor(Less(t4, t3), Less(t4, t2)), to=f32), Cast(Sub(t3, t2), to=f32))
            t6 = Shape(self, start=3, end=4)
            t7 = Div(Mul([[0], [1], [2]], t6), [3])
            t8 = Div(Add(Mul([[1], [2], [3]], t6), [2]), [3])
            t9 = Range(0, Squeeze(t6, [0]), 1)
            t10 = Div(Cast(Xor(Less(t9, t8), Less(t9, t7)), to=f32), Cast(Sub(t8, t7), to=f32))
            MatMul(MatMul(Transpose(t5, perm=[1, 0]), grad_output), t10)
        aten._adaptive_avg_pool3d_backward.default(grad_output: f32[2, 3, 2, 3, 4], self: f32[2, 3, 5, 6, 7]) -> f32[2, 3, 5, 6, 7]
            t1 = MatMul([[0.33333334, 0.0], [0.33333334, 0.0], [0.33333334, 0.33333334], [0.0, 0.33333334], [0.0, 0.33333334]], Reshape(grad_output, [2, 3, 2, 12]))
            MatMul(MatMul(f32[6, 3], Reshape(t1, [2, 3, 5, 3, 4])), f32[4, 7])
        ");
    }

    #[test]
    fn a_symbolic_number_of_windows_is_refused() {
        assert_eq!(
            refused(
                "aten._adaptive_avg_pool2d_backward.default(grad_output: f32[1, 2, s0, 2], self: f32[1, 2, 8, 4]) -> \
                 f32[1, 2, 8, 4]"
            ),
            "node `_adaptive_avg_pool2d_backward` (aten._adaptive_avg_pool2d_backward.default) in module `(root)`: argument \
             `grad_output`: expected a number of windows that is known when exporting, found \"a symbolic size\""
        );
    }

    #[test]
    fn integers_are_refused() {
        assert_eq!(
            refused(
                "aten._adaptive_avg_pool2d_backward.default(grad_output: i64[1, 2, 2, 2], self: i64[1, 2, 8, 4]) -> \
                 i64[1, 2, 8, 4]"
            ),
            "node `_adaptive_avg_pool2d_backward` (aten._adaptive_avg_pool2d_backward.default) in module `(root)`: the \
             gradient of an average of int64 is not supported"
        );
    }
}

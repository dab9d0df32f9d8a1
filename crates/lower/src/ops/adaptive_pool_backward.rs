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
    Row::new("aten::_adaptive_avg_pool2d_backward(Tensor grad_output, Tensor self) -> Tensor", |cx| lower(cx, 2)),
    Row::new("aten::_adaptive_avg_pool3d_backward(Tensor grad_output, Tensor self) -> Tensor", |cx| lower(cx, 3)),
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
        assert_snapshot!(lowered(ROWS));
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

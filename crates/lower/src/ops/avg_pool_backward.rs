//! Gradients of average pools: each window gives each of its elements the same part of its gradient, and
//! `ConvTranspose` with a kernel of ones adds up what the windows over an element give.
//!
//! How many elements a window is divided by differs at the edges where padding is not counted or windows reach beyond
//! it; such counts are products of one count for each axis. There is no kernel for `float64`, which is computed in
//! `float32`.

use modelexport_graph::{DType, Dim};

use super::support::compute::{const_floats, filled, formula_type, product, single_type, tensor_as};
use super::support::spread::spread;
use super::support::window::{Window, last};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::avg_pool2d_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
        |cx| lower(cx, 2),
    ),
    Row::new(
        "aten::avg_pool3d_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, bool ceil_mode, bool count_include_pad, int? divisor_override) -> Tensor",
        |cx| lower(cx, 3),
    ),
];

fn lower(cx: &mut Context<'_, '_>, axes: usize) -> Result<Outputs> {
    let window = Window::read(cx, axes)?;
    let (pooled, out) = (cx.meta("grad_output")?, cx.out()?);
    let dtype = out.dtype;
    if !dtype.is_float() {
        return cx.refuse(format!("the gradient of an average of {dtype} is not supported"));
    }
    let compute = single_type(formula_type(dtype));
    if out.sizes.iter().any(|size| size.is(0)) {
        return Ok(filled(cx, dtype, &out.sizes, 0.0)?.into());
    }
    let (from, to) = (last(&pooled.sizes, axes), last(&out.sizes, axes));
    let grad = tensor_as(cx, "grad_output", compute)?;
    let shares = divided(cx, grad, &window, (from, to), compute)?;

    // Channels are pooled apart from each other: to the kernel they are a batch of images with one channel.
    let images = product(out.sizes.get(..out.sizes.len() - axes).unwrap_or_default());
    let batch: Vec<Dim> = [images, Dim::Static(1)].into_iter().chain(from.iter().cloned()).collect();
    let shares = cx.reshape(shares, &batch)?;
    let kernel: Vec<i64> = [1, 1].into_iter().chain(window.kernel.iter().copied()).collect();
    let ones = std::iter::repeat_n(1.0, kernel.iter().product::<i64>().max(0) as usize);
    let ones = const_floats(cx, compute, &kernel, ones)?;
    let y = spread(cx, shares, ones, &window, 1, (from, to))?;
    let y = cx.reshape(y, &out.sizes)?;
    Ok(cx.cast(y, dtype).into())
}

/// The gradient of each window over the number of elements that the window is divided by.
fn divided(
    cx: &mut Context<'_, '_>,
    grad: ValueId,
    window: &Window,
    (from, to): (&[Dim], &[Dim]),
    dtype: DType,
) -> Result<ValueId> {
    let counts_pads = cx.bool("count_include_pad")?;
    let has_pads = window.pads.iter().any(|&pad| pad != 0);
    let is_whole = !window.rounds_up(to, from) && (counts_pads || !has_pads);
    let divisor = match cx.int_opt("divisor_override")? {
        None if is_whole => Some(window.kernel.iter().product()),
        given => given,
    };
    if let Some(divisor) = divisor {
        if divisor == 1 {
            return Ok(grad);
        }
        let divisor = cx.const_scalar(dtype, divisor);
        return Ok(cx.emit("Div", &[grad, divisor], vec![]));
    }
    let mut y = grad;
    for (axis, (windows, size)) in from.iter().zip(to).enumerate() {
        let behind = from.len() - axis - 1;
        let counts = match (windows.as_static(), size.as_static()) {
            (Some(windows), Some(size)) => known_counts(cx, window, axis, (windows, size), counts_pads, behind, dtype)?,
            _ => computed_counts(cx, window, axis, (windows, size), counts_pads, behind, dtype)?,
        };
        y = cx.emit("Div", &[y, counts], vec![]);
    }
    Ok(y)
}

/// Kernel, stride and padding of one axis.
fn along(window: &Window, axis: usize) -> (i64, i64, i64) {
    let at = |values: &[i64], default: i64| values.get(axis).copied().unwrap_or(default);
    (at(&window.kernel, 1), at(&window.strides, 1), at(&window.pads, 0))
}

/// How many elements each window covers along one axis, with `behind` axes of size 1 behind it.
fn known_counts(
    cx: &mut Context<'_, '_>,
    window: &Window,
    axis: usize,
    (windows, size): (i64, i64),
    counts_pads: bool,
    behind: usize,
    dtype: DType,
) -> Result<ValueId> {
    let (kernel, stride, pad) = along(window, axis);
    let counted = if counts_pads { pad } else { 0 };
    let counts = (0..windows).map(|i| {
        let start = i * stride - pad;
        ((start + kernel).min(size + counted) - start.max(-counted)) as f64
    });
    let dims: Vec<i64> = std::iter::once(windows).chain(std::iter::repeat_n(1, behind)).collect();
    const_floats(cx, dtype, &dims, counts)
}

/// The same for sizes that are known only when the model runs.
fn computed_counts(
    cx: &mut Context<'_, '_>,
    window: &Window,
    axis: usize,
    (windows, size): (&Dim, &Dim),
    counts_pads: bool,
    behind: usize,
    dtype: DType,
) -> Result<ValueId> {
    let (kernel, stride, pad) = along(window, axis);
    let counted = if counts_pads { pad } else { 0 };
    let windows = cx.dim_value(windows)?;
    let (zero, one, windows) = (cx.const_int(0), cx.const_int(1), cx.squeeze(windows, &[0]));
    let mut starts = cx.emit("Range", &[zero, windows, one], vec![]);
    for (op, number) in [("Mul", stride), ("Sub", pad)] {
        let number = cx.const_int(number);
        starts = cx.emit(op, &[starts, number], vec![]);
    }
    let kernel = cx.const_int(kernel);
    let ends = cx.emit("Add", &[starts, kernel], vec![]);
    let size = cx.dim_value(size)?;
    let counted_behind = cx.const_int(counted);
    let limit = cx.emit("Add", &[size, counted_behind], vec![]);
    let ends = cx.emit("Min", &[ends, limit], vec![]);
    let first = cx.const_int(-counted);
    let starts = cx.emit("Max", &[starts, first], vec![]);
    let counts = cx.emit("Sub", &[ends, starts], vec![]);
    let counts = cx.cast(counts, dtype);
    Ok(cx.unsqueeze(counts, &(1..=behind as i64).collect::<Vec<_>>()))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::{lowered, refused};

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.avg_pool2d_backward.default(grad_output: f32[2, 3, 5, 5], self: f32[2, 3, 10, 11], kernel_size=[2, 2], stride=[], padding=[0, 0], ceil_mode=False, count_include_pad=True, divisor_override=None) -> f32[2, 3, 10, 11]
            t1 = ConvTranspose(Reshape(Div(grad_output, 4.0), [6, 1, 5, 5]), [[[[1.0, 1.0], [1.0, 1.0]]]], kernel_shape=[2, 2], strides=[2, 2], output_padding=[0, 1])
            Reshape(t1, [2, 3, 10, 11])
        aten.avg_pool2d_backward.default(grad_output: f32[s0, 3, s1, 6], self: f32[s2, 3, s3, 11], kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], ceil_mode=False, count_include_pad=True, divisor_override=None) -> f32[s2, 3, s3, 11]
            t1 = ConvTranspose(Reshape(Div(grad_output, 9.0), [-1, 1, 0, 6]), [[[[1.0, 1.0, 1.0], [1.0, 1.0, 1.0], [1.0, 1.0, 1.0]]]], kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0], output_padding=[1, 1])
            t2 = Shape(self, start=2, end=3)
            Reshape(Slice(t1, [0, 0], Concat(t2, [11], axis=0), [2, 3]), Concat(Shape(self, start=0, end=1), [3], t2, [11], axis=0))
        aten.avg_pool3d_backward.default(grad_output: f32[2, 3, 3, 4, 3], self: f32[2, 3, 7, 8, 6], kernel_size=[2, 2, 2], stride=[], padding=[0, 0, 0], ceil_mode=False, count_include_pad=True, divisor_override=None) -> f32[2, 3, 7, 8, 6]
            t1 = ConvTranspose(Reshape(Div(grad_output, 8.0), [6, 1, 3, 4, 3]), [[[[[1.0, 1.0], [1.0, 1.0]], [[1.0, 1.0], [1.0, 1.0]]]]], kernel_shape=[2, 2, 2], strides=[2, 2, 2], output_padding=[1, 0, 0])
            Reshape(t1, [2, 3, 7, 8, 6])
        ");
    }

    #[test]
    fn integers_are_refused() {
        assert_eq!(
            refused(
                "aten.avg_pool2d_backward.default(grad_output: i64[1, 2, 2, 2], self: i64[1, 2, 4, 4], kernel_size=[2, 2], \
                 stride=[], padding=[0, 0], ceil_mode=False, count_include_pad=True, divisor_override=None) -> \
                 i64[1, 2, 4, 4]"
            ),
            "node `avg_pool2d_backward` (aten.avg_pool2d_backward.default) in module `(root)`: the gradient of an average \
             of int64 is not supported"
        );
    }
}

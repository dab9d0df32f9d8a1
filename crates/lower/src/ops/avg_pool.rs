//! `avg_pool1d/2d/3d`: `AveragePool`.
//!
//! `divisor_override`: the average over the whole window, padding included, times the size of the window over the
//! divisor. There is no kernel for `float64`, which is computed in `float32`. Integers are
//! summed and divided.

use modelexport_graph::DType;

use super::support::compute::{single_type, tensor_as};
use super::support::unfold::{Slide, known, unfold};
use super::support::window::{Window, last, with_batch};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::literal::{Literal, Number};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::avg_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], bool ceil_mode=False, bool count_include_pad=True) -> Tensor",
        |cx| pool(cx, 1),
    ),
    Row::new(
        "aten::avg_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
        |cx| pool(cx, 2),
    ),
    Row::new(
        "aten::avg_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, bool ceil_mode=False, bool count_include_pad=True, int? divisor_override=None) -> Tensor",
        |cx| pool(cx, 3),
    ),
];

fn pool(cx: &mut Context<'_, '_>, axes: usize) -> Result<Outputs> {
    let window = Window::read(cx, axes)?;
    let (input, out) = (cx.meta("self")?, cx.out()?);
    let dtype = out.dtype;
    if dtype.is_integer() {
        return integers(cx, &window, axes);
    }
    if !dtype.is_float() {
        return cx.refuse(format!("an average of {dtype} is not supported"));
    }
    let (input_sizes, out_sizes) = (last(&input.sizes, axes), last(&out.sizes, axes));
    let rounds_up = window.rounds_up(input_sizes, out_sizes);
    let divisor = cx.int_opt("divisor_override")?;
    let counts_pads = cx.bool("count_include_pad")? || divisor.is_some();

    // Where the padding is not counted it does not matter how much there is, nor where each window is divided alike.
    let end_pads = if !rounds_up {
        Some(window.pads.clone())
    } else if divisor.is_some() || !counts_pads {
        window.end_pads(input_sizes, out_sizes)
    } else {
        None
    };
    if end_pads.is_none() && divisor.is_some() {
        return cx.refuse("`divisor_override` with `ceil_mode` needs sizes that are known when exporting");
    }
    let mut attributes = window.attributes(end_pads.as_ref().unwrap_or(&window.pads));
    if end_pads.is_none() {
        attributes.extend(attrs![ceil_mode = 1]);
    }
    let has_pads = rounds_up || window.pads.iter().any(|&pad| pad != 0);
    if counts_pads && has_pads {
        attributes.extend(attrs![count_include_pad = 1]);
    }
    let compute = single_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let results = with_batch(cx, x, input.sizes.len(), axes, |cx, x| {
        let mut y = cx.emit("AveragePool", &[x], attributes);
        if let Some(divisor) = divisor {
            let count: i64 = window.kernel.iter().product();
            if divisor != count {
                let factor = cx.const_scalar(compute, count as f64 / divisor as f64);
                y = cx.emit("Mul", &[y, factor], vec![]);
            }
        }
        Ok(vec![y])
    })?;
    Ok(results.into_iter().map(|y| cx.cast(y, dtype)).collect::<Vec<_>>().into())
}

/// Sums of windows, divided as PyTorch does: towards zero.
fn integers(cx: &mut Context<'_, '_>, window: &Window, axes: usize) -> Result<Outputs> {
    let (input, out) = (cx.meta("self")?, cx.out()?);
    let compute = if out.dtype == DType::I64 { DType::I64 } else { DType::I32 };
    let (Some(sizes), Some(counts)) = (known(last(&input.sizes, axes)), known(last(&out.sizes, axes))) else {
        return cx.refuse(format!("an average of {} needs sizes that are known when exporting", out.dtype));
    };
    let slides: Vec<Slide> = sizes
        .iter()
        .zip(&counts)
        .zip(window.kernel.iter().zip(&window.strides).zip(&window.pads))
        .map(|((&size, &count), ((&kernel, &stride), &pad))| Slide {
            size,
            kernel,
            count,
            stride,
            dilation: 1,
            pad,
            transposed: false,
        })
        .collect();
    let counts_pads = cx.bool("count_include_pad")?;
    let mut divisors = vec![1];
    for slide in &slides {
        let own: Vec<i64> = (0..slide.count)
            .map(|i| {
                let start = i * slide.stride - slide.pad;
                let whole = slide.kernel.min(slide.size + slide.pad - start);
                if counts_pads { whole } else { slide.inside(i) }
            })
            .collect();
        divisors = divisors.iter().flat_map(|&before| own.iter().map(move |&count| before * count)).collect();
    }
    let divisor = match cx.int_opt("divisor_override")? {
        Some(divisor) => cx.const_scalar(compute, divisor),
        None => {
            let numbers = divisors.iter().map(|&count| Number::Int(count.max(1)));
            match Literal::from_numbers(compute, counts.clone(), numbers) {
                Some(literal) => cx.constant(literal),
                None => return cx.refuse(format!("{compute} has no constants")),
            }
        }
    };
    let lead = input.sizes.len() - axes;
    let x = tensor_as(cx, "self", compute)?;
    let windows = unfold(cx, x, lead, &slides);
    let sums = cx.reduce("ReduceSum", windows, &(lead as i64..(lead + axes) as i64).collect::<Vec<_>>(), false);
    let y = cx.emit("Div", &[sums, divisor], vec![]);
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
        aten.avg_pool1d.default(self: f32[2, 3, 11], kernel_size=[2]) -> f32[2, 3, 5]
            AveragePool(self, kernel_shape=[2], strides=[2])
        aten.avg_pool1d.default(self: f32[s0, 3, s1], kernel_size=[3], stride=[2], padding=[1], ceil_mode=True) -> f32[s0, 3, ((s1//2)) + 1]
            AveragePool(self, kernel_shape=[3], strides=[2], pads=[1, 1], ceil_mode=1, count_include_pad=1)
        aten.avg_pool2d.default(self: f32[2, 3, 10, 11], kernel_size=[2, 2]) -> f32[2, 3, 5, 5]
            AveragePool(self, kernel_shape=[2, 2], strides=[2, 2])
        aten.avg_pool2d.default(self: f32[s0, 3, s1, 11], kernel_size=[3, 3], stride=[2, 2], padding=[1, 1], ceil_mode=True) -> f32[s0, 3, ((s1//2)) + 1, 6]
            AveragePool(self, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 1, 1], ceil_mode=1, count_include_pad=1)
        aten.avg_pool3d.default(self: f32[2, 3, 7, 8, 6], kernel_size=[2, 2, 2]) -> f32[2, 3, 3, 4, 3]
            AveragePool(self, kernel_shape=[2, 2, 2], strides=[2, 2, 2])
        aten.avg_pool3d.default(self: f32[s0, 3, s1, 8, 6], kernel_size=[3, 3, 3], stride=[2, 2, 2], padding=[1, 1, 1], ceil_mode=True) -> f32[s0, 3, ((s1//2)) + 1, 5, 4]
            AveragePool(self, kernel_shape=[3, 3, 3], strides=[2, 2, 2], pads=[1, 1, 1, 1, 1, 1], ceil_mode=1, count_include_pad=1)
        ");
    }

    #[test]
    fn integers_of_symbolic_size_are_refused() {
        assert_eq!(
            refused("aten.avg_pool1d.default(self: i64[2, 3, s0], kernel_size=[2]) -> i64[2, 3, s1]"),
            "node `avg_pool1d` (aten.avg_pool1d.default) in module `(root)`: an average of int64 needs sizes that are known when \
             exporting"
        );
    }
}

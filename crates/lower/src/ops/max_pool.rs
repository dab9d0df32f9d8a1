//! `max_pool1d/2d/3d` and the variants that also give the place of each maximum: `MaxPool`.
//!
//! ONNX counts places over the whole tensor, PyTorch over the pooled axes of one channel: `Mod` takes the rest.
//! `MaxPool` has kernels for floats and bytes; wider integers are computed in `float64`.

use modelexport_graph::DType;

use super::support::compute::product;
use super::support::window::{Window, last, with_batch};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::max_pool1d(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> Tensor",
        |cx| pool(cx, 1, false),
    ),
    Row::new(
        "aten::max_pool2d(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> Tensor",
        |cx| pool(cx, 2, false),
    ),
    Row::new(
        "aten::max_pool3d(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> Tensor",
        |cx| pool(cx, 3, false),
    ),
    Row::new(
        "aten::max_pool1d_with_indices(Tensor self, int[1] kernel_size, int[1] stride=[], int[1] padding=[0], int[1] dilation=[1], bool ceil_mode=False) -> (Tensor, Tensor)",
        |cx| pool(cx, 1, true),
    ),
    Row::new(
        "aten::max_pool2d_with_indices(Tensor self, int[2] kernel_size, int[2] stride=[], int[2] padding=0, int[2] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
        |cx| pool(cx, 2, true),
    ),
    Row::new(
        "aten::max_pool3d_with_indices(Tensor self, int[3] kernel_size, int[3] stride=[], int[3] padding=0, int[3] dilation=1, bool ceil_mode=False) -> (Tensor, Tensor)",
        |cx| pool(cx, 3, true),
    ),
];

fn pool(cx: &mut Context<'_, '_>, axes: usize, with_places: bool) -> Result<Outputs> {
    let window = Window::read(cx, axes)?;
    let input = cx.meta("self")?;
    let out = cx.out()?;
    let compute = pool_type(out.dtype);
    let x = cx.tensor("self")?;
    let x = cx.cast(x, compute);
    let mut attributes = window.attributes(&window.pads);
    if window.dilations.iter().any(|&dilation| dilation != 1) {
        attributes.extend(attrs![dilations = window.dilations.clone()]);
    }
    if window.rounds_up(last(&input.sizes, axes), last(&out.sizes, axes)) {
        attributes.extend(attrs![ceil_mode = 1]);
    }
    let plane = product(last(&input.sizes, axes));
    let results = with_batch(cx, x, input.sizes.len(), axes, |cx, x| {
        if !with_places {
            return Ok(vec![cx.emit("MaxPool", &[x], attributes)]);
        }
        let mut results = cx.emit_many("MaxPool", &[Some(x)], attributes, 2);
        if let [_, places] = results.as_mut_slice() {
            cx.set_dtype(*places, DType::I64);
            let plane = cx.dim_value(&plane)?;
            *places = cx.emit("Mod", &[*places, plane], vec![]);
        }
        Ok(results)
    })?;
    let mut results = results.into_iter();
    let values = results.next().map(|values| cx.cast(values, out.dtype));
    Ok(values.into_iter().chain(results).collect::<Vec<_>>().into())
}

/// The type in which maxima are taken; exact up to 53 bits for wide integers.
pub(crate) fn pool_type(dtype: DType) -> DType {
    match dtype {
        DType::BF16 => DType::F32,
        DType::U8 | DType::I8 => dtype,
        _ if dtype.is_float() => dtype,
        _ => DType::F64,
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }
}

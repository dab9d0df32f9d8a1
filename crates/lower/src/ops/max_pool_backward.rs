//! Gradients of maximum pools: the gradient of each window goes to the place of its maximum.
//!
//! A place may be the maximum of several windows, so gradients add up: `ScatterElements` can do that from opset 16 on.
//! Before, windows that do not overlap are written together, and the sets of such windows are added up.

use modelexport_graph::{DType, Dim};

use super::support::compute::{filled, formula_type, product, tensor_as};
use super::support::window::{Window, last};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

const PLANE: &str = "aten::max_pool2d_with_indices_backward(Tensor grad_output, Tensor self, int[2] kernel_size, int[2] stride, int[2] padding, int[2] dilation, bool ceil_mode, Tensor indices) -> Tensor";
const VOLUME: &str = "aten::max_pool3d_with_indices_backward(Tensor grad_output, Tensor self, int[3] kernel_size, int[3] stride, int[3] padding, int[3] dilation, bool ceil_mode, Tensor indices) -> Tensor";

pub static ROWS: &[Row] = &[
    Row::new(PLANE, |cx| lower(cx, 2, apart)),
    Row::new(PLANE, |cx| lower(cx, 2, together)).since(16),
    Row::new(VOLUME, |cx| lower(cx, 3, apart)),
    Row::new(VOLUME, |cx| lower(cx, 3, together)).since(16),
];

/// Windows with the places of their maxima, and the image that they are over, as zeros on one axis.
struct Scatter {
    grad: ValueId,
    places: ValueId,
    zeros: ValueId,
    /// The sizes of all axes before the windows.
    lead: Vec<Dim>,
    /// How many windows there are along each axis.
    windows: Vec<Dim>,
}

fn lower(
    cx: &mut Context<'_, '_>,
    axes: usize,
    write: impl FnOnce(&mut Context<'_, '_>, &Scatter) -> Result<ValueId>,
) -> Result<Outputs> {
    let out = cx.out()?;
    if out.sizes.iter().any(|size| size.is(0)) {
        return Ok(filled(cx, out.dtype, &out.sizes, 0.0)?.into());
    }
    let compute = formula_type(out.dtype);
    let grad = tensor_as(cx, "grad_output", compute)?;
    let places = cx.tensor("indices")?;
    let places = cx.cast(places, DType::I64);
    let lead = out.sizes.get(..out.sizes.len().saturating_sub(axes)).unwrap_or_default().to_vec();
    let flat: Vec<Dim> = lead.iter().cloned().chain([product(last(&out.sizes, axes))]).collect();
    let zero = cx.const_scalar(compute, 0);
    let zeros = cx.expand(zero, &flat)?;
    let windows = last(&cx.meta("grad_output")?.sizes, axes).to_vec();
    let y = write(cx, &Scatter { grad, places, zeros, lead, windows })?;
    let y = cx.reshape(y, &out.sizes)?;
    Ok(cx.cast(y, out.dtype).into())
}

fn together(cx: &mut Context<'_, '_>, scatter: &Scatter) -> Result<ValueId> {
    let sizes: Vec<Dim> = scatter.lead.iter().cloned().chain([product(&scatter.windows)]).collect();
    let (places, grad) = (cx.reshape(scatter.places, &sizes)?, cx.reshape(scatter.grad, &sizes)?);
    Ok(cx.emit("ScatterElements", &[scatter.zeros, places, grad], attrs![axis = -1, reduction = "add"]))
}

/// Of every `steps` windows along an axis, no two overlap; each set of such windows is written on its own.
fn apart(cx: &mut Context<'_, '_>, scatter: &Scatter) -> Result<ValueId> {
    let count = scatter.windows.len();
    let window = Window::read(cx, count)?;
    let steps: Vec<i64> = (0..count)
        .map(|axis| {
            let stride = window.strides.get(axis).copied().unwrap_or(1).max(1);
            let steps = (window.reach(axis) + stride - 1) / stride;
            // There are no more sets than windows.
            scatter.windows.get(axis).and_then(Dim::as_static).map_or(steps, |windows| steps.min(windows.max(1)))
        })
        .collect();
    let axes: Vec<i64> = (-(count as i64)..0).collect();
    // 0 keeps the size of an axis, so the axes in front need not be known.
    let flat: Vec<i64> = std::iter::repeat_n(0, scatter.lead.len()).chain([-1]).collect();
    let mut sum = None;
    for set in 0..steps.iter().product() {
        let mut rest: i64 = set;
        let mut starts = Vec::with_capacity(count);
        for step in &steps {
            starts.push(rest % step);
            rest /= step;
        }
        let mut parts = [scatter.places, scatter.grad];
        for part in &mut parts {
            if steps.iter().any(|&step| step != 1) {
                *part = cx.slice(*part, &axes, &starts, &vec![i64::MAX; count], &steps);
            }
            let flat = cx.const_ints(&flat);
            *part = cx.emit("Reshape", &[*part, flat], vec![]);
        }
        let [places, grad] = parts;
        let written = cx.emit("ScatterElements", &[scatter.zeros, places, grad], attrs![axis = -1]);
        sum = Some(match sum {
            None => written,
            Some(sum) => cx.emit("Add", &[sum, written], vec![]),
        });
    }
    Ok(sum.unwrap_or(scatter.zeros))
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

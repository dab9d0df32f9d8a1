//! `ConvTranspose` whose result has given sizes: how gradients go back through sliding windows.

use modelexport_graph::Dim;
use modelexport_graph::shape::static_shape;

use super::window::Window;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// Adds up, for each element of an image of the sizes `to`, what the windows that cover it hold: `x` has one element
/// for each window, on axes of the sizes `from`.
pub(crate) fn spread(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    weight: ValueId,
    window: &Window,
    groups: i64,
    (from, to): (&[Dim], &[Dim]),
) -> Result<ValueId> {
    let mut attributes = attrs![kernel_shape = window.kernel.clone()];
    if window.strides.iter().any(|&stride| stride != 1) {
        attributes.extend(attrs![strides = window.strides.clone()]);
    }
    if window.dilations.iter().any(|&dilation| dilation != 1) {
        attributes.extend(attrs![dilations = window.dilations.clone()]);
    }
    if groups != 1 {
        attributes.extend(attrs![group = groups]);
    }
    let rests = rests(window, from, to);
    let is_known = rests.is_some();
    // Sizes that are not known get all that can be there, which is cut afterwards.
    let rests = rests.unwrap_or_else(|| window.strides.iter().map(|&stride| 1 - stride).collect());
    let behind = rests.iter().map(|&rest| rest.max(0));
    let pads: Vec<i64> = window.pads.iter().copied().chain(behind).collect();
    if pads.iter().any(|&pad| pad != 0) {
        attributes.extend(attrs![pads = pads]);
    }
    if rests.iter().any(|&rest| rest < 0) {
        let added: Vec<i64> = rests.iter().map(|&rest| (-rest).max(0)).collect();
        attributes.extend(attrs![output_padding = added]);
    }
    let y = cx.emit("ConvTranspose", &[x, weight], attributes);
    if is_known {
        return Ok(y);
    }
    let axes: Vec<i64> = (2..2 + to.len() as i64).collect();
    let (starts, ends, axes) = (cx.const_ints(&vec![0; to.len()]), cx.shape_value(to)?, cx.const_ints(&axes));
    Ok(cx.emit("Slice", &[y, starts, ends, axes], vec![]))
}

/// What lies behind each axis of the image under the last window; negative where the image goes on behind it.
fn rests(window: &Window, from: &[Dim], to: &[Dim]) -> Option<Vec<i64>> {
    let (from, to) = (static_shape(from)?, static_shape(to)?);
    let axes = from.iter().zip(to).zip(window.strides.iter().zip(&window.pads)).enumerate();
    Some(
        axes.map(|(axis, ((count, size), (stride, pad)))| {
            (count - 1) * stride + window.reach(axis) - pad - size
        })
        .collect(),
    )
}

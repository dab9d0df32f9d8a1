//! Sliding windows over the last axes: the arguments of pools, and inputs without a batch axis.

use modelexport_graph::Dim;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::{Attrs, ValueId};

/// The window of a pool over `kernel.len()` axes.
pub(crate) struct Window {
    pub kernel: Vec<i64>,
    pub strides: Vec<i64>,
    pub pads: Vec<i64>,
    pub dilations: Vec<i64>,
    pub ceil: bool,
}

impl Window {
    /// Reads `kernel_size`, `stride`, `padding`, `dilation` and `ceil_mode`. No stride means that of the kernel.
    pub fn read(cx: &Context<'_, '_>, axes: usize) -> Result<Window> {
        let kernel = cx.ints_for("kernel_size", axes)?;
        let strides = match cx.ints_opt("stride")?.unwrap_or_default().as_slice() {
            [] => kernel.clone(),
            _ => cx.ints_for("stride", axes)?,
        };
        let pads = match cx.ints_opt("padding")?.unwrap_or_default().as_slice() {
            [] => vec![0; axes],
            _ => cx.ints_for("padding", axes)?,
        };
        let dilations = match cx.ints_opt("dilation")?.unwrap_or_default().as_slice() {
            [] => vec![1; axes],
            _ => cx.ints_for("dilation", axes)?,
        };
        Ok(Window { kernel, strides, pads, dilations, ceil: cx.bool("ceil_mode")? })
    }

    /// How many elements lie between the first and the last that a window covers, both included.
    pub fn reach(&self, axis: usize) -> i64 {
        let (kernel, dilation) = (self.kernel.get(axis), self.dilations.get(axis));
        dilation.unwrap_or(&1) * (kernel.unwrap_or(&1) - 1) + 1
    }

    /// Whether rounding up gives other sizes than rounding down; where sizes are not known, whether it may.
    pub fn rounds_up(&self, input: &[Dim], output: &[Dim]) -> bool {
        self.ceil
            && (0..self.kernel.len()).any(|axis| {
                let (Some(Dim::Static(size)), Some(Dim::Static(out))) = (input.get(axis), output.get(axis))
                else {
                    return true;
                };
                let pad = self.pads.get(axis).copied().unwrap_or(0);
                let stride = self.strides.get(axis).copied().unwrap_or(1).max(1);
                (size + 2 * pad - self.reach(axis)).div_euclid(stride) + 1 != *out
            })
    }

    /// Padding behind each axis with which windows that round down cover `output`; `None` if sizes are not known.
    pub fn end_pads(&self, input: &[Dim], output: &[Dim]) -> Option<Vec<i64>> {
        (0..self.kernel.len())
            .map(|axis| {
                let (size, out) = (input.get(axis)?.as_static()?, output.get(axis)?.as_static()?);
                let (pad, stride) = (*self.pads.get(axis)?, *self.strides.get(axis)?);
                Some(pad.max((out - 1) * stride + self.reach(axis) - size - pad))
            })
            .collect()
    }

    /// `kernel_shape`, and `strides` and `pads` where they are not the defaults.
    pub fn attributes(&self, end_pads: &[i64]) -> Attrs {
        let mut attributes = attrs![kernel_shape = self.kernel.clone()];
        if self.strides.iter().any(|&stride| stride != 1) {
            attributes.extend(attrs![strides = self.strides.clone()]);
        }
        if self.pads.iter().chain(end_pads).any(|&pad| pad != 0) {
            let pads: Vec<i64> = self.pads.iter().chain(end_pads).copied().collect();
            attributes.extend(attrs![pads = pads]);
        }
        attributes
    }
}

/// Runs `body` on `x` with a batch axis, which inputs of `axes + 1` dimensions lack. All results lose it again.
pub(crate) fn with_batch(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    rank: usize,
    axes: usize,
    body: impl FnOnce(&mut Context<'_, '_>, ValueId) -> Result<Vec<ValueId>>,
) -> Result<Vec<ValueId>> {
    if rank != axes + 1 {
        return body(cx, x);
    }
    let batched = cx.unsqueeze(x, &[0]);
    let results = body(cx, batched)?;
    Ok(results.into_iter().map(|result| cx.squeeze(result, &[0])).collect())
}

/// The last `count` of `sizes`.
pub(crate) fn last(sizes: &[Dim], count: usize) -> &[Dim] {
    sizes.get(sizes.len().saturating_sub(count)..).unwrap_or(&[])
}

//! Convolutions and pools.

use super::TensorType;
use super::infer::Operation;

/// `weight` is the index of the input with the kernels.
pub(super) fn conv(operation: &Operation<'_>, weight: usize) -> Option<TensorType> {
    let (x, weight) = (operation.input(0)?, operation.input(weight)?);
    let kernel: Vec<Option<u64>> = weight.dims.as_ref()?.iter().skip(2).copied().collect();
    with_spatial(operation, x, weight.dim(0), &kernel)
}

pub(super) fn pool(operation: &Operation<'_>) -> Option<TensorType> {
    let x = operation.input(0)?;
    let kernel: Vec<Option<u64>> =
        operation.ints("kernel_shape")?.iter().map(|&size| u64::try_from(size).ok()).collect();
    with_spatial(operation, x, x.dim(1), &kernel)
}

pub(super) fn global_pool(operation: &Operation<'_>) -> Option<TensorType> {
    let x = operation.input(0)?;
    let dims = x.dims.as_ref()?.iter().enumerate().map(|(axis, &dim)| if axis < 2 { dim } else { Some(1) });
    Some(TensorType::new(x.dtype, Some(dims.collect())))
}

/// Batch, channels, and what a window leaves of each further dimension.
fn with_spatial(
    operation: &Operation<'_>,
    x: &TensorType,
    channels: Option<u64>,
    kernel: &[Option<u64>],
) -> Option<TensorType> {
    let spatial = x.dims.as_ref()?.get(2..)?;
    let window = Window::of(operation, spatial.len());
    let mut dims = vec![x.dim(0), channels];
    for (axis, &size) in spatial.iter().enumerate() {
        let kernel = kernel.get(axis).copied().flatten();
        dims.push(size.zip(kernel).and_then(|(size, kernel)| window.output(axis, size, kernel)));
    }
    Some(TensorType::new(x.dtype, Some(dims)))
}

/// How windows lie.
struct Window {
    strides: Vec<u64>,
    dilations: Vec<u64>,
    /// Before and after, together.
    padding: Vec<u64>,
    keeps_size: bool,
    rounds_up: bool,
}

impl Window {
    fn of(operation: &Operation<'_>, rank: usize) -> Window {
        let list = |name: &str, default: u64, length: usize| -> Vec<u64> {
            let given = operation.ints(name);
            let read =
                |values: &[i64]| values.iter().map(|&value| u64::try_from(value).unwrap_or(0)).collect();
            given.map_or_else(|| vec![default; length], read)
        };
        let pads = list("pads", 0, 2 * rank);
        let pad = |i: usize| pads.get(i).copied().unwrap_or(0);
        let auto = operation.text("auto_pad").unwrap_or("NOTSET");
        Window {
            strides: list("strides", 1, rank),
            dilations: list("dilations", 1, rank),
            padding: (0..rank)
                .map(|axis| if auto == "VALID" { 0 } else { pad(axis).saturating_add(pad(axis + rank)) })
                .collect(),
            keeps_size: auto.starts_with("SAME"),
            rounds_up: operation.int("ceil_mode").unwrap_or(0) != 0,
        }
    }

    fn output(&self, axis: usize, size: u64, kernel: u64) -> Option<u64> {
        let stride = self.strides.get(axis).copied().filter(|&stride| stride > 0)?;
        if self.keeps_size {
            return Some(size.div_ceil(stride));
        }
        let reach = self.dilations.get(axis)?.checked_mul(kernel.checked_sub(1)?)?.checked_add(1)?;
        let padding = self.padding.get(axis)?;
        let room = size.checked_add(*padding)?.checked_sub(reach)?;
        if !self.rounds_up {
            return Some(room / stride + 1);
        }
        let count = room.div_ceil(stride) + 1;
        // A last window that begins in the padding at the end does not count; where padding is even, that is here.
        let starts_outside = (count - 1).checked_mul(stride)? >= size.checked_add(padding / 2)?;
        Some(if starts_outside { count - 1 } else { count })
    }
}

pub(super) fn conv_transpose(operation: &Operation<'_>) -> Option<TensorType> {
    let (x, weight) = (operation.input(0)?, operation.input(1)?);
    let groups = u64::try_from(operation.int("group").unwrap_or(1)).ok()?;
    let channels = weight.dim(1).and_then(|channels| channels.checked_mul(groups));
    let spatial = x.dims.as_ref()?.get(2..)?;
    let window = Window::of(operation, spatial.len());
    let extra = operation.ints("output_padding").unwrap_or_default();
    let fixed = operation.ints("output_shape");
    let mut dims = vec![x.dim(0), channels];
    for (axis, &size) in spatial.iter().enumerate() {
        let grown = || {
            let kernel = weight.dim(axis as i64 + 2)?;
            let reach = window.dilations.get(axis)?.checked_mul(kernel.checked_sub(1)?)?.checked_add(1)?;
            let steps = window.strides.get(axis)?.checked_mul(size?.checked_sub(1)?)?;
            let extra = u64::try_from(extra.get(axis).copied().unwrap_or(0)).ok()?;
            steps.checked_add(reach)?.checked_add(extra)?.checked_sub(*window.padding.get(axis)?)
        };
        dims.push(match fixed {
            Some(fixed) => fixed.get(axis).and_then(|&size| u64::try_from(size).ok()),
            None if window.keeps_size => None,
            None => grown(),
        });
    }
    Some(TensorType::new(x.dtype, Some(dims)))
}

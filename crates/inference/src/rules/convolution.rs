//! Convolutions, pools, and other operators on images.

use modelexport_graph::DType;

use super::Element::{Fixed, Input};
use super::{Row, row, same};
use crate::content::as_dims;
use crate::operation::Operation;
use crate::size::{Dims, Size, product};

pub(super) const ROWS: &[Row] = &[
    row("AffineGrid", &[(Input(0), affine_grid)]),
    row("AveragePool LpPool", &[(Input(0), pool)]),
    row("CausalConvWithState", &[(Input(0), same), (Input(0), carried)]),
    row("Col2Im", &[(Input(0), col2im)]),
    row("Conv DeformConv", &[(Input(0), conv::<1>)]),
    row("ConvInteger", &[(Fixed(DType::I32), conv::<1>)]),
    row("ConvTranspose", &[(Input(0), conv_transpose)]),
    row("GridSample", &[(Input(0), grid_sample)]),
    row("MaxPool", &[(Input(0), pool), (Fixed(DType::I64), pool)]),
    row("MaxRoiPool", &[(Input(0), max_roi_pool)]),
    row("MaxUnpool", &[(Input(0), max_unpool)]),
    row("QLinearConv", &[(Input(7), conv::<3>)]),
    row("RoiAlign", &[(Input(0), roi_align)]),
];

/// `W` is the input with the kernels.
pub(super) fn conv<const W: usize>(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let weight = operation.dims(W);
    if let (Some(x), Some(weight)) = (operation.dims(0), weight) {
        let ([_, channels, ..], [_, depth, ..], true) = (x, weight, x.len() == weight.len()) else {
            return operation.refuse(format!(
                "an image of rank {} and kernels of rank {}",
                x.len(),
                weight.len()
            ));
        };
        let wanted = depth.times(operation.int("group", 1).into());
        operation.same("channels of the image and of the kernels", *channels, wanted)?;
    }
    let kernel = weight.and_then(|weight| weight.get(2..));
    windows(operation, operation.dim(W, 0), kernel.unwrap_or_default())
}

pub(super) fn pool(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    windows(operation, operation.dim(0, 1), &as_dims(&operation.ints("kernel_shape")?))
}

/// Batch, channels, and what a window leaves of each further dimension.
fn windows(operation: &Operation<'_>, channels: Size, kernel: &[Size]) -> Option<Dims> {
    let spatial = operation.dims(0)?.get(2..)?;
    let window = Window::of(operation, spatial.len());
    let size = |(axis, &size): (usize, &Size)| {
        let kernel = kernel.get(axis).copied().unwrap_or_default();
        size.known().zip(kernel.known()).and_then(|(size, kernel)| window.output(axis, size, kernel)).into()
    };
    let spatial = spatial.iter().enumerate().map(size);
    Some([operation.dim(0, 0), channels].into_iter().chain(spatial).collect())
}

/// How windows lie.
struct Window {
    strides: Vec<i64>,
    dilations: Vec<i64>,
    /// Before and after.
    padding: Vec<(i64, i64)>,
    keeps_size: bool,
    rounds_up: bool,
}

impl Window {
    fn of(operation: &Operation<'_>, rank: usize) -> Window {
        let list = |name: &str, default: i64, length: usize| -> Vec<i64> {
            operation.ints(name).map_or_else(|| vec![default; length], |list| list.into_owned())
        };
        let auto = operation.attributes.text("auto_pad").unwrap_or("NOTSET");
        let pads = if auto == "VALID" { Vec::new() } else { list("pads", 0, 2 * rank) };
        let pad = |i: usize| pads.get(i).copied().unwrap_or(0);
        Window {
            strides: list("strides", 1, rank),
            dilations: list("dilations", 1, rank),
            padding: (0..rank).map(|axis| (pad(axis), pad(axis + rank))).collect(),
            keeps_size: auto.starts_with("SAME"),
            rounds_up: operation.flag("ceil_mode"),
        }
    }

    /// What a window covers.
    fn reach(&self, axis: usize, kernel: i64) -> Option<i64> {
        self.dilations.get(axis)?.checked_mul(kernel.checked_sub(1)?)?.checked_add(1)
    }

    fn output(&self, axis: usize, size: i64, kernel: i64) -> Option<i64> {
        let stride = self.strides.get(axis).copied().filter(|&stride| stride > 0)?;
        if self.keeps_size {
            return Some(size.checked_add(stride - 1)? / stride);
        }
        let (before, after) = *self.padding.get(axis)?;
        let whole = size.checked_add(before)?.checked_add(after)?;
        let room = whole.checked_sub(self.reach(axis, kernel)?).filter(|&room| room >= 0)?;
        if !self.rounds_up {
            return Some(room / stride + 1);
        }
        let steps = room.checked_add(stride - 1)? / stride;
        // A last window that begins in the padding at the end does not count.
        let starts_outside = steps.checked_mul(stride)? >= size.checked_add(before)?;
        Some(if starts_outside { steps } else { steps + 1 })
    }
}

fn conv_transpose(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let spatial = operation.dims(0)?.get(2..)?;
    let channels = operation.dim(1, 1).times(operation.int("group", 1).into());
    operation.same("channels of the image and of the kernels", operation.dim(0, 1), operation.dim(1, 0))?;
    let window = Window::of(operation, spatial.len());
    let extra = operation.ints("output_padding").unwrap_or_default();
    // Old files give batch and channels, too.
    let fixed = operation.ints("output_shape").map(|fixed| {
        let extra = fixed.len().saturating_sub(spatial.len());
        as_dims(fixed.get(extra..).unwrap_or_default())
    });
    let size = |(axis, &size): (usize, &Size)| -> Size {
        let grown = |size: i64| {
            let stride = *window.strides.get(axis)?;
            if window.keeps_size {
                return size.checked_mul(stride);
            }
            let reach = window.reach(axis, operation.dim(1, axis as i64 + 2).known()?)?;
            let (before, after) = *window.padding.get(axis)?;
            let whole = stride.checked_mul(size.checked_sub(1)?)?.checked_add(reach)?;
            whole.checked_add(extra.get(axis).copied().unwrap_or(0))?.checked_sub(before)?.checked_sub(after)
        };
        match &fixed {
            Some(fixed) => fixed.get(axis).copied().unwrap_or_default(),
            None => Size::from(size.known().and_then(grown)).dimension(),
        }
    };
    let spatial = spatial.iter().enumerate().map(size);
    Some([operation.dim(0, 0), channels].into_iter().chain(spatial).collect())
}

fn max_unpool(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    if operation.has(2) {
        return operation.sizes_from(2);
    }
    let [batch, channels, spatial @ ..] = operation.dims(0)? else { return None };
    let window = Window::of(operation, spatial.len());
    let kernel = operation.ints("kernel_shape")?;
    let grown = |(axis, &size): (usize, &Size)| {
        let (before, after) = *window.padding.get(axis)?;
        let steps = size.minus(Size::Known(1)).times((*window.strides.get(axis)?).into());
        Some(steps.plus((*kernel.get(axis)?).into()).minus(before.into()).minus(after.into()).dimension())
    };
    let spatial: Option<Dims> = spatial.iter().enumerate().map(grown).collect();
    Some([vec![*batch, *channels], spatial?].concat())
}

fn carried(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let width = operation.dim(1, 2).minus(Size::Known(1));
    Some(vec![operation.dim(0, 0), operation.dim(0, 1), width.dimension()])
}

fn col2im(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let image = operation.sizes_from(1)?;
    let block = operation.content(2).map_or(Size::Unknown, product);
    let channels = operation.dim(0, 1).over(block);
    Some([vec![operation.dim(0, 0), channels], image].concat())
}

fn grid_sample(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let grid = operation.dims(1)?;
    let spatial = grid.get(1..grid.len().checked_sub(1)?)?;
    Some([&[operation.dim(0, 0), operation.dim(0, 1)], spatial].concat())
}

fn affine_grid(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let sizes = operation.sizes_from(1)?;
    let spatial = sizes.get(2..)?;
    Some([&[operation.dim(0, 0)], spatial, &[Size::Known(spatial.len() as i64)]].concat())
}

fn max_roi_pool(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let pooled = as_dims(&operation.ints("pooled_shape")?);
    Some([vec![operation.dim(1, 0), operation.dim(0, 1)], pooled].concat())
}

fn roi_align(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let of = |name: &str| Size::Known(operation.int(name, 1));
    Some(vec![operation.dim(1, 0), operation.dim(0, 1), of("output_height"), of("output_width")])
}

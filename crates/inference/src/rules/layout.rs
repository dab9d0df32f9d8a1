//! Operators that move, cut and join elements.

use super::Element::{AnyInput, Input};
use super::{Row, row};
use crate::content::as_dims;
use crate::operation::Operation;
use crate::size::{Dims, Size, broadcast, index, indices, product, quotient, shape_text};

pub(super) const ROWS: &[Row] = &[
    row("CenterCropPad", &[(Input(0), center_crop_pad)]),
    row("Concat", &[(AnyInput, concat)]),
    row("DepthToSpace", &[(Input(0), depth_to_space)]),
    row("Expand", &[(Input(0), expand)]),
    row("Flatten", &[(Input(0), flatten)]),
    row("Pad", &[(Input(0), pad)]),
    row("Reshape", &[(Input(0), reshape)]),
    row("Resize Upsample", &[(Input(0), resize)]),
    row("Slice", &[(Input(0), slice)]),
    row("SpaceToDepth", &[(Input(0), space_to_depth)]),
    row("Split", &[(Input(0), split)]),
    row("Squeeze", &[(Input(0), squeeze)]),
    row("Tile", &[(Input(0), tile)]),
    row("Transpose", &[(Input(0), transpose)]),
    row("Unsqueeze", &[(Input(0), unsqueeze)]),
];

fn reshape(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let given = operation.ints("shape").map(|shape| shape.iter().map(|&size| Size::Known(size)).collect());
    let Some(target) = given.or_else(|| operation.content(1).map(<[_]>::to_vec)) else {
        return operation.sizes_from(1);
    };
    let keeps_zero = operation.flag("allowzero");
    let mut shape: Dims = (0i64..)
        .zip(&target)
        .map(|(axis, size)| match size {
            Size::Known(0) if !keeps_zero => operation.dim(0, axis),
            size => size.dimension(),
        })
        .collect();
    let Some(whole) = operation.dims(0) else { return Some(shape) };
    match target.iter().position(|&size| size == Size::Known(-1)) {
        Some(open) => {
            let (before, after) = (shape.get(..open)?, shape.get(open + 1..)?);
            let size = quotient(whole, &[before, after].concat());
            *shape.get_mut(open)? = size;
        }
        None if product(whole).differs(product(&shape)) => {
            let (from, to) = (shape_text(Some(whole)), shape_text(Some(&shape)));
            return operation.refuse(format!("shape {from} has not as many elements as shape {to}"));
        }
        None => {}
    }
    Some(shape)
}

fn flatten(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let dims = operation.dims(0)?;
    let axis = operation.int("axis", 1);
    let at = if axis == dims.len() as i64 { dims.len() } else { index(axis, dims.len())? };
    let (before, after) = dims.split_at_checked(at)?;
    Some(vec![product(before), product(after)])
}

fn transpose(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let dims = operation.dims(0)?;
    match operation.ints("perm") {
        Some(order) if order.len() != dims.len() => {
            operation.refuse(format!("{} axes are put into an order of {}", dims.len(), order.len()))
        }
        Some(order) => order.iter().map(|&axis| dims.get(index(axis, dims.len())?).copied()).collect(),
        None => Some(dims.iter().rev().copied().collect()),
    }
}

fn squeeze(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let dims = operation.dims(0)?;
    let axes = operation.ints_or_input("axes", 1);
    let kept = |gone: &dyn Fn(usize, Size) -> bool| {
        let kept = dims.iter().enumerate().filter(|(axis, dim)| !gone(*axis, **dim));
        kept.map(|(_, dim)| *dim).collect()
    };
    match axes {
        Some(axes) => {
            let axes = indices(&axes, dims.len())?;
            if let Some(size) =
                axes.iter().filter_map(|&axis| dims.get(axis)?.known()).find(|&size| size != 1)
            {
                return operation.refuse(format!("an axis of size {size} cannot be squeezed"));
            }
            Some(kept(&|axis, _| axes.contains(&axis)))
        }
        // Without axes, what is 1 goes: all must be known.
        None if !operation.has(1) && dims.iter().all(|dim| dim.known().is_some()) => {
            Some(kept(&|_, dim| dim == Size::Known(1)))
        }
        None => None,
    }
}

fn unsqueeze(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let (dims, axes) = (operation.dims(0)?, operation.ints_or_input("axes", 1)?);
    let rank = dims.len() + axes.len();
    let new = indices(&axes, rank)?;
    let mut old = dims.iter().copied();
    (0..rank).map(|axis| if new.contains(&axis) { Some(Size::Known(1)) } else { old.next() }).collect()
}

fn concat(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut shape = operation.dims(0)?.to_vec();
    // Before opset 4, the axis had a default.
    let axis = index(operation.int("axis", 1), shape.len())?;
    for i in 1..operation.inputs.len() {
        let other = operation.dims(i)?;
        if other.len() != shape.len() {
            return operation.refuse(format!("parts of rank {} and {} are joined", shape.len(), other.len()));
        }
        for (at, (dim, other)) in shape.iter_mut().zip(other).enumerate() {
            *dim = match at == axis {
                true => dim.plus(*other),
                false => operation.same("sizes of parts that are joined along another axis", *dim, *other)?,
            };
        }
    }
    Some(shape)
}

fn expand(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let (dims, target) = (operation.dims(0)?, operation.sizes_from(1)?);
    broadcast(dims, &target).or_else(|| {
        let (from, to) = (shape_text(Some(dims)), shape_text(Some(&target)));
        operation.refuse(format!("shape {from} cannot be expanded to {to}"))
    })
}

fn tile(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let repeats = operation.content(1);
    let repeat = |axis: usize| repeats.and_then(|repeats| repeats.get(axis)).copied().unwrap_or_default();
    Some(operation.dims(0)?.iter().enumerate().map(|(axis, dim)| dim.times(repeat(axis))).collect())
}

fn pad(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let dims = operation.dims(0)?;
    let pads = operation.ints_or_input(if operation.opset < 2 { "paddings" } else { "pads" }, 1);
    let axes = match operation.has(3) {
        true => operation.ints_or_input("axes", 3).and_then(|axes| indices(&axes, dims.len())),
        false => Some((0..dims.len()).collect()),
    };
    let (Some(pads), Some(axes)) = (pads, axes) else { return Some(vec![Size::Unknown; dims.len()]) };
    let size = |(axis, &dim): (usize, &Size)| {
        let Some(i) = axes.iter().position(|&padded| padded == axis) else { return Some(dim) };
        let (before, after) = (*pads.get(i)?, *pads.get(i + axes.len())?);
        Some(dim.plus(before.checked_add(after).into()))
    };
    dims.iter().enumerate().map(size).collect()
}

/// Which elements a slice takes of `length`.
pub(crate) struct Picked {
    pub first: i64,
    pub count: i64,
}

pub(crate) fn slice_range(length: i64, start: i64, end: i64, step: i64) -> Option<Picked> {
    let wrap = |at: i64| if at < 0 { at.saturating_add(length) } else { at };
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let (first, end) = (wrap(start).clamp(low.max(0), high.max(0)), wrap(end).clamp(low, high));
    let distance = if step > 0 { end - first } else { first - end };
    let step = step.checked_abs().filter(|&step| step > 0)?;
    Some(Picked { first, count: distance.max(0).checked_add(step - 1)? / step })
}

fn slice(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = operation.dims(0)?.to_vec();
    let list = |name: &str, i: usize| -> Option<Dims> {
        let given = operation.ints(name).map(|ints| ints.iter().map(|&at| Size::Known(at)).collect());
        given.or_else(|| operation.content(i).map(<[_]>::to_vec))
    };
    let (starts, ends, steps) = (list("starts", 1), list("ends", 2), list("steps", 4));
    let axes = operation.ints_or_input("axes", 3);
    let sliced = starts.as_ref().map_or(0, Vec::len);
    let (Some(starts), Some(ends), true) = (starts, ends, axes.is_some() || !operation.has(3)) else {
        return Some(vec![Size::Unknown; dims.len()]);
    };
    for i in 0..sliced {
        let axis = axes.as_ref().map_or(Some(i as i64), |axes| axes.get(i).copied())?;
        let axis = index(axis, dims.len())?;
        let dim = dims.get_mut(axis)?;
        let step = match &steps {
            Some(steps) => *steps.get(i)?,
            None if operation.has(4) => Size::Unknown,
            None => Size::Known(1),
        };
        let (start, end) = (*starts.get(i)?, *ends.get(i)?);
        *dim = match (start, end, step) {
            // All of it, whatever its size.
            (Size::Known(0), Size::Known(i64::MAX), Size::Known(1)) => *dim,
            (Size::Known(0), end, Size::Known(1)) if end == *dim => *dim,
            (Size::Known(start), Size::Known(end), Size::Known(step)) => {
                let length = dim.known();
                length
                    .and_then(|length| slice_range(length, start, end, step))
                    .map(|range| range.count)
                    .into()
            }
            _ => Size::Unknown,
        };
    }
    Some(dims)
}

fn split(operation: &Operation<'_>, output: usize) -> Option<Dims> {
    let mut dims = operation.dims(0)?.to_vec();
    let axis = index(operation.int("axis", 0), dims.len())?;
    let dim = dims.get_mut(axis)?;
    *dim = match operation.ints_or_input("split", 1) {
        Some(sizes) => {
            let sizes = as_dims(&sizes);
            let sum = sizes.iter().fold(Size::Known(0), |sum, &size| sum.plus(size));
            operation.same("the size that is split and the sum of its parts", *dim, sum)?;
            *sizes.get(output)?
        }
        None if operation.has(1) => Size::Unknown,
        None => {
            let (count, output) = (operation.outputs.max(1) as i64, output as i64);
            // Equal parts but for the last, which may be smaller.
            let part = |whole: i64| {
                let even = whole.checked_add(count - 1)? / count;
                let last = whole.checked_sub(even.checked_mul(count - 1)?).filter(|&last| last >= 0)?;
                Some(if output == count - 1 { last } else { even })
            };
            if count == 1 { *dim } else { dim.known().and_then(part).into() }
        }
    };
    Some(dims)
}

/// Batch and channels of `scale` times the size, and the spatial sizes of as many times as given.
fn depth_to_space(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let [batch, channels, spatial @ ..] = operation.dims(0)? else { return None };
    let block = Size::Known(operation.int("blocksize", 1));
    let blocks = spatial.iter().fold(Size::Known(1), |blocks, _| blocks.times(block));
    Some(
        [*batch, channels.over(blocks)]
            .into_iter()
            .chain(spatial.iter().map(|dim| dim.times(block)))
            .collect(),
    )
}

fn space_to_depth(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let [batch, channels, spatial @ ..] = operation.dims(0)? else { return None };
    let block = Size::Known(operation.int("blocksize", 1));
    let blocks = spatial.iter().fold(Size::Known(1), |blocks, _| blocks.times(block));
    Some(
        [*batch, channels.times(blocks)]
            .into_iter()
            .chain(spatial.iter().map(|dim| dim.over(block)))
            .collect(),
    )
}

fn center_crop_pad(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = operation.dims(0)?.to_vec();
    let axes = match operation.ints("axes") {
        Some(axes) => indices(&axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    let target = operation.sizes_from(1).unwrap_or_default();
    for (i, axis) in axes.into_iter().enumerate() {
        *dims.get_mut(axis)? = target.get(i).copied().unwrap_or_default();
    }
    Some(dims)
}

/// Sizes as given, or a multiple of those of the input.
fn resize(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = operation.dims(0)?.to_vec();
    let axes = match operation.ints("axes") {
        Some(axes) => indices(&axes, dims.len())?,
        None => (0..dims.len()).collect(),
    };
    let stretches =
        operation.attributes.text("keep_aspect_ratio_policy").is_none_or(|policy| policy == "stretch");
    let crops = operation.attributes.text("coordinate_transformation_mode") == Some("tf_crop_and_resize");
    let scales = if operation.op_type == "Upsample" || operation.opset < 11 { 1 } else { 2 };
    let scales = operation.content(scales).filter(|scales| !crops && !scales.is_empty());
    let sizes = operation.content(3).filter(|_| stretches);
    for (i, axis) in axes.into_iter().enumerate() {
        let dim = dims.get_mut(axis)?;
        let at = |list: Option<&[Size]>| list.and_then(|list| list.get(i)).copied().unwrap_or_default();
        *dim = if operation.has(3) { at(sizes) } else { dim.times(at(scales)) }.dimension();
    }
    Some(dims)
}

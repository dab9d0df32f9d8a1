//! `grid_sampler`: `GridSample` from opset 16 for images and from 20 for volumes; before that its formula.
//!
//! The formula takes the elements of each corner around a place (1 for `nearest`, 4 or 8 for `bilinear`) by
//! `GatherElements` and adds them by their weights. `bicubic` needs the operator.

use modelexport_graph::{DType, Dim};

use super::support::compute::{product, single_type, tensor_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

const ANY: &str = "aten::grid_sampler(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor";
const IMAGE: &str = "aten::grid_sampler_2d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor";
const VOLUME: &str = "aten::grid_sampler_3d(Tensor input, Tensor grid, int interpolation_mode, int padding_mode, bool align_corners) -> Tensor";

pub static ROWS: &[Row] = &[
    Row::new(ANY, composed),
    Row::new(ANY, lower).since(16),
    Row::new(IMAGE, composed),
    Row::new(IMAGE, lower).since(16),
    Row::new(VOLUME, composed),
    Row::new(VOLUME, lower).since(20),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Linear,
    Nearest,
    Cubic,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Padding {
    Zeros,
    Border,
    Reflection,
}

fn mode(cx: &Context<'_, '_>) -> Result<Mode> {
    match cx.int("interpolation_mode")? {
        0 => Ok(Mode::Linear),
        1 => Ok(Mode::Nearest),
        2 => Ok(Mode::Cubic),
        other => cx.wrong("interpolation_mode", "a number from 0 to 2", other),
    }
}

fn padding(cx: &Context<'_, '_>) -> Result<Padding> {
    match cx.int("padding_mode")? {
        0 => Ok(Padding::Zeros),
        1 => Ok(Padding::Border),
        2 => Ok(Padding::Reflection),
        other => cx.wrong("padding_mode", "a number from 0 to 2", other),
    }
}

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if cx.opset < 20 && cx.meta("input")?.sizes.len() != 4 {
        return composed(cx);
    }
    let dtype = cx.out()?.dtype;
    let compute = single_type(dtype);
    let (x, grid) = (tensor_as(cx, "input", compute)?, tensor_as(cx, "grid", compute)?);
    // Two modes have other names since opset 20.
    let mode = match (mode(cx)?, cx.opset < 20) {
        (Mode::Linear, true) => "bilinear",
        (Mode::Linear, false) => "linear",
        (Mode::Nearest, _) => "nearest",
        (Mode::Cubic, true) => "bicubic",
        (Mode::Cubic, false) => "cubic",
    };
    let padding = match padding(cx)? {
        Padding::Zeros => "zeros",
        Padding::Border => "border",
        Padding::Reflection => "reflection",
    };
    let align = cx.bool("align_corners")?;
    let y =
        cx.emit("GridSample", &[x, grid], attrs![mode = mode, padding_mode = padding, align_corners = align]);
    Ok(cx.cast(y, dtype).into())
}

/// A corner along one axis: places, their weights, and whether they are inside (`None`: always).
struct Corner {
    places: ValueId,
    weights: Option<ValueId>,
    inside: Option<ValueId>,
}

fn composed(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (mode, padding) = (mode(cx)?, padding(cx)?);
    if mode == Mode::Cubic {
        return cx.refuse(format!("`bicubic` needs opset 16 for images, it is {}", cx.opset));
    }
    let out = cx.out()?;
    let compute = if out.dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let (x, grid) = (tensor_as(cx, "input", compute)?, tensor_as(cx, "grid", compute)?);
    let input = &cx.meta("input")?.sizes;
    let axes = input.len() - 2;
    let spatial = input.get(2..).unwrap_or(&[]);
    let places = product(out.sizes.get(2..).unwrap_or(&[]));
    let (batch, channels) = (input.first().cloned(), input.get(1).cloned());
    let lead: Vec<Dim> = batch.iter().chain(&channels).cloned().collect();
    let with = |plane: Dim| lead.iter().cloned().chain([plane]).collect::<Vec<Dim>>();
    let flat = cx.reshape(x, &with(product(spatial)))?;
    let grid_sizes: Vec<Dim> = batch.iter().cloned().chain([places.clone(), Dim::Static(axes as i64)]).collect();
    let grid = cx.reshape(grid, &grid_sizes)?;

    // `[batch, places]` for each axis; the grid lists the last axis first.
    let mut corners: Vec<Vec<Corner>> = Vec::with_capacity(axes);
    for (axis, size) in spatial.iter().enumerate() {
        let index = cx.const_int((axes - 1 - axis) as i64);
        let coordinate = cx.emit("Gather", &[grid, index], attrs![axis = 2]);
        corners.push(axis_corners(cx, coordinate, size, mode, padding, compute)?);
    }
    let mut total: Option<ValueId> = None;
    for choice in 0..corners.iter().map(Vec::len).product::<usize>() {
        let term = corner_term(cx, flat, &corners, choice, spatial, &with(places.clone()), compute)?;
        total = Some(match total {
            None => term,
            Some(total) => cx.emit("Add", &[total, term], vec![]),
        });
    }
    let Some(total) = total else { return cx.refuse("has an input without spatial axes") };
    let y = cx.reshape(total, &out.sizes)?;
    Ok(cx.cast(y, out.dtype).into())
}

fn scalar(cx: &mut Context<'_, '_>, dtype: DType, value: f64) -> ValueId {
    cx.const_scalar(dtype, value)
}

/// The places around the coordinates of one axis, as floats.
fn axis_corners(
    cx: &mut Context<'_, '_>,
    coordinate: ValueId,
    size: &Dim,
    mode: Mode,
    padding: Padding,
    dtype: DType,
) -> Result<Vec<Corner>> {
    let align = cx.bool("align_corners")?;
    let count = cx.dim_value(size)?;
    let count = cx.cast(count, dtype);
    let (zero, one, two) = (scalar(cx, dtype, 0.0), scalar(cx, dtype, 1.0), scalar(cx, dtype, 2.0));
    let last = cx.emit("Sub", &[count, one], vec![]);
    let shifted = cx.emit("Add", &[coordinate, one], vec![]);
    let place = if align {
        let half = cx.emit("Div", &[shifted, two], vec![]);
        cx.emit("Mul", &[half, last], vec![])
    } else {
        let scaled = cx.emit("Mul", &[shifted, count], vec![]);
        let scaled = cx.emit("Sub", &[scaled, one], vec![]);
        cx.emit("Div", &[scaled, two], vec![])
    };
    let place = match padding {
        Padding::Zeros => place,
        Padding::Border => clamp(cx, place, zero, last),
        Padding::Reflection => {
            let reflected = reflect(cx, place, last, count, align, dtype);
            clamp(cx, reflected, zero, last)
        }
    };
    let corner = |cx: &mut Context<'_, '_>, places: ValueId, weights: Option<ValueId>| {
        let clamped = clamp(cx, places, zero, last);
        let inside = match padding {
            Padding::Zeros => Some(cx.emit("Equal", &[clamped, places], vec![])),
            _ => None,
        };
        Corner { places: clamped, weights, inside }
    };
    if mode == Mode::Nearest {
        let rounded = cx.emit("Round", &[place], vec![]);
        return Ok(vec![corner(cx, rounded, None)]);
    }
    let low = cx.emit("Floor", &[place], vec![]);
    let high = cx.emit("Add", &[low, one], vec![]);
    let high_weight = cx.emit("Sub", &[place, low], vec![]);
    let low_weight = cx.emit("Sub", &[high, place], vec![]);
    Ok(vec![corner(cx, low, Some(low_weight)), corner(cx, high, Some(high_weight))])
}

fn clamp(cx: &mut Context<'_, '_>, x: ValueId, low: ValueId, high: ValueId) -> ValueId {
    let x = cx.emit("Max", &[x, low], vec![]);
    cx.emit("Min", &[x, high], vec![])
}

/// Mirrors at the centres of the outer elements (`align`), else at their outer borders.
fn reflect(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    last: ValueId,
    count: ValueId,
    align: bool,
    dtype: DType,
) -> ValueId {
    let (half, one, two) = (scalar(cx, dtype, 0.5), scalar(cx, dtype, 1.0), scalar(cx, dtype, 2.0));
    let (span, x) = if align { (last, x) } else { (count, cx.emit("Add", &[x, half], vec![])) };
    // A single element with `align` has span 0: everything lands on it.
    let span = cx.emit("Max", &[span, half], vec![]);
    let distance = cx.emit("Abs", &[x], vec![]);
    let flips = cx.emit("Div", &[distance, span], vec![]);
    let flips = cx.emit("Floor", &[flips], vec![]);
    let whole = cx.emit("Mul", &[flips, span], vec![]);
    let rest = cx.emit("Sub", &[distance, whole], vec![]);
    let parity = cx.emit("Mod", &[flips, two], attrs![fmod = 1]);
    let is_odd = cx.emit("Equal", &[parity, one], vec![]);
    let back = cx.emit("Sub", &[span, rest], vec![]);
    let mirrored = cx.emit("Where", &[is_odd, back, rest], vec![]);
    if align { mirrored } else { cx.emit("Sub", &[mirrored, half], vec![]) }
}

/// The elements of one choice of corners, times their weight; 0 outside.
fn corner_term(
    cx: &mut Context<'_, '_>,
    flat: ValueId,
    corners: &[Vec<Corner>],
    choice: usize,
    spatial: &[Dim],
    sizes: &[Dim],
    dtype: DType,
) -> Result<ValueId> {
    let mut rest = choice;
    let mut index: Option<ValueId> = None;
    let (mut weight, mut inside): (Option<ValueId>, Option<ValueId>) = (None, None);
    for (axis, size) in corners.iter().zip(spatial) {
        let Some(corner) = axis.get(rest % axis.len().max(1)) else { continue };
        rest /= axis.len().max(1);
        let places = cx.cast(corner.places, DType::I64);
        index = Some(match index {
            None => places,
            Some(index) => {
                let size = cx.dim_value(size)?;
                let scaled = cx.emit("Mul", &[index, size], vec![]);
                cx.emit("Add", &[scaled, places], vec![])
            }
        });
        weight = both(cx, "Mul", weight, corner.weights);
        inside = both(cx, "And", inside, corner.inside);
    }
    let Some(index) = index else { return cx.refuse("has an input without spatial axes") };
    let index = cx.unsqueeze(index, &[1]);
    let index = cx.expand(index, sizes)?;
    let mut term = cx.emit("GatherElements", &[flat, index], attrs![axis = 2]);
    if let Some(weight) = weight {
        let weight = cx.unsqueeze(weight, &[1]);
        term = cx.emit("Mul", &[term, weight], vec![]);
    }
    if let Some(inside) = inside {
        let inside = cx.unsqueeze(inside, &[1]);
        let zero = scalar(cx, dtype, 0.0);
        term = cx.emit("Where", &[inside, term, zero], vec![]);
    }
    Ok(term)
}

fn both(
    cx: &mut Context<'_, '_>,
    op: &'static str,
    a: Option<ValueId>,
    b: Option<ValueId>,
) -> Option<ValueId> {
    match (a, b) {
        (Some(a), Some(b)) => Some(cx.emit(op, &[a, b], vec![])),
        (one, None) | (None, one) => one,
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

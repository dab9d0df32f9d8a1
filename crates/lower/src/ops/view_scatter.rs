//! Writes back what a view shows: `slice_scatter`, `select_scatter`, `diagonal_scatter`, `as_strided_scatter`.
//!
//! - Few places that are known when exporting: one `ScatterND` with constant indices.
//! - Many elements in a row, or a range of an axis: `Concat` of what lies before it, the new part, and what lies behind it.
//! - Else the axes that are indexed are brought to the front, for one `ScatterND` with an index for each place of
//!   these axes, and back again.
//!
//! Deviation: `as_strided_scatter` needs a contiguous tensor of known sizes.

use modelexport_graph::{DType, Dim};

use super::window::{MAX_PLACES, row_major};
use crate::context::Context;
use crate::error::Result;
use crate::ir::{ValueId, model_shape};
use crate::literal::Literal;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::slice_scatter(Tensor self, Tensor src, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
        slice_scatter,
    ),
    Row::new("aten::select_scatter(Tensor self, Tensor src, int dim, SymInt index) -> Tensor", select_scatter),
    Row::new(
        "aten::diagonal_scatter(Tensor self, Tensor src, int offset=0, int dim1=0, int dim2=1) -> Tensor",
        diagonal_scatter,
    ),
    Row::new(
        "aten::as_strided_scatter(Tensor self, Tensor src, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
        as_strided_scatter,
    ),
];

/// Constant indices have at most this many numbers; larger parts are cheaper to join.
const MAX_INDICES: i64 = 4096;

/// `self` and `src` in the type of the result.
fn operands(cx: &mut Context<'_, '_>) -> Result<(ValueId, ValueId)> {
    let dtype = cx.out()?.dtype.real();
    let (x, source) = (cx.tensor("self")?, cx.tensor("src")?);
    Ok((cx.cast(x, dtype), cx.cast(source, dtype)))
}

/// One `ScatterND` that writes `src` to `places` of the axis behind `leading`; `None` if the indices are not known
/// or too many. With `is_row`, `src` lacks the axis, for a single place.
fn at_places(
    cx: &mut Context<'_, '_>,
    leading: &[Dim],
    places: &[i64],
    is_row: bool,
) -> Result<Option<Outputs>> {
    let depth = leading.len() as i64 + 1;
    let Some(leading) = modelexport_graph::shape::static_shape(leading) else { return Ok(None) };
    let rows = leading.iter().fold(1i64, |rows, &size| rows.saturating_mul(size));
    let count = rows.saturating_mul(places.len() as i64).saturating_mul(depth);
    if count > MAX_INDICES || count == 0 {
        return Ok(None);
    }
    let mut indices = Vec::with_capacity(count as usize);
    let mut at = vec![0i64; leading.len()];
    for _ in 0..rows {
        for &place in places {
            indices.extend_from_slice(&at);
            indices.push(place);
        }
        for (index, &size) in at.iter_mut().zip(&leading).rev() {
            *index += 1;
            if *index < size {
                break;
            }
            *index = 0;
        }
    }
    let mut dims = leading;
    if !is_row {
        dims.push(places.len() as i64);
    }
    dims.push(depth);
    let indices = cx.constant(Literal { dims, ..Literal::ints(&indices) });
    let (x, source) = operands(cx)?;
    Ok(Some(cx.emit("ScatterND", &[x, indices, source], vec![]).into()))
}

/// Writes `source`, whose first axes stand for the rows of `indices`, with `axes` of `x` in front.
fn with_axes_in_front(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    source: ValueId,
    indices: ValueId,
    axes: &[i64],
) -> Result<Outputs> {
    let rank = model_shape(cx.out()?).len() as i64;
    let mut order = axes.to_vec();
    order.extend((0..rank).filter(|axis| !axes.contains(axis)));
    let mut back = vec![0i64; order.len()];
    for (i, &axis) in order.iter().enumerate() {
        if let Some(slot) = back.get_mut(axis as usize) {
            *slot = i as i64;
        }
    }
    let x = cx.transpose(x, &order);
    let written = cx.emit("ScatterND", &[x, indices, source], vec![]);
    Ok(cx.transpose(written, &back).into())
}

fn slice_scatter(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let meta = cx.meta("self")?;
    let rank = meta.sizes.len();
    let axis = cx.axis("dim", rank)?;
    let Some(size) = meta.sizes.get(axis as usize).cloned() else {
        return cx.refuse("writes to a slice of a tensor without axes");
    };
    let Some(length) = cx.meta("src")?.sizes.get(axis as usize).cloned() else {
        return cx.refuse("writes a tensor with fewer axes than it is written to");
    };
    let (x, source) = operands(cx)?;
    if length.is(0) {
        return Ok(x.into());
    }
    let step = cx.int("step")?;
    let start = match (cx.dim_opt("start")?, &size) {
        (None, _) => Dim::Static(0),
        (Some(Dim::Static(start)), Dim::Static(size)) if start < 0 => Dim::Static((start + size).max(0)),
        (Some(start), _) => start,
    };
    if step == 1 && start.is(0) && length == size {
        return Ok(source.into());
    }
    if let (Some(first), Some(length), true) =
        (start.as_static(), length.as_static(), start.as_static() >= Some(0))
    {
        let places: Vec<i64> = (0..length).take(MAX_INDICES as usize + 1).map(|i| first + i * step).collect();
        let leading = meta.sizes.get(..axis as usize).unwrap_or_default();
        if let Some(written) = at_places(cx, leading, &places, false)? {
            return Ok(written);
        }
    }
    if step == 1 {
        let end = match cx.dim_opt("end")? {
            None | Some(Dim::Static(i64::MAX)) => size,
            _ => start.plus(&length),
        };
        return joined(cx, axis, &start, &end, source);
    }
    let indices = strided_places(cx, &start, &length, step, &size)?;
    let source = bring_to_front(cx, source, axis)?;
    with_axes_in_front(cx, x, source, indices, &[axis])
}

/// The places `start, start + step, …` of an axis as indices of `ScatterND`.
fn strided_places(
    cx: &mut Context<'_, '_>,
    start: &Dim,
    length: &Dim,
    step: i64,
    size: &Dim,
) -> Result<ValueId> {
    let start = match start {
        Dim::Static(first) if *first < 0 => start.plus(size),
        _ => start.clone(),
    };
    let length = cx.dim_value(length)?;
    let length = cx.squeeze(length, &[0]);
    let (zero, one) = (cx.const_int(0), cx.const_int(1));
    let count = cx.emit("Range", &[zero, length, one], vec![]);
    let step = cx.const_int(step);
    let scaled = cx.emit("Mul", &[count, step], vec![]);
    let start = cx.dim_value(&start)?;
    let places = cx.emit("Add", &[scaled, start], vec![]);
    Ok(cx.unsqueeze(places, &[1]))
}

/// `source` with `axis` as its first axis.
fn bring_to_front(cx: &mut Context<'_, '_>, source: ValueId, axis: i64) -> Result<ValueId> {
    let rank = model_shape(cx.out()?).len() as i64;
    let mut order = vec![axis];
    order.extend((0..rank).filter(|&other| other != axis));
    Ok(cx.transpose(source, &order))
}

/// What lies before `start`, the new part, and what lies from `end` on.
fn joined(cx: &mut Context<'_, '_>, axis: i64, start: &Dim, end: &Dim, part: ValueId) -> Result<Outputs> {
    let (x, _) = operands(cx)?;
    let size = cx.meta("self")?.sizes.get(axis as usize).cloned();
    let axes = cx.const_ints(&[axis]);
    let mut parts = Vec::new();
    if !start.is(0) {
        let (zero, until) = (cx.const_ints(&[0]), cx.dim_value(start)?);
        parts.push(cx.emit("Slice", &[x, zero, until, axes], vec![]));
    }
    parts.push(part);
    // A start that is counted from the end of an axis of unknown size gives an end of 0 for the end of the axis.
    let is_counted_from_end = start.as_static().is_some_and(|start| start < 0);
    let reaches_end = Some(end) == size.as_ref() || (is_counted_from_end && end.is(0));
    if !reaches_end {
        let (from, last) = (cx.dim_value(end)?, cx.const_ints(&[i64::MAX]));
        parts.push(cx.emit("Slice", &[x, from, last, axes], vec![]));
    }
    Ok(cx.concat(&parts, axis).into())
}

fn select_scatter(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let meta = cx.meta("self")?;
    let axis = cx.axis("dim", meta.sizes.len())?;
    let index = match (cx.dim("index")?, meta.sizes.get(axis as usize)) {
        (Dim::Static(index), Some(Dim::Static(size))) if index < 0 => Dim::Static(index + size),
        (Dim::Static(index), Some(size)) if index < 0 => size.plus(&Dim::Static(index)),
        (index, _) => index,
    };
    if let Some(index) = index.as_static() {
        let leading = meta.sizes.get(..axis as usize).unwrap_or_default();
        if let Some(written) = at_places(cx, leading, &[index], true)? {
            return Ok(written);
        }
    }
    let (x, source) = operands(cx)?;
    let index = cx.dim_value(&index)?;
    with_axes_in_front(cx, x, source, index, &[axis])
}

fn diagonal_scatter(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let rank = cx.meta("self")?.sizes.len();
    let (first, second) = (cx.axis("dim1", rank)?, cx.axis("dim2", rank)?);
    let offset = cx.int("offset")?;
    let (x, source) = operands(cx)?;
    let Some(length) = cx.meta("src")?.sizes.last().cloned() else {
        return cx.refuse("writes a diagonal without axes");
    };
    if length.is(0) {
        return Ok(x.into());
    }
    let (down, right) = ((-offset).max(0), offset.max(0));
    if let Some(written) = at_diagonal(cx, (first, second), (down, right))? {
        return Ok(written);
    }
    let indices = match length.as_static() {
        Some(length) => {
            let places: Vec<i64> = (0..length).flat_map(|i| [i + down, i + right]).collect();
            cx.constant(Literal { dims: vec![length, 2], ..Literal::ints(&places) })
        }
        None => {
            let length = cx.dim_value(&length)?;
            let length = cx.squeeze(length, &[0]);
            let (zero, one) = (cx.const_int(0), cx.const_int(1));
            let along = cx.emit("Range", &[zero, length, one], vec![]);
            let along = cx.unsqueeze(along, &[1]);
            let shift = cx.constant(Literal { dims: vec![1, 2], ..Literal::ints(&[down, right]) });
            cx.emit("Add", &[along, shift], vec![])
        }
    };
    // The diagonal is the last axis of `src`.
    let source = bring_diagonal_to_front(cx, source)?;
    with_axes_in_front(cx, x, source, indices, &[first, second])
}

/// One `ScatterND` with an index for each element of a small `src`.
fn at_diagonal(
    cx: &mut Context<'_, '_>,
    (first, second): (i64, i64),
    (down, right): (i64, i64),
) -> Result<Option<Outputs>> {
    let rank = cx.meta("self")?.sizes.len() as i64;
    let Some(mut dims) = modelexport_graph::shape::static_shape(&cx.meta("src")?.sizes) else { return Ok(None) };
    let count = dims.iter().fold(1i64, |count, &size| count.saturating_mul(size));
    if count.saturating_mul(rank) > MAX_INDICES || count == 0 {
        return Ok(None);
    }
    let mut indices = Vec::new();
    for element in 0..count {
        // The place in `src`, whose last axis is the diagonal.
        let mut at = Vec::with_capacity(dims.len());
        let mut rest = element;
        for &size in dims.iter().rev() {
            at.push(rest % size);
            rest /= size;
        }
        let along = at.first().copied().unwrap_or(0);
        let mut others = at.into_iter().skip(1).rev();
        for axis in 0..rank {
            indices.push(match axis {
                _ if axis == first => along + down,
                _ if axis == second => along + right,
                _ => others.next().unwrap_or(0),
            });
        }
    }
    dims.push(rank);
    let indices = cx.constant(Literal { dims, ..Literal::ints(&indices) });
    let (x, source) = operands(cx)?;
    Ok(Some(cx.emit("ScatterND", &[x, indices, source], vec![]).into()))
}

fn bring_diagonal_to_front(cx: &mut Context<'_, '_>, source: ValueId) -> Result<ValueId> {
    let last = cx.meta("src")?.sizes.len() as i64 - 1;
    let mut order = vec![last];
    order.extend(0..last);
    if cx.meta("src")?.dtype.is_complex() {
        order.push(last + 1);
    }
    Ok(cx.transpose(source, &order))
}

fn as_strided_scatter(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let meta = cx.meta("self")?;
    let (size, stride) = (cx.ints("size")?, cx.ints("stride")?);
    let own_offset = meta.storage_offset.as_static().unwrap_or(0);
    let offset = cx.int_opt("storage_offset")?.unwrap_or(own_offset) - own_offset;
    if !is_row_major(&meta.sizes, &meta.strides) || meta.dtype.is_complex() {
        return cx.refuse("writes by strides to a tensor that is not contiguous or not of known size");
    }
    let count = size.iter().fold(1i64, |count, &size| count.saturating_mul(size));
    if count > MAX_PLACES && row_major(&size) == stride {
        return overwrite_run(cx, offset, offset + count);
    }
    let mut places = vec![offset];
    for (&count, &step) in size.iter().zip(&stride) {
        places = places.iter().flat_map(|&at| (0..count).map(move |i| at + i * step)).collect();
    }
    let (x, source) = operands(cx)?;
    if places.is_empty() {
        return Ok(x.into());
    }
    let places = Literal::from_numbers(
        DType::I64,
        size.iter().copied().chain([1]).collect(),
        places.into_iter().map(Into::into),
    );
    let Some(places) = places else { return cx.refuse("has indices that are no integers") };
    let indices = cx.constant(places);
    let flat = if meta.sizes.len() == 1 { x } else { cx.reshape_static(x, &[-1]) };
    let written = cx.emit("ScatterND", &[flat, indices, source], vec![]);
    Ok(cx.reshape(written, &meta.sizes)?.into())
}

/// `self` with the elements from `start` to `end`, counted in order, taken from `src`.
fn overwrite_run(cx: &mut Context<'_, '_>, start: i64, end: i64) -> Result<Outputs> {
    let sizes = cx.meta("self")?.sizes.clone();
    let (x, source) = operands(cx)?;
    let (flat, source) = (cx.reshape_static(x, &[-1]), cx.reshape_static(source, &[-1]));
    let axis = cx.const_ints(&[0]);
    let mut part = |from: i64, to: i64| {
        let (from, to) = (cx.const_ints(&[from]), cx.const_ints(&[to]));
        cx.emit("Slice", &[flat, from, to, axis], vec![])
    };
    let parts = [part(0, start), source, part(end, i64::MAX)];
    let written = cx.concat(&parts, 0);
    Ok(cx.reshape(written, &sizes)?.into())
}

fn is_row_major(sizes: &[Dim], strides: &[Dim]) -> bool {
    let mut expected = 1i64;
    for (size, stride) in sizes.iter().zip(strides).rev() {
        let Some(size) = size.as_static() else { return false };
        if size != 1 && !stride.is(expected) {
            return false;
        }
        expected = expected.saturating_mul(size);
    }
    true
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

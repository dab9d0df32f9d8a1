//! Padding: `Pad`, for negative amounts `Slice` first.
//!
//! PyTorch lists the amounts from the last axis to the first, before and behind each. `circular` is mode `wrap` from
//! opset 19 and a `Concat` of slices before. Amounts may be symbolic for constants; then their sign does not matter
//! either, as `Pad` takes negative ones there.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::pad(Tensor self, SymInt[] pad, str mode=\"constant\", float? value=None) -> Tensor", by_name),
    Row::new("aten::_pad_enum(Tensor self, SymInt[] pad, int mode, float? value=None) -> Tensor", by_number),
    Row::new("aten::constant_pad_nd(Tensor self, SymInt[] pad, Scalar value=0) -> Tensor", |cx| {
        lower(cx, "pad", Mode::Constant)
    }),
    Row::new("aten::_pad_circular(Tensor self, SymInt[] pad) -> Tensor", |cx| lower(cx, "pad", Mode::Circular)),
    Row::new("aten::reflection_pad1d(Tensor self, SymInt[2] padding) -> Tensor", reflect),
    Row::new("aten::reflection_pad2d(Tensor self, SymInt[4] padding) -> Tensor", reflect),
    Row::new("aten::reflection_pad3d(Tensor self, SymInt[6] padding) -> Tensor", reflect),
    Row::new("aten::replication_pad1d(Tensor self, SymInt[2] padding) -> Tensor", replicate),
    Row::new("aten::replication_pad2d(Tensor self, SymInt[4] padding) -> Tensor", replicate),
    Row::new("aten::replication_pad3d(Tensor self, SymInt[6] padding) -> Tensor", replicate),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Mode {
    Constant,
    Reflect,
    Replicate,
    Circular,
}

fn reflect(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    lower(cx, "padding", Mode::Reflect)
}

fn replicate(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    lower(cx, "padding", Mode::Replicate)
}

fn by_name(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let mode = match cx.str_opt("mode")?.as_deref() {
        None | Some("constant") => Mode::Constant,
        Some("reflect") => Mode::Reflect,
        Some("replicate") => Mode::Replicate,
        Some("circular") => Mode::Circular,
        other => return cx.wrong("mode", "`constant`, `reflect`, `replicate` or `circular`", other),
    };
    lower(cx, "pad", mode)
}

/// PyTorch's enumeration of the modes.
fn by_number(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let mode = match cx.int("mode")? {
        0 => Mode::Reflect,
        1 => Mode::Replicate,
        2 => Mode::Circular,
        3 => Mode::Constant,
        other => return cx.wrong("mode", "a number from 0 to 3", other),
    };
    lower(cx, "pad", mode)
}

/// Amounts before and behind each axis, from the first axis on.
fn amounts(cx: &Context<'_, '_>, name: &str, rank: usize) -> Result<(Vec<Dim>, Vec<Dim>)> {
    let pads = cx.dims(name)?;
    if pads.len() % 2 != 0 || pads.len() / 2 > rank {
        return cx.wrong(name, &format!("two numbers for each of at most {rank} axes"), pads.len());
    }
    let (mut before, mut behind) = (vec![Dim::Static(0); rank], vec![Dim::Static(0); rank]);
    for (i, pair) in pads.chunks(2).enumerate() {
        let axis = rank - 1 - i;
        if let ([first, second], Some(before), Some(behind)) = (pair, before.get_mut(axis), behind.get_mut(axis)) {
            (*before, *behind) = (first.clone(), second.clone());
        }
    }
    Ok((before, behind))
}

fn lower(cx: &mut Context<'_, '_>, name: &str, mode: Mode) -> Result<Outputs> {
    let meta = cx.meta("self")?;
    if meta.dtype.is_complex() {
        return cx.refuse("complex numbers are not supported");
    }
    let rank = meta.sizes.len();
    let (mut before, mut behind) = amounts(cx, name, rank)?;
    let mut x = cx.tensor("self")?;
    let all = || before.iter().chain(&behind);
    if all().all(|pad| pad.is(0)) {
        return Ok(x.into());
    }
    let known = all().all(|pad| pad.as_static().is_some());
    let only_cuts = known && all().all(|pad| pad.as_static().unwrap_or(0) <= 0);
    if mode == Mode::Circular && !known {
        return cx.refuse("circular padding needs amounts that are known when exporting");
    }
    if mode == Mode::Replicate && known {
        x = repeat_nearest(cx, x, &meta.sizes, &mut before, &mut behind);
    }
    if only_cuts || (mode != Mode::Constant && known) {
        x = cut(cx, x, &mut before, &mut behind);
    }
    if before.iter().chain(&behind).all(|pad| pad.is(0)) {
        return Ok(x.into());
    }
    if mode == Mode::Circular && leaves_nothing(&meta.sizes, &amounts(cx, name, rank)?) {
        return cx.refuse("circular padding repeats what negative amounts cut off completely: PyTorch leaves that open");
    }
    // onnxruntime has no mode `wrap` for tensors without elements.
    let may_be_empty = meta.sizes.iter().any(|size| cx.may_be_empty(size));
    if mode == Mode::Circular && (cx.opset < 19 || may_be_empty) {
        return Ok(wrapped(cx, x, &before, &behind).into());
    }
    // Types that `Pad` has no kernel for are moved in a wider one.
    let compute = match meta.dtype {
        DType::BF16 => DType::F32,
        DType::I16 | DType::U16 => DType::I32,
        other => other,
    };
    x = cx.cast(x, compute);
    let pads: Vec<Dim> = before.into_iter().chain(behind).collect();
    let pads = cx.shape_value(&pads)?;
    let mut inputs = vec![x, pads];
    let attributes = match mode {
        Mode::Constant => {
            let value = cx.scalar_opt("value")?;
            if let Some(value) = value.filter(|value| !value.is(0.0)) {
                inputs.push(cx.scalar_value(value, compute));
            }
            vec![]
        }
        Mode::Reflect => attrs![mode = "reflect"],
        Mode::Replicate => attrs![mode = "edge"],
        Mode::Circular => attrs![mode = "wrap"],
    };
    let y = cx.emit("Pad", &inputs, attributes);
    Ok(cx.cast(y, meta.dtype).into())
}

/// Cuts off what negative amounts say and sets these to 0.
fn cut(cx: &mut Context<'_, '_>, x: ValueId, before: &mut [Dim], behind: &mut [Dim]) -> ValueId {
    let (mut axes, mut starts, mut ends) = (Vec::new(), Vec::new(), Vec::new());
    for (axis, (before, behind)) in before.iter_mut().zip(behind).enumerate() {
        let (first, last) = (before.as_static().unwrap_or(0), behind.as_static().unwrap_or(0));
        if first >= 0 && last >= 0 {
            continue;
        }
        axes.push(axis as i64);
        starts.push((-first).max(0));
        ends.push(if last < 0 { last } else { i64::MAX });
        *before = Dim::Static(first.max(0));
        *behind = Dim::Static(last.max(0));
    }
    if axes.is_empty() {
        return x;
    }
    let steps = vec![1; axes.len()];
    cx.slice(x, &axes, &starts, &ends, &steps)
}

/// Axes of which negative amounts leave nothing: PyTorch still repeats the elements that were nearest.
fn repeat_nearest(
    cx: &mut Context<'_, '_>,
    mut x: ValueId,
    sizes: &[Dim],
    before: &mut [Dim],
    behind: &mut [Dim],
) -> ValueId {
    for (axis, (size, (before, behind))) in sizes.iter().zip(before.iter_mut().zip(behind)).enumerate() {
        let (Some(size), Some(first), Some(last)) = (size.as_static(), before.as_static(), behind.as_static()) else {
            continue;
        };
        if size == 0 || size + first.min(0) + last.min(0) > 0 {
            continue;
        }
        let places: Vec<i64> = (0..size + first + last).map(|place| (place - first).clamp(0, size - 1)).collect();
        let places = cx.const_ints(&places);
        x = cx.emit("Gather", &[x, places], attrs![axis = axis as i64]);
        (*before, *behind) = (Dim::Static(0), Dim::Static(0));
    }
    x
}

/// Whether negative amounts leave nothing of an axis that another amount makes longer.
fn leaves_nothing(sizes: &[Dim], (before, behind): &(Vec<Dim>, Vec<Dim>)) -> bool {
    sizes.iter().zip(before.iter().zip(behind)).any(|(size, (before, behind))| {
        match (size.as_static(), before.as_static(), behind.as_static()) {
            (Some(size), Some(first), Some(last)) => {
                size + first.min(0) + last.min(0) <= 0 && first.max(last) > 0
            }
            _ => false,
        }
    })
}

/// Axis by axis: the end, the whole, the beginning.
fn wrapped(cx: &mut Context<'_, '_>, x: ValueId, before: &[Dim], behind: &[Dim]) -> ValueId {
    let mut y = x;
    for (axis, (before, behind)) in before.iter().zip(behind).enumerate() {
        let (first, last) = (before.as_static().unwrap_or(0), behind.as_static().unwrap_or(0));
        let axis = axis as i64;
        let mut parts = Vec::with_capacity(3);
        if first > 0 {
            parts.push(cx.slice(y, &[axis], &[-first], &[i64::MAX], &[1]));
        }
        parts.push(y);
        if last > 0 {
            parts.push(cx.slice(y, &[axis], &[0], &[last], &[1]));
        }
        y = cx.concat(&parts, axis);
    }
    y
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::{lowered, refused};

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }

    #[test]
    fn circular_padding_of_what_was_cut_off_is_refused() {
        assert_eq!(
            refused("aten._pad_circular.default(self: f32[2, 3, 5], pad=[-5, 5]) -> f32[2, 3, 5]"),
            "node `_pad_circular` (aten._pad_circular.default) in module `(root)`: circular padding repeats what negative \
             amounts cut off completely: PyTorch leaves that open"
        );
    }
}

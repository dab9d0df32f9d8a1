//! Turning and mirroring: `Slice` and `Concat`; a mirrored axis is a `Slice` with step -1.

use modelexport_graph::{Dim, SymExpr, SymOp};

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::roll(Tensor self, SymInt[1] shifts, int[1] dims=[]) -> Tensor", roll),
    Row::new("aten::fft_fftshift(Tensor self, int[1]? dim=None) -> Tensor", |cx| swap_halves(cx, 1)),
    Row::new("aten::fft_ifftshift(Tensor self, int[1]? dim=None) -> Tensor", |cx| swap_halves(cx, 0)),
    Row::new("aten::flip(Tensor self, int[] dims) -> Tensor", flip),
    Row::new("aten::fliplr(Tensor self) -> Tensor", |cx| mirrored(cx, &[1])),
    Row::new("aten::flipud(Tensor self) -> Tensor", |cx| mirrored(cx, &[0])),
    Row::new("aten::rot90(Tensor self, int k=1, int[] dims=[0, 1]) -> Tensor", rot90),
];

fn roll(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let mut x = cx.tensor("self")?;
    let sizes = cx.meta("self")?.sizes.clone();
    let (shifts, dims) = (cx.ints("shifts")?, cx.ints("dims")?);
    if dims.is_empty() {
        let Some(count) = modelexport_graph::shape::static_numel(&sizes) else {
            return cx.refuse("rolls a flattened tensor of symbolic sizes");
        };
        let flat = cx.reshape_static(x, &[count]);
        let shift = shifts.first().copied().unwrap_or(0);
        let turned = turn(cx, flat, 0, &Dim::Static(count), shift)?;
        return Ok(cx.reshape(turned, &sizes)?.into());
    }
    for (shift, dim) in shifts.into_iter().zip(dims) {
        let axis = cx.normalize_axis("dims", dim, sizes.len())?;
        if let Some(size) = sizes.get(axis as usize) {
            x = turn(cx, x, axis, size, shift)?;
        }
    }
    Ok(x.into())
}

/// The last `shift` elements come first.
fn turn(cx: &mut Context<'_, '_>, x: ValueId, axis: i64, size: &Dim, shift: i64) -> Result<ValueId> {
    let at = match size {
        Dim::Static(0) => return Ok(x),
        Dim::Static(size) => match shift.rem_euclid(*size) {
            0 => return Ok(x),
            shift => Dim::Static(size - shift),
        },
        Dim::Symbolic(size) => {
            let turned = SymExpr::Call(SymOp::Mod, vec![SymExpr::Int(-shift), size.clone()]);
            Dim::Symbolic(turned)
        }
    };
    turn_at(cx, x, axis, &at)
}

/// Elements from `at` on come first.
fn turn_at(cx: &mut Context<'_, '_>, x: ValueId, axis: i64, at: &Dim) -> Result<ValueId> {
    let at = cx.dim_value(at)?;
    let (start, end, axes) = (cx.const_ints(&[0]), cx.const_ints(&[i64::MAX]), cx.const_ints(&[axis]));
    let back = cx.emit("Slice", &[x, at, end, axes], vec![]);
    let front = cx.emit("Slice", &[x, start, at, axes], vec![]);
    Ok(cx.concat(&[back, front], axis))
}

/// The second half of each axis comes first; the middle of an odd size belongs to the first half if `extra` is 1.
fn swap_halves(cx: &mut Context<'_, '_>, extra: i64) -> Result<Outputs> {
    let mut x = cx.tensor("self")?;
    let sizes = cx.meta("self")?.sizes.clone();
    let axes = match cx.ints_opt("dim")? {
        Some(_) => cx.axes("dim", sizes.len())?,
        None => (0..sizes.len() as i64).collect(),
    };
    for axis in axes {
        let at = match sizes.get(axis as usize) {
            None | Some(Dim::Static(..=1)) => continue,
            Some(Dim::Static(size)) => Dim::Static((size + extra) / 2),
            Some(Dim::Symbolic(size)) => {
                let more = SymExpr::Call(SymOp::Add, vec![size.clone(), SymExpr::Int(extra)]);
                Dim::Symbolic(SymExpr::Call(SymOp::FloorDiv, vec![more, SymExpr::Int(2)]))
            }
        };
        x = turn_at(cx, x, axis, &at)?;
    }
    Ok(x.into())
}

fn flip(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let rank = cx.meta("self")?.sizes.len();
    let dims = cx.ints("dims")?;
    let axes = dims.into_iter().map(|dim| cx.normalize_axis("dims", dim, rank)).collect::<Result<Vec<i64>>>()?;
    mirrored(cx, &axes)
}

fn mirrored(cx: &mut Context<'_, '_>, axes: &[i64]) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    if axes.is_empty() || cx.meta("self")?.sizes.is_empty() {
        return Ok(x.into());
    }
    Ok(mirror(cx, x, axes).into())
}

fn mirror(cx: &mut Context<'_, '_>, x: ValueId, axes: &[i64]) -> ValueId {
    let count = axes.len();
    cx.slice(x, axes, &vec![-1; count], &vec![i64::MIN + 1; count], &vec![-1; count])
}

fn rot90(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let rank = cx.meta("self")?.sizes.len();
    let dims = cx.axes("dims", rank)?;
    let [a, b] = dims.as_slice() else { return cx.wrong("dims", "two axes", dims) };
    let swapped: Vec<i64> =
        (0..rank as i64).map(|axis| if axis == *a { *b } else if axis == *b { *a } else { axis }).collect();
    Ok(match cx.int("k")?.rem_euclid(4) {
        0 => x,
        1 => {
            let x = mirror(cx, x, &[*b]);
            cx.transpose(x, &swapped)
        }
        2 => mirror(cx, x, &[*a, *b]),
        _ => {
            let x = cx.transpose(x, &swapped);
            mirror(cx, x, &[*b])
        }
    }
    .into())
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

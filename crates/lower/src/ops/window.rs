//! Windows, diagonals and strided views: the places are known when exporting, so that they are read with one `Gather`.
//! Many elements in a row are cut out with `Slice`, which needs no table of places.

use modelexport_graph::DType;
use modelexport_graph::shape::static_shape;

use super::selection::choose;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::{Literal, Number};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::unfold(Tensor(a) self, int dimension, int size, int step) -> Tensor(a)", unfold),
    Row::new("aten::unfold_copy(Tensor self, int dimension, int size, int step) -> Tensor", unfold),
    Row::new("aten::diagonal(Tensor(a) self, int offset=0, int dim1=0, int dim2=1) -> Tensor(a)", |cx| {
        diagonal(cx, "self")
    }),
    Row::new("aten::diagonal_copy(Tensor self, int offset=0, int dim1=0, int dim2=1) -> Tensor", |cx| {
        diagonal(cx, "self")
    }),
    Row::new("aten::linalg_diagonal(Tensor(a) A, *, int offset=0, int dim1=-2, int dim2=-1) -> Tensor(a)", |cx| {
        diagonal(cx, "A")
    }),
    Row::new("aten::diag(Tensor self, int diagonal=0) -> Tensor", diag),
    Row::new("aten::diagflat(Tensor self, int offset=0) -> Tensor", diagflat),
    Row::new("aten::diag_embed(Tensor self, int offset=0, int dim1=-2, int dim2=-1) -> Tensor", diag_embed),
    Row::new("aten::trace(Tensor self) -> Tensor", trace),
    Row::new(
        "aten::as_strided(Tensor(a) self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor(a)",
        as_strided,
    ),
    Row::new(
        "aten::as_strided_copy(Tensor self, SymInt[] size, SymInt[] stride, SymInt? storage_offset=None) -> Tensor",
        as_strided,
    ),
];

/// Elements in a row above this number are cut out.
pub(super) const MAX_PLACES: i64 = 4096;

/// Places as a constant of `dims`.
fn places(cx: &mut Context<'_, '_>, dims: Vec<i64>, values: impl Iterator<Item = i64>) -> Result<ValueId> {
    match Literal::from_numbers(DType::I64, dims, values.map(Number::Int)) {
        Some(literal) => Ok(cx.constant(literal)),
        None => cx.refuse("has places that are not integers"),
    }
}

/// Windows of `size` along an axis; their elements go to a new last axis.
fn unfold(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let sizes = &cx.meta("self")?.sizes;
    let rank = sizes.len();
    let (size, step) = (cx.int("size")?, cx.int("step")?);
    if rank == 0 {
        let shape = cx.out()?.sizes.clone();
        return Ok(cx.reshape(x, &shape)?.into());
    }
    let axis = cx.axis("dimension", rank)?;
    let Some(count) = cx.out()?.sizes.get(axis as usize).and_then(|size| size.as_static()) else {
        return cx.refuse("takes windows along an axis of symbolic size");
    };
    let index = places(cx, vec![count, size], (0..count).flat_map(|i| (0..size).map(move |j| i * step + j)))?;
    let windows = cx.emit("Gather", &[x, index], attrs![axis = axis]);
    let order: Vec<i64> = (0..=rank as i64).filter(|&a| a != axis + 1).chain([axis + 1]).collect();
    Ok(cx.transpose(windows, &order).into())
}

fn diagonal(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    let x = cx.tensor(name)?;
    let sizes = cx.meta(name)?.sizes.clone();
    let rank = sizes.len();
    let (first, second) = (cx.axis("dim1", rank)?, cx.axis("dim2", rank)?);
    let offset = cx.int("offset")?;
    diagonal_of(cx, x, &sizes, first, second, offset).map(Outputs::from)
}

/// Both axes go to the end, are merged, and the places of the diagonal are picked.
fn diagonal_of(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    sizes: &[modelexport_graph::Dim],
    first: i64,
    second: i64,
    offset: i64,
) -> Result<ValueId> {
    let rows = sizes.get(first as usize).and_then(|size| size.as_static());
    let columns = sizes.get(second as usize).and_then(|size| size.as_static());
    let (Some(rows), Some(columns)) = (rows, columns) else {
        return cx.refuse("takes the diagonal of axes of symbolic size");
    };
    let order: Vec<i64> =
        (0..sizes.len() as i64).filter(|&axis| axis != first && axis != second).chain([first, second]).collect();
    let x = cx.transpose(x, &order);
    let mut merged: Vec<_> =
        order.iter().take(order.len() - 2).filter_map(|&axis| sizes.get(axis as usize).cloned()).collect();
    merged.push((rows * columns).into());
    let x = cx.reshape(x, &merged)?;
    let (row, column) = ((-offset).max(0), offset.max(0));
    let count = (rows - row).min(columns - column).max(0);
    let index = places(cx, vec![count], (0..count).map(|i| (row + i) * columns + column + i))?;
    Ok(cx.emit("Gather", &[x, index], attrs![axis = -1]))
}

fn diag(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let sizes = cx.meta("self")?.sizes.clone();
    let offset = cx.int("diagonal")?;
    match sizes.len() {
        1 => embed(cx, x, offset, 0, 1).map(Outputs::from),
        _ => diagonal_of(cx, x, &sizes, 0, 1, offset).map(Outputs::from),
    }
}

fn diagflat(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let flat = cx.reshape_static(x, &[-1]);
    let offset = cx.int("offset")?;
    embed(cx, flat, offset, 0, 1).map(Outputs::from)
}

fn diag_embed(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let rank = cx.out()?.sizes.len();
    let (first, second) = (cx.axis("dim1", rank)?, cx.axis("dim2", rank)?);
    let offset = cx.int("offset")?;
    embed(cx, x, offset, first, second).map(Outputs::from)
}

/// A matrix that is zero outside of a diagonal: elements are spread by `Gather` and masked.
fn embed(cx: &mut Context<'_, '_>, x: ValueId, offset: i64, first: i64, second: i64) -> Result<ValueId> {
    let out = cx.out()?;
    let Some(side) = out.sizes.get(first as usize).and_then(|size| size.as_static()) else {
        return cx.refuse("makes a diagonal of symbolic size");
    };
    let rank = out.sizes.len() as i64;
    let (row, column) = ((-offset).max(0), offset.max(0));
    let on_diagonal = move |i: i64| {
        let (r, c) = (i / side.max(1), i % side.max(1));
        r - row == c - column && r >= row && c >= column
    };
    let count = side * side;
    let index = places(
        cx,
        vec![side, side],
        (0..count).map(|i| if on_diagonal(i) { i / side.max(1) - row } else { 0 }),
    )?;
    let spread = cx.emit("Gather", &[x, index], attrs![axis = -1]);
    let mask = Literal::from_numbers(DType::Bool, vec![side, side], (0..count).map(|i| Number::from(on_diagonal(i))));
    let Some(mask) = mask else { return cx.refuse("makes a diagonal that is too large") };
    let mask = cx.constant(mask);
    let zero = cx.const_scalar(out.dtype, 0);
    let matrix = choose(cx, mask, spread, zero);
    let mut front = 0..rank - 2;
    let order: Vec<i64> = (0..rank)
        .map(|axis| {
            if axis == first {
                rank - 2
            } else if axis == second {
                rank - 1
            } else {
                front.next().unwrap_or(0)
            }
        })
        .collect();
    Ok(cx.transpose(matrix, &order))
}

fn trace(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let sizes = cx.meta("self")?.sizes.clone();
    let dtype = cx.out()?.dtype;
    let diagonal = diagonal_of(cx, x, &sizes, 0, 1, 0)?;
    let diagonal = cx.cast(diagonal, dtype);
    Ok(cx.reduce("ReduceSum", diagonal, &[0], false).into())
}

/// Places in the storage of a tensor that has no gaps.
fn as_strided(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let meta = cx.meta("self")?;
    let (sizes, strides) = (cx.ints("size")?, cx.ints("stride")?);
    let own = static_shape(&meta.sizes).zip(static_shape(&meta.strides));
    let Some((own_sizes, own_strides)) = own else { return cx.refuse("views a tensor of symbolic sizes by strides") };
    let mut expected = 1;
    for (&size, &stride) in own_sizes.iter().zip(&own_strides).rev() {
        if size != 1 && stride != expected {
            return cx.refuse("views a tensor by strides whose own elements have gaps or another order");
        }
        expected *= size;
    }
    let own_offset = meta.storage_offset.as_static().unwrap_or(0);
    let offset = cx.int_opt("storage_offset")?.unwrap_or(own_offset) - own_offset;
    let count: i64 = sizes.iter().product();
    let flat = cx.reshape_static(x, &[-1]);
    if count > MAX_PLACES && row_major(&sizes) == strides {
        let bounds = [offset, offset + count, 0].map(|bound| cx.const_ints(&[bound]));
        let run = cx.emit("Slice", &[flat, bounds[0], bounds[1], bounds[2]], vec![]);
        return Ok(cx.reshape_static(run, &sizes).into());
    }
    let index = places(
        cx,
        sizes.clone(),
        (0..count).map(|flat| {
            let mut rest = flat;
            let mut place = offset;
            for (&size, &stride) in sizes.iter().zip(&strides).rev() {
                place += rest % size * stride;
                rest /= size;
            }
            place
        }),
    )?;
    Ok(cx.emit("Gather", &[flat, index], attrs![axis = 0]).into())
}

/// The strides of elements that lie in order without gaps.
pub(super) fn row_major(sizes: &[i64]) -> Vec<i64> {
    let mut strides: Vec<i64> = sizes
        .iter()
        .rev()
        .scan(1i64, |next, &size| Some(std::mem::replace(next, next.saturating_mul(size))))
        .collect();
    strides.reverse();
    strides
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

//! Reading by index tensors.
//!
//! One integer index is a `Gather`. Several are broadcast together and read with `GatherND` after their axes were
//! moved to the front; the axes that they make stand where the indexed axes stood if these were neighbours, else in
//! front, as in numpy. A mask counts as the indices of its true places (`NonZero`).

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::compute::broadcast;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index),
    Row::new("aten::_unsafe_index.Tensor(Tensor self, Tensor?[] indices) -> Tensor", index),
    Row::new("aten::index_select(Tensor self, int dim, Tensor index) -> Tensor", index_select),
    Row::new("aten::gather(Tensor self, int dim, Tensor index, *, bool sparse_grad=False) -> Tensor", gather),
    Row::new("aten::take(Tensor self, Tensor index) -> Tensor", take),
    Row::new("aten::take_along_dim(Tensor self, Tensor indices, int? dim=None) -> Tensor", take_along_dim),
];

/// Index tensors of `self` in order, masks resolved to the indices of their true places.
pub(super) struct Indices {
    /// Indexed axes of `self` and what indexes them, by axis.
    pub by_axis: Vec<(i64, ValueId)>,
    /// The shape that all index tensors broadcast to.
    pub sizes: Vec<Dim>,
    /// The indexed axes are neighbours, so that the result has the new axes in their place.
    pub in_place: bool,
}

pub(super) fn indices(cx: &mut Context<'_, '_>, result: &[Dim], rank: usize) -> Result<Indices> {
    let given = cx.optional_tensors("indices")?;
    let mut by_axis = Vec::new();
    let mut sizes: Vec<Dim> = Vec::new();
    let mut axis = 0i64;
    let mut has_mask = false;
    let mut groups = Vec::new();
    for value in given {
        let Some(value) = value else {
            axis += 1;
            continue;
        };
        let shape = cx.shape(value).map(<[Dim]>::to_vec).unwrap_or_default();
        groups.push(axis);
        if matches!(cx.dtype(value), DType::Bool | DType::U8) {
            has_mask = true;
            let places = true_places(cx, value, shape.len());
            for place in places {
                by_axis.push((axis, place));
                axis += 1;
            }
        } else {
            sizes = broadcast(&sizes, &shape);
            let value = cx.cast(value, DType::I64);
            by_axis.push((axis, value));
            axis += 1;
        }
    }
    let axes: Vec<i64> = by_axis.iter().map(|(axis, _)| *axis).collect();
    let in_place = axes.windows(2).all(|pair| matches!(pair, [a, b] if a + 1 == *b));
    if has_mask {
        // How many places are true is known from the result alone.
        let front = if in_place { axes.first().copied().unwrap_or(0) as usize } else { 0 };
        let new_axes = (result.len() + axes.len()).saturating_sub(rank);
        sizes = result.iter().skip(front).take(new_axes).cloned().collect();
    }
    Ok(Indices { by_axis, sizes, in_place })
}

/// The indices of the true places of a mask, one 1-D tensor for each of its axes.
fn true_places(cx: &mut Context<'_, '_>, mask: ValueId, rank: usize) -> Vec<ValueId> {
    let mask = cx.cast(mask, DType::Bool);
    let places = cx.emit("NonZero", &[mask], vec![]);
    let rows = cx.split(places, &vec![1; rank], 0);
    rows.into_iter().map(|row| cx.squeeze(row, &[0])).collect()
}

impl Indices {
    /// The order of the axes of `self` with the indexed ones in front.
    pub fn front_order(&self, rank: usize) -> Vec<i64> {
        let indexed = self.by_axis.iter().map(|(axis, _)| *axis);
        let rest = (0..rank as i64).filter(|axis| self.by_axis.iter().all(|(indexed, _)| indexed != axis));
        indexed.chain(rest).collect()
    }

    /// One tensor whose last axis holds the index for each indexed axis.
    pub fn stacked(&self, cx: &mut Context<'_, '_>) -> Result<ValueId> {
        let mut columns = Vec::with_capacity(self.by_axis.len());
        for (_, value) in &self.by_axis {
            let is_mask_row = cx.shape(*value).is_none();
            let value = if is_mask_row && self.sizes.len() == 1 { *value } else { cx.expand(*value, &self.sizes)? };
            columns.push(cx.unsqueeze(value, &[-1]));
        }
        Ok(cx.concat(&columns, -1))
    }

    /// From `[new axes, other axes]` to where the new axes belong.
    pub fn result_order(&self, rank: usize) -> Vec<i64> {
        let new = self.sizes.len() as i64;
        let others = rank as i64 - self.by_axis.len() as i64;
        let before = match (self.in_place, self.by_axis.first()) {
            (true, Some((axis, _))) => *axis,
            _ => 0,
        };
        (new..new + before).chain(0..new).chain(new + before..new + others).collect()
    }
}

fn index(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let rank = cx.meta("self")?.sizes.len();
    let result = cx.out()?.sizes.clone();
    let indices = indices(cx, &result, rank)?;
    read(cx, x, &indices, rank)
}

/// The elements at `indices`.
pub(super) fn read(cx: &mut Context<'_, '_>, x: ValueId, indices: &Indices, rank: usize) -> Result<Outputs> {
    match indices.by_axis.as_slice() {
        [] => return Ok(x.into()),
        [(axis, index)] => return Ok(cx.emit("Gather", &[x, *index], attrs![axis = *axis]).into()),
        _ => {}
    }
    if cx.meta("self")?.dtype.is_complex() {
        return cx.refuse("indexes a complex tensor with several tensors");
    }
    let front = cx.transpose(x, &indices.front_order(rank));
    let stacked = indices.stacked(cx)?;
    let picked = cx.emit("GatherND", &[front, stacked], vec![]);
    Ok(cx.transpose(picked, &indices.result_order(rank)).into())
}

fn index_select(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, index) = (cx.tensor("self")?, cx.tensor("index")?);
    let rank = cx.meta("self")?.sizes.len();
    if rank == 0 {
        return Ok(x.into());
    }
    let axis = cx.axis("dim", rank)?;
    let index = if cx.meta("index")?.sizes.is_empty() { cx.unsqueeze(index, &[0]) } else { index };
    Ok(cx.emit("Gather", &[x, index], attrs![axis = axis]).into())
}

fn gather(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, index) = (cx.tensor("self")?, cx.tensor("index")?);
    let rank = cx.meta("self")?.sizes.len();
    let axis = cx.axis("dim", rank)?;
    let index_rank = cx.meta("index")?.sizes.len();
    let index = cx.cast(index, DType::I64);
    let (x, index) = match (rank, index_rank) {
        (0, 0) => (cx.unsqueeze(x, &[0]), cx.unsqueeze(index, &[0])),
        (0, _) => (cx.unsqueeze(x, &[0]), index),
        (_, 0) => (x, cx.unsqueeze(index, &[0])),
        _ => (x, index),
    };
    let picked = cx.emit("GatherElements", &[x, index], attrs![axis = axis]);
    Ok(if index_rank == 0 { cx.squeeze(picked, &[0]) } else { picked }.into())
}

fn take(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, index) = (cx.tensor("self")?, cx.tensor("index")?);
    let flat = cx.reshape_static(x, &[-1]);
    Ok(cx.emit("Gather", &[flat, index], attrs![axis = 0]).into())
}

fn take_along_dim(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, index) = (cx.tensor("self")?, cx.tensor("indices")?);
    let Some(dim) = cx.int_opt("dim")? else {
        let (x, index) = (cx.reshape_static(x, &[-1]), cx.reshape_static(index, &[-1]));
        return Ok(cx.emit("GatherElements", &[x, index], attrs![axis = 0]).into());
    };
    let (x_sizes, index_sizes) = (cx.meta("self")?.sizes.clone(), cx.meta("indices")?.sizes.clone());
    let axis = cx.normalize_axis("dim", dim, x_sizes.len())?;
    let mut common = broadcast(&x_sizes, &index_sizes);
    let along = |sizes: &[Dim]| sizes.get(axis as usize).cloned().unwrap_or(Dim::Static(1));
    let mut shape_for = |sizes: &[Dim]| {
        if let Some(slot) = common.get_mut(axis as usize) {
            *slot = along(sizes);
        }
        common.clone()
    };
    let (x_shape, index_shape) = (shape_for(&x_sizes), shape_for(&index_sizes));
    let (x, index) = (cx.expand(x, &x_shape)?, cx.expand(index, &index_shape)?);
    Ok(cx.emit("GatherElements", &[x, index], attrs![axis = axis]).into())
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

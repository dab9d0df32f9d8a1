//! Operators that cut a tensor into several along one axis: `Split`, with `Squeeze` where the axis goes away.
//!
//! The sizes of the parts are those of the results. Where a tensor holds the places to cut at, parts are slices.

use modelexport_graph::{DType, Dim};

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]", split),
    Row::new("aten::split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", split),
    Row::new("aten::split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]", split),
    Row::new("aten::split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]", split),
    Row::new("aten::split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]", split),
    Row::new("aten::unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", split),
    Row::new("aten::unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]", split),
    Row::new("aten::unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", split),
    Row::new("aten::hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", hsplit),
    Row::new("aten::hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", hsplit),
    Row::new("aten::vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", |cx| split_along(cx, 0)),
    Row::new("aten::vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", |cx| split_along(cx, 0)),
    Row::new("aten::dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", |cx| split_along(cx, 2)),
    Row::new("aten::dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", |cx| split_along(cx, 2)),
    Row::new("aten::chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", split),
    Row::new("aten::tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]", split),
    Row::new("aten::tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]", split),
    Row::new(
        "aten::tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
        split_by_tensor,
    ),
    Row::new("aten::unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", unbind),
    Row::new("aten::unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", unbind),
];

fn split(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let axis = cx.axis("dim", cx.meta("self")?.sizes.len())?;
    split_along(cx, axis)
}

/// Along the second axis; a vector has only the first.
fn hsplit(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let axis = i64::from(cx.meta("self")?.sizes.len() > 1);
    split_along(cx, axis)
}

fn split_along(cx: &mut Context<'_, '_>, axis: i64) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let sizes: Vec<Dim> =
        cx.out_metas().iter().filter_map(|meta| meta.sizes.get(axis as usize).cloned()).collect();
    Ok(parts(cx, x, &sizes, axis)?.into())
}

/// A tensor of places cuts as slices do, which count negative places from behind. A tensor with the number of parts has
/// been read by the capture: the sizes of the parts are known.
fn split_by_tensor(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let count = cx.out_count();
    if count <= 1 || cx.meta("tensor_indices_or_sections")?.sizes.is_empty() {
        return split(cx);
    }
    let x = cx.tensor("self")?;
    let axis = cx.axis("dim", cx.meta("self")?.sizes.len())?;
    let places = cx.tensor("tensor_indices_or_sections")?;
    let places = cx.cast(places, DType::I64);
    let places = cx.split(places, &vec![1; count - 1], 0);
    let (start, end, axes) = (cx.const_ints(&[0]), cx.const_ints(&[i64::MAX]), cx.const_ints(&[axis]));
    let starts = std::iter::once(start).chain(places.iter().copied());
    let ends = places.iter().copied().chain([end]);
    let parts = starts.zip(ends).map(|(start, end)| cx.emit("Slice", &[x, start, end, axes], vec![]));
    Ok(parts.collect::<Vec<_>>().into())
}

/// Cuts `x` along `axis`; the sizes may be symbolic.
fn parts(cx: &mut Context<'_, '_>, x: ValueId, sizes: &[Dim], axis: i64) -> Result<Vec<ValueId>> {
    if let [_] = sizes {
        return Ok(vec![x]);
    }
    let split = cx.shape_value(sizes)?;
    Ok(cx.emit_many("Split", &[Some(x), Some(split)], crate::attrs![axis = axis], sizes.len()))
}

fn unbind(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let axis = cx.axis("dim", cx.meta("self")?.sizes.len())?;
    let ones = vec![Dim::Static(1); cx.out_count()];
    let mut results = Vec::with_capacity(ones.len());
    for part in parts(cx, x, &ones, axis)? {
        results.push(cx.squeeze(part, &[axis]));
    }
    Ok(results.into())
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

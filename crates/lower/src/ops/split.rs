//! Operators that cut a tensor into several along one axis: `Split`, with `Squeeze` where the axis goes away.
//!
//! The sizes of the parts are those of the results. Where a tensor holds the places to cut at, parts are slices.

use modelexport_graph::{DType, Dim};

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.split.Tensor", "split.Tensor(Tensor(a -> *) self, SymInt split_size, int dim=0) -> Tensor(a)[]", split),
    Row::new("aten.split_copy.Tensor", "split_copy.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", split),
    Row::new("aten.split.sizes", "split.sizes(Tensor(a -> *) self, SymInt[] split_size, int dim=0) -> Tensor(a)[]", split),
    Row::new(
        "aten.split_with_sizes.default",
        "split_with_sizes(Tensor(a -> *) self, SymInt[] split_sizes, int dim=0) -> Tensor(a)[]",
        split,
    ),
    Row::new(
        "aten.split_with_sizes_copy.default",
        "split_with_sizes_copy(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
        split,
    ),
    Row::new("aten.unsafe_split.Tensor", "unsafe_split.Tensor(Tensor self, SymInt split_size, int dim=0) -> Tensor[]", split),
    Row::new(
        "aten.unsafe_split_with_sizes.default",
        "unsafe_split_with_sizes(Tensor self, SymInt[] split_sizes, int dim=0) -> Tensor[]",
        split,
    ),
    Row::new("aten.unsafe_chunk.default", "unsafe_chunk(Tensor self, int chunks, int dim=0) -> Tensor[]", split),
    Row::new("aten.hsplit.int", "hsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", hsplit),
    Row::new("aten.hsplit.array", "hsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", hsplit),
    Row::new("aten.vsplit.int", "vsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", |cx| split_along(cx, 0)),
    Row::new("aten.vsplit.array", "vsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", |cx| split_along(cx, 0)),
    Row::new("aten.dsplit.int", "dsplit.int(Tensor(a -> *) self, int sections) -> Tensor(a)[]", |cx| split_along(cx, 2)),
    Row::new("aten.dsplit.array", "dsplit.array(Tensor(a -> *) self, int[] indices) -> Tensor(a)[]", |cx| split_along(cx, 2)),
    Row::new("aten.chunk.default", "chunk(Tensor(a -> *) self, int chunks, int dim=0) -> Tensor(a)[]", split),
    Row::new(
        "aten.tensor_split.sections",
        "tensor_split.sections(Tensor(a -> *) self, SymInt sections, int dim=0) -> Tensor(a)[]",
        split,
    ),
    Row::new(
        "aten.tensor_split.indices",
        "tensor_split.indices(Tensor(a -> *) self, SymInt[] indices, int dim=0) -> Tensor(a)[]",
        split,
    ),
    Row::new(
        "aten.tensor_split.tensor_indices_or_sections",
        "tensor_split.tensor_indices_or_sections(Tensor(a -> *) self, Tensor tensor_indices_or_sections, int dim=0) -> Tensor(a)[]",
        split_by_tensor,
    ),
    Row::new("aten.unbind.int", "unbind.int(Tensor(a -> *) self, int dim=0) -> Tensor(a)[]", unbind),
    Row::new("aten.unbind_copy.int", "unbind_copy.int(Tensor self, int dim=0) -> Tensor[]", unbind),
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
        assert_snapshot!(lowered(ROWS), @"
        aten.split.Tensor(self: f32[6, 3], split_size=2) -> [f32[2, 3], f32[2, 3], f32[2, 3]]
            Split(self, [2, 2, 2], axis=0)
        aten.split_copy.Tensor(self: f32[6, 3], split_size=2) -> [f32[2, 3], f32[2, 3], f32[2, 3]]
            Split(self, [2, 2, 2], axis=0)
        aten.split.sizes(self: f32[6, 3], split_size=[1, 5]) -> [f32[1, 3], f32[5, 3]]
            Split(self, [1, 5], axis=0)
        aten.split.sizes(self: f32[s0, 6], split_size=[1, 0, 5], dim=-1) -> [f32[s0, 1], f32[s0, 0], f32[s0, 5]]
            Split(self, [1, 0, 5], axis=1)
        aten.split_with_sizes.default(self: f32[6, 3], split_sizes=[1, 5]) -> [f32[1, 3], f32[5, 3]]
            Split(self, [1, 5], axis=0)
        aten.split_with_sizes.default(self: f32[s0, 6], split_sizes=[1, 0, 5], dim=-1) -> [f32[s0, 1], f32[s0, 0], f32[s0, 5]]
            Split(self, [1, 0, 5], axis=1)
        aten.split_with_sizes_copy.default(self: f32[6, 3], split_sizes=[1, 5]) -> [f32[1, 3], f32[5, 3]]
            Split(self, [1, 5], axis=0)
        aten.split_with_sizes_copy.default(self: f32[s0, 6], split_sizes=[1, 0, 5], dim=-1) -> [f32[s0, 1], f32[s0, 0], f32[s0, 5]]
            Split(self, [1, 0, 5], axis=1)
        aten.unsafe_split.Tensor(self: f32[7, 3], split_size=3) -> [f32[3, 3], f32[3, 3], f32[1, 3]]
            Split(self, [3, 3, 1], axis=0)
        aten.unsafe_split_with_sizes.default(self: f32[6, 3], split_sizes=[1, 5]) -> [f32[1, 3], f32[5, 3]]
            Split(self, [1, 5], axis=0)
        aten.unsafe_chunk.default(self: f32[6, 4], chunks=3) -> [f32[2, 4], f32[2, 4], f32[2, 4]]
            Split(self, [2, 2, 2], axis=0)
        aten.hsplit.int(self: f32[4, 6], sections=3) -> [f32[4, 2], f32[4, 2], f32[4, 2]]
            Split(self, [2, 2, 2], axis=1)
        aten.hsplit.array(self: f32[2, 5, 3], indices=[1, 4]) -> [f32[2, 1, 3], f32[2, 3, 3], f32[2, 1, 3]]
            Split(self, [1, 3, 1], axis=1)
        aten.vsplit.int(self: f32[4, 6], sections=2) -> [f32[2, 6], f32[2, 6]]
            Split(self, [2, 2], axis=0)
        aten.vsplit.array(self: i64[5, 2], indices=[1, 1, 3]) -> [i64[1, 2], i64[0, 2], i64[2, 2], i64[2, 2]]
            Split(self, [1, 0, 2, 2], axis=0)
        aten.dsplit.int(self: f32[2, 3, 4], sections=2) -> [f32[2, 3, 2], f32[2, 3, 2]]
            Split(self, [2, 2], axis=2)
        aten.dsplit.array(self: f32[2, 3, 5], indices=[2, 7]) -> [f32[2, 3, 2], f32[2, 3, 3], f32[2, 3, 0]]
            Split(self, [2, 3, 0], axis=2)
        aten.chunk.default(self: f32[6, 4], chunks=3) -> [f32[2, 4], f32[2, 4], f32[2, 4]]
            Split(self, [2, 2, 2], axis=0)
        aten.chunk.default(self: f32[s0, 4], chunks=2, dim=-1) -> [f32[s0, 2], f32[s0, 2]]
            Split(self, [2, 2], axis=1)
        aten.tensor_split.sections(self: f32[7, 2], sections=3) -> [f32[3, 2], f32[2, 2], f32[2, 2]]
            Split(self, [3, 2, 2], axis=0)
        aten.tensor_split.indices(self: f32[7, 2], indices=[2, 5]) -> [f32[2, 2], f32[3, 2], f32[2, 2]]
            Split(self, [2, 3, 2], axis=0)
        aten.tensor_split.tensor_indices_or_sections(self: f32[7, 2], tensor_indices_or_sections: i64[2]) -> [f32[u0, 2], f32[u1, 2], f32[u2, 2]]
            t1, t2 = Split(tensor_indices_or_sections, [1, 1], axis=0)
            Slice(self, [0], t1, [0]), Slice(self, t1, t2, [0]), Slice(self, t2, [max], [0])
        aten.tensor_split.tensor_indices_or_sections(self: f32[s0, 2], tensor_indices_or_sections: i64[1]) -> [f32[u0, 2], f32[u1, 2]]
            Slice(self, [0], tensor_indices_or_sections, [0]), Slice(self, tensor_indices_or_sections, [max], [0])
        aten.unbind.int(self: f32[3, 2]) -> [f32[2], f32[2], f32[2]]
            t1, t2, t3 = Split(self, [1, 1, 1], axis=0)
            Squeeze(t1, [0]), Squeeze(t2, [0]), Squeeze(t3, [0])
        aten.unbind_copy.int(self: f32[3, 2]) -> [f32[2], f32[2], f32[2]]
            t1, t2, t3 = Split(self, [1, 1, 1], axis=0)
            Squeeze(t1, [0]), Squeeze(t2, [0]), Squeeze(t3, [0])
        ");
    }
}

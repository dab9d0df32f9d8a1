//! Writing by index tensors: `ScatterND` after the indexed axes were moved to the front (see `index`), or a plain
//! `Where` for a mask whose values broadcast.

use modelexport_graph::{DType, Dim};

use super::index::{Indices, indices};
use super::scatter::scatter_type;
use super::selection::choose;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::{Attrs, ValueId};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten.index_put.default",
        "index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
        index_put,
    ),
    Row::new(
        "aten._unsafe_index_put.default",
        "_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
        index_put,
    ),
    Row::new(
        "aten.index_add.default",
        "index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
        index_add,
    ),
    Row::new(
        "aten.index_copy.default",
        "index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor",
        index_copy,
    ),
    Row::new("aten.put.default", "put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", put),
    Row::new(
        "aten.index_fill.int_Scalar",
        "index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor",
        index_fill,
    ),
    Row::new(
        "aten.index_fill.int_Tensor",
        "index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor",
        index_fill,
    ),
];

fn index_put(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, values) = (cx.tensor("self")?, cx.tensor("values")?);
    let (sizes, value_sizes) = (cx.meta("self")?.sizes.clone(), cx.meta("values")?.sizes.clone());
    let accumulate = cx.bool("accumulate")?;
    if let Some(written) = through_mask(cx, x, values, &sizes, &value_sizes, accumulate)? {
        return Ok(written.into());
    }
    // The result of reading with the same indices is what the values broadcast to.
    let indices = read_shape(cx, &sizes, &value_sizes)?;
    write(cx, [x, values], &sizes, &indices, accumulate)
}

/// `values` (in the shape of what reading gives, or broadcasting to it) at `indices` of `x`.
pub(super) fn write(
    cx: &mut Context<'_, '_>,
    [x, values]: [ValueId; 2],
    sizes: &[Dim],
    indices: &Indices,
    accumulate: bool,
) -> Result<Outputs> {
    let rank = sizes.len();
    let Indices { by_axis, sizes: new_sizes, .. } = indices;
    if by_axis.is_empty() {
        let values = cx.expand(values, sizes)?;
        return Ok(if accumulate { cx.apply("Add", &[x, values], vec![]) } else { values }.into());
    }
    let order = indices.front_order(rank);
    let others: Vec<Dim> =
        order.iter().skip(by_axis.len()).filter_map(|&axis| sizes.get(axis as usize).cloned()).collect();
    let front_shape: Vec<Dim> = new_sizes.iter().chain(&others).cloned().collect();
    // Values come in the order of the result, updates must have the new axes in front.
    let to_result = indices.result_order(rank);
    let result_shape: Vec<Dim> =
        to_result.iter().filter_map(|&axis| front_shape.get(axis as usize).cloned()).collect();
    let values = cx.expand(values, &result_shape)?;
    let updates = cx.transpose(values, &inverse(&to_result));
    let front = cx.transpose(x, &order);
    let stacked = indices.stacked(cx)?;
    let reduction = if accumulate { reduction(cx)? } else { vec![] };
    let written = scatter(cx, "ScatterND", [front, stacked, updates], reduction);
    Ok(cx.transpose(written, &inverse(&order)).into())
}

/// `reduction = add`; `ScatterND` and `ScatterElements` have it since opset 16.
fn reduction(cx: &Context<'_, '_>) -> Result<Attrs> {
    if cx.opset < 16 {
        return cx.refuse("adds to what it writes to, which ONNX can do from opset 16 on: choose a higher opset");
    }
    Ok(attrs![reduction = "add"])
}

/// A scatter in a type that has a kernel.
fn scatter(cx: &mut Context<'_, '_>, op: &'static str, [x, index, updates]: [ValueId; 3], attributes: Attrs) -> ValueId {
    let dtype = cx.dtype(x);
    let reduces = attributes.iter().any(|(name, _)| name == "reduction");
    let kernel = if reduces { scatter_type(dtype, "add") } else { dtype };
    let (x, updates) = (cx.cast(x, kernel), cx.cast(updates, kernel));
    let written = cx.emit(op, &[x, index, updates], attributes);
    cx.cast(written, dtype)
}

fn inverse(order: &[i64]) -> Vec<i64> {
    (0..order.len() as i64).map(|i| order.iter().position(|&axis| axis == i).unwrap_or(0) as i64).collect()
}

/// A single mask, behind axes without an index, with values that broadcast over its places. It names each place once.
fn through_mask(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    values: ValueId,
    sizes: &[Dim],
    value_sizes: &[Dim],
    accumulate: bool,
) -> Result<Option<ValueId>> {
    let given = cx.optional_tensors("indices")?;
    let [leading @ .., Some(mask)] = given.as_slice() else { return Ok(None) };
    if cx.dtype(*mask) != DType::Bool || leading.iter().any(Option::is_some) {
        return Ok(None);
    }
    let mask_rank = cx.rank(*mask).unwrap_or(0);
    let behind = sizes.len() - (leading.len() + mask_rank).min(sizes.len());
    // The axis of the values that counts true places; before it are those of the axes without an index.
    let counted = value_sizes.len().checked_sub(behind + 1);
    let broadcasts = match counted {
        None => true,
        Some(axis) => value_sizes.get(axis).is_some_and(|size| size.is(1)) || value_sizes.iter().all(|size| size.is(1)),
    };
    if !broadcasts {
        return Ok(None);
    }
    let values = match counted {
        Some(axis @ 1..) if mask_rank > 1 => {
            cx.unsqueeze(values, &(axis as i64..(axis + mask_rank - 1) as i64).collect::<Vec<_>>())
        }
        _ => values,
    };
    let mask = cx.unsqueeze(*mask, &(mask_rank as i64..(mask_rank + behind) as i64).collect::<Vec<_>>());
    let values = if value_sizes.len() > sizes.len() { cx.reshape_static(values, &[]) } else { values };
    let values = if accumulate { cx.apply("Add", &[x, values], vec![]) } else { values };
    Ok(Some(choose(cx, mask, values, x)))
}

/// The indices, with the shape that values must have taken from the values where a mask leaves it open.
fn read_shape(cx: &mut Context<'_, '_>, sizes: &[Dim], value_sizes: &[Dim]) -> Result<Indices> {
    let mut indices = indices(cx, value_sizes, sizes.len())?;
    let others = sizes.len() - indices.by_axis.len().min(sizes.len());
    let has_mask = cx.metas("indices").iter().any(|meta| meta.dtype == DType::Bool);
    if has_mask {
        let new = value_sizes.len().saturating_sub(others).min(1);
        indices.sizes = value_sizes.iter().take(new).cloned().collect();
        if new == 0 {
            return cx.refuse("writes values that broadcast through a mask and other indices at once");
        }
    }
    Ok(indices)
}

/// Index (1-D along `dim`) stretched to the shape of `source`, and the axis.
pub(super) fn along_axis(cx: &mut Context<'_, '_>, shape: &[Dim]) -> Result<(ValueId, i64)> {
    let axis = cx.axis("dim", shape.len())?;
    let index = cx.tensor("index")?;
    let index = cx.cast(index, DType::I64);
    let index = if cx.meta("index")?.sizes.is_empty() { cx.unsqueeze(index, &[0]) } else { index };
    let behind: Vec<i64> = (1..shape.len() as i64 - axis).collect();
    let index = cx.unsqueeze(index, &behind);
    Ok((cx.expand(index, shape)?, axis))
}

fn index_add(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, source) = (cx.tensor("self")?, cx.tensor("source")?);
    // Booleans are added as numbers: true and true is true.
    let dtype = match cx.out()?.dtype {
        DType::Bool => DType::I32,
        other => scatter_type(other, "add"),
    };
    let x = cx.cast(x, dtype);
    let mut source = cx.cast(source, dtype);
    let alpha = cx.scalar_arg("alpha")?;
    if !alpha.is(1.0) {
        let alpha = cx.scalar_value(alpha, dtype);
        source = cx.emit("Mul", &[source, alpha], vec![]);
    }
    let reduction = reduction(cx)?;
    let value = scatter_along(cx, x, source, reduction)?;
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

fn index_copy(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, source) = (cx.tensor("self")?, cx.tensor("source")?);
    Ok(scatter_along(cx, x, source, vec![])?.into())
}

fn scatter_along(cx: &mut Context<'_, '_>, x: ValueId, source: ValueId, reduction: Attrs) -> Result<ValueId> {
    let shape = cx.meta("source")?.sizes.clone();
    if cx.meta("self")?.sizes.is_empty() {
        let sum = if reduction.is_empty() { source } else { cx.emit("Add", &[x, source], vec![]) };
        return cx.reshape(sum, &[]);
    }
    if cx.axis("dim", shape.len())? == 0 {
        let index = cx.tensor("index")?;
        let index = cx.cast(index, DType::I64);
        let index = if cx.meta("index")?.sizes.is_empty() { cx.unsqueeze(index, &[0]) } else { index };
        let index = cx.unsqueeze(index, &[-1]);
        return Ok(cx.emit("ScatterND", &[x, index, source], reduction));
    }
    let (index, axis) = along_axis(cx, &shape)?;
    let mut attributes = attrs![axis = axis];
    attributes.extend(reduction);
    Ok(cx.emit("ScatterElements", &[x, index, source], attributes))
}

/// Writes to places of the tensor as one row.
fn put(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, index, source) = (cx.tensor("self")?, cx.tensor("index")?, cx.tensor("source")?);
    let sizes = cx.meta("self")?.sizes.clone();
    let attributes = if cx.bool("accumulate")? { reduction(cx)? } else { vec![] };
    let index = cx.cast(index, DType::I64);
    let [x, index, source] = [x, index, source].map(|value| cx.reshape_static(value, &[-1]));
    let written = scatter(cx, "ScatterElements", [x, index, source], attributes);
    Ok(cx.reshape(written, &sizes)?.into())
}

fn index_fill(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let dtype = cx.out()?.dtype;
    let value = match cx.meta_opt("value") {
        Some(_) => {
            let value = cx.tensor("value")?;
            cx.cast(value, dtype)
        }
        None => {
            let scalar = cx.scalar_arg("value")?;
            cx.scalar_value(scalar, dtype)
        }
    };
    let mut shape = cx.meta("self")?.sizes.clone();
    if shape.is_empty() {
        return Ok(value.into());
    }
    let axis = cx.axis("dim", shape.len())?;
    let count = cx.meta("index")?.sizes.first().cloned().unwrap_or(Dim::Static(1));
    if let Some(slot) = shape.get_mut(axis as usize) {
        *slot = count;
    }
    let (index, axis) = along_axis(cx, &shape)?;
    let updates = cx.expand(value, &shape)?;
    Ok(cx.emit("ScatterElements", &[x, index, updates], attrs![axis = axis]).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.index_put.default(self: f32[5, 4], indices: [i64[3]], values: f32[3, 4]) -> f32[5, 4]
            ScatterND(self, Unsqueeze(indices_0, [-1]), values)
        aten.index_put.default(self: f32[s0, 4], indices: [i64[s0], i64[s1]], values: f32[]) -> f32[s0, 4]
            t1 = Shape(self, start=0, end=1)
            t2 = Concat(Unsqueeze(indices_0, [-1]), Unsqueeze(Expand(indices_1, t1), [-1]), axis=-1)
            ScatterND(self, t2, Expand(values, t1))
        aten._unsafe_index_put.default(self: f32[5, 4], indices: [i64[3]], values: f32[3, 4]) -> f32[5, 4]
            ScatterND(self, Unsqueeze(indices_0, [-1]), values)
        aten.index_add.default(self: f32[5, 4], dim=0, index: i64[3], source: f32[3, 4]) -> f32[5, 4]
            ScatterND(self, Unsqueeze(index, [-1]), source, reduction=add)
        aten.index_copy.default(self: f32[5, 4], dim=0, index: i64[3], source: f32[3, 4]) -> f32[5, 4]
            ScatterND(self, Unsqueeze(index, [-1]), source)
        aten.put.default(self: f32[5, 4], index: i64[2, 2], source: f32[2, 2]) -> f32[5, 4]
            t1 = ScatterElements(Reshape(self, [-1]), Reshape(index, [-1]), Reshape(source, [-1]))
            Reshape(t1, [5, 4])
        aten.put.default(self: i64[s0, 4], index: i64[2], source: i64[2]) -> i64[s0, 4]
            t1 = ScatterElements(Reshape(self, [-1]), Reshape(index, [-1]), Reshape(source, [-1]))
            Reshape(t1, [-1, 4])
        aten.index_fill.int_Scalar(self: f32[5, 4], dim=0, index: i64[3], value=7) -> f32[5, 4]
            ScatterElements(self, Expand(Unsqueeze(index, [1]), [3, 4]), [[7.0, 7.0, 7.0, 7.0], [7.0, 7.0, 7.0, 7.0], [7.0, 7.0, 7.0, 7.0]], axis=0)
        aten.index_fill.int_Tensor(self: f32[5, 4], dim=0, index: i64[3], value: f32[]) -> f32[5, 4]
            ScatterElements(self, Expand(Unsqueeze(index, [1]), [3, 4]), Expand(value, [3, 4]), axis=0)
        ");
    }
}

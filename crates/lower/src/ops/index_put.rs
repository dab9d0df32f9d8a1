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
        "aten::index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
        index_put,
    ),
    Row::new(
        "aten::_unsafe_index_put(Tensor self, Tensor?[] indices, Tensor values, bool accumulate=False) -> Tensor",
        index_put,
    ),
    Row::new(
        "aten::index_add(Tensor self, int dim, Tensor index, Tensor source, *, Scalar alpha=1) -> Tensor",
        index_add,
    ),
    Row::new("aten::index_copy(Tensor self, int dim, Tensor index, Tensor source) -> Tensor", index_copy),
    Row::new("aten::put(Tensor self, Tensor index, Tensor source, bool accumulate=False) -> Tensor", put),
    Row::new("aten::index_fill.int_Scalar(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", index_fill),
    Row::new("aten::index_fill.int_Tensor(Tensor self, int dim, Tensor index, Tensor value) -> Tensor", index_fill),
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

/// A single mask, with values that broadcast over its places. It names each place once.
fn through_mask(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    values: ValueId,
    sizes: &[Dim],
    value_sizes: &[Dim],
    accumulate: bool,
) -> Result<Option<ValueId>> {
    let given = cx.optional_tensors("indices")?;
    let mut masks = given.iter().enumerate().filter_map(|(axis, index)| index.map(|index| (axis, index)));
    let (Some((before, mask)), None) = (masks.next(), masks.next()) else { return Ok(None) };
    if cx.dtype(mask) != DType::Bool {
        return Ok(None);
    }
    let mask_rank = cx.rank(mask).unwrap_or(0);
    let behind = sizes.len().saturating_sub(before + mask_rank);
    let ones = value_sizes.iter().all(|size| size.is(1));
    let one_for_all = counted(value_sizes, behind).is_none_or(|size| size.is(1));
    if !ones && !one_for_all {
        return Ok(None);
    }
    let axes: Vec<i64> = (mask_rank as i64..(mask_rank + behind) as i64).collect();
    let mask = cx.unsqueeze(mask, &axes);
    let values = if value_sizes.len() > sizes.len() {
        cx.reshape_static(values, &[])
    } else if value_sizes.len() > behind + 1 && mask_rank > 1 && !ones {
        // The one axis of the values that stands for the places becomes as many as the mask has.
        let axis = (value_sizes.len() - behind) as i64;
        cx.unsqueeze(values, &(axis..axis + mask_rank as i64 - 1).collect::<Vec<_>>())
    } else {
        values
    };
    let values = if accumulate { cx.apply("Add", &[x, values], vec![]) } else { values };
    Ok(Some(choose(cx, mask, values, x)))
}

/// The size of the values that counts the places of a mask; `None` if they broadcast over it.
fn counted(value_sizes: &[Dim], behind: usize) -> Option<&Dim> {
    value_sizes.len().checked_sub(behind + 1).and_then(|axis| value_sizes.get(axis))
}

/// The indices, with the shape that values must have taken from the values where a mask leaves it open.
fn read_shape(cx: &mut Context<'_, '_>, sizes: &[Dim], value_sizes: &[Dim]) -> Result<Indices> {
    let mut indices = indices(cx, value_sizes, sizes.len())?;
    let others = sizes.len() - indices.by_axis.len().min(sizes.len());
    let has_mask = cx.metas("indices").iter().any(|meta| meta.dtype == DType::Bool);
    if has_mask {
        let before = match indices.by_axis.first() {
            Some((axis, _)) if indices.in_place => *axis as usize,
            _ => 0,
        };
        match counted(value_sizes, others.saturating_sub(before)) {
            Some(size) if !size.is(1) => indices.sizes = vec![size.clone()],
            _ => return cx.refuse("writes values that broadcast through a mask and other indices at once"),
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
    use crate::test_calls::{lowered, refused};

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }

    #[test]
    fn values_that_broadcast_through_a_mask_and_an_index_are_refused() {
        assert_eq!(
            refused(
                "aten.index_put.default(self: f32[3, 4], indices: [bool[3], i64[2]], values: f32[1]) -> f32[3, 4]"
            ),
            "node `index_put` (aten.index_put.default) in module `(root)`: writes values that broadcast through a mask and \
             other indices at once"
        );
    }
}

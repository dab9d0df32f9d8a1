//! Reductions over axes of a tensor.

use modelexport_graph::{DType, Dim};

use super::compute::product;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// The axes that a node reduces, from its argument `dim`: empty if all (also of a 0-D tensor, which may have axis 0).
pub(crate) fn reduced_axes(cx: &Context<'_, '_>) -> Result<Vec<i64>> {
    let rank = cx.meta("self")?.sizes.len();
    let mut axes = cx.axes("dim", rank)?;
    axes.sort_unstable();
    Ok(if axes.len() >= rank { Vec::new() } else { axes })
}

/// How many elements are reduced to one.
pub(crate) fn reduced_count(cx: &Context<'_, '_>, axes: &[i64]) -> Result<Dim> {
    let sizes = &cx.meta("self")?.sizes;
    if axes.is_empty() {
        return Ok(product(sizes));
    }
    let chosen = sizes.iter().zip(0i64..).filter(|(_, axis)| axes.contains(axis));
    Ok(product(&chosen.map(|(size, _)| size.clone()).collect::<Vec<_>>()))
}

/// Whether there is certainly something to reduce: `ReduceMax` of nothing is an error in runtimes.
pub(crate) fn reduces_something(cx: &Context<'_, '_>, axes: &[i64]) -> Result<bool> {
    Ok(!cx.may_be_empty(&reduced_count(cx, axes)?))
}

/// A 0-D number of `dtype` for a size.
pub(crate) fn count_value(cx: &mut Context<'_, '_>, count: &Dim, dtype: DType) -> Result<ValueId> {
    if let Some(count) = count.as_static() {
        return Ok(cx.const_scalar(dtype, count));
    }
    let value = cx.dim_value(count)?;
    let value = cx.cast(value, dtype);
    Ok(cx.squeeze(value, &[0]))
}

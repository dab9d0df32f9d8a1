//! The largest and smallest element: `amax`, `amin`, `aminmax`, `max`, `min`, `argmax`, `argmin`.
//!
//! `ReduceMax`, `ReduceMin`; indices by `ArgMax`, `ArgMin`, which give the first of equal elements, as PyTorch does.
//! Without a dimension, `argmax` counts through the flattened tensor. Deviation: onnxruntime does not promise that
//! NaN wins, as it does in PyTorch.

use modelexport_graph::Dim;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::kernel_type;
use crate::ops::support::fill::filled;
use crate::ops::support::operands::real_only;
use crate::ops::support::reduction::reduced_axes;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::amax(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", |cx| values(cx, "ReduceMax")),
    Row::new("aten::amin(Tensor self, int[1] dim=[], bool keepdim=False) -> Tensor", |cx| values(cx, "ReduceMin")),
    Row::new("aten::aminmax(Tensor self, *, int? dim=None, bool keepdim=False) -> (Tensor min, Tensor max)", both),
    Row::new("aten::argmax(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", |cx| index(cx, "ArgMax")),
    Row::new("aten::argmin(Tensor self, int? dim=None, bool keepdim=False) -> Tensor", |cx| index(cx, "ArgMin")),
    Row::new("aten::max(Tensor self) -> Tensor", |cx| values(cx, "ReduceMax")),
    Row::new("aten::max.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", |cx| {
        with_index(cx, "ReduceMax", "ArgMax")
    }),
    Row::new("aten::min(Tensor self) -> Tensor", |cx| values(cx, "ReduceMin")),
    Row::new("aten::min.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", |cx| {
        with_index(cx, "ReduceMin", "ArgMin")
    }),
];

fn reduce(cx: &mut Context<'_, '_>, op: &'static str) -> Result<ValueId> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    let (axes, keepdim) = (reduced_axes(cx)?, cx.bool("keepdim")?);
    if cx.meta("self")?.sizes.is_empty() {
        return Ok(x);
    }
    Ok(cx.apply_reduce(op, x, &axes, keepdim))
}

fn values(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    Ok(reduce(cx, op)?.into())
}

fn both(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    Ok([reduce(cx, "ReduceMin")?, reduce(cx, "ReduceMax")?].into())
}

fn index(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    real_only(cx)?;
    let meta = cx.meta("self")?;
    let x = cx.tensor("self")?;
    if meta.sizes.is_empty() {
        return Ok(cx.const_int(0).into());
    }
    if cx.int_opt("dim")?.is_some() {
        return Ok(along(cx, op, x)?.into());
    }
    let flat = cx.reshape_static(x, &[-1]);
    let place = position(cx, op, flat, 0, false);
    if !cx.bool("keepdim")? {
        return Ok(place.into());
    }
    let ones = vec![1i64; meta.sizes.len()];
    Ok(cx.reshape_static(place, &ones).into())
}

/// Index of the extreme along the axis `dim`.
fn along(cx: &mut Context<'_, '_>, op: &'static str, x: ValueId) -> Result<ValueId> {
    let axis = cx.axis("dim", cx.meta("self")?.sizes.len())?;
    let keepdim = cx.bool("keepdim")?;
    Ok(position(cx, op, x, axis, keepdim))
}

fn position(cx: &mut Context<'_, '_>, op: &'static str, x: ValueId, axis: i64, keepdims: bool) -> ValueId {
    let kernel = kernel_type(op, cx.dtype(x), cx.opset);
    let x = cx.cast(x, kernel);
    cx.emit(op, &[x], attrs![axis = axis, keepdims = keepdims])
}

fn with_index(cx: &mut Context<'_, '_>, reduce_op: &'static str, index_op: &'static str) -> Result<Outputs> {
    let value = reduce(cx, reduce_op)?;
    let sizes: &[Dim] = &cx.meta("self")?.sizes;
    let place = if sizes.is_empty() {
        filled(cx, &[], modelexport_graph::DType::I64, 0.0, None)?
    } else {
        let x = cx.tensor("self")?;
        along(cx, index_op, x)?
    };
    Ok([value, place].into())
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

//! Parts of a tensor along one axis: `Slice` for ranges, `Gather` for one place.

use modelexport_graph::Dim;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::slice.Tensor(Tensor(a) self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor(a)",
        slice,
    ),
    Row::new(
        "aten::slice_copy.Tensor(Tensor self, int dim=0, SymInt? start=None, SymInt? end=None, SymInt step=1) -> Tensor",
        slice,
    ),
    Row::new("aten::narrow(Tensor(a) self, int dim, SymInt start, SymInt length) -> Tensor(a)", narrow),
    Row::new("aten::narrow_copy(Tensor self, int dim, SymInt start, SymInt length) -> Tensor", narrow),
    Row::new("aten::select.int(Tensor(a) self, int dim, SymInt index) -> Tensor(a)", select),
    Row::new("aten::select_copy.int(Tensor self, int dim, SymInt index) -> Tensor", select),
];

fn slice(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let meta = cx.meta("self")?;
    let axis = cx.axis("dim", meta.sizes.len())?;
    let start = cx.dim_opt("start")?.unwrap_or(Dim::Static(0));
    let end = cx.dim_opt("end")?.unwrap_or(Dim::Static(i64::MAX));
    let step = cx.int("step")?;
    let size = meta.sizes.get(axis as usize);
    if start.is(0) && step == 1 {
        let takes_all = match (&end, size) {
            (Dim::Static(end), Some(Dim::Static(size))) => end >= size,
            (end, Some(size)) => end.is(i64::MAX) || end == size,
            _ => false,
        };
        if takes_all {
            return Ok(x.into());
        }
    }
    range(cx, axis, &start, &end, step)
}

fn narrow(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let axis = cx.axis("dim", cx.meta("self")?.sizes.len())?;
    let (start, length) = (cx.dim("start")?, cx.dim("length")?);
    let size = cx.meta("self")?.sizes.get(axis as usize).cloned();
    let start = match (&start, &size) {
        (Dim::Static(start), Some(Dim::Static(size))) if *start < 0 => Dim::Static(start + size),
        _ => start,
    };
    let end = match (&start, &length) {
        (Dim::Static(start), Dim::Static(length)) => Dim::Static(start + length),
        (start, length) => {
            let parts = vec![expr(start), expr(length)];
            Dim::Symbolic(modelexport_graph::SymExpr::Call(modelexport_graph::SymOp::Add, parts))
        }
    };
    range(cx, axis, &start, &end, 1)
}

fn expr(dim: &Dim) -> modelexport_graph::SymExpr {
    match dim {
        Dim::Static(value) => modelexport_graph::SymExpr::Int(*value),
        Dim::Symbolic(expr) => expr.clone(),
    }
}

fn range(cx: &mut Context<'_, '_>, axis: i64, start: &Dim, end: &Dim, step: i64) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let (start, end) = (cx.dim_value(start)?, cx.dim_value(end)?);
    let axes = cx.const_ints(&[axis]);
    let mut inputs = vec![x, start, end, axes];
    if step != 1 {
        inputs.push(cx.const_ints(&[step]));
    }
    Ok(cx.emit("Slice", &inputs, vec![]).into())
}

fn select(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let axis = cx.axis("dim", cx.meta("self")?.sizes.len())?;
    let index = match cx.dim("index")? {
        Dim::Static(index) => cx.const_int(index),
        symbolic => {
            let one = cx.dim_value(&symbolic)?;
            cx.squeeze(one, &[0])
        }
    };
    Ok(cx.emit("Gather", &[x, index], attrs![axis = axis]).into())
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

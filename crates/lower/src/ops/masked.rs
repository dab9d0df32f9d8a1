//! Masks: `Where`, `Compress`, `NonZero`.

use modelexport_graph::{DType, Dim};

use super::selection::choose;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ops::support::compute::broadcast;
use crate::ops::support::fill::filled;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::masked_fill.Scalar(Tensor self, Tensor mask, Scalar value) -> Tensor", fill),
    Row::new("aten::masked_fill.Tensor(Tensor self, Tensor mask, Tensor value) -> Tensor", fill),
    Row::new("aten::masked_scatter(Tensor self, Tensor mask, Tensor source) -> Tensor", masked_scatter),
    Row::new("aten::masked_select(Tensor self, Tensor mask) -> Tensor", select),
    Row::new("aten::nonzero(Tensor self) -> Tensor", nonzero),
    Row::new("aten::nonzero_static(Tensor self, *, SymInt size, int fill_value=-1) -> Tensor", nonzero_static),
    Row::new("aten::argwhere(Tensor self) -> Tensor", nonzero),
    Row::new("aten::nonzero_numpy(Tensor self) -> Tensor[]", |cx| places(cx, "self")),
    Row::new("aten::where(Tensor condition) -> Tensor[]", |cx| places(cx, "condition")),
];

fn fill(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, mask) = (cx.tensor("self")?, cx.tensor("mask")?);
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
    let mask = cx.cast(mask, DType::Bool);
    Ok(choose(cx, mask, value, x).into())
}

/// The n-th true place takes the n-th element of the source.
fn masked_scatter(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, mask, source) = (cx.tensor("self")?, cx.tensor("mask")?, cx.tensor("source")?);
    let sizes = cx.out()?.sizes.clone();
    let dtype = cx.out()?.dtype;
    let (x, mask) = (cx.expand(x, &sizes)?, cx.expand(mask, &sizes)?);
    let source = cx.cast(source, dtype);
    let source = cx.reshape_static(source, &[-1]);
    let flat = cx.reshape_static(mask, &[-1]);
    let counts = cx.cast(flat, DType::I64);
    let axis = cx.const_int(0);
    let order = cx.emit("CumSum", &[counts, axis], vec![]);
    // Places before the first true one read an element of their own, so that the source may be empty.
    let nothing = filled(cx, &[Dim::Static(1)], dtype, 0, None)?;
    let source = cx.concat(&[nothing, source], 0);
    let picked = cx.emit("Gather", &[source, order], attrs![axis = 0]);
    let picked = cx.reshape(picked, &sizes)?;
    Ok(cx.select(mask, picked, x).into())
}

fn select(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, mask) = (cx.tensor("self")?, cx.tensor("mask")?);
    let sizes = broadcast(&cx.meta("self")?.sizes, &cx.meta("mask")?.sizes);
    let (x, mask) = (cx.expand(x, &sizes)?, cx.expand(mask, &sizes)?);
    let (x, mask) = (cx.reshape_static(x, &[-1]), cx.reshape_static(mask, &[-1]));
    Ok(cx.emit("Compress", &[x, mask], attrs![axis = 0]).into())
}

fn nonzero(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let is_zero_dim = cx.meta("self")?.sizes.is_empty();
    let x = truth(cx, x);
    if !is_zero_dim {
        let places = cx.emit("NonZero", &[x], vec![]);
        return Ok(cx.transpose(places, &[1, 0]).into());
    }
    // A row without columns if the only element is not zero.
    let x = cx.unsqueeze(x, &[0]);
    let places = cx.emit("NonZero", &[x], vec![]);
    let rows = cx.transpose(places, &[1, 0]);
    Ok(cx.slice(rows, &[1], &[0], &[0], &[1]).into())
}

/// The first `size` places, filled up where there are fewer.
fn nonzero_static(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let places = nonzero(cx)?;
    let Some(&places) = places.0.first() else { return cx.refuse("has no result") };
    let (size, fill, sizes) = (cx.dim("size")?, cx.int("fill_value")?, cx.out()?.sizes.clone());
    let rest = filled(cx, &sizes, DType::I64, fill, None)?;
    let all = cx.concat(&[places, rest], 0);
    let (start, end, axis) = (cx.const_ints(&[0]), cx.shape_value(&[size])?, cx.const_ints(&[0]));
    Ok(cx.emit("Slice", &[all, start, end, axis], vec![]).into())
}

/// The places of elements that are not zero, one tensor for each axis. PyTorch sees a 0-D tensor as a vector of one.
fn places(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    let x = cx.tensor(name)?;
    let rank = cx.meta(name)?.sizes.len();
    let x = truth(cx, x);
    let (x, rank) = if rank == 0 { (cx.unsqueeze(x, &[0]), 1) } else { (x, rank) };
    let places = cx.emit("NonZero", &[x], vec![]);
    let rows = cx.split(places, &vec![1; rank], 0);
    let rows: Vec<_> = rows.into_iter().map(|row| cx.squeeze(row, &[0])).collect();
    Ok(rows.into())
}

/// onnxruntime has `NonZero` for a few types only.
fn truth(cx: &mut Context<'_, '_>, x: crate::ir::ValueId) -> crate::ir::ValueId {
    match cx.dtype(x) {
        DType::Bool | DType::F32 | DType::I32 | DType::I64 | DType::U8 => x,
        _ => cx.cast(x, DType::Bool),
    }
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

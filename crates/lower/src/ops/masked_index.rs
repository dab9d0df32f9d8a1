//! Reading and adding by index tensors that may lead outside, where a mask is false: such indices are clamped first.

use modelexport_graph::shape::static_numel;

use super::index::{Indices, indices, read};
use super::index_put::write;
use super::selection::choose;
use super::support::fill::filled_scalar;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::_unsafe_masked_index(Tensor self, Tensor mask, Tensor?[] indices, Scalar fill) -> Tensor",
        masked_index,
    ),
    Row::new(
        "aten::_unsafe_masked_index_put_accumulate(Tensor self, Tensor mask, Tensor?[] indices, Tensor values) -> Tensor",
        accumulate,
    ),
];

/// The indices, none below `-size` (or 0) nor behind the last element.
fn clamped(cx: &mut Context<'_, '_>, result: &[modelexport_graph::Dim], from_end: bool) -> Result<Indices> {
    let sizes = cx.meta("self")?.sizes.clone();
    let mut indices = indices(cx, result, sizes.len())?;
    for (axis, index) in &mut indices.by_axis {
        let Some(size) = sizes.get(*axis as usize) else { continue };
        let (low, last) = match size.as_static() {
            Some(size) => (cx.const_int(if from_end { -size } else { 0 }), cx.const_int(size - 1)),
            None => {
                let count = cx.dim_value(size)?;
                let count = cx.squeeze(count, &[0]);
                let one = cx.const_int(1);
                let low = if from_end { cx.emit("Neg", &[count], vec![]) } else { cx.const_int(0) };
                (low, cx.emit("Sub", &[count, one], vec![]))
            }
        };
        *index = cx.emit("Clip", &[*index, low, last], vec![]);
    }
    Ok(indices)
}

fn masked_index(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, mask) = (cx.tensor("self")?, cx.tensor("mask")?);
    let (sizes, out) = (&cx.meta("self")?.sizes, cx.out()?);
    let fill = cx.scalar_arg("fill")?;
    if static_numel(sizes) == Some(0) {
        return Ok(filled_scalar(cx, &out.sizes, out.dtype, fill, None)?.into());
    }
    let indices = clamped(cx, &out.sizes, false)?;
    let picked = read(cx, x, &indices, sizes.len())?;
    let Some(&picked) = picked.0.first() else { return cx.refuse("has no result") };
    let fill = cx.scalar_value(fill, out.dtype);
    Ok(choose(cx, mask, picked, fill).into())
}

fn accumulate(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, mask, values) = (cx.tensor("self")?, cx.tensor("mask")?, cx.tensor("values")?);
    let sizes = cx.meta("self")?.sizes.clone();
    if static_numel(&sizes) == Some(0) {
        return Ok(x.into());
    }
    if cx.opset < 16 {
        return cx.refuse("adds to what it writes to, which ONNX can do from opset 16 on: choose a higher opset");
    }
    let value_sizes = cx.meta("values")?.sizes.clone();
    let indices = clamped(cx, &value_sizes, true)?;
    let zero = cx.const_like(x, 0.0);
    let values = choose(cx, mask, values, zero);
    write(cx, [x, values], &sizes, &indices, true)
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

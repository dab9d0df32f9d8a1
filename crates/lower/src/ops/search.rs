//! `searchsorted` and `bucketize`: the place of a value in a sorted row is the number of elements before it.
//!
//! Every value is compared with every boundary. Deviation: NaN gets place 0; PyTorch sorts it behind all.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::operands::{common_type, operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::bucketize.Scalar(Scalar self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
        |cx| lower(cx, "boundaries"),
    ),
    Row::new(
        "aten::bucketize.Tensor(Tensor self, Tensor boundaries, *, bool out_int32=False, bool right=False) -> Tensor",
        |cx| lower(cx, "boundaries"),
    ),
    Row::new(
        "aten::searchsorted.Scalar(Tensor sorted_sequence, Scalar self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
        |cx| lower(cx, "sorted_sequence"),
    ),
    Row::new(
        "aten::searchsorted.Tensor(Tensor sorted_sequence, Tensor self, *, bool out_int32=False, bool right=False, str? side=None, Tensor? sorter=None) -> Tensor",
        |cx| lower(cx, "sorted_sequence"),
    ),
];

fn lower(cx: &mut Context<'_, '_>, row: &str) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = common_type(cx, &[row, "self"])?;
    let boundaries = sorted_row(cx, row, dtype)?;
    let value = operand(cx, "self", dtype)?;
    let rank = cx.meta_opt("self").map_or(0, |meta| meta.sizes.len());
    let column = if rank == 0 { value } else { cx.unsqueeze(value, &[-1]) };
    // A row with axes before its own has values for each of its rows.
    let boundaries = if cx.meta(row)?.sizes.len() > 1 { cx.unsqueeze(boundaries, &[-2]) } else { boundaries };
    let op = if is_right(cx)? { "LessOrEqual" } else { "Less" };
    let before = cx.test(op, &[boundaries, column]);
    let out = cx.out()?.dtype;
    let ones = cx.cast(before, out);
    // Counted from the front: onnxruntime does not find an axis from the back where there are no elements.
    let axis = cx.out()?.sizes.len() as i64;
    Ok(cx.reduce("ReduceSum", ones, &[axis], false).into())
}

/// The boundaries, brought into order by `sorter` if it is given.
fn sorted_row(cx: &mut Context<'_, '_>, name: &str, dtype: DType) -> Result<ValueId> {
    let row = operand(cx, name, dtype)?;
    let sizes: &[Dim] = &cx.meta(name)?.sizes;
    match cx.tensor_opt("sorter")? {
        None => Ok(row),
        Some(order) => {
            let axis = sizes.len() as i64 - 1;
            Ok(cx.emit("GatherElements", &[row, order], attrs![axis = axis]))
        }
    }
}

fn is_right(cx: &Context<'_, '_>) -> Result<bool> {
    Ok(cx.bool("right")? || cx.str_opt("side")?.as_deref() == Some("right"))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.bucketize.Scalar(self=0.5, boundaries: f32[5]) -> i64[]
            ReduceSum(Cast(Less(boundaries, 0.5), to=i64), [0], keepdims=0)
        aten.bucketize.Tensor(self: f32[2, 3], boundaries: f32[5]) -> i64[2, 3]
            ReduceSum(Cast(Less(boundaries, Unsqueeze(self, [-1])), to=i64), [2], keepdims=0)
        aten.searchsorted.Scalar(sorted_sequence: f32[5], self=0.5) -> i64[]
            ReduceSum(Cast(Less(sorted_sequence, 0.5), to=i64), [0], keepdims=0)
        aten.searchsorted.Tensor(sorted_sequence: f32[5], self: f32[2, 3]) -> i64[2, 3]
            ReduceSum(Cast(Less(sorted_sequence, Unsqueeze(self, [-1])), to=i64), [2], keepdims=0)
        ");
    }
}

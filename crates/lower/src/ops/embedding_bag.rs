//! `embedding_bag`: sums, means or maxima of rows of a table, in bags that `offsets` delimit.
//!
//! A matrix says which index belongs to which bag; sums are its product with the gathered rows, maxima a `ReduceMax`
//! over the rows of each bag. Empty bags give zeros. The other results (for the gradient) are not made.

use modelexport_graph::{DType, Dim};

use super::support::compute::{formula_type, tensor_as, tensor_opt_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False) -> (Tensor, Tensor, Tensor, Tensor)",
        lower,
    ),
    Row::new(
        "aten::embedding_bag.padding_idx(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq, int mode, bool sparse, Tensor? per_sample_weights, bool include_last_offset, int? padding_idx) -> (Tensor, Tensor, Tensor, Tensor)",
        lower,
    ),
    Row::new(
        "aten::_embedding_bag(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
        lower,
    ),
    Row::new(
        "aten::_embedding_bag_forward_only(Tensor weight, Tensor indices, Tensor offsets, bool scale_grad_by_freq=False, int mode=0, bool sparse=False, Tensor? per_sample_weights=None, bool include_last_offset=False, int padding_idx=-1) -> (Tensor, Tensor, Tensor, Tensor)",
        lower,
    ),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let (table, indices) = (tensor_as(cx, "weight", compute)?, tensor_as(cx, "indices", DType::I64)?);
    let mut rows = cx.emit("Gather", &[table, indices], attrs![axis = 0]);
    if let Some(factors) = tensor_opt_as(cx, "per_sample_weights", compute)? {
        let factors = cx.unsqueeze(factors, &[1]);
        rows = cx.emit("Mul", &[rows, factors], vec![]);
    }
    let members = members(cx, indices)?;
    let y = match cx.int("mode")? {
        0 => {
            let members = cx.cast(members, compute);
            cx.emit("MatMul", &[members, rows], vec![])
        }
        1 => {
            let members = cx.cast(members, compute);
            let sums = cx.emit("MatMul", &[members, rows], vec![]);
            let counts = cx.reduce("ReduceSum", members, &[1], true);
            let one = cx.const_scalar(compute, 1.0);
            let counts = cx.emit("Max", &[counts, one], vec![]);
            cx.emit("Div", &[sums, counts], vec![])
        }
        2 => maxima(cx, members, rows, compute),
        other => return cx.wrong("mode", "0 (sum), 1 (mean) or 2 (max)", other),
    };
    Ok(cx.cast(y, dtype).into())
}

/// `[bags, indices]`: which index lies in which bag.
fn members(cx: &mut Context<'_, '_>, indices: ValueId) -> Result<ValueId> {
    let offsets = tensor_as(cx, "offsets", DType::I64)?;
    let count = cx.meta("indices")?.sizes.first().cloned().unwrap_or(Dim::Static(0));
    let count = cx.dim_value(&count)?;
    let (starts, ends) = if cx.bool("include_last_offset")? {
        (cx.slice(offsets, &[0], &[0], &[-1], &[1]), cx.slice(offsets, &[0], &[1], &[i64::MAX], &[1]))
    } else {
        let later = cx.slice(offsets, &[0], &[1], &[i64::MAX], &[1]);
        (offsets, cx.concat(&[later, count], 0))
    };
    let (zero, one, limit) = (cx.const_int(0), cx.const_int(1), cx.squeeze(count, &[0]));
    let places = cx.emit("Range", &[zero, limit, one], vec![]);
    let (starts, ends) = (cx.unsqueeze(starts, &[1]), cx.unsqueeze(ends, &[1]));
    let before_start = cx.emit("Less", &[places, starts], vec![]);
    let before_end = cx.emit("Less", &[places, ends], vec![]);
    let mut members = cx.emit("Xor", &[before_start, before_end], vec![]);
    if let Some(padding) = cx.int_opt("padding_idx")?.filter(|_| has_padding(cx)) {
        let rows = cx.meta("weight")?.sizes.first().and_then(Dim::as_static).unwrap_or(0);
        let padding = cx.const_int(if padding < 0 { padding + rows } else { padding });
        let is_padding = cx.emit("Equal", &[indices, padding], vec![]);
        let counted = cx.emit("Not", &[is_padding], vec![]);
        members = cx.emit("And", &[members, counted], vec![]);
    }
    Ok(members)
}

/// In the inner overloads -1 stands for no padding; in the outer one it is the last row.
fn has_padding(cx: &Context<'_, '_>) -> bool {
    let is_inner = cx.target().starts_with("aten._");
    !(is_inner && cx.int_opt("padding_idx").is_ok_and(|padding| padding == Some(-1)))
}

fn maxima(cx: &mut Context<'_, '_>, members: ValueId, rows: ValueId, dtype: DType) -> ValueId {
    let inside = cx.unsqueeze(members, &[2]);
    let (low, zero) = (cx.const_scalar(dtype, f64::NEG_INFINITY), cx.const_scalar(dtype, 0.0));
    let spread = cx.emit("Where", &[inside, rows, low], vec![]);
    let largest = cx.reduce("ReduceMax", spread, &[1], false);
    let counts = cx.cast(members, DType::I32);
    let counts = cx.reduce("ReduceMax", counts, &[1], true);
    let filled = cx.cast(counts, DType::Bool);
    cx.emit("Where", &[filled, largest, zero], vec![])
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

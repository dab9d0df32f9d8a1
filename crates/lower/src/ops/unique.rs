//! `unique` in its forms: `Unique` of ONNX, sorted. Runs of equal elements (`unique_consecutive`): `Compress` by where
//! an element differs from the one before it.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::kernel_type;
use crate::literal::Literal;
use crate::ops::support::compute::product;
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::_unique(Tensor self, bool sorted=True, bool return_inverse=False) -> (Tensor, Tensor)", lower),
    Row::new(
        "aten::_unique2(Tensor self, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
        lower,
    ),
    Row::new(
        "aten::unique_consecutive(Tensor self, bool return_inverse=False, bool return_counts=False, int? dim=None) -> (Tensor, Tensor, Tensor)",
        consecutive,
    ),
    Row::new(
        "aten::unique_dim(Tensor self, int dim, bool sorted=True, bool return_inverse=False, bool return_counts=False) -> (Tensor, Tensor, Tensor)",
        lower,
    ),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    let meta = cx.meta("self")?;
    let kernel = kernel_type("Unique", meta.dtype, cx.opset);
    let x = cx.cast(x, kernel);
    let attributes = match cx.int_opt("dim")? {
        Some(axis) => attrs![axis = cx.normalize_axis("dim", axis, meta.sizes.len())?, sorted = 1],
        None => attrs![sorted = 1],
    };
    let by_axis = cx.int_opt("dim")?.is_some();
    let found = cx.emit_many("Unique", &[Some(x)], attributes, 4);
    for &value in found.iter().skip(1) {
        cx.set_dtype(value, DType::I64);
    }
    let [values, _, inverse, counts] = found.as_slice() else { return cx.refuse("has no distinct elements") };
    let values = cx.cast(*values, meta.dtype);
    let inverse = if by_axis { *inverse } else { cx.reshape(*inverse, &meta.sizes)? };
    outputs(cx, values, inverse, *counts)
}

/// What was not asked for is empty.
fn outputs(cx: &mut Context<'_, '_>, values: ValueId, inverse: ValueId, counts: ValueId) -> Result<Outputs> {
    let mut results = vec![values];
    for (name, value) in [("return_inverse", inverse), ("return_counts", counts)] {
        let value = if cx.bool(name)? { value } else { cx.constant(Literal::ints(&[])) };
        results.push(value);
    }
    results.truncate(cx.out_count());
    Ok(results.into())
}

fn consecutive(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    let meta = cx.meta("self")?;
    if cx.int_opt("dim")?.is_some() && meta.sizes.len() != 1 {
        return cx.refuse("compares slices of more than one element with each other");
    }
    let count = product(&meta.sizes);
    let row = cx.reshape(x, std::slice::from_ref(&count))?;
    let before = cx.slice(row, &[0], &[0], &[-1], &[1]);
    let after = cx.slice(row, &[0], &[1], &[i64::MAX], &[1]);
    let equal = cx.test("Equal", &[before, after]);
    let differs = cx.emit("Not", &[equal], vec![]);
    let first = cx.constant(Literal { dtype: DType::Bool, dims: vec![1], bytes: vec![1] });
    let mut starts = cx.concat(&[first, differs], 0);
    if cx.may_be_empty(&count) {
        // Nothing has no first run.
        let (zero, end, axis) = (cx.const_ints(&[0]), cx.dim_value(&count)?, cx.const_ints(&[0]));
        starts = cx.emit("Slice", &[starts, zero, end, axis], vec![]);
    }
    let values = cx.emit("Compress", &[row, starts], attrs![axis = 0]);
    let numbers = cx.cast(starts, DType::I64);
    let axis = cx.const_int(0);
    let running = cx.emit("CumSum", &[numbers, axis], vec![]);
    let inverse = with_number(cx, "Sub", running, 1.0);
    let inverse = cx.reshape(inverse, &meta.sizes)?;
    // A run ends where the next begins.
    let end = cx.dim_value(&count)?;
    let last = cx.squeeze(end, &[0]);
    let (zero, one) = (cx.const_int(0), cx.const_int(1));
    let places = cx.emit("Range", &[zero, last, one], vec![]);
    let begins = cx.emit("Compress", &[places, starts], attrs![axis = 0]);
    let next = cx.slice(begins, &[0], &[1], &[i64::MAX], &[1]);
    let ends = cx.concat(&[next, end], 0);
    let counts = cx.emit("Sub", &[ends, begins], vec![]);
    outputs(cx, values, inverse, counts)
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

//! From which size on singular values count: `max(atol, rtol * largest)`, with PyTorch's defaults.

use modelexport_graph::{DType, Dim, SymExpr, SymOp};

use super::compute::tensor_as;
use super::matrices::Matrices;
use super::reduction::count_value;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// The argument, a number or a tensor with one element for each matrix, as something that broadcasts with
/// `[…, 1, n]`. Names that the operator does not have are left out.
fn argument(cx: &mut Context<'_, '_>, name: &str) -> Result<Option<ValueId>> {
    if cx.meta_opt(name).is_some() {
        let value = tensor_as(cx, name, DType::F64)?;
        return Ok(Some(cx.unsqueeze(value, &[-2, -1])));
    }
    Ok(cx.float_opt(name)?.map(|number| cx.const_scalar(DType::F64, number)))
}

/// `values`, `[…, 1, n]`, are singular values of `a`, whose elements are of type `dtype` in PyTorch.
pub(crate) fn counts(
    cx: &mut Context<'_, '_>,
    a: &Matrices,
    dtype: DType,
    values: ValueId,
) -> Result<ValueId> {
    let zero = cx.const_scalar(DType::F64, 0.0);
    let (relative, absolute) = match (argument(cx, "rcond")?, argument(cx, "tol")?) {
        (Some(relative), _) => (relative, None),
        (None, Some(absolute)) => (zero, Some(absolute)),
        (None, None) => {
            let (relative, absolute) = (argument(cx, "rtol")?, argument(cx, "atol")?);
            let relative = match (relative, absolute) {
                (Some(relative), _) => relative,
                (None, None) => default_relative(cx, a, dtype)?,
                (None, Some(absolute)) => {
                    let default = default_relative(cx, a, dtype)?;
                    let is_given = cx.test("Greater", &[absolute, zero]);
                    cx.select(is_given, zero, default)
                }
            };
            (relative, absolute)
        }
    };
    let largest = cx.reduce("ReduceMax", values, &[-1], true);
    let mut limit = cx.emit("Mul", &[largest, relative], vec![]);
    if let Some(absolute) = absolute {
        limit = cx.emit("Max", &[limit, absolute], vec![]);
    }
    Ok(cx.test("Greater", &[values, limit]))
}

/// The distance of 1 to the next number, times the larger size.
fn default_relative(cx: &mut Context<'_, '_>, a: &Matrices, dtype: DType) -> Result<ValueId> {
    let larger = match (&a.rows, &a.columns) {
        (Dim::Static(rows), Dim::Static(columns)) => Dim::Static(*rows.max(columns)),
        (rows, columns) if rows == columns => rows.clone(),
        (rows, columns) => Dim::Symbolic(SymExpr::Call(SymOp::Max, vec![rows.to_expr(), columns.to_expr()])),
    };
    let epsilon = if dtype == DType::F64 { f64::EPSILON } else { f64::from(f32::EPSILON) };
    let (count, epsilon) = (count_value(cx, &larger, DType::F64)?, cx.const_scalar(DType::F64, epsilon));
    Ok(cx.emit("Mul", &[count, epsilon], vec![]))
}

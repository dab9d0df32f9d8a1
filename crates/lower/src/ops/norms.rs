//! Norms of vectors and matrices.
//!
//! `ReduceL1`, `ReduceL2`, largest and smallest magnitude, count of non-zeros, else `(sum |x|^p)^(1/p)`. Matrix norms:
//! Frobenius, the largest or smallest sum along rows or columns, and the largest, smallest or sum of singular values.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::ops::support::jacobi::{orthogonalize, upright};
use crate::ops::support::matrices::{Fill, Matrices, results_of_nothing};
use crate::ops::support::operands::{operand, real_only};
use crate::ops::support::reduction::{reduced_axes, reduces_something};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", dist),
    Row::new("aten::frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", |cx| {
        vector_norm(cx, 2.0)
    }),
    Row::new(
        "aten::linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        matrix,
    ),
    Row::new(
        "aten::linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        named,
    ),
    Row::new(
        "aten::linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        general,
    ),
    Row::new(
        "aten::linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        named,
    ),
    Row::new(
        "aten::linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        |cx| {
            let order = order(cx, "ord")?.unwrap_or(2.0);
            vector_norm(cx, order)
        },
    ),
    Row::new("aten::nuclear_norm(Tensor self, bool keepdim=False) -> Tensor", |cx| spectral(cx, "ReduceSum")),
    Row::new("aten::nuclear_norm.dim(Tensor self, int[2] dim, bool keepdim=False) -> Tensor", |cx| {
        spectral(cx, "ReduceSum")
    }),
    Row::new("aten::norm.Scalar(Tensor self, Scalar p=2) -> Tensor", norm),
    Row::new("aten::norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor", norm),
    Row::new(
        "aten::norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
        norm,
    ),
    Row::new("aten::norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor", norm),
];

fn order(cx: &mut Context<'_, '_>, name: &str) -> Result<Option<f64>> {
    match cx.scalar_opt(name)? {
        None => Ok(None),
        Some(scalar) => match scalar.number() {
            Some(number) => Ok(Some(number.as_f64())),
            None => cx.wrong(name, "a number that is known when exporting", scalar),
        },
    }
}

/// `self` in the type in which a norm of the result's type is computed.
fn argument(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    operand(cx, "self", math_type(dtype))
}

fn rounded(cx: &mut Context<'_, '_>, value: ValueId) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

fn norm(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let order = order(cx, "p")?.unwrap_or(2.0);
    vector_norm(cx, order)
}

fn vector_norm(cx: &mut Context<'_, '_>, order: f64) -> Result<Outputs> {
    let x = argument(cx)?;
    let (axes, keepdim) = (reduced_axes(cx)?, cx.bool("keepdim")?);
    let value = along(cx, x, order, &axes, keepdim)?;
    rounded(cx, value)
}

/// The norm of `order` over `axes` (all if empty).
fn along(cx: &mut Context<'_, '_>, x: ValueId, order: f64, axes: &[i64], keepdim: bool) -> Result<ValueId> {
    if order == 2.0 {
        return Ok(cx.reduce("ReduceL2", x, axes, keepdim));
    }
    if order == 1.0 {
        return Ok(cx.reduce("ReduceL1", x, axes, keepdim));
    }
    if order == 0.0 {
        let nonzero = cx.cast(x, DType::Bool);
        let ones = cx.cast_like(nonzero, x);
        return Ok(cx.reduce("ReduceSum", ones, axes, keepdim));
    }
    let magnitude = cx.emit("Abs", &[x], vec![]);
    if order.is_infinite() {
        let op = if order > 0.0 { "ReduceMax" } else { "ReduceMin" };
        // The norm of nothing is 0, which is what a sum gives.
        let op = if reduces_something(cx, axes)? { op } else { "ReduceSum" };
        return Ok(cx.reduce(op, magnitude, axes, keepdim));
    }
    let exponent = cx.const_like(x, order);
    let power = cx.emit("Pow", &[magnitude, exponent], vec![]);
    let sum = cx.reduce("ReduceSum", power, axes, keepdim);
    let inverse = cx.const_like(x, 1.0 / order);
    Ok(cx.emit("Pow", &[sum, inverse], vec![]))
}

fn dist(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let order = order(cx, "p")?.unwrap_or(2.0);
    let left = argument(cx)?;
    let dtype = cx.dtype(left);
    let right = operand(cx, "other", dtype)?;
    let difference = cx.emit("Sub", &[left, right], vec![]);
    let value = along(cx, difference, order, &[], false)?;
    rounded(cx, value)
}

/// Without an order: of all elements as one vector. Over one axis or of a vector: a vector norm; else a matrix norm.
fn general(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let Some(order) = order(cx, "ord")? else { return vector_norm(cx, 2.0) };
    let rank = cx.meta("self")?.sizes.len();
    match cx.ints_opt("dim")? {
        Some(axes) if axes.len() == 2 => matrix(cx),
        None if rank == 2 => matrix(cx),
        _ => vector_norm(cx, order),
    }
}

fn named(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    match cx.str_opt("ord")?.as_deref() {
        Some("fro") => {
            let x = argument(cx)?;
            let [rows, columns] = matrix_axes(cx)?;
            let keepdim = cx.bool("keepdim")?;
            let value = cx.reduce("ReduceL2", x, &[rows, columns], keepdim);
            rounded(cx, value)
        }
        Some("nuc") => spectral(cx, "ReduceSum"),
        other => cx.wrong("ord", "`fro` or `nuc`", other),
    }
}

/// The axes of rows and columns.
fn matrix_axes(cx: &Context<'_, '_>) -> Result<[i64; 2]> {
    let rank = cx.meta("self")?.sizes.len();
    let axes = cx.ints_opt("dim")?.unwrap_or_else(|| vec![-2, -1]);
    match axes.as_slice() {
        [rows, columns] => {
            Ok([cx.normalize_axis("dim", *rows, rank)?, cx.normalize_axis("dim", *columns, rank)?])
        }
        _ => cx.wrong("dim", "two axes", axes),
    }
}

fn matrix(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let order = order(cx, "ord")?.unwrap_or(2.0);
    if order.abs() == 2.0 {
        return spectral(cx, if order > 0.0 { "ReduceMax" } else { "ReduceMin" });
    }
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let x = argument(cx)?;
    let axes = matrix_axes(cx)?;
    let value = largest_or_smallest_sum(cx, x, order, axes)?;
    let sizes = cx.out()?.sizes.clone();
    let value = cx.reshape(value, &sizes)?;
    rounded(cx, value)
}

/// The largest (positive order) or smallest sum of magnitudes of columns (1) or rows (infinity); axes stay.
pub(crate) fn largest_or_smallest_sum(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    order: f64,
    [rows, columns]: [i64; 2],
) -> Result<ValueId> {
    let (summed, compared) = match order.abs() {
        1.0 => (rows, columns),
        f64::INFINITY => (columns, rows),
        _ => return cx.refuse(format!("there is no matrix norm of order {order}")),
    };
    let sums = cx.reduce("ReduceL1", x, &[summed], true);
    let op = if order > 0.0 { "ReduceMax" } else { "ReduceMin" };
    Ok(cx.reduce(op, sums, &[compared], true))
}

/// What `reduction` makes of the singular values.
fn spectral(cx: &mut Context<'_, '_>, reduction: &'static str) -> Result<Outputs> {
    real_only(cx)?;
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let sizes = &cx.meta("self")?.sizes;
    let [rows, columns] = matrix_axes(cx)?;
    let batch = (0..sizes.len() as i64).filter(|axis| *axis != rows && *axis != columns);
    let order: Vec<i64> = batch.chain([rows, columns]).collect();
    let ordered = order.iter().filter_map(|&axis| sizes.get(axis as usize).cloned()).collect::<Vec<_>>();
    let x = operand(cx, "self", DType::F64)?;
    let x = cx.transpose(x, &order);
    let x = Matrices::of(cx, x, &ordered)?;
    let tall = upright(cx, &x);
    let values = orthogonalize(cx, &tall)?.values;
    let value = cx.reduce(reduction, values, &[-2, -1], false);
    let sizes = cx.out()?.sizes.clone();
    let value = cx.reshape(value, &sizes)?;
    rounded(cx, value)
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

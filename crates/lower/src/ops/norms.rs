//! Norms of vectors and matrices.
//!
//! `ReduceL1`, `ReduceL2`, largest and smallest magnitude, count of non-zeros, else `(sum |x|^p)^(1/p)`. Matrix norms:
//! Frobenius, and the largest or smallest sum along rows or columns. Those made from singular values (2, -2, nuclear)
//! have no counterpart in ONNX and are refused.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::ops::support::operands::{operand, real_only};
use crate::ops::support::reduction::{reduced_axes, reduces_something};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.dist.default", "dist(Tensor self, Tensor other, Scalar p=2) -> Tensor", dist),
    Row::new("aten.frobenius_norm.dim", "frobenius_norm.dim(Tensor self, int[1] dim, bool keepdim=False) -> Tensor", |cx| {
        vector_norm(cx, 2.0)
    }),
    Row::new(
        "aten.linalg_matrix_norm.default",
        "linalg_matrix_norm(Tensor self, Scalar ord, int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        matrix,
    ),
    Row::new(
        "aten.linalg_matrix_norm.str_ord",
        "linalg_matrix_norm.str_ord(Tensor self, str ord=\"fro\", int[] dim=[-2, -1], bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        named,
    ),
    Row::new(
        "aten.linalg_norm.default",
        "linalg_norm(Tensor self, Scalar? ord=None, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        general,
    ),
    Row::new(
        "aten.linalg_norm.ord_str",
        "linalg_norm.ord_str(Tensor self, str ord, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        named,
    ),
    Row::new(
        "aten.linalg_vector_norm.default",
        "linalg_vector_norm(Tensor self, Scalar ord=2, int[1]? dim=None, bool keepdim=False, *, ScalarType? dtype=None) -> Tensor",
        |cx| {
            let order = order(cx, "ord")?.unwrap_or(2.0);
            vector_norm(cx, order)
        },
    ),
    Row::new("aten.norm.Scalar", "norm.Scalar(Tensor self, Scalar p=2) -> Tensor", norm),
    Row::new(
        "aten.norm.ScalarOpt_dim",
        "norm.ScalarOpt_dim(Tensor self, Scalar? p, int[1] dim, bool keepdim=False) -> Tensor",
        norm,
    ),
    Row::new(
        "aten.norm.ScalarOpt_dim_dtype",
        "norm.ScalarOpt_dim_dtype(Tensor self, Scalar? p, int[1] dim, bool keepdim, *, ScalarType dtype) -> Tensor",
        norm,
    ),
    Row::new(
        "aten.norm.ScalarOpt_dtype",
        "norm.ScalarOpt_dtype(Tensor self, Scalar? p, *, ScalarType dtype) -> Tensor",
        norm,
    ),
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
        other => {
            let order = other.unwrap_or("?").to_owned();
            cx.refuse(format!("the matrix norm `{order}` needs singular values, which ONNX does not have"))
        }
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
    let x = argument(cx)?;
    let [rows, columns] = matrix_axes(cx)?;
    let (summed, compared) = match order.abs() {
        1.0 => (rows, columns),
        f64::INFINITY => (columns, rows),
        _ => {
            return cx
                .refuse(format!("the matrix norm of order {order} needs singular values, which ONNX does not have"));
        }
    };
    let sums = cx.reduce("ReduceL1", x, &[summed], true);
    let op = if order > 0.0 { "ReduceMax" } else { "ReduceMin" };
    let value = cx.reduce(op, sums, &[compared], true);
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
        assert_snapshot!(lowered(ROWS), @r"
        aten.dist.default(self: f32[2, 3], other: f32[3]) -> f32[]
            ReduceL2(Sub(self, other), keepdims=0)
        aten.frobenius_norm.dim(self: f32[2, 3, 4], dim=[0, 1]) -> f32[4]
            ReduceL2(self, [0, 1], keepdims=0)
        aten.linalg_matrix_norm.default(self: f32[2, 3, 4], ord=1) -> f32[2]
            Reshape(ReduceMax(ReduceL1(self, [1], keepdims=1), [2], keepdims=1), [2])
        aten.linalg_matrix_norm.str_ord(self: f32[2, 3, 4]) -> f32[2]
            ReduceL2(self, [1, 2], keepdims=0)
        aten.linalg_norm.default(self: f32[5], ord=2) -> f32[]
            ReduceL2(self, keepdims=0)
        aten.linalg_norm.ord_str(self: f32[3, 4], ord='fro') -> f32[]
            ReduceL2(self, [0, 1], keepdims=0)
        aten.linalg_vector_norm.default(self: f32[2, 3, 4]) -> f32[]
            ReduceL2(self, keepdims=0)
        aten.linalg_vector_norm.default(self: f32[s0, 3], ord=2, dim=[-1], keepdim=True) -> f32[s0, 1]
            ReduceL2(self, [1], keepdims=1)
        aten.norm.Scalar(self: f32[2, 3]) -> f32[]
            ReduceL2(self, keepdims=0)
        aten.norm.ScalarOpt_dim(self: f32[2, 3], p=2, dim=[1]) -> f32[2]
            ReduceL2(self, [1], keepdims=0)
        aten.norm.ScalarOpt_dim_dtype(self: f32[2, 3], p=2, dim=[1], keepdim=False, dtype=f64) -> f64[2]
            ReduceL2(Cast(self, to=f64), [1], keepdims=0)
        aten.norm.ScalarOpt_dtype(self: f32[2, 3], p=2, dtype=f64) -> f64[]
            ReduceL2(Cast(self, to=f64), keepdims=0)
        ");
    }
}

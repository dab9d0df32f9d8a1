//! Factors `Q R` by Householder reflections, with the signs of LAPACK; and products of such reflections.

use modelexport_graph::Dim;

use super::support::compute::tensor_as;
use super::support::fill::filled;
use super::support::matrices::{Fill, Matrices, identity, results_of_nothing, triangle};
use super::support::reflections::{reflect, triangularize};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::geqrf(Tensor self) -> (Tensor a, Tensor tau)", packed),
    Row::new("aten::linalg_qr(Tensor A, str mode=\"reduced\") -> (Tensor Q, Tensor R)", factors),
    Row::new("aten::linalg_householder_product(Tensor input, Tensor tau) -> Tensor", |cx| product(cx, "input", "tau")),
    Row::new("aten::orgqr(Tensor self, Tensor input2) -> Tensor", |cx| product(cx, "self", "input2")),
    Row::new(
        "aten::ormqr(Tensor self, Tensor input2, Tensor input3, bool left=True, bool transpose=False) -> Tensor",
        multiply,
    ),
];

fn packed(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0); 2])? {
        return Ok(results);
    }
    let (a, dtype) = (Matrices::argument(cx, "self")?, cx.out()?.dtype);
    let (packed, taus) = triangularize(cx, &a)?;
    Ok([cx.cast(packed.value, dtype), cx.cast(taus, dtype)].into())
}

fn factors(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "A", &[Fill::Identity, Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, dtype, mode) = (Matrices::argument(cx, "A")?, cx.out()?.dtype, cx.str_opt("mode")?);
    let count = a.diagonal_length();
    let (packed, taus) = triangularize(cx, &a)?;
    let is_complete = mode.as_deref() == Some("complete");
    let upper = if is_complete || a.rows == count {
        packed.value
    } else {
        let (start, end, axis) = (cx.const_ints(&[0]), cx.dim_value(&count)?, cx.const_ints(&[-2]));
        cx.emit("Slice", &[packed.value, start, end, axis], vec![])
    };
    let upper = triangle(cx, upper, true);
    let q = match mode.as_deref() {
        Some("r") => filled(cx, &cx.out()?.sizes, dtype, 0.0, None)?,
        _ => {
            let columns = if is_complete { a.rows.clone() } else { count.clone() };
            first_columns(cx, &packed, taus, &count, &columns)?
        }
    };
    Ok([cx.cast(q, dtype), cx.cast(upper, dtype)].into())
}

/// The first columns of the product of `count` reflections.
fn first_columns(
    cx: &mut Context<'_, '_>,
    packed: &Matrices,
    taus: ValueId,
    count: &Dim,
    columns: &Dim,
) -> Result<ValueId> {
    let dtype = cx.dtype(packed.value);
    let one = identity(cx, &packed.rows, columns, dtype)?;
    let one = Matrices::of(cx, one, &[packed.rows.clone(), columns.clone()])?.expanded(cx, &packed.batch)?;
    Ok(reflect(cx, packed, taus, count, &one, false)?.value)
}

fn product(cx: &mut Context<'_, '_>, packed: &str, taus: &str) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, packed, &[Fill::Identity])? {
        return Ok(results);
    }
    let dtype = cx.out()?.dtype;
    let Some(count) = cx.meta(taus)?.sizes.last().cloned() else { return cx.refuse("has no reflections") };
    let (packed, taus) = (Matrices::argument(cx, packed)?, tensor_as(cx, taus, math_type(dtype))?);
    let columns = packed.columns.clone();
    let q = first_columns(cx, &packed, taus, &count, &columns)?;
    Ok(cx.cast(q, dtype).into())
}

/// `Q C`, `Qᵀ C`, `C Q` or `C Qᵀ`.
fn multiply(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    for name in ["self", "input3"] {
        if let Some(results) = results_of_nothing(cx, name, &[Fill::Number(0.0)])? {
            return Ok(results);
        }
    }
    let (out, left) = (cx.out()?, cx.bool("left")?);
    let Some(count) = cx.meta("input2")?.sizes.last().cloned() else { return cx.refuse("has no reflections") };
    let compute = math_type(out.dtype);
    let (packed, taus) = (Matrices::argument_as(cx, "self", compute)?, tensor_as(cx, "input2", compute)?);
    let mut c = Matrices::argument_as(cx, "input3", compute)?;
    if !left {
        c = c.transposed(cx);
    }
    // C Q is the transpose of Qᵀ Cᵀ.
    let mut product = reflect(cx, &packed, taus, &count, &c, cx.bool("transpose")? == left)?;
    if !left {
        product = product.transposed(cx);
    }
    Ok(cx.cast(product.value, out.dtype).into())
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

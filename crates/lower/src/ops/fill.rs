//! Tensors full of one number: `zeros`, `ones`, `full`, `empty` with their `_like` and `new_` forms, `fill`, `zero`,
//! `scalar_tensor`.
//!
//! Small ones of known size are constants; others are `ConstantOfShape`, or `Expand` of a number that is computed.
//! `empty` promises no content and is zero.

use modelexport_graph::DType;

use crate::context::{Context, Scalar};
use crate::error::Result;
use crate::ir::{ValueId, model_shape};
use crate::literal::Literal;
use crate::ops::support::fill::{filled_scalar, spread};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten::empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten::empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten::empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new("aten::fill.Scalar(Tensor self, Scalar value) -> Tensor", |cx| argument(cx, "value")),
    Row::new("aten::fill.Tensor(Tensor self, Tensor value) -> Tensor", fill_tensor),
    Row::new(
        "aten::full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| argument(cx, "fill_value"),
    ),
    Row::new(
        "aten::full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        |cx| argument(cx, "fill_value"),
    ),
    Row::new(
        "aten::new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten::new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten::new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| argument(cx, "fill_value"),
    ),
    Row::new(
        "aten::new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 1.0),
    ),
    Row::new(
        "aten::new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten::ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 1.0),
    ),
    Row::new(
        "aten::ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        |cx| number(cx, 1.0),
    ),
    Row::new(
        "aten::scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| argument(cx, "s"),
    ),
    Row::new("aten::zero(Tensor self) -> Tensor", |cx| number(cx, 0.0)),
    Row::new(
        "aten::zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten::zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
];

fn argument(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    let scalar = cx.scalar_arg(name)?;
    lower(cx, scalar)
}

fn number(cx: &mut Context<'_, '_>, number: f64) -> Result<Outputs> {
    lower(cx, Scalar::Float(number))
}

fn lower(cx: &mut Context<'_, '_>, scalar: Scalar) -> Result<Outputs> {
    let out = cx.out()?;
    let sizes = model_shape(out);
    let like = like(cx)?;
    let value = if out.dtype.is_complex() && !scalar.is(0.0) {
        let one = complex_number(cx, scalar, out.dtype.real())?;
        spread(cx, one, &sizes, like)?
    } else {
        filled_scalar(cx, &sizes, out.dtype.real(), scalar, like)?
    };
    Ok(value.into())
}

/// A tensor among the arguments that has the sizes of the result.
fn like(cx: &Context<'_, '_>) -> Result<Option<ValueId>> {
    match cx.meta_opt("self") {
        Some(meta) if meta.dtype.is_complex() == cx.out()?.dtype.is_complex() && meta.sizes == cx.out()?.sizes => {
            cx.tensor("self").map(Some)
        }
        _ => Ok(None),
    }
}

/// The pair that stands for a real number among complex ones.
fn complex_number(cx: &mut Context<'_, '_>, scalar: Scalar, part: DType) -> Result<ValueId> {
    let pair = scalar.number().and_then(|number| Literal::from_numbers(part, vec![2], [number, 0.0.into()]));
    match pair {
        Some(pair) => Ok(cx.constant(pair)),
        None => cx.refuse("fills a complex tensor with a number that is computed in the graph"),
    }
}

fn fill_tensor(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let value = cx.tensor("value")?;
    if out.dtype.is_complex() || cx.meta("value")?.dtype.is_complex() {
        return cx.refuse("fills complex tensors with a tensor");
    }
    let value = cx.cast(value, out.dtype);
    let like = like(cx)?;
    Ok(spread(cx, value, &out.sizes, like)?.into())
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

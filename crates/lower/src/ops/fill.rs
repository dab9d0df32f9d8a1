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
        "aten.empty.memory_format",
        "empty.memory_format(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten.empty_like.default",
        "empty_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten.empty_permuted.default",
        "empty_permuted(SymInt[] size, int[] physical_layout, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten.empty_strided.default",
        "empty_strided(SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new("aten.fill.Scalar", "fill.Scalar(Tensor self, Scalar value) -> Tensor", |cx| {
        argument(cx, "value")
    }),
    Row::new("aten.fill.Tensor", "fill.Tensor(Tensor self, Tensor value) -> Tensor", fill_tensor),
    Row::new(
        "aten.full.default",
        "full(SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| argument(cx, "fill_value"),
    ),
    Row::new(
        "aten.full_like.default",
        "full_like(Tensor self, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        |cx| argument(cx, "fill_value"),
    ),
    Row::new(
        "aten.new_empty.default",
        "new_empty(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten.new_empty_strided.default",
        "new_empty_strided(Tensor self, SymInt[] size, SymInt[] stride, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten.new_full.default",
        "new_full(Tensor self, SymInt[] size, Scalar fill_value, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| argument(cx, "fill_value"),
    ),
    Row::new(
        "aten.new_ones.default",
        "new_ones(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 1.0),
    ),
    Row::new(
        "aten.new_zeros.default",
        "new_zeros(Tensor self, SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten.ones.default",
        "ones(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 1.0),
    ),
    Row::new(
        "aten.ones_like.default",
        "ones_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        |cx| number(cx, 1.0),
    ),
    Row::new(
        "aten.scalar_tensor.default",
        "scalar_tensor(Scalar s, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| argument(cx, "s"),
    ),
    Row::new("aten.zero.default", "zero(Tensor self) -> Tensor", |cx| number(cx, 0.0)),
    Row::new(
        "aten.zeros.default",
        "zeros(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| number(cx, 0.0),
    ),
    Row::new(
        "aten.zeros_like.default",
        "zeros_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
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
        assert_snapshot!(lowered(ROWS), @r"
        aten.empty.memory_format(size=[2, 3]) -> f32[2, 3]
            Identity([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        aten.empty_like.default(self: f32[2, 3]) -> f32[2, 3]
            Identity([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        aten.empty_permuted.default(size=[2, 3], physical_layout=[0, 1]) -> f32[2, 3]
            Identity([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        aten.empty_strided.default(size=[2, 3], stride=[3, 1]) -> f32[2, 3]
            Identity([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        aten.fill.Scalar(self: f32[2, 3], value=2.5) -> f32[2, 3]
            Identity([[2.5, 2.5, 2.5], [2.5, 2.5, 2.5]])
        aten.fill.Scalar(self: f32[s0, 3], value=5) -> f32[s0, 3]
            ConstantOfShape(Concat(Shape(self, start=0, end=1), [3], axis=0), value=[5.0])
        aten.fill.Tensor(self: f32[2, 3], value: f32[]) -> f32[2, 3]
            Expand(value, [2, 3])
        aten.fill.Tensor(self: f32[s0, 3], value: f32[]) -> f32[s0, 3]
            Expand(value, Concat(Shape(self, start=0, end=1), [3], axis=0))
        aten.full.default(size=[2, 3], fill_value=2.5) -> f32[2, 3]
            Identity([[2.5, 2.5, 2.5], [2.5, 2.5, 2.5]])
        aten.full.default(size=[2, 3], fill_value=s0, device=cpu, pin_memory=False) -> i64[2, 3]
            Expand(s0, [2, 3])
        aten.full_like.default(self: f32[2, 3], fill_value=2.5) -> f32[2, 3]
            Identity([[2.5, 2.5, 2.5], [2.5, 2.5, 2.5]])
        aten.full_like.default(self: f32[s0, s1], fill_value=7) -> f32[s0, s1]
            ConstantOfShape(Shape(self), value=[7.0])
        aten.new_empty.default(self: f32[2, 3], size=[4, 1]) -> f32[4, 1]
            Identity([[0.0], [0.0], [0.0], [0.0]])
        aten.new_empty_strided.default(self: f32[2, 3], size=[4, 2], stride=[2, 1]) -> f32[4, 2]
            Identity([[0.0, 0.0], [0.0, 0.0], [0.0, 0.0], [0.0, 0.0]])
        aten.new_full.default(self: f32[2, 3], size=[2], fill_value=2.5) -> f32[2]
            Identity([2.5, 2.5])
        aten.new_ones.default(self: f32[2, 3], size=[4]) -> f32[4]
            Identity([1.0, 1.0, 1.0, 1.0])
        aten.new_ones.default(self: f32[s0, s1], size=[s0, s1], pin_memory=False) -> f32[s0, s1]
            ConstantOfShape(Shape(self), value=[1.0])
        aten.new_zeros.default(self: f32[2, 3], size=[4]) -> f32[4]
            Identity([0.0, 0.0, 0.0, 0.0])
        aten.new_zeros.default(self: f32[s0, s1], size=[s0, s1], pin_memory=False) -> f32[s0, s1]
            ConstantOfShape(Shape(self), value=[0.0])
        aten.ones.default(size=[2, 3]) -> f32[2, 3]
            Identity([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
        aten.ones.default(size=[s0, 2], device=cpu, pin_memory=False) -> f32[s0, 2]
            ConstantOfShape(Concat(Unsqueeze(s0, [0]), [2], axis=0), value=[1.0])
        aten.ones_like.default(self: f32[2, 3]) -> f32[2, 3]
            Identity([[1.0, 1.0, 1.0], [1.0, 1.0, 1.0]])
        aten.ones_like.default(self: i64[s0, s1]) -> i64[s0, s1]
            ConstantOfShape(Shape(self), value=[1])
        aten.scalar_tensor.default(s=2) -> f32[]
            Identity(2.0)
        aten.scalar_tensor.default(s=s0, dtype=i64, device=cpu, pin_memory=False) -> i64[]
            Identity(s0)
        aten.zero.default(self: f32[3]) -> f32[3]
            Identity([0.0, 0.0, 0.0])
        aten.zeros.default(size=[2, 3]) -> f32[2, 3]
            Identity([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        aten.zeros.default(size=[s0, 2], device=cpu, pin_memory=False) -> f32[s0, 2]
            ConstantOfShape(Concat(Unsqueeze(s0, [0]), [2], axis=0), value=[0.0])
        aten.zeros_like.default(self: f32[2, 3]) -> f32[2, 3]
            Identity([[0.0, 0.0, 0.0], [0.0, 0.0, 0.0]])
        aten.zeros_like.default(self: i64[s0, s1]) -> i64[s0, s1]
            ConstantOfShape(Shape(self), value=[0])
        ");
    }
}

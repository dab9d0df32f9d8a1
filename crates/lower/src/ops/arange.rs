//! `arange` and `range`.
//!
//! Small ones of known size are constants. Sizes that are known only when the model runs: `Range` for integers; for
//! floats `Range` of the indices, scaled and moved, since `Range` of floats adds up its step and its errors.

use modelexport_graph::{DType, Dim};

use crate::context::{Context, Scalar};
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::kernel_type;
use crate::literal::{Literal, Number};
use crate::ops::support::fill::is_small;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::arange(Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        lower,
    ),
    Row::new(
        "aten::arange.start(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        lower,
    ),
    Row::new(
        "aten::arange.start_step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        lower,
    ),
    Row::new(
        "aten::range(Scalar start, Scalar end, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        lower,
    ),
    Row::new(
        "aten::range.step(Scalar start, Scalar end, Scalar step=1, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        lower,
    ),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let [count] = out.sizes.as_slice() else { return cx.refuse("does not give one dimension") };
    let start = cx.scalar_opt("start")?.unwrap_or(Scalar::Int(0));
    let step = cx.scalar_opt("step")?.unwrap_or(Scalar::Int(1));
    if let (Some(start), Some(step), Some(count)) = (start.number(), step.number(), count.as_static())
        && is_small(&out.sizes, out.dtype)
        && let Some(literal) = literal(out.dtype, start, step, count)
    {
        return Ok(cx.constant(literal).into());
    }
    let is_whole = |scalar: Scalar| match scalar {
        Scalar::Float(value) => value.fract() == 0.0,
        Scalar::Value(value) => cx.dtype(value) == DType::I64,
        _ => true,
    };
    let value = if is_whole(start) && is_whole(step) {
        whole_numbers(cx, start, step, count)?
    } else {
        scaled_indices(cx, start, step, count)?
    };
    Ok(cx.cast(value, out.dtype).into())
}

fn literal(dtype: DType, start: Number, step: Number, count: i64) -> Option<Literal> {
    let numbers = (0..count).map(|i| match (start, step) {
        (Number::Int(start), Number::Int(step)) => Number::Int(start.wrapping_add(step.wrapping_mul(i))),
        _ if !dtype.is_float() => Number::Int(start.as_i64().wrapping_add(step.as_i64().wrapping_mul(i))),
        _ => Number::Float(start.as_f64() + step.as_f64() * i as f64),
    });
    Literal::from_numbers(dtype, vec![count], numbers)
}

/// `Range` over integers. The end is computed from the count, which the program knows exactly.
fn whole_numbers(cx: &mut Context<'_, '_>, start: Scalar, step: Scalar, count: &Dim) -> Result<ValueId> {
    let dtype = cx.out()?.dtype;
    let dtype = if dtype.is_integer() { kernel_type("Range", dtype, cx.opset) } else { DType::I64 };
    let (start_value, step_value) = (cx.scalar_value(start, dtype), cx.scalar_value(step, dtype));
    let mut end = cx.dim_value(count)?;
    end = cx.squeeze(end, &[0]);
    end = cx.cast(end, dtype);
    if !step.is(1.0) {
        end = cx.emit("Mul", &[end, step_value], vec![]);
    }
    if !start.is(0.0) {
        end = cx.emit("Add", &[end, start_value], vec![]);
    }
    Ok(cx.emit("Range", &[start_value, end, step_value], vec![]))
}

/// `start + step * index`.
fn scaled_indices(cx: &mut Context<'_, '_>, start: Scalar, step: Scalar, count: &Dim) -> Result<ValueId> {
    let dtype = match cx.out()?.dtype {
        DType::F64 => DType::F64,
        _ => DType::F32,
    };
    let indices = whole_numbers(cx, Scalar::Int(0), Scalar::Int(1), count)?;
    let mut value = cx.cast(indices, dtype);
    if !step.is(1.0) {
        let step = cx.scalar_value(step, dtype);
        value = cx.emit("Mul", &[value, step], vec![]);
    }
    if !start.is(0.0) {
        let start = cx.scalar_value(start, dtype);
        value = cx.emit("Add", &[value, start], vec![]);
    }
    Ok(value)
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

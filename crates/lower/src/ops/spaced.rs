//! `linspace` and `logspace`: a known number of points between two ends, which may be tensors.
//!
//! With known ends they are constants, computed from the nearer end as PyTorch does.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::literal::{Literal, Number};
use crate::ops::support::compute::const_floats;
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

macro_rules! spaced {
    ($(($overload:literal, $start:literal, $end:literal)),* $(,)?) => {
        pub static ROWS: &[Row] = &[
            $(
                Row::new(
                    concat!(
                        "aten::linspace", $overload, "(", $start, " start, ", $end, " end, int steps, *, ScalarType? dtype=None, \
                         Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor"
                    ),
                    |cx| lower(cx, false),
                ),
                Row::new(
                    concat!(
                        "aten::logspace", $overload, "(", $start, " start, ", $end, " end, int steps, float base=10., *, \
                         ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) \
                         -> Tensor"
                    ),
                    |cx| lower(cx, true),
                ),
            )*
        ];
    };
}

spaced! {
    (".Scalar_Tensor", "Scalar", "Tensor"),
    (".Tensor_Scalar", "Tensor", "Scalar"),
    (".Tensor_Tensor", "Tensor", "Tensor"),
    ("", "Scalar", "Scalar"),
}

fn lower(cx: &mut Context<'_, '_>, logarithmic: bool) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let steps = cx.int("steps")?;
    let base = if logarithmic { cx.float("base")? } else { 0.0 };
    if let (Some(start), Some(end)) = (known(cx, "start")?, known(cx, "end")?) {
        let numbers = points(dtype, start, end, steps).map(|x| {
            let x = if logarithmic { base.powf(x) } else { x };
            Number::Float(x)
        });
        let Some(literal) = Literal::from_numbers(dtype, vec![steps], numbers) else {
            return cx.refuse(format!("makes points of type {dtype}"));
        };
        return Ok(cx.constant(literal).into());
    }
    let wide = if dtype.is_float() { math_type(dtype) } else { DType::F64 };
    let mut value =
        if dtype.is_float() { between(cx, wide, steps)? } else { between_integers(cx, dtype, steps)? };
    if logarithmic {
        let base = cx.const_scalar(wide, base);
        value = cx.emit("Pow", &[base, value], vec![]);
    }
    Ok(cx.cast(value, dtype).into())
}

fn known(cx: &mut Context<'_, '_>, name: &str) -> Result<Option<f64>> {
    if cx.meta_opt(name).is_some() {
        return Ok(None);
    }
    let number = cx.scalar_arg(name)?.number().map(Number::as_f64);
    // Points of integers lie between integers.
    let is_float = cx.out()?.dtype.is_float();
    Ok(number.map(|number| if is_float { number } else { number.trunc() }))
}

/// The points; steps are of the precision that PyTorch has for the type.
fn points(dtype: DType, start: f64, end: f64, steps: i64) -> impl Iterator<Item = f64> {
    let single = dtype != DType::F64 && dtype.is_float();
    let round = move |x: f64| if single { f64::from(x as f32) } else { x };
    let step = round((end - start) / (steps - 1).max(1) as f64);
    (0..steps).map(move |i| {
        if i < steps / 2 || steps == 1 {
            start + round(step * i as f64)
        } else {
            end - round(step * (steps - 1 - i) as f64)
        }
    })
}

/// `start + (end - start) * [0 … 1]`.
fn between(cx: &mut Context<'_, '_>, dtype: DType, steps: i64) -> Result<ValueId> {
    let (start, end) = (operand(cx, "start", dtype)?, operand(cx, "end", dtype)?);
    let fractions = points(DType::F64, 0.0, 1.0, steps).map(Number::Float);
    let Some(fractions) = Literal::from_numbers(dtype, vec![steps], fractions) else {
        return cx.refuse(format!("makes points of type {dtype}"));
    };
    let fractions = cx.constant(fractions);
    let way = cx.emit("Sub", &[end, start], vec![]);
    let part = cx.emit("Mul", &[way, fractions], vec![]);
    Ok(cx.emit("Add", &[start, part], vec![]))
}

/// The same between whole numbers, from the nearer end, so that no point falls below the integer that it is.
fn between_integers(cx: &mut Context<'_, '_>, dtype: DType, steps: i64) -> Result<ValueId> {
    let mut whole = |name| {
        let value = operand(cx, name, dtype)?;
        Ok(cx.cast(value, DType::F64))
    };
    let (start, end) = (whole("start")?, whole("end")?);
    let way = cx.emit("Sub", &[end, start], vec![]);
    let step = with_number(cx, "Div", way, (steps - 1).max(1) as f64);
    let near = if steps == 1 { 1 } else { steps / 2 };
    let half = |cx: &mut Context<'_, '_>, op: &'static str, from: ValueId, numbers: Vec<i64>| {
        let numbers = const_floats(cx, DType::F64, &[numbers.len() as i64], numbers.iter().map(|&n| n as f64))?;
        let way = cx.emit("Mul", &[step, numbers], vec![]);
        Ok(cx.emit(op, &[from, way], vec![]))
    };
    let first = half(cx, "Add", start, (0..near).collect())?;
    let second = half(cx, "Sub", end, (0..steps - near).rev().collect())?;
    Ok(cx.concat(&[first, second], 0))
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

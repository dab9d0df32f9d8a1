//! `dropout` and its relatives: nothing in evaluation, ONNX's `Dropout` in training (its random numbers are its own).

use modelexport_graph::{DType, Dim};

use super::support::compute::{float_type, formula_type, tensor_as};
use super::support::fill::filled;
use super::support::formulas::with_number;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::dropout(Tensor input, float p, bool train) -> Tensor", dropout),
    Row::new("aten::native_dropout_backward(Tensor grad_output, Tensor mask, float scale) -> Tensor", backward),
    Row::new("aten::native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", native),
    Row::new("aten::feature_dropout(Tensor input, float p, bool train) -> Tensor", |cx| noisy(cx, true, false)),
    Row::new("aten::alpha_dropout(Tensor input, float p, bool train) -> Tensor", |cx| noisy(cx, false, true)),
    Row::new("aten::feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", |cx| noisy(cx, true, true)),
];

/// What `selu` approaches for negative numbers, negated.
const SELU_LIMIT: f64 = 1.758_099_340_847_376_6;

fn is_active(cx: &Context<'_, '_>) -> Result<bool> {
    Ok(cx.bool("train")? && cx.float("p")? > 0.0)
}

fn dropout(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if !is_active(cx)? {
        return Ok(cx.tensor("input")?.into());
    }
    let results = random(cx)?;
    Ok(results.0.into_iter().take(1).collect::<Vec<_>>().into())
}

/// The result and the mask.
fn random(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let x = tensor_as(cx, "input", float_type(dtype))?;
    let ratio = cx.float("p")?;
    if ratio >= 1.0 {
        let none = with_number(cx, "Mul", x, 0.0);
        let dropped = cx.const_scalar(DType::Bool, false);
        let sizes = &cx.out()?.sizes;
        return Ok([cx.cast(none, dtype), cx.expand(dropped, sizes)?].into());
    }
    let ratio = cx.const_scalar(DType::F32, ratio);
    let training = cx.const_scalar(DType::Bool, true);
    let results = cx.emit_many("Dropout", &[Some(x), Some(ratio), Some(training)], vec![], 2);
    let [y, mask] = results.as_slice() else { return cx.refuse("has no result") };
    cx.set_dtype(*mask, DType::Bool);
    let y = cx.cast(*y, dtype);
    Ok([y, *mask].into())
}

/// Without training the mask is all true.
fn native(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if is_active(cx)? {
        return random(cx);
    }
    let x = cx.tensor("input")?;
    let sizes = &cx.out()?.sizes;
    let kept = cx.const_scalar(DType::Bool, true);
    let mask = cx.expand(kept, sizes)?;
    Ok([x, mask].into())
}

/// The relatives of `dropout`: `by_channel` drops whole channels, `keeps_moments` puts the negative limit of `selu`
/// where something is dropped and scales so that mean and variance stay.
fn noisy(cx: &mut Context<'_, '_>, by_channel: bool, keeps_moments: bool) -> Result<Outputs> {
    if !is_active(cx)? {
        return Ok(cx.tensor("input")?.into());
    }
    let (p, out) = (cx.float("p")?, cx.out()?);
    let compute = formula_type(out.dtype);
    let x = tensor_as(cx, "input", compute)?;
    if p >= 1.0 {
        let none = with_number(cx, "Mul", x, 0.0);
        return Ok(cx.cast(none, out.dtype).into());
    }
    let mut sizes = out.sizes.clone();
    if by_channel {
        sizes.iter_mut().skip(2).for_each(|size| *size = Dim::Static(1));
    }
    let ones = filled(cx, &sizes, compute, 1.0, None)?;
    let (ratio, training) = (cx.const_scalar(DType::F32, p), cx.const_scalar(DType::Bool, true));
    let kept = cx.emit_many("Dropout", &[Some(ones), Some(ratio), Some(training)], vec![], 2);
    let [scaled, mask] = kept.as_slice() else { return cx.refuse("has no result") };
    if !keeps_moments {
        let y = cx.emit("Mul", &[x, *scaled], vec![]);
        return Ok(cx.cast(y, out.dtype).into());
    }
    cx.set_dtype(*mask, DType::Bool);
    let scale = 1.0 / ((SELU_LIMIT * SELU_LIMIT * p + 1.0) * (1.0 - p)).sqrt();
    let (factor, none) = (cx.const_scalar(compute, scale), cx.const_scalar(compute, 0.0));
    let factors = cx.emit("Where", &[*mask, factor, none], vec![]);
    let shift = SELU_LIMIT * scale;
    let (kept_shift, dropped_shift) = (cx.const_scalar(compute, shift * p), cx.const_scalar(compute, shift * (p - 1.0)));
    let shifts = cx.emit("Where", &[*mask, kept_shift, dropped_shift], vec![]);
    let y = cx.emit("Mul", &[x, factors], vec![]);
    let y = cx.emit("Add", &[y, shifts], vec![]);
    Ok(cx.cast(y, out.dtype).into())
}

/// `gradient * mask * scale`.
fn backward(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let (gradient, mask) = (tensor_as(cx, "grad_output", compute)?, tensor_as(cx, "mask", compute)?);
    let scale = cx.float("scale")?;
    let scale = cx.const_scalar(compute, scale);
    let kept = cx.emit("Mul", &[gradient, mask], vec![]);
    let result = cx.emit("Mul", &[kept, scale], vec![]);
    Ok(cx.cast(result, dtype).into())
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

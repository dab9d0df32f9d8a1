//! `dropout` and its relatives: nothing in evaluation, ONNX's `Dropout` in training (its random numbers are its own).

use modelexport_graph::DType;

use super::support::compute::{float_type, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.dropout.default", "dropout(Tensor input, float p, bool train) -> Tensor", dropout),
    Row::new("aten.native_dropout.default", "native_dropout(Tensor input, float p, bool? train) -> (Tensor, Tensor)", native),
    Row::new("aten.feature_dropout.default", "feature_dropout(Tensor input, float p, bool train) -> Tensor", inert),
    Row::new("aten.alpha_dropout.default", "alpha_dropout(Tensor input, float p, bool train) -> Tensor", inert),
    Row::new("aten.feature_alpha_dropout.default", "feature_alpha_dropout(Tensor input, float p, bool train) -> Tensor", inert),
];

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

fn inert(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if is_active(cx)? {
        return cx.refuse("dropping whole channels, or keeping mean and variance, has no ONNX operator (`train=True`)");
    }
    Ok(cx.tensor("input")?.into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.dropout.default(input: f32[2, 3], p=0.5, train=False) -> f32[2, 3]
            Identity(input)
        aten.native_dropout.default(input: f32[2, 3], p=0.5, train=False) -> (f32[2, 3], bool[2, 3])
            Identity(input), Expand(true, [2, 3])
        aten.feature_dropout.default(input: f32[2, 3], p=0.5, train=False) -> f32[2, 3]
            Identity(input)
        aten.alpha_dropout.default(input: f32[2, 3], p=0.5, train=False) -> f32[2, 3]
            Identity(input)
        aten.feature_alpha_dropout.default(input: f32[2, 3], p=0.5, train=False) -> f32[2, 3]
            Identity(input)
        ");
    }
}

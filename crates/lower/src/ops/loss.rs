//! Loss functions: elementwise formulas, then `ReduceMean` or `ReduceSum` (`reduction` 1 or 2).

use modelexport_graph::DType;

use super::support::compute::{formula_type, tensor_as, tensor_opt_as};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::mse_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", |cx| {
        of_difference(cx, |cx, difference, _| Ok(cx.emit("Mul", &[difference, difference], vec![])))
    }),
    Row::new("aten::l1_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", |cx| {
        of_difference(cx, |cx, difference, _| Ok(cx.emit("Abs", &[difference], vec![])))
    }),
    Row::new("aten::smooth_l1_loss(Tensor self, Tensor target, int reduction=1, float beta=1.) -> Tensor", |cx| {
        of_difference(cx, |cx, difference, dtype| {
            let beta = cx.float("beta")?;
            if beta == 0.0 {
                return Ok(cx.emit("Abs", &[difference], vec![]));
            }
            Ok(huber(cx, difference, beta, 1.0 / beta, dtype))
        })
    }),
    Row::new("aten::huber_loss(Tensor self, Tensor target, int reduction=1, float delta=1.) -> Tensor", |cx| {
        of_difference(cx, |cx, difference, dtype| {
            let delta = cx.float("delta")?;
            Ok(huber(cx, difference, delta, 1.0, dtype))
        })
    }),
    Row::new(
        "aten::binary_cross_entropy(Tensor self, Tensor target, Tensor? weight=None, int reduction=1) -> Tensor",
        binary_cross_entropy,
    ),
    Row::new(
        "aten::binary_cross_entropy_with_logits(Tensor self, Tensor target, Tensor? weight=None, Tensor? pos_weight=None, int reduction=1) -> Tensor",
        with_logits,
    ),
    Row::new("aten::kl_div(Tensor self, Tensor target, int reduction=1, *, bool log_target=False) -> Tensor", kl_div),
];

/// The loss of all elements by `reduction`: as it is, its mean or its sum.
pub(crate) fn reduced(cx: &mut Context<'_, '_>, loss: ValueId) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let scores = ["self", "input", "input1", "anchor"].into_iter().find_map(|name| cx.meta_opt(name));
    let is_empty = scores.is_some_and(|meta| meta.sizes.iter().any(|size| size.is(0)));
    let y = match cx.int("reduction")? {
        0 => loss,
        // The mean of nothing is NaN; runtimes say 0.
        1 if is_empty => cx.const_scalar(dtype, f64::NAN),
        1 => cx.reduce("ReduceMean", loss, &[], false),
        2 => cx.reduce("ReduceSum", loss, &[], false),
        other => return cx.wrong("reduction", "0 (none), 1 (mean) or 2 (sum)", other),
    };
    Ok(cx.cast(y, dtype).into())
}

fn of_difference(
    cx: &mut Context<'_, '_>,
    loss: fn(&mut Context<'_, '_>, ValueId, DType) -> Result<ValueId>,
) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (x, target) = (tensor_as(cx, "self", compute)?, tensor_as(cx, "target", compute)?);
    let difference = cx.emit("Sub", &[x, target], vec![]);
    let loss = loss(cx, difference, compute)?;
    reduced(cx, loss)
}

/// `scale * (d * (|x| - d / 2))`, where `d` is `|x|` up to `bound`: quadratic inside, linear outside.
fn huber(cx: &mut Context<'_, '_>, x: ValueId, bound: f64, scale: f64, dtype: DType) -> ValueId {
    let size = cx.emit("Abs", &[x], vec![]);
    let (bound, half) = (cx.const_scalar(dtype, bound), cx.const_scalar(dtype, 0.5));
    let inside = cx.emit("Min", &[size, bound], vec![]);
    let half = cx.emit("Mul", &[inside, half], vec![]);
    let rest = cx.emit("Sub", &[size, half], vec![]);
    let loss = cx.emit("Mul", &[inside, rest], vec![]);
    if scale == 1.0 {
        return loss;
    }
    let scale = cx.const_scalar(dtype, scale);
    cx.emit("Mul", &[loss, scale], vec![])
}

fn weighted(cx: &mut Context<'_, '_>, loss: ValueId, dtype: DType) -> Result<ValueId> {
    Ok(match tensor_opt_as(cx, "weight", dtype)? {
        Some(weight) => cx.emit("Mul", &[loss, weight], vec![]),
        None => loss,
    })
}

/// `-(t * log(x) + (1 - t) * log(1 - x))`, logarithms not below -100.
fn binary_cross_entropy(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (x, target) = (tensor_as(cx, "self", compute)?, tensor_as(cx, "target", compute)?);
    let (one, floor) = (cx.const_scalar(compute, 1.0), cx.const_scalar(compute, -100.0));
    let log = |cx: &mut Context<'_, '_>, x: ValueId| {
        let log = cx.emit("Log", &[x], vec![]);
        cx.emit("Max", &[log, floor], vec![])
    };
    let rest = cx.emit("Sub", &[one, x], vec![]);
    let (of_x, of_rest) = (log(cx, x), log(cx, rest));
    // (t - 1) * log(1 - x) - t * log(x)
    let less = cx.emit("Sub", &[target, one], vec![]);
    let second = cx.emit("Mul", &[less, of_rest], vec![]);
    let first = cx.emit("Mul", &[target, of_x], vec![]);
    let loss = cx.emit("Sub", &[second, first], vec![]);
    let loss = weighted(cx, loss, compute)?;
    reduced(cx, loss)
}

/// `(1 - t) * x + (1 + (p - 1) * t) * softplus(-x)`, with `p` the weight of positive targets.
fn with_logits(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (x, target) = (tensor_as(cx, "self", compute)?, tensor_as(cx, "target", compute)?);
    let one = cx.const_scalar(compute, 1.0);
    let minus = cx.emit("Neg", &[x], vec![]);
    let mut second = super::activation::emit_softplus(cx, minus, compute);
    if let Some(positive) = tensor_opt_as(cx, "pos_weight", compute)? {
        let extra = cx.emit("Sub", &[positive, one], vec![]);
        let extra = cx.emit("Mul", &[extra, target], vec![]);
        let factor = cx.emit("Add", &[extra, one], vec![]);
        second = cx.emit("Mul", &[factor, second], vec![]);
    }
    let rest = cx.emit("Sub", &[one, target], vec![]);
    let first = cx.emit("Mul", &[rest, x], vec![]);
    let loss = cx.emit("Add", &[first, second], vec![]);
    let loss = weighted(cx, loss, compute)?;
    reduced(cx, loss)
}

/// `t * (log(t) - x)`, 0 where `t` is 0; or `exp(t) * (t - x)` for targets that are logarithms.
fn kl_div(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (x, target) = (tensor_as(cx, "self", compute)?, tensor_as(cx, "target", compute)?);
    let loss = if cx.bool("log_target")? {
        let power = cx.emit("Exp", &[target], vec![]);
        let difference = cx.emit("Sub", &[target, x], vec![]);
        cx.emit("Mul", &[power, difference], vec![])
    } else {
        let zero = cx.const_scalar(compute, 0.0);
        let log = cx.emit("Log", &[target], vec![]);
        let entropy = cx.emit("Mul", &[target, log], vec![]);
        let is_zero = cx.emit("Equal", &[target, zero], vec![]);
        let entropy = cx.emit("Where", &[is_zero, zero, entropy], vec![]);
        let cross = cx.emit("Mul", &[target, x], vec![]);
        cx.emit("Sub", &[entropy, cross], vec![])
    };
    reduced(cx, loss)
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

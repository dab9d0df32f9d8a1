//! `nll_loss` and `cross_entropy_loss`.
//!
//! The log-probability of each target is taken by `GatherElements` along the class axis; targets equal to
//! `ignore_index` count nothing. The mean is over the weights of the targets.

use modelexport_graph::{DType, Dim};

use super::support::compute::{formula_type, tensor_as, tensor_opt_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::nll_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor",
        of_log_probabilities,
    ),
    Row::new(
        "aten::nll_loss_nd(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor",
        of_log_probabilities,
    ),
    Row::new(
        "aten::nll_loss2d(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100) -> Tensor",
        of_log_probabilities,
    ),
    Row::new(
        "aten::nll_loss_forward(Tensor self, Tensor target, Tensor? weight, int reduction, SymInt ignore_index) -> (Tensor output, Tensor total_weight)",
        of_log_probabilities,
    ),
    Row::new(
        "aten::cross_entropy_loss(Tensor self, Tensor target, Tensor? weight=None, int reduction=1, SymInt ignore_index=-100, float label_smoothing=0.) -> Tensor",
        cross_entropy,
    ),
];

/// The class axis: the only one of a single sample, else the second.
fn class_axis(cx: &Context<'_, '_>) -> Result<i64> {
    Ok(if cx.meta("self")?.sizes.len() == 1 { 0 } else { 1 })
}

fn of_log_probabilities(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let x = tensor_as(cx, "self", compute)?;
    nll(cx, x, 0.0, compute)
}

fn cross_entropy(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let x = tensor_as(cx, "self", compute)?;
    let axis = class_axis(cx)?;
    let x = cx.emit("LogSoftmax", &[x], attrs![axis = axis]);
    let smoothing = cx.float("label_smoothing")?;
    if cx.meta("target")?.dtype.is_float() {
        return of_probabilities(cx, x, smoothing, compute);
    }
    nll(cx, x, smoothing, compute)
}

fn weights(cx: &mut Context<'_, '_>, compute: DType) -> Result<Option<ValueId>> {
    tensor_opt_as(cx, "weight", compute)
}

/// The weight of each class, broadcast against the input.
fn class_weights(cx: &mut Context<'_, '_>, compute: DType) -> Result<Option<ValueId>> {
    let rank = cx.meta("self")?.sizes.len() as i64;
    let weight = weights(cx, compute)?;
    Ok(weight.map(|weight| cx.unsqueeze(weight, &(1..rank - 1).collect::<Vec<i64>>())))
}

fn nll(cx: &mut Context<'_, '_>, x: ValueId, smoothing: f64, compute: DType) -> Result<Outputs> {
    let axis = class_axis(cx)?;
    let target = tensor_as(cx, "target", DType::I64)?;
    let ignored = cx.int("ignore_index")?;
    let ignored = cx.const_int(ignored);
    let is_ignored = cx.emit("Equal", &[target, ignored], vec![]);
    let (zero, first) = (cx.const_scalar(compute, 0.0), cx.const_int(0));
    let safe = cx.emit("Where", &[is_ignored, first, target], vec![]);
    let index = cx.unsqueeze(safe, &[axis]);
    let chosen = cx.emit("GatherElements", &[x, index], attrs![axis = axis]);
    let chosen = cx.squeeze(chosen, &[axis]);
    let mut loss = cx.emit("Neg", &[chosen], vec![]);
    let one = cx.const_scalar(compute, 1.0);
    let each = match weights(cx, compute)? {
        Some(weight) => {
            let each = cx.emit("Gather", &[weight, safe], attrs![axis = 0]);
            loss = cx.emit("Mul", &[loss, each], vec![]);
            cx.emit("Where", &[is_ignored, zero, each], vec![])
        }
        None => cx.emit("Where", &[is_ignored, zero, one], vec![]),
    };
    loss = cx.emit("Where", &[is_ignored, zero, loss], vec![]);
    let smooth = if smoothing > 0.0 { Some(spread_loss(cx, x, is_ignored, compute)?) } else { None };

    let reduction = cx.int("reduction")?;
    let total = cx.reduce("ReduceSum", each, &[], false);
    let reduce = |cx: &mut Context<'_, '_>, loss: ValueId| match reduction {
        0 => loss,
        1 => {
            let sum = cx.reduce("ReduceSum", loss, &[], false);
            cx.emit("Div", &[sum, total], vec![])
        }
        _ => cx.reduce("ReduceSum", loss, &[], false),
    };
    let mut y = reduce(cx, loss);
    if let Some(smooth) = smooth {
        let smooth = reduce(cx, smooth);
        let classes = classes(cx, axis)?;
        let (kept, spread) =
            (cx.const_scalar(compute, 1.0 - smoothing), cx.const_scalar(compute, smoothing / classes as f64));
        let first = cx.emit("Mul", &[y, kept], vec![]);
        let second = cx.emit("Mul", &[smooth, spread], vec![]);
        y = cx.emit("Add", &[first, second], vec![]);
    }
    let metas = cx.out_metas();
    let mut results = Vec::new();
    for (meta, value) in metas.iter().zip([y, total]) {
        results.push(cx.cast(value, meta.dtype));
    }
    Ok(results.into())
}

fn classes(cx: &Context<'_, '_>, axis: i64) -> Result<i64> {
    match cx.meta("self")?.sizes.get(axis as usize).and_then(Dim::as_static) {
        Some(classes) => Ok(classes),
        None => cx.wrong("self", "a number of classes that is known when exporting", "a symbolic size"),
    }
}

/// Minus the sum of all classes, the part of the loss that label smoothing spreads.
fn spread_loss(cx: &mut Context<'_, '_>, x: ValueId, is_ignored: ValueId, compute: DType) -> Result<ValueId> {
    let axis = class_axis(cx)?;
    let mut each = x;
    if let Some(weight) = class_weights(cx, compute)? {
        each = cx.emit("Mul", &[x, weight], vec![]);
    }
    let sum = cx.reduce("ReduceSum", each, &[axis], false);
    let loss = cx.emit("Neg", &[sum], vec![]);
    let zero = cx.const_scalar(compute, 0.0);
    Ok(cx.emit("Where", &[is_ignored, zero, loss], vec![]))
}

/// Targets that are a probability for each class; the mean is over samples.
fn of_probabilities(cx: &mut Context<'_, '_>, x: ValueId, smoothing: f64, compute: DType) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let axis = class_axis(cx)?;
    let mut target = tensor_as(cx, "target", compute)?;
    if smoothing > 0.0 {
        let classes = classes(cx, axis)?;
        let (kept, spread) =
            (cx.const_scalar(compute, 1.0 - smoothing), cx.const_scalar(compute, smoothing / classes as f64));
        target = cx.emit("Mul", &[target, kept], vec![]);
        target = cx.emit("Add", &[target, spread], vec![]);
    }
    let mut product = cx.emit("Mul", &[x, target], vec![]);
    if let Some(weight) = class_weights(cx, compute)? {
        product = cx.emit("Mul", &[product, weight], vec![]);
    }
    let sum = cx.reduce("ReduceSum", product, &[axis], false);
    let loss = cx.emit("Neg", &[sum], vec![]);
    let y = match cx.int("reduction")? {
        0 => loss,
        1 => cx.reduce("ReduceMean", loss, &[], false),
        _ => cx.reduce("ReduceSum", loss, &[], false),
    };
    Ok(cx.cast(y, dtype).into())
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

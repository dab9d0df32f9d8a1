//! Losses that ask for a margin between scores.
//!
//! What falls short of the margin is `Relu(margin - better + worse)`; then `ReduceMean` or `ReduceSum` by `reduction`.

use modelexport_graph::{DType, Dim};

use super::distance::norm;
use super::loss::reduced;
use super::support::compute::{formula_type, tensor_as, tensor_opt_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::{Literal, Number};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::margin_ranking_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor",
        ranking,
    ),
    Row::new("aten::soft_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", soft),
    Row::new(
        "aten::triplet_margin_loss(Tensor anchor, Tensor positive, Tensor negative, float margin=1., float p=2., float eps=9.9999999999999995e-07, bool swap=False, int reduction=1) -> Tensor",
        triplet,
    ),
    Row::new(
        "aten::multi_margin_loss(Tensor self, Tensor target, Scalar p=1, Scalar margin=1, Tensor? weight=None, int reduction=1) -> Tensor",
        multi_class,
    ),
    Row::new("aten::multilabel_margin_loss(Tensor self, Tensor target, int reduction=1) -> Tensor", multi_label),
];

/// `Relu(margin - target * (input1 - input2))`.
fn ranking(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (first, second) = (tensor_as(cx, "input1", compute)?, tensor_as(cx, "input2", compute)?);
    let target = tensor_as(cx, "target", compute)?;
    let lead = cx.emit("Sub", &[first, second], vec![]);
    let lead = cx.emit("Mul", &[target, lead], vec![]);
    let margin = cx.float("margin")?;
    let margin = cx.const_scalar(compute, margin);
    let short = cx.emit("Sub", &[margin, lead], vec![]);
    let loss = cx.emit("Relu", &[short], vec![]);
    reduced(cx, loss)
}

/// `log(1 + exp(-target * x))`. PyTorch rounds the exponential to the type of the result, in which it may overflow.
fn soft(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let (x, target) = (tensor_as(cx, "self", compute)?, tensor_as(cx, "target", compute)?);
    let minus = cx.emit("Neg", &[target], vec![]);
    let product = cx.emit("Mul", &[minus, x], vec![]);
    let power = cx.emit("Exp", &[product], vec![]);
    let power = cx.cast(power, dtype);
    let power = cx.cast(power, compute);
    let one = cx.const_scalar(compute, 1.0);
    let sum = cx.emit("Add", &[power, one], vec![]);
    let loss = cx.emit("Log", &[sum], vec![]);
    reduced(cx, loss)
}

fn triplet(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (p, eps, margin) = (cx.float("p")?, cx.float("eps")?, cx.float("margin")?);
    let (eps, margin) = (cx.const_scalar(compute, eps), cx.const_scalar(compute, margin));
    let axis = cx.meta("anchor")?.sizes.len() as i64 - 1;
    let anchor = tensor_as(cx, "anchor", compute)?;
    let (positive, negative) = (tensor_as(cx, "positive", compute)?, tensor_as(cx, "negative", compute)?);
    let distance = |cx: &mut Context<'_, '_>, a: ValueId, b: ValueId| {
        let difference = cx.emit("Sub", &[a, b], vec![]);
        let difference = cx.emit("Add", &[difference, eps], vec![]);
        norm(cx, difference, p, &[axis], false)
    };
    let near = distance(cx, anchor, positive);
    let mut far = distance(cx, anchor, negative);
    if cx.bool("swap")? {
        let swapped = distance(cx, positive, negative);
        far = cx.emit("Min", &[far, swapped], vec![]);
    }
    let short = cx.emit("Add", &[margin, near], vec![]);
    let short = cx.emit("Sub", &[short, far], vec![]);
    let loss = cx.emit("Relu", &[short], vec![]);
    reduced(cx, loss)
}

/// Scores as one row of classes for each sample, the number of classes, and their numbers as a row.
fn rows_of_scores(cx: &mut Context<'_, '_>, compute: DType) -> Result<(ValueId, i64, ValueId)> {
    let sizes = &cx.meta("self")?.sizes;
    let Some(Dim::Static(classes)) = sizes.last().cloned().or(Some(Dim::Static(1))) else {
        return cx.refuse("has a number of classes that is known only at run time");
    };
    let x = tensor_as(cx, "self", compute)?;
    let x = if sizes.len() == 2 { x } else { cx.reshape_static(x, &[1, classes]) };
    let numbers = Literal::from_numbers(DType::I64, vec![classes], (0..classes).map(Number::Int));
    let Some(numbers) = numbers else { return cx.refuse("has no numbers of classes as constants") };
    Ok((x, classes, cx.constant(numbers)))
}

/// Sums per sample, divided by the number of classes; one sample without an axis for it gives one number.
fn per_sample(cx: &mut Context<'_, '_>, losses: ValueId, classes: i64, compute: DType) -> Result<Outputs> {
    let sums = cx.reduce("ReduceSum", losses, &[1], false);
    let count = cx.const_scalar(compute, classes as f64);
    let mut loss = cx.emit("Div", &[sums, count], vec![]);
    if cx.meta("self")?.sizes.len() < 2 {
        loss = cx.squeeze(loss, &[0]);
    }
    reduced(cx, loss)
}

/// `sum over i != y of weight[y] * Relu(margin - x[y] + x[i])^p / classes`.
fn multi_class(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (x, classes, numbers) = rows_of_scores(cx, compute)?;
    let target = tensor_as(cx, "target", DType::I64)?;
    let column = cx.reshape_static(target, &[-1, 1]);
    let own = cx.emit("GatherElements", &[x, column], attrs![axis = 1]);
    let margin = cx.scalar_arg("margin")?;
    let margin = cx.scalar_value(margin, compute);
    let short = cx.emit("Sub", &[margin, own], vec![]);
    let short = cx.emit("Add", &[short, x], vec![]);
    let mut loss = cx.emit("Relu", &[short], vec![]);
    if cx.scalar_arg("p")?.is(2.0) {
        loss = cx.emit("Mul", &[loss, loss], vec![]);
    }
    if let Some(weight) = tensor_opt_as(cx, "weight", compute)? {
        let weight = cx.emit("Gather", &[weight, column], attrs![axis = 0]);
        loss = cx.emit("Mul", &[loss, weight], vec![]);
    }
    let zero = cx.const_scalar(compute, 0.0);
    let is_own = cx.emit("Equal", &[numbers, column], vec![]);
    let loss = cx.emit("Where", &[is_own, zero, loss], vec![]);
    per_sample(cx, loss, classes, compute)
}

/// Each sample lists its classes, ended by -1: `sum over listed y, other i, of Relu(1 - x[y] + x[i]) / classes`.
fn multi_label(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (x, classes, numbers) = rows_of_scores(cx, compute)?;
    let target = tensor_as(cx, "target", DType::I64)?;
    let target = cx.reshape_static(target, &[-1, classes]);
    let zero = cx.const_int(0);
    let is_end = cx.emit("Less", &[target, zero], vec![]);
    let is_end = cx.cast(is_end, DType::F32);
    let axis = cx.const_int(1);
    let ends = cx.emit("CumSum", &[is_end, axis], vec![]);
    let none = cx.const_scalar(DType::F32, 0.0);
    let is_listed = cx.emit("Equal", &[ends, none], vec![]);
    let listed = cx.emit("Where", &[is_listed, target, zero], vec![]);
    let own = cx.emit("GatherElements", &[x, listed], attrs![axis = 1]);

    // Samples, listed classes, all classes.
    let (listed, is_listed) = (cx.unsqueeze(listed, &[2]), cx.unsqueeze(is_listed, &[2]));
    let is_same = cx.emit("Equal", &[listed, numbers], vec![]);
    let is_own = cx.emit("And", &[is_same, is_listed], vec![]);
    let is_own = cx.cast(is_own, compute);
    let is_target = cx.reduce("ReduceMax", is_own, &[1], true);
    let one = cx.const_scalar(compute, 1.0);
    let is_other = cx.emit("Sub", &[one, is_target], vec![]);
    let (own, all) = (cx.unsqueeze(own, &[2]), cx.unsqueeze(x, &[1]));
    let short = cx.emit("Sub", &[one, own], vec![]);
    let short = cx.emit("Add", &[short, all], vec![]);
    let loss = cx.emit("Relu", &[short], vec![]);
    let loss = cx.emit("Mul", &[loss, is_other], vec![]);
    let nothing = cx.const_scalar(compute, 0.0);
    let loss = cx.emit("Where", &[is_listed, loss, nothing], vec![]);
    let loss = cx.reduce("ReduceSum", loss, &[2], false);
    per_sample(cx, loss, classes, compute)
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

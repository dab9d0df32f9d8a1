//! `batch_norm` and `instance_norm`.
//!
//! With running statistics: `BatchNormalization`. With those of the input (a norm that tracks none, or training):
//! `InstanceNormalization` for instances; for batches mean and variance first. Running statistics are not updated.

use modelexport_graph::{DType, Dim};

use super::support::compute::{filled, float_type, formula_type, tensor_as, tensor_opt_as};
use super::support::fill;
use super::support::norm::{affine, standardize};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps, bool cudnn_enabled) -> Tensor",
        batch_norm,
    ),
    Row::new(
        "aten::native_batch_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        batch_norm,
    ),
    Row::new(
        "aten::_native_batch_norm_legit(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        batch_norm,
    ),
    Row::new(
        "aten::_native_batch_norm_legit.no_stats(Tensor input, Tensor? weight, Tensor? bias, bool training, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        of_batch,
    ),
    Row::new(
        "aten::_native_batch_norm_legit_no_training(Tensor input, Tensor? weight, Tensor? bias, Tensor running_mean, Tensor running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor)",
        of_running,
    ),
    Row::new(
        "aten::_batch_norm_with_update(Tensor input, Tensor? weight, Tensor? bias, Tensor(a!) running_mean, Tensor(b!) running_var, float momentum, float eps) -> (Tensor, Tensor, Tensor, Tensor)",
        with_reserve,
    ),
    Row::new(
        "aten::instance_norm(Tensor input, Tensor? weight, Tensor? bias, Tensor? running_mean, Tensor? running_var, bool use_input_stats, float momentum, float eps, bool cudnn_enabled) -> Tensor",
        instance_norm,
    ),
];

fn batch_norm(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if cx.bool("training")? { of_batch(cx) } else { of_running(cx) }
}

/// The type of the computation: that of the input unless parameters have another.
fn norm_type(cx: &Context<'_, '_>, dtype: DType) -> DType {
    let names = ["weight", "bias", "running_mean", "running_var"];
    let mixed = names.iter().filter_map(|name| cx.meta_opt(name)).any(|meta| meta.dtype != dtype);
    if mixed { formula_type(dtype) } else { float_type(dtype) }
}

fn channels(cx: &Context<'_, '_>) -> Result<Dim> {
    match cx.meta("input")?.sizes.get(1) {
        Some(size) => Ok(size.clone()),
        None => cx.wrong("input", "a tensor with channels in its second axis", "fewer dimensions"),
    }
}

/// A parameter of each channel, or `default` for all.
fn per_channel(cx: &mut Context<'_, '_>, name: &str, dtype: DType, default: f64) -> Result<ValueId> {
    match tensor_opt_as(cx, name, dtype)? {
        Some(value) => Ok(value),
        None => {
            let channels = channels(cx)?;
            filled(cx, dtype, &[channels], default)
        }
    }
}

fn of_running(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = norm_type(cx, dtype);
    let x = tensor_as(cx, "input", compute)?;
    let weight = per_channel(cx, "weight", compute, 1.0)?;
    let bias = per_channel(cx, "bias", compute, 0.0)?;
    let (mean, variance) = (tensor_as(cx, "running_mean", compute)?, tensor_as(cx, "running_var", compute)?);
    let eps = cx.float("eps")?;
    let y = cx.emit("BatchNormalization", &[x, weight, bias, mean, variance], attrs![epsilon = eps]);
    let mut results = vec![cx.cast(y, dtype)];
    // What PyTorch keeps for a backward pass has no elements here.
    for meta in cx.out_metas().iter().skip(1).take_while(|meta| meta.sizes.iter().any(|size| size.is(0))) {
        results.push(filled(cx, meta.dtype, &meta.sizes, 0.0)?);
    }
    Ok(results.into())
}

/// `value` of each channel in a shape that broadcasts against a tensor of `rank`.
fn broadcast(cx: &mut Context<'_, '_>, value: Option<ValueId>, rank: usize) -> Option<ValueId> {
    let axes: Vec<i64> = (1..rank as i64 - 1).collect();
    value.map(|value| cx.unsqueeze(value, &axes))
}

fn of_batch(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let metas = cx.out_metas();
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let sizes = &cx.meta("input")?.sizes;
    let eps = cx.float("eps")?;
    // One sample (a weight that is standardised, for instance) is an instance.
    if sizes.first().is_some_and(|size| size.is(1)) && sizes.len() > 2 && metas.len() == 1 {
        let y = of_instance(cx, eps, compute)?;
        return Ok(cx.cast(y, dtype).into());
    }
    let x = tensor_as(cx, "input", compute)?;
    let axes: Vec<i64> = (0..sizes.len() as i64).filter(|&axis| axis != 1).collect();
    let mean = cx.reduce("ReduceMean", x, &axes, true);
    let centered = cx.emit("Sub", &[x, mean], vec![]);
    let squares = cx.emit("Mul", &[centered, centered], vec![]);
    let variance = cx.reduce("ReduceMean", squares, &axes, false);
    let mean = cx.squeeze(mean, &axes);
    let (weight, bias) = (per_channel(cx, "weight", compute, 1.0)?, per_channel(cx, "bias", compute, 0.0)?);
    let y = cx.emit("BatchNormalization", &[x, weight, bias, mean, variance], attrs![epsilon = eps]);
    let eps = cx.const_scalar(compute, eps);
    let sum = cx.emit("Add", &[variance, eps], vec![]);
    let deviation = cx.emit("Sqrt", &[sum], vec![]);
    let inverse = cx.emit("Reciprocal", &[deviation], vec![]);
    let mut results = Vec::with_capacity(metas.len());
    for (meta, value) in metas.iter().zip([y, mean, inverse]) {
        results.push(cx.cast(value, meta.dtype));
    }
    Ok(results.into())
}

/// The fourth result is memory for the backward pass: nothing on CPUs.
fn with_reserve(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let mut results = of_batch(cx)?;
    let Some(reserve) = cx.out_at(3) else { return Ok(results) };
    if !reserve.sizes.iter().any(|size| size.is(0)) {
        return cx.refuse("keeps memory for a backward pass");
    }
    results.0.push(fill::filled(cx, &reserve.sizes, reserve.dtype, 0, None)?);
    Ok(results)
}

fn instance_norm(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if !cx.bool("use_input_stats")? {
        return of_running(cx);
    }
    let dtype = cx.out()?.dtype;
    let eps = cx.float("eps")?;
    let compute = norm_type(cx, dtype);
    let y = of_instance(cx, eps, compute)?;
    Ok(cx.cast(y, dtype).into())
}

/// Each channel of each sample by its own statistics.
fn of_instance(cx: &mut Context<'_, '_>, eps: f64, compute: DType) -> Result<ValueId> {
    let rank = cx.meta("input")?.sizes.len();
    let x = tensor_as(cx, "input", compute)?;
    if compute != DType::F64 {
        let weight = per_channel(cx, "weight", compute, 1.0)?;
        let bias = per_channel(cx, "bias", compute, 0.0)?;
        return Ok(cx.emit("InstanceNormalization", &[x, weight, bias], attrs![epsilon = eps]));
    }
    // There is no kernel for `float64`.
    let axes: Vec<i64> = (2..rank as i64).collect();
    let normal = standardize(cx, x, &axes, eps, compute).value;
    let (weight, bias) = (tensor_opt_as(cx, "weight", compute)?, tensor_opt_as(cx, "bias", compute)?);
    let (weight, bias) = (broadcast(cx, weight, rank), broadcast(cx, bias, rank));
    Ok(affine(cx, normal, weight, bias))
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

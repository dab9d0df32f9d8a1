//! Random numbers: uniform, normal, and what follows from them by a formula. The numbers are those of the runtime, not
//! those of PyTorch or of a generator that the call names.
//!
//! Known sizes: `RandomUniform`, `RandomNormal`; else their `Like` forms on a tensor of these sizes. onnxruntime (1.31)
//! has no kernels for these operators as of opset 22: such a model is valid but does not run there.

use modelexport_graph::shape::static_shape;
use modelexport_graph::{DType, Dim};

use super::sort::top;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::fill::filled;
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::bernoulli.Tensor(Tensor self, Tensor p, *, Generator? generator=None) -> Tensor", |cx| {
        bernoulli(cx, "p")
    }),
    Row::new("aten::bernoulli(Tensor self, *, Generator? generator=None) -> Tensor", |cx| bernoulli(cx, "self")),
    // What an in-place `bernoulli_` becomes; PyTorch has no schema for it.
    Row::new("aten.bernoulli.float", |cx| bernoulli(cx, "p")),
    Row::new("aten::bernoulli.p(Tensor self, float p, *, Generator? generator=None) -> Tensor", |cx| {
        bernoulli(cx, "p")
    }),
    Row::new(
        "aten::cauchy(Tensor self, float median=0., float sigma=1., *, Generator? generator=None) -> Tensor",
        cauchy,
    ),
    Row::new("aten::exponential(Tensor self, float lambd=1., *, Generator? generator=None) -> Tensor", exponential),
    Row::new("aten::geometric(Tensor self, float p, *, Generator? generator=None) -> Tensor", geometric),
    Row::new(
        "aten::log_normal(Tensor self, float mean=1., float std=2., *, Generator? generator=None) -> Tensor",
        |cx| {
            let normal = scaled_normal(cx)?;
            let value = cx.emit("Exp", &[normal], vec![]);
            rounded(cx, value)
        },
    ),
    Row::new(
        "aten::multinomial(Tensor self, SymInt num_samples, bool replacement=False, *, Generator? generator=None) -> Tensor",
        multinomial,
    ),
    Row::new("aten::normal.Tensor_Tensor(Tensor mean, Tensor std, *, Generator? generator=None) -> Tensor", normal),
    Row::new("aten::normal.Tensor_float(Tensor mean, float std=1., *, Generator? generator=None) -> Tensor", normal),
    // What an in-place `normal_` becomes; PyTorch has no schema for it.
    Row::new("aten.normal.default", normal),
    Row::new("aten::normal.float_Tensor(float mean, Tensor std, *, Generator? generator=None) -> Tensor", normal),
    Row::new(
        "aten::normal.float_float(float mean, float std, SymInt[] size, *, Generator? generator=None, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        normal,
    ),
    Row::new(
        "aten::normal_functional(Tensor self, float mean=0., float std=1., *, Generator? generator=None) -> Tensor",
        normal,
    ),
    Row::new(
        "aten::rand(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        uniform,
    ),
    Row::new(
        "aten::rand.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        uniform,
    ),
    Row::new(
        "aten::rand_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        uniform,
    ),
    Row::new(
        "aten::rand_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        uniform,
    ),
    Row::new(
        "aten::randn(SymInt[] size, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        normal,
    ),
    Row::new(
        "aten::randn.generator(SymInt[] size, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        normal,
    ),
    Row::new(
        "aten::randn_like(Tensor self, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        normal,
    ),
    Row::new(
        "aten::randn_like.generator(Tensor self, *, Generator? generator, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None, MemoryFormat? memory_format=None) -> Tensor",
        normal,
    ),
    Row::new("aten::uniform(Tensor self, float from=0., float to=1., *, Generator? generator=None) -> Tensor", uniform),
];

/// Random numbers of `sizes` by `RandomUniform` (from 0 to 1) or `RandomNormal`.
pub(crate) fn random(cx: &mut Context<'_, '_>, op: &'static str, sizes: &[Dim], dtype: DType) -> Result<ValueId> {
    let value = match static_shape(sizes) {
        Some(sizes) if !sizes.is_empty() => cx.emit(op, &[], attrs![shape = sizes, dtype = dtype]),
        _ => {
            let like = filled(cx, sizes, dtype, 0.0, None)?;
            let like_op = if op == "RandomUniform" { "RandomUniformLike" } else { "RandomNormalLike" };
            cx.emit(like_op, &[like], attrs![dtype = dtype])
        }
    };
    cx.set_dtype(value, dtype);
    cx.set_shape(value, sizes.to_vec());
    Ok(value)
}

/// The float type in which numbers for the result are drawn.
fn drawn_type(cx: &Context<'_, '_>) -> Result<DType> {
    Ok(match cx.out()?.dtype {
        DType::F64 => DType::F64,
        _ => DType::F32,
    })
}

/// Uniform numbers in the sizes of the result.
fn unit(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    real_only(cx)?;
    let dtype = drawn_type(cx)?;
    let sizes = cx.out()?.sizes.clone();
    random(cx, "RandomUniform", &sizes, dtype)
}

/// The value in the type of the result.
pub(crate) fn rounded(cx: &mut Context<'_, '_>, value: ValueId) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

fn uniform(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (low, high) = (cx.float_opt("from")?.unwrap_or(0.0), cx.float_opt("to")?.unwrap_or(1.0));
    let mut value = unit(cx)?;
    if high - low != 1.0 {
        value = with_number(cx, "Mul", value, high - low);
    }
    if low != 0.0 {
        value = with_number(cx, "Add", value, low);
    }
    rounded(cx, value)
}

fn normal(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let value = scaled_normal(cx)?;
    rounded(cx, value)
}

/// Normal numbers times `std` plus `mean`, either of which may be a tensor or missing.
fn scaled_normal(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    real_only(cx)?;
    let dtype = drawn_type(cx)?;
    let sizes = cx.out()?.sizes.clone();
    let mut value = random(cx, "RandomNormal", &sizes, dtype)?;
    for (op, name, neutral) in [("Mul", "std", 1.0), ("Add", "mean", 0.0)] {
        let is_tensor = cx.meta_opt(name).is_some();
        let is_neutral = !is_tensor && cx.scalar_opt(name)?.is_none_or(|scalar| scalar.is(neutral));
        if !is_neutral {
            let operand = operand(cx, name, dtype)?;
            value = cx.emit(op, &[value, operand], vec![]);
        }
    }
    Ok(value)
}

/// 1 with a probability, else 0.
fn bernoulli(cx: &mut Context<'_, '_>, probability: &str) -> Result<Outputs> {
    let value = unit(cx)?;
    let dtype = cx.dtype(value);
    let probability = match cx.arg(probability) {
        Some(_) => operand(cx, probability, dtype)?,
        None => cx.const_scalar(dtype, 0.5),
    };
    let chosen = cx.emit("Less", &[value, probability], vec![]);
    rounded(cx, chosen)
}

fn exponential(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let rate = cx.float("lambd")?;
    let log = log_of_unit(cx)?;
    let value = with_number(cx, "Div", log, -rate);
    rounded(cx, value)
}

/// The logarithm of uniform numbers that are never 0.
fn log_of_unit(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    let value = unit(cx)?;
    let one = cx.const_like(value, 1.0);
    let positive = cx.emit("Sub", &[one, value], vec![]);
    Ok(cx.emit("Log", &[positive], vec![]))
}

fn geometric(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let probability = cx.float("p")?;
    let log = log_of_unit(cx)?;
    let value = with_number(cx, "Div", log, (-probability).ln_1p());
    let whole = cx.emit("Ceil", &[value], vec![]);
    let whole = with_number(cx, "Max", whole, 1.0);
    rounded(cx, whole)
}

/// `median + sigma * tan(π (u - 1/2))`.
fn cauchy(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (median, sigma) = (cx.float("median")?, cx.float("sigma")?);
    let value = unit(cx)?;
    let middle = with_number(cx, "Sub", value, 0.5);
    let angle = with_number(cx, "Mul", middle, std::f64::consts::PI);
    let slope = cx.apply("Tan", &[angle], vec![]);
    let scaled = with_number(cx, "Mul", slope, sigma);
    let moved = with_number(cx, "Add", scaled, median);
    rounded(cx, moved)
}

/// With replacement (or a single draw): `Multinomial`, which takes logarithms. Without: the largest of the logarithms
/// plus Gumbel noise.
fn multinomial(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let meta = cx.meta("self")?;
    let weights = operand(cx, "self", DType::F32)?;
    let samples = cx.dim("num_samples")?;
    let log = cx.emit("Log", &[weights], vec![]);
    let axis = meta.sizes.len() as i64 - 1;
    if let (true, Some(count)) = (cx.bool("replacement")? || samples.is(1), samples.as_static()) {
        let rows = if axis == 0 { cx.unsqueeze(log, &[0]) } else { log };
        let drawn = cx.emit("Multinomial", &[rows], attrs![sample_size = count, dtype = DType::I64]);
        cx.set_dtype(drawn, DType::I64);
        return Ok(if axis == 0 { cx.squeeze(drawn, &[0]) } else { drawn }.into());
    }
    if cx.bool("replacement")? {
        return cx.wrong("num_samples", "a number that is known when exporting", samples);
    }
    let unit = random(cx, "RandomUniform", &meta.sizes, DType::F32)?;
    let one = cx.const_like(unit, 1.0);
    let positive = cx.emit("Sub", &[one, unit], vec![]);
    let inner = cx.emit("Log", &[positive], vec![]);
    let inner = cx.emit("Neg", &[inner], vec![]);
    let outer = cx.emit("Log", &[inner], vec![]);
    let noisy = cx.emit("Sub", &[log, outer], vec![]);
    let [_, drawn] = top(cx, noisy, axis, &samples, true, true)?;
    Ok(drawn.into())
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

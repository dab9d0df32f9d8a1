//! Units that pass positive numbers and bend negative ones: `elu`, `selu`, `celu`, `leaky_relu`, `rrelu`, `prelu`.
//!
//! The ONNX operator of that name where it has a kernel; `float64` (and what ONNX has no attribute for) by formula.

use modelexport_graph::{DType, Dim};

use super::random::random;
use super::support::compute::{float_type, tensor_as};
use super::support::formulas::with_number;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::elu(Tensor self, Scalar alpha=1, Scalar scale=1, Scalar input_scale=1) -> Tensor", elu),
    Row::new("aten::celu(Tensor self, Scalar alpha=1.) -> Tensor", celu),
    Row::new("aten::selu(Tensor self) -> Tensor", selu),
    Row::new("aten::leaky_relu(Tensor self, Scalar negative_slope=0.01) -> Tensor", |cx| {
        let slope = cx.float("negative_slope")?;
        leaky(cx, slope)
    }),
    Row::new(
        "aten::rrelu(Tensor self, Scalar lower=0.125, Scalar upper=0.33333333333333331, bool training=False, Generator? generator=None) -> Tensor",
        |cx| {
            if cx.bool("training")? {
                return random_slopes(cx);
            }
            let slope = (cx.float("lower")? + cx.float("upper")?) / 2.0;
            leaky(cx, slope)
        },
    ),
    Row::new("aten::prelu(Tensor self, Tensor weight) -> Tensor", |cx| prelu(cx, true)),
    Row::new("aten::_prelu_kernel(Tensor self, Tensor weight) -> Tensor", |cx| prelu(cx, false)),
];

/// A slope of its own for each negative element. The numbers are those of the runtime.
fn random_slopes(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = super::support::compute::formula_type(out.dtype);
    let (low, high) = (cx.float("lower")?, cx.float("upper")?);
    let x = tensor_as(cx, "self", compute)?;
    let unit = random(cx, "RandomUniform", &out.sizes, compute)?;
    let spread = with_number(cx, "Mul", unit, high - low);
    let slopes = with_number(cx, "Add", spread, low);
    let bent = cx.emit("Mul", &[x, slopes], vec![]);
    let y = where_positive(cx, x, bent, compute);
    Ok(cx.cast(y, out.dtype).into())
}

/// `x` where it is above 0, else `otherwise`.
fn where_positive(cx: &mut Context<'_, '_>, x: ValueId, otherwise: ValueId, dtype: DType) -> ValueId {
    let zero = cx.const_scalar(dtype, 0.0);
    let positive = cx.emit("Greater", &[x, zero], vec![]);
    cx.emit("Where", &[positive, x, otherwise], vec![])
}

fn scaled(cx: &mut Context<'_, '_>, x: ValueId, factor: f64, dtype: DType) -> ValueId {
    if factor == 1.0 {
        return x;
    }
    let factor = cx.const_scalar(dtype, factor);
    cx.emit("Mul", &[x, factor], vec![])
}

/// `scale * (x if x > 0 else alpha * (exp(x * input_scale) - 1))`.
fn formula(cx: &mut Context<'_, '_>, alpha: f64, scale: f64, input_scale: f64) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = super::support::compute::formula_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let inner = scaled(cx, x, input_scale, compute);
    let power = cx.emit("Exp", &[inner], vec![]);
    let one = cx.const_scalar(compute, 1.0);
    let bent = cx.emit("Sub", &[power, one], vec![]);
    let bent = scaled(cx, bent, alpha, compute);
    let unit = where_positive(cx, x, bent, compute);
    let y = scaled(cx, unit, scale, compute);
    Ok(cx.cast(y, dtype).into())
}

/// The operator `op`, computed in a type that has a kernel.
fn operator(cx: &mut Context<'_, '_>, op: &'static str, compute: DType, attributes: crate::ir::Attrs) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let x = tensor_as(cx, "self", compute)?;
    let y = cx.emit(op, &[x], attributes);
    Ok(cx.cast(y, dtype).into())
}

fn elu(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = float_type(cx.out()?.dtype);
    let (alpha, scale, input_scale) = (cx.float("alpha")?, cx.float("scale")?, cx.float("input_scale")?);
    if compute == DType::F64 || scale != 1.0 || input_scale != 1.0 {
        return formula(cx, alpha, scale, input_scale);
    }
    operator(cx, "Elu", compute, attrs![alpha = alpha])
}

fn celu(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let alpha = cx.float("alpha")?;
    if cx.out()?.dtype == DType::F64 || alpha < 0.0 {
        return formula(cx, alpha, 1.0, 1.0 / alpha);
    }
    operator(cx, "Celu", DType::F32, attrs![alpha = alpha])
}

fn selu(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    const ALPHA: f64 = 1.6732632423543772848170429916717;
    const SCALE: f64 = 1.0507009873554804934193349852946;
    let compute = float_type(cx.out()?.dtype);
    if compute == DType::F64 {
        return formula(cx, ALPHA, SCALE, 1.0);
    }
    operator(cx, "Selu", compute, vec![])
}

fn leaky(cx: &mut Context<'_, '_>, slope: f64) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = float_type(dtype);
    if compute != DType::F64 {
        return operator(cx, "LeakyRelu", compute, attrs![alpha = slope]);
    }
    let x = tensor_as(cx, "self", compute)?;
    let bent = scaled(cx, x, slope, compute);
    Ok(where_positive(cx, x, bent, compute).into())
}

/// `spread`: the weight has one number for each channel (axis 1), else it broadcasts by itself.
fn prelu(cx: &mut Context<'_, '_>, spread: bool) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = float_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let mut slope = tensor_as(cx, "weight", compute)?;
    let rank = cx.meta("self")?.sizes.len();
    let is_single = cx.meta("weight")?.sizes.iter().all(|size| *size == Dim::Static(1));
    if spread && !is_single && rank > 2 {
        let axes: Vec<i64> = (1..rank as i64 - 1).collect();
        slope = cx.unsqueeze(slope, &axes);
    }
    let weight_rank = cx.meta("weight")?.sizes.len();
    if spread && rank == 0 && weight_rank > 0 {
        slope = cx.reshape(slope, &[])?;
    }
    let y = if compute == DType::F64 {
        let bent = cx.emit("Mul", &[x, slope], vec![]);
        where_positive(cx, x, bent, compute)
    } else {
        cx.emit("PRelu", &[x, slope], vec![])
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

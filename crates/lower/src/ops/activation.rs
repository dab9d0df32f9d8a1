//! Activation functions of one tensor: the ONNX operator of that name where it has a kernel, else its formula.
//!
//! onnxruntime lacks `float64` kernels for most of these operators and `Celu` is `float32` only; `float64` is
//! computed by formulas, so that it keeps its digits. 16-bit floats are rounded once, at the end.

use modelexport_graph::DType;

use super::support::compute::{float_type, formula_type, tensor_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

const MISH: &str = "aten::mish(Tensor self) -> Tensor";

pub static ROWS: &[Row] = &[
    Row::new("aten::silu(Tensor self) -> Tensor", silu),
    Row::new(MISH, |cx| mish(cx, false)),
    Row::new(MISH, |cx| mish(cx, true)).since(18),
    Row::new("aten::softplus(Tensor self, Scalar beta=1, Scalar threshold=20) -> Tensor", softplus),
    Row::new("aten::log_sigmoid(Tensor self) -> Tensor", |cx| Ok(log_sigmoid(cx)?.into())),
    Row::new("aten::log_sigmoid_forward(Tensor self) -> (Tensor output, Tensor buffer)", |cx| {
        Ok(log_sigmoid(cx)?.into())
    }),
    Row::new("aten::hardswish(Tensor self) -> Tensor", hardswish),
    Row::new("aten::hardsigmoid(Tensor self) -> Tensor", hardsigmoid),
    Row::new("aten::hardtanh(Tensor self, Scalar min_val=-1, Scalar max_val=1) -> Tensor", hardtanh),
    Row::new("aten::relu6(Tensor self) -> Tensor", relu6),
    Row::new("aten::softshrink(Tensor self, Scalar lambd=0.5) -> Tensor", softshrink),
    Row::new("aten::hardshrink(Tensor self, Scalar lambd=0.5) -> Tensor", hardshrink),
    Row::new("aten::glu(Tensor self, int dim=-1) -> Tensor", glu),
];

fn silu(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let x = tensor_as(cx, "self", float_type(dtype))?;
    let sigmoid = cx.emit("Sigmoid", &[x], vec![]);
    let y = cx.emit("Mul", &[x, sigmoid], vec![]);
    Ok(cx.cast(y, dtype).into())
}

fn mish(cx: &mut Context<'_, '_>, has_operator: bool) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = float_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let y = if has_operator && compute != DType::F64 {
        cx.emit("Mish", &[x], vec![])
    } else {
        let softplus = emit_softplus(cx, x, compute);
        let tanh = cx.emit("Tanh", &[softplus], vec![]);
        cx.emit("Mul", &[x, tanh], vec![])
    };
    Ok(cx.cast(y, dtype).into())
}

/// `log(1 + exp(x))`.
pub(crate) fn emit_softplus(cx: &mut Context<'_, '_>, x: ValueId, dtype: DType) -> ValueId {
    if dtype != DType::F64 {
        return cx.emit("Softplus", &[x], vec![]);
    }
    let zero = cx.const_scalar(dtype, 0.0);
    let positive = cx.emit("Max", &[x, zero], vec![]);
    let rest = log_one_plus_exp_of_minus_abs(cx, x, dtype);
    cx.emit("Add", &[positive, rest], vec![])
}

/// `log(1 + exp(-|x|))`, which never overflows.
fn log_one_plus_exp_of_minus_abs(cx: &mut Context<'_, '_>, x: ValueId, dtype: DType) -> ValueId {
    let size = cx.emit("Abs", &[x], vec![]);
    let minus = cx.emit("Neg", &[size], vec![]);
    let power = cx.emit("Exp", &[minus], vec![]);
    let one = cx.const_scalar(dtype, 1.0);
    let sum = cx.emit("Add", &[power, one], vec![]);
    cx.emit("Log", &[sum], vec![])
}

/// From this argument on `softplus(x)` is `x` in `float32`, so that PyTorch's threshold changes nothing.
const SOFTPLUS_IS_IDENTITY: f64 = 17.0;

fn softplus(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = float_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let (beta, threshold) = (cx.float("beta")?, cx.float("threshold")?);
    let mut scaled = x;
    if beta != 1.0 {
        let beta = cx.const_scalar(compute, beta);
        scaled = cx.emit("Mul", &[x, beta], vec![]);
    }
    let mut y = emit_softplus(cx, scaled, compute);
    if beta != 1.0 {
        let beta = cx.const_scalar(compute, beta);
        y = cx.emit("Div", &[y, beta], vec![]);
    }
    if threshold < SOFTPLUS_IS_IDENTITY || compute == DType::F64 {
        let threshold = cx.const_scalar(compute, threshold);
        let beyond = cx.emit("Greater", &[scaled, threshold], vec![]);
        y = cx.emit("Where", &[beyond, x, y], vec![]);
    }
    Ok(cx.cast(y, dtype).into())
}

/// `-softplus(-x)`.
fn log_sigmoid(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    let dtype = cx.out()?.dtype;
    let compute = float_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let y = if compute == DType::F64 {
        let zero = cx.const_scalar(compute, 0.0);
        let negative = cx.emit("Min", &[x, zero], vec![]);
        let rest = log_one_plus_exp_of_minus_abs(cx, x, compute);
        cx.emit("Sub", &[negative, rest], vec![])
    } else {
        let minus = cx.emit("Neg", &[x], vec![]);
        let softplus = cx.emit("Softplus", &[minus], vec![]);
        cx.emit("Neg", &[softplus], vec![])
    };
    Ok(cx.cast(y, dtype))
}

/// `clip(x + 3, 0, 6) / 6`.
fn emit_hardsigmoid(cx: &mut Context<'_, '_>, x: ValueId, dtype: DType) -> ValueId {
    let (zero, three, six) = (cx.const_scalar(dtype, 0.0), cx.const_scalar(dtype, 3.0), cx.const_scalar(dtype, 6.0));
    let shifted = cx.emit("Add", &[x, three], vec![]);
    let clipped = cx.emit("Clip", &[shifted, zero, six], vec![]);
    cx.emit("Div", &[clipped, six], vec![])
}

fn hardsigmoid(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = float_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let y = match compute {
        DType::F64 => emit_hardsigmoid(cx, x, compute),
        _ => cx.emit("HardSigmoid", &[x], attrs![alpha = 1.0 / 6.0, beta = 0.5]),
    };
    Ok(cx.cast(y, dtype).into())
}

fn hardswish(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = float_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let y = match compute {
        DType::F64 => {
            let gate = emit_hardsigmoid(cx, x, compute);
            cx.emit("Mul", &[x, gate], vec![])
        }
        _ => cx.emit("HardSwish", &[x], vec![]),
    };
    Ok(cx.cast(y, dtype).into())
}

fn hardtanh(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (low, high) = (cx.scalar_arg("min_val")?, cx.scalar_arg("max_val")?);
    let compute = clip_type(cx.out()?.dtype);
    let (low, high) = (cx.scalar_value(low, compute), cx.scalar_value(high, compute));
    clip(cx, compute, low, high)
}

fn relu6(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = clip_type(cx.out()?.dtype);
    let (low, high) = (cx.const_scalar(compute, 0i64), cx.const_scalar(compute, 6i64));
    clip(cx, compute, low, high)
}

/// Types that `Clip` has a kernel for.
fn clip_type(dtype: DType) -> DType {
    match dtype {
        DType::BF16 => DType::F32,
        DType::U16 | DType::I16 => DType::I32,
        other => other,
    }
}

fn clip(cx: &mut Context<'_, '_>, compute: DType, low: ValueId, high: ValueId) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let x = tensor_as(cx, "self", compute)?;
    let y = cx.emit("Clip", &[x, low, high], vec![]);
    Ok(cx.cast(y, dtype).into())
}

/// `x - clip(x, -lambd, lambd)`.
fn softshrink(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let bound = cx.float("lambd")?;
    let (low, high) = (cx.const_scalar(compute, -bound), cx.const_scalar(compute, bound));
    let inside = cx.emit("Clip", &[x, low, high], vec![]);
    let y = cx.emit("Sub", &[x, inside], vec![]);
    Ok(cx.cast(y, dtype).into())
}

/// `x` outside `-lambd` to `lambd`, else 0; NaN stays NaN, which `Shrink` would lose.
fn hardshrink(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = float_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let bound = cx.float("lambd")?;
    let (bound, zero) = (cx.const_scalar(compute, bound), cx.const_scalar(compute, 0.0));
    let size = cx.emit("Abs", &[x], vec![]);
    let inside = cx.emit("LessOrEqual", &[size, bound], vec![]);
    let y = cx.emit("Where", &[inside, zero, x], vec![]);
    Ok(cx.cast(y, dtype).into())
}

/// The first half times the sigmoid of the second.
fn glu(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = float_type(out.dtype);
    let x = tensor_as(cx, "self", compute)?;
    let axis = cx.axis("dim", out.sizes.len())?;
    let halves = match out.sizes.get(axis as usize).and_then(|size| size.as_static()) {
        Some(half) => cx.split(x, &[half, half], axis),
        None if cx.opset >= 18 => {
            cx.emit_many("Split", &[Some(x)], attrs![axis = axis, num_outputs = 2], 2)
        }
        None => cx.emit_many("Split", &[Some(x)], attrs![axis = axis], 2),
    };
    let [value, gate] = halves.as_slice() else { return cx.refuse("cannot be split in two") };
    let gate = cx.emit("Sigmoid", &[*gate], vec![]);
    let y = cx.emit("Mul", &[*value, gate], vec![]);
    Ok(cx.cast(y, out.dtype).into())
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

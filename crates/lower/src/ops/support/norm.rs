//! Standardising a tensor by its own mean and variance.

use modelexport_graph::DType;

use crate::context::Context;
use crate::ir::ValueId;

/// `x` with mean 0 and variance 1, and what it took.
pub(crate) struct Standardized {
    pub value: ValueId,
    pub mean: ValueId,
    /// `1 / sqrt(variance + eps)`; removed with the dead nodes if nothing reads it.
    pub inverse_deviation: ValueId,
}

/// Over `axes`, which stay with size 1 in the statistics. onnxruntime knows these nodes as a layer norm.
pub(crate) fn standardize(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    axes: &[i64],
    eps: f64,
    dtype: DType,
) -> Standardized {
    let mean = cx.reduce("ReduceMean", x, axes, true);
    let centered = cx.emit("Sub", &[x, mean], vec![]);
    let squares = square(cx, centered, dtype);
    let variance = cx.reduce("ReduceMean", squares, axes, true);
    let eps = cx.const_scalar(dtype, eps);
    let sum = cx.emit("Add", &[variance, eps], vec![]);
    let deviation = cx.emit("Sqrt", &[sum], vec![]);
    let value = cx.emit("Div", &[centered, deviation], vec![]);
    let inverse_deviation = cx.emit("Reciprocal", &[deviation], vec![]);
    Standardized { value, mean, inverse_deviation }
}

/// `x * weight + bias`, each where it is given.
pub(crate) fn affine(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    weight: Option<ValueId>,
    bias: Option<ValueId>,
) -> ValueId {
    let x = match weight {
        Some(weight) => cx.emit("Mul", &[x, weight], vec![]),
        None => x,
    };
    match bias {
        Some(bias) => cx.emit("Add", &[x, bias], vec![]),
        None => x,
    }
}

/// `x * x`: as `Pow`, the form that onnxruntime's fusions look for; but they misread `float64` constants, and fuse
/// casts from `bfloat16` into nodes that have no kernel.
pub(crate) fn square(cx: &mut Context<'_, '_>, x: ValueId, dtype: DType) -> ValueId {
    let is_narrow = cx.out().is_ok_and(|out| out.dtype == DType::BF16);
    if dtype == DType::F64 || is_narrow {
        return cx.emit("Mul", &[x, x], vec![]);
    }
    let two = cx.const_scalar(dtype, 2.0);
    cx.emit("Pow", &[x, two], vec![])
}

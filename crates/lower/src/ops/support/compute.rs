//! The element type that a lowering computes in, and arguments in that type.
//!
//! onnxruntime has no CPU kernels for `bfloat16` arithmetic, and none for `float64` in convolutions, some pools and
//! some activations. A lowering casts its inputs to a type that has kernels, and its result back. PyTorch computes
//! 16-bit floats in `float32` too and rounds at the end, so nothing is lost; `float64` in `float32` loses digits.

use modelexport_graph::{DType, Dim};

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::{Literal, Number};

/// For operators with kernels for `float16`, `float32` and `float64`.
pub(crate) fn float_type(dtype: DType) -> DType {
    match dtype {
        DType::BF16 => DType::F32,
        other => other,
    }
}

/// For operators that have no kernel for `float64` either.
pub(crate) fn single_type(dtype: DType) -> DType {
    match dtype {
        DType::BF16 | DType::F64 => DType::F32,
        other => other,
    }
}

/// For formulas of several nodes: PyTorch rounds 16-bit floats only at the end.
pub(crate) fn formula_type(dtype: DType) -> DType {
    match dtype {
        DType::BF16 | DType::F16 => DType::F32,
        other => other,
    }
}

/// A tensor argument as `dtype`.
pub(crate) fn tensor_as(cx: &mut Context<'_, '_>, name: &str, dtype: DType) -> Result<ValueId> {
    if cx.meta(name)?.dtype.is_complex() {
        return cx.refuse(format!("complex numbers in `{name}` are not supported"));
    }
    let value = cx.tensor(name)?;
    Ok(cx.cast(value, dtype))
}

/// The same for an argument that may be missing.
pub(crate) fn tensor_opt_as(cx: &mut Context<'_, '_>, name: &str, dtype: DType) -> Result<Option<ValueId>> {
    match cx.arg(name) {
        None => Ok(None),
        Some(_) => tensor_as(cx, name, dtype).map(Some),
    }
}

/// A constant tensor of these numbers.
pub(crate) fn const_floats(
    cx: &mut Context<'_, '_>,
    dtype: DType,
    dims: &[i64],
    values: impl IntoIterator<Item = f64>,
) -> Result<ValueId> {
    match Literal::from_numbers(dtype, dims.to_vec(), values.into_iter().map(Number::Float)) {
        Some(literal) => Ok(cx.constant(literal)),
        None => cx.refuse(format!("{dtype} has no constants")),
    }
}

/// A tensor of `sizes` whose elements are all `value`: the scale of a norm that has none, for instance.
pub(crate) fn filled(cx: &mut Context<'_, '_>, dtype: DType, sizes: &[Dim], value: f64) -> Result<ValueId> {
    let one = cx.const_scalar(dtype, value);
    match modelexport_graph::shape::static_numel(sizes) {
        Some(count) => {
            let dims = modelexport_graph::shape::static_shape(sizes).unwrap_or_default();
            const_floats(cx, dtype, &dims, std::iter::repeat_n(value, count.max(0) as usize))
        }
        None => cx.expand(one, sizes),
    }
}

/// The product of sizes.
pub(crate) fn product(sizes: &[Dim]) -> Dim {
    use modelexport_graph::{SymExpr, SymOp};
    let mut number = 1i64;
    let mut factors = Vec::new();
    for size in sizes {
        match size {
            Dim::Static(size) => number = number.saturating_mul(*size),
            Dim::Symbolic(expr) => factors.push(expr.clone()),
        }
    }
    match factors.len() {
        0 => Dim::Static(number),
        _ if number == 0 => Dim::Static(0),
        1 if number == 1 => Dim::Symbolic(factors.swap_remove(0)),
        _ => {
            if number != 1 {
                factors.insert(0, SymExpr::Int(number));
            }
            Dim::Symbolic(SymExpr::Call(SymOp::Mul, factors))
        }
    }
}

/// The sizes of an elementwise result.
pub(crate) fn broadcast(a: &[Dim], b: &[Dim]) -> Vec<Dim> {
    let rank = a.len().max(b.len());
    let size = |sizes: &[Dim], axis: usize| {
        (axis + sizes.len()).checked_sub(rank).and_then(|at| sizes.get(at)).cloned()
    };
    (0..rank)
        .map(|axis| match (size(a, axis), size(b, axis)) {
            (Some(size), Some(other)) if size.is(1) => other,
            (Some(size), _) | (None, Some(size)) => size,
            (None, None) => Dim::Static(1),
        })
        .collect()
}

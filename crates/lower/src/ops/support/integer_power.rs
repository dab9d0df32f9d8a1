//! Powers of integers by squaring, which wrap as PyTorch's do: `Pow` goes through `float64` in onnxruntime.

use modelexport_graph::{DType, Dim};

use super::fill::filled;
use super::formulas::{test_number, with_number};
use crate::attrs;
use crate::builder::Builder;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// `base` to a power of at least 1 that is known.
pub(crate) fn known_power(b: &mut Builder, base: ValueId, exponent: u64) -> ValueId {
    let (mut square, mut rest, mut product) = (base, exponent, None);
    while rest > 0 {
        if rest % 2 == 1 {
            product = Some(product.map_or(square, |product| b.emit("Mul", &[product, square], vec![])));
        }
        rest /= 2;
        if rest > 0 {
            square = b.emit("Mul", &[square, square], vec![]);
        }
    }
    product.unwrap_or(base)
}

/// `base` to the powers `exponent`, both of one type, broadcast to `sizes`. What is below 1 in size is 0.
pub(crate) fn power(
    cx: &mut Context<'_, '_>,
    base: ValueId,
    exponent: ValueId,
    sizes: &[Dim],
) -> Result<ValueId> {
    let dtype = cx.dtype(base);
    let magnitude = cx.emit("Abs", &[exponent], vec![]);
    let ones = filled(cx, sizes, dtype, 1, None)?;
    let value = squared(cx, ones, base, magnitude);
    let size = cx.emit("Abs", &[base], vec![]);
    let (is_unit, is_negative) = (test_number(cx, "Equal", size, 1), test_number(cx, "Less", exponent, 0));
    let is_positive = cx.emit("Not", &[is_negative], vec![]);
    let is_whole = cx.emit("Or", &[is_unit, is_positive], vec![]);
    let zero = cx.const_scalar(dtype, 0);
    Ok(cx.emit("Where", &[is_whole, value, zero], vec![]))
}

/// A `Loop` over the bits of the exponents, up to the last that is set.
fn squared(cx: &mut Context<'_, '_>, ones: ValueId, base: ValueId, exponent: ValueId) -> ValueId {
    let dtype = cx.dtype(base);
    // onnxruntime wants to know that the number of the round and the condition are scalars.
    let states = [ones, base, exponent].map(|state| (dtype, cx.shape(state).map(<[Dim]>::to_vec)));
    cx.open();
    let scalars = [(DType::I64, Some(Vec::new())), (DType::Bool, Some(Vec::new()))];
    let mut formal = Vec::with_capacity(5);
    for (dtype, shape) in scalars.into_iter().chain(states) {
        let value = cx.new_value();
        cx.set_dtype(value, dtype);
        if let Some(shape) = shape {
            cx.set_shape(value, shape);
        }
        formal.push(value);
    }
    let mut outputs = Vec::new();
    if let [_, _, product, square, rest] = formal[..] {
        let odd = with_number(cx, "Mod", rest, 2);
        let odd = cx.cast(odd, DType::Bool);
        let one = cx.const_scalar(dtype, 1);
        let factor = cx.emit("Where", &[odd, square, one], vec![]);
        let product = cx.emit("Mul", &[product, factor], vec![]);
        let square = cx.emit("Mul", &[square, square], vec![]);
        let rest = with_number(cx, "Div", rest, 2);
        // A count, because there is no largest element of nothing.
        let is_left = cx.cast(rest, DType::Bool);
        let is_left = cx.cast(is_left, DType::I32);
        let left = cx.reduce("ReduceSum", is_left, &[], false);
        outputs = vec![cx.cast(left, DType::Bool), product, square, rest];
    }
    let graph = cx.close(formal, outputs);
    let (bits, run) = (cx.const_int(64), cx.const_scalar(DType::Bool, true));
    let inputs = [bits, run, ones, base, exponent].map(Some);
    let results = cx.emit_many("Loop", &inputs, attrs![body = graph], 3);
    for &result in &results {
        cx.set_dtype(result, dtype);
    }
    results.first().copied().unwrap_or(ones)
}

//! Operators between numbers and small integers that stand for them.

use modelexport_graph::DType;

use super::Element::{By, Fixed, StatedOrInput};
use super::{Row, row, same, scalar};
use crate::operation::Operation;

pub(super) const ROWS: &[Row] = &[
    row("DequantizeLinear", &[DEQUANTIZED]),
    row("QuantizeLinear", &[QUANTIZED]),
    row(
        "DynamicQuantizeLinear",
        &[(Fixed(DType::U8), same), (Fixed(DType::F32), scalar), (Fixed(DType::U8), scalar)],
    ),
];

pub(super) const QUANTIZED: (super::Element, super::Shape) = (By(quantized), same);
pub(super) const DEQUANTIZED: (super::Element, super::Shape) = (StatedOrInput("output_dtype", 1), same);

fn quantized(operation: &Operation<'_>) -> Option<DType> {
    match operation.input(2) {
        Some(zero) => zero.dtype,
        None => operation.stated("output_dtype").or(Some(DType::U8)),
    }
}

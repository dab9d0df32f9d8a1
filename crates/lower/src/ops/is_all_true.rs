//! `_is_all_true` and `_is_any_true` of truth values: a product or the sum, as integers. No element at all is
//! true for the first.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten._is_all_true.default", "_is_all_true(Tensor self) -> Tensor", |cx| reduced(cx, "ReduceProd")),
    Row::new("aten._is_any_true.default", "_is_any_true(Tensor self) -> Tensor", |cx| reduced(cx, "ReduceSum")),
];

fn reduced(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let numbers = cx.cast(x, DType::I64);
    let number = cx.reduce(op, numbers, &[], false);
    Ok(cx.cast(number, DType::Bool).into())
}

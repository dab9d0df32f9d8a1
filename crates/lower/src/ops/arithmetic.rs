//! `add`, `sub`, `rsub`, `mul`: elementwise with broadcasting, computed in the type of the result.
//!
//! Booleans: the sum is `Or`, the product is `And`. Complex numbers: see `support::complex`.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::kernels::kernel_type;
use crate::ops::support::complex::{self, complex_operand, is_complex};
use crate::ops::support::operands::arithmetic_operands;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::add.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", |cx| {
        scaled(cx, "Add", ["self", "other"])
    }),
    Row::new("aten::add.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", |cx| {
        scaled(cx, "Add", ["self", "other"])
    }),
    Row::new("aten::mul.Scalar(Tensor self, Scalar other) -> Tensor", mul),
    Row::new("aten::mul.Tensor(Tensor self, Tensor other) -> Tensor", mul),
    Row::new("aten::multiply.Scalar(Tensor self, Scalar other) -> Tensor", mul),
    Row::new("aten::multiply.Tensor(Tensor self, Tensor other) -> Tensor", mul),
    Row::new("aten::rsub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", |cx| {
        scaled(cx, "Sub", ["other", "self"])
    }),
    Row::new("aten::rsub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", |cx| {
        scaled(cx, "Sub", ["other", "self"])
    }),
    Row::new("aten::sub.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", |cx| {
        scaled(cx, "Sub", ["self", "other"])
    }),
    Row::new("aten::sub.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", |cx| {
        scaled(cx, "Sub", ["self", "other"])
    }),
    Row::new("aten::subtract.Scalar(Tensor self, Scalar other, Scalar alpha=1) -> Tensor", |cx| {
        scaled(cx, "Sub", ["self", "other"])
    }),
    Row::new("aten::subtract.Tensor(Tensor self, Tensor other, *, Scalar alpha=1) -> Tensor", |cx| {
        scaled(cx, "Sub", ["self", "other"])
    }),
];

/// `left op alpha * right`.
fn scaled(cx: &mut Context<'_, '_>, op: &'static str, names: [&str; 2]) -> Result<Outputs> {
    if is_complex(cx) {
        return scaled_complex(cx, op, names);
    }
    let dtype = cx.out()?.dtype;
    let op = if dtype == DType::Bool { "Or" } else { op };
    let [left, mut right] = arithmetic_operands(cx, op, names, dtype)?;
    let alpha = cx.scalar_arg("alpha")?;
    if !alpha.is(1.0) {
        let kernel = kernel_type(op, dtype, cx.opset);
        let alpha = cx.scalar_value(alpha, kernel);
        let product = if dtype == DType::Bool { "And" } else { "Mul" };
        right = cx.emit(product, &[right, alpha], vec![]);
    }
    let value = cx.emit(op, &[left, right], vec![]);
    Ok(cx.cast(value, dtype).into())
}

fn scaled_complex(cx: &mut Context<'_, '_>, op: &'static str, names: [&str; 2]) -> Result<Outputs> {
    let part = cx.out()?.dtype.real();
    let (left, right) = (complex_operand(cx, names[0], part)?, complex_operand(cx, names[1], part)?);
    let Some(alpha) = cx.scalar_arg("alpha")?.number() else {
        return cx.refuse("scales complex numbers by one that is computed in the graph");
    };
    Ok(complex::sum(cx, op, left, right, alpha.as_f64())?.into())
}

fn mul(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if is_complex(cx) {
        let part = cx.out()?.dtype.real();
        let (left, right) = (complex_operand(cx, "self", part)?, complex_operand(cx, "other", part)?);
        return Ok(complex::product(cx, left, right)?.into());
    }
    let dtype = cx.out()?.dtype;
    let op = if dtype == DType::Bool { "And" } else { "Mul" };
    let [left, right] = arithmetic_operands(cx, op, ["self", "other"], dtype)?;
    let value = cx.emit(op, &[left, right], vec![]);
    Ok(cx.cast(value, dtype).into())
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

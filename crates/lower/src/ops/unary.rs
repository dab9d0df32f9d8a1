//! Elementwise functions of one tensor that ONNX has under its own name: `Sin`, `Exp`, `Sqrt` and their like.
//!
//! Integers and booleans are cast to the type of the result first, as PyTorch does. `Relu` has no kernel for all
//! integers and is `Max` with zero for them. Complex numbers: negation, magnitude, exponential, reciprocal, square.
//! Deviation: the sign of NaN is NaN; PyTorch says 0.

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::kernel_type;
use crate::ops::support::complex::{self, Operand, is_complex};
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

macro_rules! unary {
    ($($name:literal => $op:literal),* $(,)?) => {
        pub static ROWS: &[Row] = &[
            $(Row::new(
                concat!("aten.", $name, ".default"),
                concat!($name, "(Tensor self) -> Tensor"),
                |cx| lower(cx, $op),
            ),)*
            Row::new("aten.relu.default", "relu(Tensor self) -> Tensor", relu),
            Row::new("aten.rsqrt.default", "rsqrt(Tensor self) -> Tensor", |cx| {
                let x = argument(cx, "Sqrt")?;
                let root = cx.emit("Sqrt", &[x], vec![]);
                let inverse = cx.emit("Reciprocal", &[root], vec![]);
                result(cx, inverse)
            }),
            Row::new("aten.square.default", "square(Tensor self) -> Tensor", |cx| {
                if is_complex(cx) {
                    let x = cx.tensor("self")?;
                    return Ok(complex::product_of_pairs(cx, x, x)?.into());
                }
                let x = argument(cx, "Mul")?;
                let product = cx.emit("Mul", &[x, x], vec![]);
                result(cx, product)
            }),
        ];
    };
}

unary! {
    "abs" => "Abs",
    "absolute" => "Abs",
    "acos" => "Acos",
    "acosh" => "Acosh",
    "arccos" => "Acos",
    "arccosh" => "Acosh",
    "arcsin" => "Asin",
    "arcsinh" => "Asinh",
    "arctan" => "Atan",
    "arctanh" => "Atanh",
    "asin" => "Asin",
    "asinh" => "Asinh",
    "atan" => "Atan",
    "atanh" => "Atanh",
    "cos" => "Cos",
    "cosh" => "Cosh",
    "erf" => "Erf",
    "exp" => "Exp",
    "log" => "Log",
    "neg" => "Neg",
    "negative" => "Neg",
    "reciprocal" => "Reciprocal",
    "sgn" => "Sign",
    "sigmoid" => "Sigmoid",
    "sign" => "Sign",
    "sin" => "Sin",
    "sinh" => "Sinh",
    "special_erf" => "Erf",
    "special_expit" => "Sigmoid",
    "sqrt" => "Sqrt",
    "tan" => "Tan",
    "tanh" => "Tanh",
}

fn lower(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    if is_complex(cx) {
        return lower_complex(cx, op);
    }
    let x = argument(cx, op)?;
    let value = cx.emit(op, &[x], vec![]);
    result(cx, value)
}

fn lower_complex(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    Ok(match op {
        "Neg" => cx.emit("Neg", &[x], vec![]),
        "Abs" => cx.reduce("ReduceL2", x, &[-1], false),
        "Exp" => complex::exponential(cx, x)?,
        "Reciprocal" => {
            let one = cx.const_like(x, 1.0);
            complex::quotient(cx, Operand::Real(one), Operand::Pairs(x))?
        }
        _ => return cx.refuse("has no lowering for complex numbers"),
    }
    .into())
}

/// `self` in the type in which `op` runs.
fn argument(cx: &mut Context<'_, '_>, op: &str) -> Result<ValueId> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", dtype)?;
    let kernel = kernel_type(op, dtype, cx.opset);
    Ok(cx.cast(x, kernel))
}

fn result(cx: &mut Context<'_, '_>, value: ValueId) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(value, dtype).into())
}

fn relu(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if cx.out()?.dtype.is_float() {
        return lower(cx, "Relu");
    }
    let x = cx.tensor("self")?;
    Ok(with_number(cx, "Max", x, 0.0).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.abs.default(self: f32[2, 3]) -> f32[2, 3]
            Abs(self)
        aten.absolute.default(self: f32[2, 3]) -> f32[2, 3]
            Abs(self)
        aten.acos.default(self: f32[2, 3]) -> f32[2, 3]
            Acos(self)
        aten.acosh.default(self: f32[2, 3]) -> f32[2, 3]
            Acosh(self)
        aten.arccos.default(self: f32[2, 3]) -> f32[2, 3]
            Acos(self)
        aten.arccosh.default(self: f32[2, 3]) -> f32[2, 3]
            Acosh(self)
        aten.arcsin.default(self: f32[2, 3]) -> f32[2, 3]
            Asin(self)
        aten.arcsinh.default(self: f32[2, 3]) -> f32[2, 3]
            Asinh(self)
        aten.arctan.default(self: f32[2, 3]) -> f32[2, 3]
            Atan(self)
        aten.arctanh.default(self: f32[2, 3]) -> f32[2, 3]
            Atanh(self)
        aten.asin.default(self: f32[2, 3]) -> f32[2, 3]
            Asin(self)
        aten.asinh.default(self: f32[2, 3]) -> f32[2, 3]
            Asinh(self)
        aten.atan.default(self: f32[2, 3]) -> f32[2, 3]
            Atan(self)
        aten.atanh.default(self: f32[2, 3]) -> f32[2, 3]
            Atanh(self)
        aten.cos.default(self: f32[2, 3]) -> f32[2, 3]
            Cos(self)
        aten.cosh.default(self: f32[2, 3]) -> f32[2, 3]
            Cosh(self)
        aten.erf.default(self: f32[2, 3]) -> f32[2, 3]
            Erf(self)
        aten.exp.default(self: f32[2, 3]) -> f32[2, 3]
            Exp(self)
        aten.log.default(self: f32[2, 3]) -> f32[2, 3]
            Log(self)
        aten.neg.default(self: f32[2, 3]) -> f32[2, 3]
            Neg(self)
        aten.negative.default(self: f32[2, 3]) -> f32[2, 3]
            Neg(self)
        aten.reciprocal.default(self: f32[2, 3]) -> f32[2, 3]
            Reciprocal(self)
        aten.sgn.default(self: f32[2, 3]) -> f32[2, 3]
            Sign(self)
        aten.sigmoid.default(self: f32[2, 3]) -> f32[2, 3]
            Sigmoid(self)
        aten.sign.default(self: f32[2, 3]) -> f32[2, 3]
            Sign(self)
        aten.sin.default(self: f32[2, 3]) -> f32[2, 3]
            Sin(self)
        aten.sinh.default(self: f32[2, 3]) -> f32[2, 3]
            Sinh(self)
        aten.special_erf.default(self: f32[2, 3]) -> f32[2, 3]
            Erf(self)
        aten.special_expit.default(self: f32[2, 3]) -> f32[2, 3]
            Sigmoid(self)
        aten.sqrt.default(self: f32[2, 3]) -> f32[2, 3]
            Sqrt(self)
        aten.tan.default(self: f32[2, 3]) -> f32[2, 3]
            Tan(self)
        aten.tanh.default(self: f32[2, 3]) -> f32[2, 3]
            Tanh(self)
        aten.relu.default(self: f32[2, 3]) -> f32[2, 3]
            Relu(self)
        aten.rsqrt.default(self: f32[2, 3]) -> f32[2, 3]
            Reciprocal(Sqrt(self))
        aten.square.default(self: f32[2, 3]) -> f32[2, 3]
            Mul(self, self)
        ");
    }
}

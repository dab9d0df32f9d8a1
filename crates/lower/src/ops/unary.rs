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
                concat!("aten::", $name, "(Tensor self) -> Tensor"),
                |cx| lower(cx, $op),
            ),)*
            Row::new("aten::relu(Tensor self) -> Tensor", relu),
            Row::new("aten::rsqrt(Tensor self) -> Tensor", |cx| {
                let x = argument(cx, "Sqrt")?;
                let root = cx.emit("Sqrt", &[x], vec![]);
                let inverse = cx.emit("Reciprocal", &[root], vec![]);
                result(cx, inverse)
            }),
            Row::new("aten::square(Tensor self) -> Tensor", |cx| {
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
        assert_snapshot!(lowered(ROWS));
    }
}

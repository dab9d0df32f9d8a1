//! Elementwise operators of one tensor that ONNX has under another name.
//!
//! Integers and booleans are cast to the type of the result first, as PyTorch does.

use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

macro_rules! unary {
    ($($name:literal => $op:literal),* $(,)?) => {
        pub static ROWS: &[Row] = &[
            $(Row::new(
                concat!("aten.", $name, ".default"),
                concat!($name, "(Tensor self) -> Tensor"),
                |cx| lower(cx, $op),
            )),*
        ];
    };
}

unary! {
    "relu" => "Relu",
    "tanh" => "Tanh",
    "sigmoid" => "Sigmoid",
    "exp" => "Exp",
    "sqrt" => "Sqrt",
    "neg" => "Neg",
    "abs" => "Abs",
}

fn lower(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let dtype = cx.out()?.dtype;
    let x = cx.cast(x, dtype);
    Ok(cx.emit(op, &[x], vec![]).into())
}

//! `logical_and`, `logical_or`, `logical_xor`, `logical_not`: of the elements' truth, which is being other than zero.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ops::support::formulas::test_number;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::logical_and(Tensor self, Tensor other) -> Tensor", |cx| both(cx, "And")),
    Row::new("aten::logical_not(Tensor self) -> Tensor", not),
    Row::new("aten::logical_or(Tensor self, Tensor other) -> Tensor", |cx| both(cx, "Or")),
    Row::new("aten::logical_xor(Tensor self, Tensor other) -> Tensor", |cx| both(cx, "Xor")),
];

fn both(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    real_only(cx)?;
    let (left, right) = (operand(cx, "self", DType::Bool)?, operand(cx, "other", DType::Bool)?);
    Ok(cx.emit(op, &[left, right], vec![]).into())
}

fn not(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    if cx.dtype(x) == DType::Bool {
        return Ok(cx.emit("Not", &[x], vec![]).into());
    }
    Ok(test_number(cx, "Equal", x, 0.0).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.logical_and.default(self: bool[3, 4], other: bool[4]) -> bool[3, 4]
            And(self, other)
        aten.logical_not.default(self: bool[3, 4]) -> bool[3, 4]
            Not(self)
        aten.logical_or.default(self: bool[3, 4], other: bool[4]) -> bool[3, 4]
            Or(self, other)
        aten.logical_xor.default(self: bool[3, 4], other: bool[4]) -> bool[3, 4]
            Xor(self, other)
        ");
    }
}

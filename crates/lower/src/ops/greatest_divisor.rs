//! `gcd` and `lcm`: Euclid's algorithm for all elements at once, in a `Loop` that ends when all remainders are 0.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::formulas::{test_number, with_number};
use crate::ops::support::operands::operand;
use crate::ops::support::repeat::repeat_while;
use crate::registry::Row;

pub static ROWS: &[Row] = &[
    Row::new("aten::gcd(Tensor self, Tensor other) -> Tensor", |cx| {
        let dtype = cx.out()?.dtype;
        let (_, _, divisor) = divisor(cx)?;
        Ok(cx.cast(divisor, dtype).into())
    }),
    Row::new("aten::lcm(Tensor self, Tensor other) -> Tensor", |cx| {
        let dtype = cx.out()?.dtype;
        let (left, right, divisor) = divisor(cx)?;
        // Both are 0 where the divisor is.
        let divisor = with_number(cx, "Max", divisor, 1);
        let share = cx.emit("Div", &[left, divisor], vec![]);
        let multiple = cx.emit("Mul", &[share, right], vec![]);
        Ok(cx.cast(multiple, dtype).into())
    }),
];

/// Both operands without sign, in the sizes of the result, and their greatest common divisor.
fn divisor(cx: &mut Context<'_, '_>) -> Result<(ValueId, ValueId, ValueId)> {
    let sizes = cx.out()?.sizes.clone();
    let mut absolute = |name: &str| -> Result<ValueId> {
        let value = operand(cx, name, DType::I64)?;
        let value = cx.emit("Abs", &[value], vec![]);
        cx.expand(value, &sizes)
    };
    let (left, right) = (absolute("self")?, absolute("other")?);
    let [divisor, _] = repeat_while(cx, None, [left, right], |body, _, [larger, smaller]| {
        let is_done = test_number(body, "Equal", smaller, 0);
        let divisor = with_number(body, "Max", smaller, 1);
        let rest = body.emit("Mod", &[larger, divisor], vec![]);
        let next_larger = body.emit("Where", &[is_done, larger, smaller], vec![]);
        let next_smaller = body.emit("Where", &[is_done, smaller, rest], vec![]);
        // A sum, because the largest of no elements is not defined.
        let positive = body.emit("Sign", &[next_smaller], vec![]);
        let left_over = body.reduce("ReduceSum", positive, &[], false);
        let goes_on = test_number(body, "Greater", left_over, 0);
        (goes_on, [next_larger, next_smaller])
    });
    Ok((left, right, divisor))
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

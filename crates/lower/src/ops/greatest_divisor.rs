//! `gcd` and `lcm`: Euclid's algorithm for all elements at once, in a `Loop` that ends when all remainders are 0.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::operand;
use crate::registry::Row;

pub static ROWS: &[Row] = &[
    Row::new("aten.gcd.default", "gcd(Tensor self, Tensor other) -> Tensor", |cx| {
        let dtype = cx.out()?.dtype;
        let (_, _, divisor) = divisor(cx)?;
        Ok(cx.cast(divisor, dtype).into())
    }),
    Row::new("aten.lcm.default", "lcm(Tensor self, Tensor other) -> Tensor", |cx| {
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
    let mut absolute = |name| -> Result<ValueId> {
        let value = operand(cx, name, DType::I64)?;
        let value = cx.emit("Abs", &[value], vec![]);
        cx.expand(value, &sizes)
    };
    let (left, right) = (absolute("self")?, absolute("other")?);
    let goes_on = cx.const_scalar(DType::Bool, true);

    cx.open();
    let mut formal = Vec::with_capacity(4);
    for (dtype, shape) in [(DType::I64, vec![]), (DType::Bool, vec![]), (DType::I64, sizes.clone()), (DType::I64, sizes)] {
        let value = cx.new_value();
        cx.set_dtype(value, dtype);
        cx.set_shape(value, shape);
        formal.push(value);
    }
    let (larger, smaller) = (formal[2], formal[3]);
    let is_done = {
        let zero = cx.const_int(0);
        cx.emit("Equal", &[smaller, zero], vec![])
    };
    let divisor = with_number(cx, "Max", smaller, 1);
    let rest = cx.emit("Mod", &[larger, divisor], vec![]);
    let next_larger = cx.emit("Where", &[is_done, larger, smaller], vec![]);
    let next_smaller = cx.emit("Where", &[is_done, smaller, rest], vec![]);
    let most = {
        // A sum, because the largest of no elements is not defined.
        let positive = cx.emit("Sign", &[next_smaller], vec![]);
        cx.reduce("ReduceSum", positive, &[], false)
    };
    let zero = cx.const_int(0);
    let again = cx.emit("Greater", &[most, zero], vec![]);
    let body = cx.close(formal, vec![again, next_larger, next_smaller]);
    let inputs = [None, Some(goes_on), Some(left), Some(right)];
    let results = cx.emit_many("Loop", &inputs, attrs![body = body], 2);
    for &result in &results {
        cx.set_dtype(result, DType::I64);
    }
    Ok((left, right, results[0]))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.gcd.default(self: i64[30], other: i64[30]) -> i64[30]
            t5, _ = Loop(None, true, Abs(self), Abs(other), body=(_, _, t1, t2) {
                t3 = Equal(t2, 0)
                t4 = Where(t3, t2, Mod(t1, Max(t2, 1)))
                Greater(ReduceSum(Sign(t4), keepdims=0), 0), Where(t3, t1, t2), t4
            })
            t5
        aten.lcm.default(self: i64[30], other: i64[30]) -> i64[30]
            t1 = Abs(self)
            t2 = Abs(other)
            t7, _ = Loop(None, true, t1, t2, body=(_, _, t3, t4) {
                t5 = Equal(t4, 0)
                t6 = Where(t5, t4, Mod(t3, Max(t4, 1)))
                Greater(ReduceSum(Sign(t6), keepdims=0), 0), Where(t5, t3, t4), t6
            })
            Mul(Div(t1, Max(t7, 1)), t2)
        ");
    }
}

//! Small sequences of nodes that stand for one function, for values of any float type.

use modelexport_graph::DType;

use crate::builder::Builder;
use crate::ir::ValueId;
use crate::literal::Number;

/// Arithmetic with a number that is known now.
pub(crate) fn with_number(
    b: &mut Builder,
    op: &'static str,
    x: ValueId,
    number: impl Into<Number>,
) -> ValueId {
    let number = b.const_like(x, number);
    b.apply(op, &[x, number], vec![])
}

/// A comparison with a number that is known now.
pub(crate) fn test_number(
    b: &mut Builder,
    op: &'static str,
    x: ValueId,
    number: impl Into<Number>,
) -> ValueId {
    let number = b.const_like(x, number);
    b.test(op, &[x, number])
}

/// Towards zero; integers are what they are.
pub(crate) fn truncate(b: &mut Builder, x: ValueId) -> ValueId {
    if !b.dtype(x).is_float() {
        return x;
    }
    let magnitude = b.apply("Abs", &[x], vec![]);
    let whole = b.apply("Floor", &[magnitude], vec![]);
    let sign = b.apply("Sign", &[x], vec![]);
    b.apply("Mul", &[sign, whole], vec![])
}

/// Whether the sign bit is set: true for -0.0, false for every NaN.
pub(crate) fn sign_bit(b: &mut Builder, x: ValueId) -> ValueId {
    let negative = test_number(b, "Less", x, 0.0);
    if !b.dtype(x).is_float() {
        return negative;
    }
    let inverse = b.apply("Reciprocal", &[x], vec![]);
    let negative_zero = test_number(b, "Less", inverse, 0.0);
    b.emit("Or", &[negative, negative_zero], vec![])
}

/// `log(exp(a) + exp(b))` without overflow, also for infinities.
pub(crate) fn log_add_exp(b: &mut Builder, x: ValueId, y: ValueId) -> ValueId {
    let larger = b.apply("Max", &[x, y], vec![]);
    let difference = b.apply("Sub", &[x, y], vec![]);
    let distance = b.apply("Abs", &[difference], vec![]);
    // Equal infinities have no difference.
    let equal = b.test("Equal", &[x, y]);
    let zero = b.const_like(x, 0.0);
    let distance = b.select(equal, zero, distance);
    let distance = b.apply("Neg", &[distance], vec![]);
    let rest = softplus(b, distance);
    b.apply("Add", &[larger, rest], vec![])
}

/// `log(1 + exp(x))` for numbers that are not positive.
fn softplus(b: &mut Builder, x: ValueId) -> ValueId {
    if b.dtype(x) != DType::F64 {
        return b.apply("Softplus", &[x], vec![]);
    }
    let exp = b.emit("Exp", &[x], vec![]);
    let sum = with_number(b, "Add", exp, 1.0);
    b.emit("Log", &[sum], vec![])
}

/// `coefficients[0] + coefficients[1]*x + …` by Horner's rule.
pub(crate) fn polynomial(b: &mut Builder, x: ValueId, coefficients: &[f64]) -> ValueId {
    let dtype = b.dtype(x);
    let mut rest = coefficients.iter().rev();
    let first = rest.next().copied().unwrap_or(0.0);
    let mut sum = b.const_scalar(dtype, first);
    for &coefficient in rest {
        let product = b.apply("Mul", &[sum, x], vec![]);
        sum = if coefficient == 0.0 { product } else { with_number(b, "Add", product, coefficient) };
    }
    sum
}

//! `frexp`: a mantissa from 0.5 up to 1 and a power of 2.
//!
//! The exponent comes from a logarithm in `float64`, which may be off by one next to powers of 2, so that it is corrected
//! by the mantissa that it gives. 0, infinities and NaN have the exponent 0.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] =
    &[Row::new("aten::frexp.Tensor(Tensor self) -> (Tensor mantissa, Tensor exponent)", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.meta("self")?.dtype;
    let x = operand(cx, "self", DType::F64)?;
    let size = cx.emit("Abs", &[x], vec![]);
    let one = cx.const_scalar(DType::F64, 1.0);
    // Plain numbers only: others count as 1 here and are put back at the end.
    let is_positive = {
        let zero = cx.const_scalar(DType::F64, 0.0);
        cx.emit("Greater", &[size, zero], vec![])
    };
    let is_finite = {
        let infinity = cx.const_scalar(DType::F64, f64::INFINITY);
        cx.emit("Less", &[size, infinity], vec![])
    };
    let is_plain = cx.emit("And", &[is_positive, is_finite], vec![]);
    let plain = cx.emit("Where", &[is_plain, size, one], vec![]);
    let log = cx.emit("Log", &[plain], vec![]);
    let log = with_number(cx, "Mul", log, std::f64::consts::LOG2_E);
    let exponent = cx.emit("Floor", &[log], vec![]);
    let exponent = with_number(cx, "Add", exponent, 1.0);
    // 2 to the exponent in two steps, because the smallest numbers have exponents whose powers are not representable.
    let half = with_number(cx, "Mul", exponent, -0.5);
    let low = cx.emit("Floor", &[half], vec![]);
    let high = cx.emit("Ceil", &[half], vec![]);
    let two = cx.const_scalar(DType::F64, 2.0);
    let (low, high) = (cx.emit("Pow", &[two, low], vec![]), cx.emit("Pow", &[two, high], vec![]));
    let mantissa = cx.emit("Mul", &[plain, low], vec![]);
    let mantissa = cx.emit("Mul", &[mantissa, high], vec![]);

    let is_large = cx.emit("GreaterOrEqual", &[mantissa, one], vec![]);
    let is_small = {
        let half = cx.const_scalar(DType::F64, 0.5);
        cx.emit("Less", &[mantissa, half], vec![])
    };
    let (more, less) = (cx.cast(is_large, DType::F64), cx.cast(is_small, DType::F64));
    let correction = cx.emit("Sub", &[more, less], vec![]);
    let exponent = cx.emit("Add", &[exponent, correction], vec![]);
    let factor = cx.emit("Neg", &[correction], vec![]);
    let factor = cx.emit("Pow", &[two, factor], vec![]);
    let mantissa = cx.emit("Mul", &[mantissa, factor], vec![]);

    let sign = cx.emit("Sign", &[x], vec![]);
    let mantissa = cx.emit("Mul", &[mantissa, sign], vec![]);
    let mantissa = cx.emit("Where", &[is_plain, mantissa, x], vec![]);
    let mantissa = cx.cast(mantissa, dtype);
    let exponent = cx.cast(exponent, DType::I32);
    let none = cx.const_scalar(DType::I32, 0);
    let exponent = cx.emit("Where", &[is_plain, exponent, none], vec![]);
    Ok([mantissa, exponent].into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.frexp.Tensor(self: f32[3, 40]) -> (f32[3, 40], i32[3, 40])
            t1 = Cast(self, to=f64)
            t2 = Abs(t1)
            t3 = And(Greater(t2, 0.0:f64), Less(t2, inf:f64))
            t4 = Where(t3, t2, 1.0:f64)
            t5 = Add(Floor(Mul(Log(t4), 1.4426950408889634:f64)), 1.0:f64)
            t6 = Mul(t5, -0.5:f64)
            t7 = Mul(Mul(t4, Pow(2.0:f64, Floor(t6))), Pow(2.0:f64, Ceil(t6)))
            t8 = Sub(Cast(GreaterOrEqual(t7, 1.0:f64), to=f64), Cast(Less(t7, 0.5:f64), to=f64))
            t9 = Cast(Where(t3, Mul(Mul(t7, Pow(2.0:f64, Neg(t8))), Sign(t1)), t1), to=f32)
            t9, Where(t3, Cast(Add(t5, t8), to=i32), 0:i32)
        ");
    }
}

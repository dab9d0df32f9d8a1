//! `gelu`: `Gelu` from opset 20; before that, and for `float64`, its formulas.
//!
//! Exact: `x * (1 + erf(x / sqrt(2))) / 2` in the order of nodes that onnxruntime fuses; `Erf` has no `float64`
//! kernel. With `approximate="tanh"`: `x * sigmoid(2 * k * (x + 0.044715 * x^3))`, `k = sqrt(2 / pi)`, which is the
//! same function as the one with `tanh` in fewer nodes.

use modelexport_graph::DType;

use super::support::compute::{float_type, single_type, tensor_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

const GELU: &str = "aten::gelu(Tensor self, *, str approximate=\"none\") -> Tensor";

pub static ROWS: &[Row] = &[Row::new(GELU, |cx| lower(cx, false)), Row::new(GELU, |cx| lower(cx, true)).since(20)];

fn lower(cx: &mut Context<'_, '_>, has_operator: bool) -> Result<Outputs> {
    let by_tanh = match cx.str_opt("approximate")?.as_deref() {
        None | Some("none") => false,
        Some("tanh") => true,
        other => return cx.wrong("approximate", "`none` or `tanh`", other),
    };
    let dtype = cx.out()?.dtype;
    let compute = if by_tanh { float_type(dtype) } else { single_type(dtype) };
    let x = tensor_as(cx, "self", compute)?;
    let y = if has_operator && compute != DType::F64 {
        cx.emit("Gelu", &[x], if by_tanh { attrs![approximate = "tanh"] } else { vec![] })
    } else if by_tanh {
        tanh_formula(cx, x, compute)
    } else {
        erf_formula(cx, x, compute)
    };
    Ok(cx.cast(y, dtype).into())
}

pub(crate) fn erf_formula(cx: &mut Context<'_, '_>, x: ValueId, dtype: DType) -> ValueId {
    let root = cx.const_scalar(dtype, std::f64::consts::SQRT_2);
    let (one, half) = (cx.const_scalar(dtype, 1.0), cx.const_scalar(dtype, 0.5));
    let scaled = cx.emit("Div", &[x, root], vec![]);
    let erf = cx.emit("Erf", &[scaled], vec![]);
    let sum = cx.emit("Add", &[erf, one], vec![]);
    let product = cx.emit("Mul", &[x, sum], vec![]);
    cx.emit("Mul", &[product, half], vec![])
}

/// The argument of the sigmoid is `x * (a * x^2 + b)`.
fn tanh_formula(cx: &mut Context<'_, '_>, x: ValueId, dtype: DType) -> ValueId {
    let b = 2.0 * (2.0 / std::f64::consts::PI).sqrt();
    let (a, b) = (cx.const_scalar(dtype, 0.044715 * b), cx.const_scalar(dtype, b));
    let square = cx.emit("Mul", &[x, x], vec![]);
    let inner = cx.emit("Mul", &[square, a], vec![]);
    let inner = cx.emit("Add", &[inner, b], vec![]);
    let inner = cx.emit("Mul", &[inner, x], vec![]);
    let gate = cx.emit("Sigmoid", &[inner], vec![]);
    cx.emit("Mul", &[x, gate], vec![])
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.gelu.default(self: f32[3, 7]) -> f32[3, 7]
            Gelu(self)
        aten.gelu.default(self: f32[3, 7]) -> f32[3, 7] at opset 19
            Mul(Mul(self, Add(Erf(Div(self, 1.4142135)), 1.0)), 0.5)
        ");
    }
}

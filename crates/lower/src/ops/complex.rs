//! Complex numbers: a complex tensor is a real one with a last axis of pairs, so that viewing it as real costs
//! nothing.

use modelexport_graph::DType;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::literal::Literal;
use crate::ops::binary_math::angle_of;
use crate::ops::support::formulas::test_number;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::view_as_complex(Tensor(a) self) -> Tensor(a)", same),
    Row::new("aten::view_as_complex_copy(Tensor self) -> Tensor", same),
    Row::new("aten::view_as_real(Tensor(a) self) -> Tensor(a)", same),
    Row::new("aten::view_as_real_copy(Tensor self) -> Tensor", same),
    Row::new("aten::resolve_conj(Tensor(a) self) -> Tensor(a)", same),
    Row::new("aten::resolve_neg(Tensor(a) self) -> Tensor(a)", same),
    Row::new("aten::polar(Tensor abs, Tensor angle) -> Tensor", polar),
    Row::new("aten::complex(Tensor real, Tensor imag) -> Tensor", complex),
    Row::new("aten::real(Tensor(a) self) -> Tensor(a)", |cx| part(cx, 0)),
    Row::new("aten::imag(Tensor(a) self) -> Tensor(a)", |cx| part(cx, 1)),
    Row::new("aten::angle(Tensor self) -> Tensor", angle),
    Row::new("aten::conj(Tensor(a) self) -> Tensor(a)", conjugate),
    Row::new("aten::_conj(Tensor(a) self) -> Tensor(a)", conjugate),
    Row::new("aten::conj_physical(Tensor self) -> Tensor", conjugate),
    Row::new("aten::_conj_physical(Tensor self) -> Tensor", conjugate),
];

fn same(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    Ok(cx.tensor("self")?.into())
}

/// Real and imaginary part as one complex tensor.
fn join(cx: &mut Context<'_, '_>, real: ValueId, imaginary: ValueId) -> ValueId {
    let (real, imaginary) = (cx.unsqueeze(real, &[-1]), cx.unsqueeze(imaginary, &[-1]));
    cx.concat(&[real, imaginary], -1)
}

/// Real (0) or imaginary (1) part.
pub(super) fn component(cx: &mut Context<'_, '_>, value: ValueId, which: i64) -> ValueId {
    let which = cx.const_int(which);
    cx.emit("Gather", &[value, which], attrs![axis = -1])
}

pub(super) fn negate_imaginary(cx: &mut Context<'_, '_>, value: ValueId) -> ValueId {
    let dtype = cx.dtype(value);
    let signs = Literal::from_numbers(dtype, vec![2], [1.0.into(), (-1.0).into()]);
    match signs {
        Some(signs) => {
            let signs = cx.constant(signs);
            cx.emit("Mul", &[value, signs], vec![])
        }
        None => value,
    }
}

fn polar(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (radius, angle) = (cx.tensor("abs")?, cx.tensor("angle")?);
    let (cosine, sine) = (cx.emit("Cos", &[angle], vec![]), cx.emit("Sin", &[angle], vec![]));
    let (real, imaginary) = (cx.emit("Mul", &[radius, cosine], vec![]), cx.emit("Mul", &[radius, sine], vec![]));
    Ok(join(cx, real, imaginary).into())
}

fn complex(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (real, imaginary) = (cx.tensor("real")?, cx.tensor("imag")?);
    let sizes = cx.out()?.sizes.clone();
    let (real, imaginary) = (cx.expand(real, &sizes)?, cx.expand(imaginary, &sizes)?);
    Ok(join(cx, real, imaginary).into())
}

fn part(cx: &mut Context<'_, '_>, which: i64) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    if !cx.meta("self")?.dtype.is_complex() {
        return Ok(x.into());
    }
    Ok(component(cx, x, which).into())
}

/// Of a real number: π if it is negative.
fn angle(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let dtype = cx.out()?.dtype;
    let x = cx.cast(x, math_type(dtype));
    let angle = if cx.meta("self")?.dtype.is_complex() {
        let (real, imaginary) = (component(cx, x, 0), component(cx, x, 1));
        angle_of(cx, imaginary, real)
    } else {
        let is_negative = test_number(cx, "Less", x, 0.0);
        let (half_turn, zero) = (cx.const_like(x, std::f64::consts::PI), cx.const_like(x, 0.0));
        let angle = cx.emit("Where", &[is_negative, half_turn, zero], vec![]);
        let is_nan = cx.emit("IsNaN", &[x], vec![]);
        cx.emit("Where", &[is_nan, x, angle], vec![])
    };
    Ok(cx.cast(angle, dtype).into())
}

fn conjugate(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    if !cx.meta("self")?.dtype.is_complex() || cx.dtype(x) == DType::Bool {
        return Ok(x.into());
    }
    Ok(negate_imaginary(cx, x).into())
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

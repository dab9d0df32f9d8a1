//! Arithmetic on complex numbers, which are pairs on a last axis: `[…, 2]`.

use modelexport_graph::DType;
use modelexport_graph::aten::Arg;

use super::formulas::with_number;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::{Literal, Number};
use crate::ops::complex::negate_imaginary;

/// Whether the node reads or gives complex tensors or numbers.
pub(crate) fn is_complex(cx: &Context<'_, '_>) -> bool {
    let is_complex = |id| cx.graph.tensor(id).is_some_and(|meta| meta.dtype.is_complex());
    cx.out_metas().iter().any(|meta| meta.dtype.is_complex())
        || cx.args().any(|arg| match arg {
            Arg::Tensor(id) => is_complex(*id),
            Arg::Tensors(ids) => ids.iter().any(|&id| is_complex(id)),
            Arg::Complex { .. } => true,
            _ => false,
        })
}

/// An operand of a complex operator.
#[derive(Clone, Copy)]
pub(crate) enum Operand {
    /// Complex, `[…, 2]`.
    Pairs(ValueId),
    /// Real: `[…, 1]`, or a single number.
    Real(ValueId),
}

/// A tensor or number whose parts are of type `part`.
pub(crate) fn complex_operand(cx: &mut Context<'_, '_>, name: &str, part: DType) -> Result<Operand> {
    if let Some(Arg::Complex { real, imag }) = cx.arg(name) {
        return Ok(Operand::Pairs(pair(cx, part, *real, *imag)?));
    }
    let Some(meta) = cx.meta_opt(name) else {
        let scalar = cx.scalar_arg(name)?;
        return Ok(Operand::Real(cx.scalar_value(scalar, part)));
    };
    let value = cx.tensor(name)?;
    let value = cx.cast(value, part);
    Ok(match (meta.dtype.is_complex(), meta.sizes.is_empty()) {
        (true, _) => Operand::Pairs(value),
        (false, true) => Operand::Real(value),
        (false, false) => Operand::Real(cx.unsqueeze(value, &[-1])),
    })
}

/// A constant complex number.
fn pair(cx: &mut Context<'_, '_>, part: DType, real: f64, imaginary: f64) -> Result<ValueId> {
    match Literal::from_numbers(part, vec![2], [Number::Float(real), Number::Float(imaginary)]) {
        Some(literal) => Ok(cx.constant(literal)),
        None => cx.refuse(format!("has complex constants of {part}")),
    }
}

/// The operand as pairs: a real one gets an imaginary part of 0.
pub(crate) fn as_pairs(cx: &mut Context<'_, '_>, operand: Operand) -> Result<ValueId> {
    let value = match operand {
        Operand::Pairs(value) => return Ok(value),
        Operand::Real(value) => value,
    };
    let number = cx.ir.literal(value).and_then(Literal::numbers);
    if let Some([number]) = number.as_deref() {
        return pair(cx, cx.dtype(value), number.as_f64(), 0.0);
    }
    let column = match cx.shape(value) {
        Some([]) => cx.unsqueeze(value, &[0]),
        _ => value,
    };
    Ok(append_zero(cx, column))
}

/// `[…, 1]` with a zero behind each number.
pub(crate) fn append_zero(cx: &mut Context<'_, '_>, column: ValueId) -> ValueId {
    let rank = cx.rank(column).unwrap_or(1);
    let mut pads = vec![0; 2 * rank];
    if let Some(last) = pads.last_mut() {
        *last = 1;
    }
    let pads = cx.const_ints(&pads);
    cx.apply_pad(column, pads)
}

pub(crate) fn product(cx: &mut Context<'_, '_>, left: Operand, right: Operand) -> Result<ValueId> {
    Ok(match (left, right) {
        (Operand::Pairs(pairs), Operand::Real(real)) | (Operand::Real(real), Operand::Pairs(pairs)) => {
            cx.emit("Mul", &[pairs, real], vec![])
        }
        (Operand::Pairs(left), Operand::Pairs(right)) => product_of_pairs(cx, left, right)?,
        (Operand::Real(left), Operand::Real(right)) => {
            let real = cx.emit("Mul", &[left, right], vec![]);
            as_pairs(cx, Operand::Real(real))?
        }
    })
}

/// `real(a) * b + imaginary(a) * ib`, where `ib` is `b` with its parts exchanged and the first negated.
pub(crate) fn product_of_pairs(cx: &mut Context<'_, '_>, left: ValueId, right: ValueId) -> Result<ValueId> {
    let parts = cx.split(left, &[1, 1], -1);
    let [real, imaginary] = parts.as_slice() else { return cx.refuse("has no complex parts") };
    let (real, imaginary) = (*real, *imaginary);
    let exchanged = cx.const_ints(&[1, 0]);
    let turned = cx.emit("Gather", &[right, exchanged], attrs![axis = -1]);
    let signs = pair(cx, cx.dtype(right), -1.0, 1.0)?;
    let turned = cx.emit("Mul", &[turned, signs], vec![]);
    let first = cx.emit("Mul", &[real, right], vec![]);
    let second = cx.emit("Mul", &[imaginary, turned], vec![]);
    Ok(cx.emit("Add", &[first, second], vec![]))
}

/// Division by a complex number is multiplication with its conjugate and division by its squared magnitude.
pub(crate) fn quotient(cx: &mut Context<'_, '_>, left: Operand, right: Operand) -> Result<ValueId> {
    match right {
        Operand::Real(real) => {
            let pairs = as_pairs(cx, left)?;
            Ok(cx.emit("Div", &[pairs, real], vec![]))
        }
        Operand::Pairs(pairs) => {
            let conjugate = negate_imaginary(cx, pairs);
            let above = product(cx, left, Operand::Pairs(conjugate))?;
            let below = cx.reduce("ReduceSumSquare", pairs, &[-1], true);
            Ok(cx.emit("Div", &[above, below], vec![]))
        }
    }
}

/// `exp(z) = exp(real) * (cos(imaginary), sin(imaginary))`.
pub(crate) fn exponential(cx: &mut Context<'_, '_>, pairs: ValueId) -> Result<ValueId> {
    let parts = cx.split(pairs, &[1, 1], -1);
    let [real, imaginary] = parts.as_slice() else { return cx.refuse("has no complex parts") };
    let radius = cx.emit("Exp", &[*real], vec![]);
    let (cosine, sine) = (cx.emit("Cos", &[*imaginary], vec![]), cx.emit("Sin", &[*imaginary], vec![]));
    let direction = cx.concat(&[cosine, sine], -1);
    Ok(cx.emit("Mul", &[radius, direction], vec![]))
}

/// `left + alpha * right` or `left - alpha * right`.
pub(crate) fn sum(
    cx: &mut Context<'_, '_>,
    op: &'static str,
    left: Operand,
    right: Operand,
    alpha: f64,
) -> Result<ValueId> {
    let (left, mut right) = (as_pairs(cx, left)?, as_pairs(cx, right)?);
    if alpha != 1.0 {
        right = with_number(cx, "Mul", right, alpha);
    }
    Ok(cx.emit(op, &[left, right], vec![]))
}

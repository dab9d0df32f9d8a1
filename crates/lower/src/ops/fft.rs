//! Fourier transforms: `DFT` for each axis from opset 17 on, below that a `MatMul` with the matrix of the transform.
//!
//! A complex tensor has its pairs in a last axis of 2, which is the form that `DFT` wants. A transform to real
//! numbers completes the spectrum first. Sizes of the transformed axes must be known when exporting.

use modelexport_graph::Dim;

use super::complex::{component, negate_imaginary};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::{Literal, Number};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::fft_fft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", |cx| {
        one_axis(cx, Kind::Forward)
    }),
    Row::new("aten::fft_ifft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", |cx| {
        one_axis(cx, Kind::Inverse)
    }),
    Row::new("aten::fft_rfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", |cx| {
        one_axis(cx, Kind::FromReal)
    }),
    Row::new("aten::fft_irfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", |cx| {
        one_axis(cx, Kind::ToReal)
    }),
    Row::new("aten::fft_fft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::Forward)
    }),
    Row::new("aten::fft_ifft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::Inverse)
    }),
    Row::new("aten::fft_rfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::FromReal)
    }),
    Row::new("aten::fft_irfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::ToReal)
    }),
    Row::new("aten::fft_fftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::Forward)
    }),
    Row::new("aten::fft_ifftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::Inverse)
    }),
    Row::new("aten::fft_rfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::FromReal)
    }),
    Row::new("aten::fft_irfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::ToReal)
    }),
    Row::new("aten::fft_hfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", |cx| {
        one_axis(cx, Kind::HermitianToReal)
    }),
    Row::new("aten::fft_ihfft(Tensor self, SymInt? n=None, int dim=-1, str? norm=None) -> Tensor", |cx| {
        one_axis(cx, Kind::HermitianFromReal)
    }),
    Row::new("aten::fft_hfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::HermitianToReal)
    }),
    Row::new("aten::fft_ihfft2(Tensor self, SymInt[1]? s=None, int[1] dim=[-2, -1], str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::HermitianFromReal)
    }),
    Row::new("aten::fft_hfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::HermitianToReal)
    }),
    Row::new("aten::fft_ihfftn(Tensor self, SymInt[1]? s=None, int[1]? dim=None, str? norm=None) -> Tensor", |cx| {
        many_axes(cx, Kind::HermitianFromReal)
    }),
    Row::new("aten::_fft_r2c(Tensor self, int[] dim, int normalization, bool onesided) -> Tensor", real_to_complex),
    Row::new(
        "aten::_fft_c2r(Tensor self, int[] dim, int normalization, SymInt last_dim_size) -> Tensor",
        complex_to_real,
    ),
    Row::new(
        "aten::_fft_c2c(Tensor self, SymInt[] dim, int normalization, bool forward) -> Tensor",
        complex_to_complex,
    ),
];

/// The opset that brought `DFT`.
const FIRST_DFT: i64 = 17;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Forward,
    Inverse,
    /// Forward from real numbers; half of the spectrum.
    FromReal,
    /// Inverse to real numbers from half of a spectrum.
    ToReal,
    /// Forward to real numbers from half of a signal that is its own mirrored conjugate: `ToReal` of the conjugate.
    HermitianToReal,
    /// Inverse of that: the conjugate of `FromReal`.
    HermitianFromReal,
}

impl Kind {
    fn is_to_real(self) -> bool {
        matches!(self, Kind::ToReal | Kind::HermitianToReal)
    }

    fn is_from_real(self) -> bool {
        matches!(self, Kind::FromReal | Kind::HermitianFromReal)
    }

    /// Whether PyTorch scales it as an inverse transform.
    fn is_scaled_inverse(self) -> bool {
        matches!(self, Kind::Inverse | Kind::ToReal | Kind::HermitianFromReal)
    }

    /// Whether the sums that are computed are those of an inverse transform.
    fn is_summed_inverse(self) -> bool {
        matches!(self, Kind::Inverse | Kind::ToReal | Kind::HermitianToReal)
    }
}

/// By what the sum of a transform of `count` elements is divided.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Scale {
    None,
    Root,
    Count,
}

impl Scale {
    fn factor(self, count: f64) -> f64 {
        match self {
            Scale::None => 1.0,
            Scale::Root => 1.0 / count.sqrt(),
            Scale::Count => 1.0 / count,
        }
    }
}

fn scale(cx: &Context<'_, '_>, is_inverse: bool) -> Result<Scale> {
    Ok(match (cx.str_opt("norm")?.as_deref(), is_inverse) {
        (Some("ortho"), _) => Scale::Root,
        (None | Some("backward"), false) | (Some("forward"), true) => Scale::None,
        (None | Some("backward"), true) | (Some("forward"), false) => Scale::Count,
        (other, _) => return cx.wrong("norm", "`forward`, `backward` or `ortho`", other),
    })
}

/// The number of ATen's `fft_norm_mode`.
fn scale_of_mode(cx: &Context<'_, '_>) -> Result<Scale> {
    Ok(match cx.int("normalization")? {
        0 => Scale::None,
        1 => Scale::Root,
        2 => Scale::Count,
        other => return cx.wrong("normalization", "0, 1 or 2", other),
    })
}

fn one_axis(cx: &mut Context<'_, '_>, kind: Kind) -> Result<Outputs> {
    let rank = cx.meta("self")?.sizes.len();
    let axis = cx.axis("dim", rank)?;
    let size = cx.int_opt("n")?;
    lower(cx, kind, &[axis], &[size])
}

fn many_axes(cx: &mut Context<'_, '_>, kind: Kind) -> Result<Outputs> {
    let rank = cx.meta("self")?.sizes.len();
    let sizes = cx.ints_opt("s")?;
    let axes = match (cx.ints_opt("dim")?, &sizes) {
        (Some(_), _) => cx.axes("dim", rank)?,
        (None, Some(sizes)) => (rank as i64 - sizes.len() as i64..rank as i64).collect(),
        (None, None) => (0..rank as i64).collect(),
    };
    let sizes = match sizes {
        Some(sizes) => sizes.into_iter().map(|size| (size >= 0).then_some(size)).collect(),
        None => vec![None; axes.len()],
    };
    lower(cx, kind, &axes, &sizes)
}

/// `sizes`: what each axis is cut or padded to first; `None` leaves it.
fn lower(cx: &mut Context<'_, '_>, kind: Kind, axes: &[i64], sizes: &[Option<i64>]) -> Result<Outputs> {
    let scale = scale(cx, kind.is_scaled_inverse())?;
    let (mut x, is_complex) = input(cx)?;
    let own = cx.meta("self")?.sizes.clone();
    let Some((&last, _)) = axes.split_last() else { return Ok(x.into()) };
    let mut lengths = Vec::new();
    for (&axis, &size) in axes.iter().zip(sizes) {
        let Some(have) = own.get(axis as usize).and_then(Dim::as_static) else {
            return cx.refuse("transforms an axis of symbolic size");
        };
        // For half a spectrum the size is that of the real signal.
        let half = kind.is_to_real() && axis == last;
        let length = size.unwrap_or(if half { 2 * (have - 1) } else { have });
        let wanted = if half { length / 2 + 1 } else { length };
        let rank = own.len() + usize::from(is_complex);
        x = fit(cx, x, rank, axis, have, wanted);
        lengths.push((axis, length));
    }
    transform(cx, x, is_complex, &lengths, kind, scale)
}

/// Pairs, or real numbers as they are.
fn input(cx: &mut Context<'_, '_>) -> Result<(ValueId, bool)> {
    let x = cx.tensor("self")?;
    let is_complex = cx.meta("self")?.dtype.is_complex();
    let dtype = cx.out()?.dtype.real();
    Ok((cx.cast(x, dtype), is_complex))
}

/// Cuts or fills with zeros.
fn fit(cx: &mut Context<'_, '_>, x: ValueId, rank: usize, axis: i64, have: i64, want: i64) -> ValueId {
    match have.cmp(&want) {
        std::cmp::Ordering::Equal => x,
        std::cmp::Ordering::Greater => cx.slice(x, &[axis], &[0], &[want], &[1]),
        std::cmp::Ordering::Less => {
            let mut pads = vec![0i64; 2 * rank];
            if let Some(end) = pads.get_mut(rank + axis as usize) {
                *end = want - have;
            }
            let pads = cx.const_ints(&pads);
            cx.emit("Pad", &[x, pads], vec![])
        }
    }
}

fn transform(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    is_complex: bool,
    lengths: &[(i64, i64)],
    kind: Kind,
    scale: Scale,
) -> Result<Outputs> {
    let is_inverse = kind.is_summed_inverse();
    let count: f64 = lengths.iter().map(|&(_, length)| length as f64).product();
    let rank = cx.meta("self")?.sizes.len();
    let mut x = match is_complex {
        true => x,
        // `DFT` takes real numbers, too, alone in the last axis.
        false if !is_inverse && cx.opset >= FIRST_DFT => cx.unsqueeze(x, &[-1]),
        false => pairs(cx, x, rank + 1),
    };
    // The half spectrum belongs to the last axis: it is made first and resolved last.
    let mut order: Vec<(i64, i64)> = lengths.to_vec();
    if kind.is_from_real() {
        order.reverse();
    }
    let last = lengths.last().map_or(0, |&(axis, _)| axis);
    // `DFT` divides an inverse transform by the length, so that the conjugate is transformed forwards instead.
    let of_conjugate = is_inverse && cx.opset >= FIRST_DFT;
    // Of what is the conjugate already, nothing is left to do.
    if of_conjugate != (kind == Kind::HermitianToReal) && (is_complex || of_conjugate) {
        x = negate_imaginary(cx, x);
    }
    for (axis, length) in order {
        if kind.is_to_real() && axis == last {
            x = complete(cx, x, axis, length);
        }
        x = along(cx, x, axis, length, is_inverse)?;
        if kind.is_from_real() && axis == last {
            x = cx.slice(x, &[axis], &[0], &[length / 2 + 1], &[1]);
        }
    }
    if kind.is_to_real() {
        x = component(cx, x, 0);
    }
    let factor = scale.factor(count);
    let dtype = cx.out()?.dtype.real();
    let is_conjugate = kind == Kind::HermitianFromReal || of_conjugate && !kind.is_to_real();
    let factors = match is_conjugate {
        // Back from the conjugate, and scaled, at once.
        true => Literal::from_numbers(dtype, vec![2], [Number::Float(factor), Number::Float(-factor)]),
        false if factor != 1.0 => Literal::scalar(dtype, Number::Float(factor)),
        false => return Ok(x.into()),
    };
    let Some(factors) = factors else { return cx.refuse("transforms numbers that ONNX has no constants for") };
    let factors = cx.constant(factors);
    Ok(cx.emit("Mul", &[x, factors], vec![]).into())
}

/// Real numbers with a zero imaginary part.
fn pairs(cx: &mut Context<'_, '_>, x: ValueId, rank: usize) -> ValueId {
    let x = cx.unsqueeze(x, &[-1]);
    let mut pads = vec![0i64; 2 * rank];
    if let Some(end) = pads.last_mut() {
        *end = 1;
    }
    let pads = cx.const_ints(&pads);
    cx.emit("Pad", &[x, pads], vec![])
}

/// The whole spectrum of a real signal of `length` from its first half: the rest is the conjugate, mirrored.
fn complete(cx: &mut Context<'_, '_>, x: ValueId, axis: i64, length: i64) -> ValueId {
    let mirrored = length - (length / 2 + 1);
    if mirrored <= 0 {
        return x;
    }
    let rest = cx.slice(x, &[axis], &[mirrored], &[0], &[-1]);
    let rest = negate_imaginary(cx, rest);
    cx.concat(&[x, rest], axis)
}

/// The sum of one axis, without a scale. `DFT` is always the forward transform.
fn along(cx: &mut Context<'_, '_>, x: ValueId, axis: i64, length: i64, is_inverse: bool) -> Result<ValueId> {
    if cx.opset < FIRST_DFT {
        return by_matrix(cx, x, axis, length, is_inverse);
    }
    if cx.opset < 20 {
        return Ok(cx.emit("DFT", &[x], attrs![axis = axis]));
    }
    let axis = cx.const_int(axis);
    Ok(cx.emit_optional("DFT", &[Some(x), None, Some(axis)], vec![]))
}

/// The axis and the pairs are moved to the end and merged, so that one real matrix does the transform.
fn by_matrix(cx: &mut Context<'_, '_>, x: ValueId, axis: i64, length: i64, is_inverse: bool) -> Result<ValueId> {
    let out = cx.out()?;
    let rank = cx.meta("self")?.sizes.len() as i64;
    let order: Vec<i64> = (0..rank).filter(|&a| a != axis).chain([axis, rank]).collect();
    let moved = cx.transpose(x, &order);
    let mut merged = vec![0i64; rank as usize];
    if let Some(end) = merged.last_mut() {
        *end = 2 * length;
    }
    let target = cx.const_ints(&merged);
    let flat = cx.emit("Reshape", &[moved, target], vec![]);
    let sign = if is_inverse { 1.0 } else { -1.0 };
    let numbers = (0..length).flat_map(|row| {
        (0..2i64).flat_map(move |row_part| {
            (0..length).flat_map(move |column| {
                let turn = (row * column % length) as f64 / length as f64;
                let angle = sign * 2.0 * std::f64::consts::PI * turn;
                let (cosine, sine) = (angle.cos(), angle.sin());
                if row_part == 0 { [cosine, sine] } else { [-sine, cosine] }
            })
        })
    });
    let matrix = Literal::from_numbers(out.dtype.real(), vec![2 * length, 2 * length], numbers.map(Number::Float));
    let Some(matrix) = matrix else { return cx.refuse("transforms numbers that ONNX has no constants for") };
    let matrix = cx.constant(matrix);
    let product = cx.emit("MatMul", &[flat, matrix], vec![]);
    let mut apart = merged;
    if let Some(end) = apart.last_mut() {
        *end = length;
    }
    apart.push(2);
    let target = cx.const_ints(&apart);
    let apart = cx.emit("Reshape", &[product, target], vec![]);
    let back: Vec<i64> =
        (0..=rank).map(|a| order.iter().position(|&from| from == a).unwrap_or(0) as i64).collect();
    Ok(cx.transpose(apart, &back))
}

fn lengths(cx: &Context<'_, '_>, name: &str) -> Result<Vec<(i64, i64)>> {
    let sizes = &cx.meta(name)?.sizes;
    let axes = cx.axes("dim", sizes.len())?;
    axes.into_iter()
        .map(|axis| match sizes.get(axis as usize).and_then(Dim::as_static) {
            Some(size) => Ok((axis, size)),
            None => cx.refuse("transforms an axis of symbolic size"),
        })
        .collect()
}

fn real_to_complex(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let scale = scale_of_mode(cx)?;
    let lengths = lengths(cx, "self")?;
    let (x, is_complex) = input(cx)?;
    let kind = if cx.bool("onesided")? { Kind::FromReal } else { Kind::Forward };
    transform(cx, x, is_complex, &lengths, kind, scale)
}

fn complex_to_complex(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let scale = scale_of_mode(cx)?;
    let lengths = lengths(cx, "self")?;
    let (x, is_complex) = input(cx)?;
    let kind = if cx.bool("forward")? { Kind::Forward } else { Kind::Inverse };
    transform(cx, x, is_complex, &lengths, kind, scale)
}

fn complex_to_real(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let scale = scale_of_mode(cx)?;
    let mut lengths = lengths(cx, "self")?;
    let size = cx.int("last_dim_size")?;
    if let Some((_, last)) = lengths.last_mut() {
        *last = size;
    }
    let (x, is_complex) = input(cx)?;
    transform(cx, x, is_complex, &lengths, Kind::ToReal, scale)
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

//! Window functions of signal processing: constants, since their length is known.

use std::f64::consts::PI;

use crate::context::Context;
use crate::error::Result;
use crate::literal::{Literal, Number};
use crate::registry::{Outputs, Row};

macro_rules! windows {
    ($(($name:literal, $overload:literal, $args:literal, $lower:expr)),* $(,)?) => {
        pub static ROWS: &[Row] = &[
            $(Row::new(
                concat!(
                    "aten::", $name, "_window", $overload, "(int window_length", $args, ", *, ScalarType? dtype=None, Layout? layout=None, \
                     Device? device=None, bool? pin_memory=None) -> Tensor"
                ),
                $lower,
            )),*
        ];
    };
}

windows! {
    ("bartlett", "", "", |cx| window(cx, bartlett)),
    ("bartlett", ".periodic", ", bool periodic", |cx| window(cx, bartlett)),
    ("blackman", "", "", |cx| window(cx, blackman)),
    ("blackman", ".periodic", ", bool periodic", |cx| window(cx, blackman)),
    ("hamming", "", "", hamming),
    ("hamming", ".periodic", ", bool periodic", hamming),
    ("hamming", ".periodic_alpha", ", bool periodic, float alpha", hamming),
    ("hamming", ".periodic_alpha_beta", ", bool periodic, float alpha, float beta", hamming),
    ("hann", "", "", |cx| window(cx, |x| 0.5 - 0.5 * (2.0 * PI * x).cos())),
    ("hann", ".periodic", ", bool periodic", |cx| {
        window(cx, |x| 0.5 - 0.5 * (2.0 * PI * x).cos())
    }),
    ("kaiser", ".beta", ", bool periodic, float beta", kaiser),
    ("kaiser", "", "", kaiser),
    ("kaiser", ".periodic", ", bool periodic", kaiser),
}

/// `shape` at every point, which runs from 0 to 1; a periodic window leaves out the last.
fn window(cx: &mut Context<'_, '_>, shape: impl Fn(f64) -> f64) -> Result<Outputs> {
    let length = cx.int("window_length")?;
    let periodic = cx.arg("periodic").is_none() || cx.bool("periodic")?;
    let last = if periodic { length } else { length - 1 };
    let dtype = cx.out()?.dtype;
    let numbers = (0..length).map(|i| match length {
        1 => Number::Float(1.0),
        _ => Number::Float(shape(i as f64 / last as f64)),
    });
    match Literal::from_numbers(dtype, vec![length.max(0)], numbers) {
        Some(literal) => Ok(cx.constant(literal).into()),
        None => cx.refuse(format!("makes a window of type {dtype}")),
    }
}

fn bartlett(x: f64) -> f64 {
    1.0 - (2.0 * x - 1.0).abs()
}

fn blackman(x: f64) -> f64 {
    0.42 - 0.5 * (2.0 * PI * x).cos() + 0.08 * (4.0 * PI * x).cos()
}

fn hamming(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let alpha = cx.float_opt("alpha")?.unwrap_or(0.54);
    let beta = cx.float_opt("beta")?.unwrap_or(0.46);
    window(cx, |x| alpha - beta * (2.0 * PI * x).cos())
}

fn kaiser(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let beta = cx.float_opt("beta")?.unwrap_or(12.0);
    let scale = bessel_i0(beta);
    window(cx, |x| bessel_i0(beta * (1.0 - (2.0 * x - 1.0).powi(2)).max(0.0).sqrt()) / scale)
}

/// Modified Bessel function of the first kind of order 0, by its power series.
fn bessel_i0(x: f64) -> f64 {
    let square = x * x / 4.0;
    let (mut sum, mut term) = (1.0, 1.0);
    for k in 1..500 {
        term *= square / f64::from(k * k);
        sum += term;
        if term < sum * f64::EPSILON {
            break;
        }
    }
    sum
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }

    #[test]
    fn bessel_agrees_with_tables() {
        assert!((bessel_i0(0.0) - 1.0).abs() < 1e-15);
        assert!((bessel_i0(1.0) - 1.266_065_877_752_008_4).abs() < 1e-14);
        assert!((bessel_i0(12.0) / 18_948.925_349_296_31 - 1.0).abs() < 1e-12);
    }
}

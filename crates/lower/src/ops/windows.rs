//! Window functions of signal processing: constants, since their length is known.

use std::f64::consts::PI;

use crate::context::Context;
use crate::error::Result;
use crate::literal::{Literal, Number};
use crate::registry::{Outputs, Row};

macro_rules! windows {
    ($(($name:literal, $overload:literal, $dot:literal, $args:literal, $lower:expr)),* $(,)?) => {
        pub static ROWS: &[Row] = &[
            $(Row::new(
                concat!("aten.", $name, "_window.", $overload),
                concat!(
                    $name, "_window", $dot, "(int window_length", $args, ", *, ScalarType? dtype=None, Layout? layout=None, \
                     Device? device=None, bool? pin_memory=None) -> Tensor"
                ),
                $lower,
            )),*
        ];
    };
}

windows! {
    ("bartlett", "default", "", "", |cx| window(cx, bartlett)),
    ("bartlett", "periodic", ".periodic", ", bool periodic", |cx| window(cx, bartlett)),
    ("blackman", "default", "", "", |cx| window(cx, blackman)),
    ("blackman", "periodic", ".periodic", ", bool periodic", |cx| window(cx, blackman)),
    ("hamming", "default", "", "", hamming),
    ("hamming", "periodic", ".periodic", ", bool periodic", hamming),
    ("hamming", "periodic_alpha", ".periodic_alpha", ", bool periodic, float alpha", hamming),
    (
        "hamming",
        "periodic_alpha_beta",
        ".periodic_alpha_beta",
        ", bool periodic, float alpha, float beta",
        hamming
    ),
    ("hann", "default", "", "", |cx| window(cx, |x| 0.5 - 0.5 * (2.0 * PI * x).cos())),
    ("hann", "periodic", ".periodic", ", bool periodic", |cx| {
        window(cx, |x| 0.5 - 0.5 * (2.0 * PI * x).cos())
    }),
    ("kaiser", "beta", ".beta", ", bool periodic, float beta", kaiser),
    ("kaiser", "default", "", "", kaiser),
    ("kaiser", "periodic", ".periodic", ", bool periodic", kaiser),
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
        assert_snapshot!(lowered(ROWS), @r"
        aten.bartlett_window.default(window_length=0) -> f32[0]
            Identity(f32[0])
        aten.bartlett_window.periodic(window_length=8, periodic=False) -> f32[8]
            Identity([0.0, 0.2857143, 0.5714286, 0.85714287, 0.85714287, 0.5714286, 0.2857143, 0.0])
        aten.blackman_window.default(window_length=0) -> f32[0]
            Identity(f32[0])
        aten.blackman_window.periodic(window_length=8, periodic=False) -> f32[8]
            Identity([-1.3877788e-17, 0.09045342, 0.45918295, 0.9203636, 0.9203636, 0.45918295, 0.09045342, -1.3877788e-17])
        aten.hamming_window.default(window_length=0) -> f32[0]
            Identity(f32[0])
        aten.hamming_window.periodic(window_length=8, periodic=False) -> f32[8]
            Identity([0.08, 0.2531947, 0.6423596, 0.95444566, 0.95444566, 0.6423596, 0.2531947, 0.08])
        aten.hamming_window.periodic_alpha(window_length=8, periodic=True, alpha=0.6) -> f32[8]
            Identity([0.14, 0.2747309, 0.6, 0.9252691, 1.06, 0.9252691, 0.6, 0.2747309])
        aten.hamming_window.periodic_alpha_beta(window_length=8, periodic=False, alpha=0.6, beta=0.3) -> f32[8]
            Identity([0.3, 0.41295305, 0.6667563, 0.87029064, 0.87029064, 0.6667563, 0.41295305, 0.3])
        aten.hann_window.default(window_length=0) -> f32[0]
            Identity(f32[0])
        aten.hann_window.periodic(window_length=8, periodic=False) -> f32[8]
            Identity([0.0, 0.1882551, 0.6112605, 0.95048445, 0.95048445, 0.6112605, 0.1882551, 0.0])
        aten.kaiser_window.beta(window_length=8, periodic=False, beta=5.0) -> f32[8]
            Identity([0.036710892, 0.2706944, 0.6517382, 0.95524734, 0.95524734, 0.6517382, 0.2706944, 0.036710892])
        aten.kaiser_window.default(window_length=0) -> f32[0]
            Identity(f32[0])
        aten.kaiser_window.periodic(window_length=8, periodic=False) -> f32[8]
            Identity([5.277344e-5, 0.032768287, 0.33089864, 0.8888677, 0.8888677, 0.33089864, 0.032768287, 5.277344e-5])
        ");
    }

    #[test]
    fn bessel_agrees_with_tables() {
        assert!((bessel_i0(0.0) - 1.0).abs() < 1e-15);
        assert!((bessel_i0(1.0) - 1.266_065_877_752_008_4).abs() < 1e-14);
        assert!((bessel_i0(12.0) / 18_948.925_349_296_31 - 1.0).abs() < 1e-12);
    }
}

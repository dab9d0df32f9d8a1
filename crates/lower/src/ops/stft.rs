//! `stft`: one `Conv` whose filters are the waves of the transform under the window, and whose stride is the hop.
//!
//! The signal may have any length. Each frequency has two filters, for the real and the imaginary part.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::compute::{const_floats, formula_type, tensor_opt_as};
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new(
    "aten::stft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool normalized=False, bool? onesided=None, bool? return_complex=None, bool? align_to_window=None) -> Tensor",
    lower,
)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if cx.meta("self")?.dtype.is_complex() || cx.meta_opt("window").is_some_and(|window| window.dtype.is_complex()) {
        return real_only(cx).map(|()| Vec::new().into());
    }
    let dtype = cx.out()?.dtype.real();
    let compute = formula_type(dtype);
    let length = cx.int("n_fft")?;
    let hop = cx.int_opt("hop_length")?.unwrap_or(length / 4);
    let width = cx.int_opt("win_length")?.unwrap_or(length);
    if length < 1 || hop < 1 || !(1..=length).contains(&width) {
        return cx.refuse(format!("has frames of {length}, a window of {width} and a hop of {hop}"));
    }
    let is_onesided = cx.arg("onesided").is_none() || cx.bool("onesided")?;
    let frequencies = if is_onesided { length / 2 + 1 } else { length };
    let filters = filters(cx, compute, length, width, frequencies)?;

    let x = cx.tensor("self")?;
    let is_single = cx.meta("self")?.sizes.len() == 1;
    let x = cx.cast(x, compute);
    let x = cx.unsqueeze(x, if is_single { &[0, 1] } else { &[1] });
    let parts = cx.emit("Conv", &[x, filters], attrs![strides = vec![hop]]);
    let out = cx.out()?;
    let rank = cx.meta("self")?.sizes.len();
    let Some(frames) = out.sizes.get(rank).cloned() else { return cx.refuse("has a result without frames") };
    let batch = if is_single { Dim::Static(1) } else { out.sizes.first().cloned().unwrap_or(Dim::Static(1)) };
    let apart = cx.reshape(parts, &[batch, Dim::Static(frequencies), Dim::Static(2), frames])?;
    let pairs = cx.transpose(apart, &[0, 1, 3, 2]);
    let pairs = if is_single { cx.squeeze(pairs, &[0]) } else { pairs };
    Ok(cx.cast(pairs, dtype).into())
}

/// `[2 * frequencies, 1, length]`: cosines and negative sines, times the window, which lies in the middle of a frame.
fn filters(
    cx: &mut Context<'_, '_>,
    dtype: DType,
    length: i64,
    width: i64,
    frequencies: i64,
) -> Result<ValueId> {
    let scale = if cx.bool("normalized")? { 1.0 / (length as f64).sqrt() } else { 1.0 };
    let before = (length - width) / 2;
    let window = tensor_opt_as(cx, "window", dtype)?;
    let is_inside = move |at: i64| window.is_some() || (before..before + width).contains(&at);
    let waves = (0..frequencies).flat_map(|frequency| {
        [0.0, 0.25].into_iter().flat_map(move |quarter| {
            (0..length).map(move |at| {
                let turn = (frequency * at % length) as f64 / length as f64 + quarter;
                if is_inside(at) { scale * (std::f64::consts::TAU * turn).cos() } else { 0.0 }
            })
        })
    });
    let waves = const_floats(cx, dtype, &[2 * frequencies, 1, length], waves)?;
    let Some(mut window) = window else { return Ok(waves) };
    if width < length {
        let pads = cx.const_ints(&[before, length - width - before]);
        window = cx.emit("Pad", &[window, pads], vec![]);
    }
    Ok(cx.emit("Mul", &[waves, window], vec![]))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.stft.default(self: f32[2, 40], n_fft=16, hop_length=4, win_length=16, window: f32[16], normalized=False, onesided=None, return_complex=False) -> f32[2, 9, 7, 2]
            t1 = Conv(Unsqueeze(self, [1]), Mul(f32[18, 1, 16], window), strides=[4])
            Transpose(Reshape(t1, [2, 9, 2, 7]), perm=[0, 1, 3, 2])
        aten.stft.default(self: f32[s0, s1], n_fft=16, hop_length=4, win_length=16, window: f32[16], normalized=False, onesided=None, return_complex=True) -> c64[s0, 9, ((s1//4)) - 3]
            t1 = Conv(Unsqueeze(self, [1]), Mul(f32[18, 1, 16], window), strides=[4])
            t2 = Concat(Shape(self, start=0, end=1), [9, 2], Add(Div(Shape(self, start=1, end=2), [4]), [-3]), axis=0)
            Transpose(Reshape(t1, t2), perm=[0, 1, 3, 2])
        ");
    }
}

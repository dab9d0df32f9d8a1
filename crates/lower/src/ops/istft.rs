//! `istft`: one `ConvTranspose` whose filters are the waves of the inverse transform under the window, and whose stride is
//! the hop, divided by the sum of the squared windows that lie over each sample.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::support::compute::{const_floats, single_type, tensor_opt_as};
use crate::ops::support::fill::filled;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new(
    "aten::istft(Tensor self, int n_fft, int? hop_length=None, int? win_length=None, Tensor? window=None, bool center=True, bool normalized=False, bool? onesided=None, int? length=None, bool return_complex=False) -> Tensor",
    lower,
)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let meta = cx.meta("self")?;
    if cx.bool("return_complex")? || cx.meta_opt("window").is_some_and(|window| window.dtype.is_complex()) {
        return cx.refuse("has a complex result, for which there is no lowering");
    }
    let result = cx.out()?.dtype;
    let dtype = single_type(result);
    let length = cx.int("n_fft")?;
    let hop = cx.int_opt("hop_length")?.unwrap_or(length / 4);
    let width = cx.int_opt("win_length")?.unwrap_or(length);
    if length < 1 || hop < 1 || !(1..=length).contains(&width) {
        return cx.refuse(format!("has frames of {length}, a window of {width} and a hop of {hop}"));
    }
    let frequencies = length / 2 + 1;
    let is_single = meta.sizes.len() == 2;
    let x = cx.tensor("self")?;
    let mut x = cx.cast(x, dtype);
    if is_single {
        x = cx.unsqueeze(x, &[0]);
    }
    // A whole spectrum repeats itself in its second half.
    if cx.arg("onesided").is_some() && !cx.bool("onesided")? {
        x = cx.slice(x, &[1], &[0], &[frequencies], &[1]);
    }
    let (Some(frames), Some(batch)) = (meta.sizes.last().cloned(), meta.sizes.first().cloned()) else {
        return cx.refuse("has a spectrum without frames");
    };
    let batch = if is_single { Dim::Static(1) } else { batch };
    let apart = cx.transpose(x, &[0, 1, 3, 2]);
    let channels = cx.reshape(apart, &[batch, Dim::Static(2 * frequencies), frames.clone()])?;
    let window = window(cx, dtype, length, width)?;
    let waves = waves(cx, dtype, length, frequencies)?;
    let filters = cx.emit("Mul", &[waves, window], vec![]);
    let signal = cx.emit("ConvTranspose", &[channels, filters], attrs![strides = vec![hop]]);
    let signal = cx.squeeze(signal, &[1]);

    let square = cx.emit("Mul", &[window, window], vec![]);
    let square = cx.unsqueeze(square, &[0, 1]);
    let ones = filled(cx, &[Dim::Static(1), Dim::Static(1), frames], dtype, 1.0, None)?;
    let cover = cx.emit("ConvTranspose", &[ones, square], attrs![strides = vec![hop]]);
    let cover = cx.squeeze(cover, &[1]);

    let is_centered = cx.bool("center")?;
    let start = if is_centered { length / 2 } else { 0 };
    let wanted = cx.int_opt("length")?;
    let end = match wanted {
        Some(wanted) => start + wanted,
        None if is_centered => -(length / 2),
        None => i64::MAX,
    };
    let [signal, cover] = [signal, cover].map(|value| match (start, end) {
        (0, i64::MAX) => value,
        _ => cx.slice(value, &[1], &[start], &[end], &[1]),
    });
    let mut value = cx.emit("Div", &[signal, cover], vec![]);
    if let Some(wanted) = wanted {
        // What the frames do not reach is silent.
        let Some(frames) = meta.sizes.last().and_then(Dim::as_static) else {
            return cx.refuse("has a length for a symbolic number of frames");
        };
        let have = length + hop * (frames - 1) - start;
        if have < wanted {
            let pads = cx.const_ints(&[0, 0, 0, wanted - have]);
            value = cx.emit("Pad", &[value, pads], vec![]);
        }
    }
    let value = if is_single { cx.squeeze(value, &[0]) } else { value };
    Ok(cx.cast(value, result).into())
}

/// The window in the middle of a frame; ones if there is none.
fn window(cx: &mut Context<'_, '_>, dtype: DType, length: i64, width: i64) -> Result<ValueId> {
    let before = (length - width) / 2;
    let Some(window) = tensor_opt_as(cx, "window", dtype)? else {
        let inside = (0..length).map(|at| f64::from(u8::from((before..before + width).contains(&at))));
        return const_floats(cx, dtype, &[length], inside);
    };
    if width == length {
        return Ok(window);
    }
    let pads = cx.const_ints(&[before, length - width - before]);
    Ok(cx.emit("Pad", &[window, pads], vec![]))
}

/// `[2 * frequencies, 1, length]`: cosines and negative sines; those between the ends stand for their mirror image, too.
fn waves(cx: &mut Context<'_, '_>, dtype: DType, length: i64, frequencies: i64) -> Result<ValueId> {
    let scale = if cx.bool("normalized")? { 1.0 / (length as f64).sqrt() } else { 1.0 / length as f64 };
    let waves = (0..frequencies).flat_map(|frequency| {
        let is_end = frequency == 0 || 2 * frequency == length;
        let scale = if is_end { scale } else { 2.0 * scale };
        [0.0, 0.25].into_iter().flat_map(move |quarter| {
            (0..length).map(move |at| {
                let turn = (frequency * at % length) as f64 / length as f64 + quarter;
                // An imaginary part at the ends is not part of a real signal.
                if is_end && quarter != 0.0 { 0.0 } else { scale * (std::f64::consts::TAU * turn).cos() }
            })
        })
    });
    const_floats(cx, dtype, &[2 * frequencies, 1, length], waves)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.istft.default(self: c64[2, 9, 7], n_fft=16, hop_length=4, win_length=16, window: f32[16]) -> f32[2, 24]
            t1 = ConvTranspose(Reshape(Transpose(self, perm=[0, 1, 3, 2]), [2, 18, 7]), Mul(f32[18, 1, 16], window), strides=[4])
            t2 = ConvTranspose([[[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]]], Unsqueeze(Mul(window, window), [0, 1]), strides=[4])
            Div(Slice(Squeeze(t1, [1]), [8], [-8], [1]), Slice(Squeeze(t2, [1]), [8], [-8], [1]))
        aten.istft.default(self: c64[s0, 9, s1], n_fft=16, hop_length=4, win_length=16, window: f32[16]) -> f32[s0, Min(4*s1 + 4, 4*s1 + 12) - 8]
            t1 = ConvTranspose(Reshape(Transpose(self, perm=[0, 1, 3, 2]), [0, 18, -1]), Mul(f32[18, 1, 16], window), strides=[4])
            t2 = ConstantOfShape(Concat([1, 1], Shape(self, start=2, end=3), axis=0), value=[1.0])
            t3 = ConvTranspose(t2, Unsqueeze(Mul(window, window), [0, 1]), strides=[4])
            Div(Slice(Squeeze(t1, [1]), [8], [-8], [1]), Slice(Squeeze(t3, [1]), [8], [-8], [1]))
        ");
    }
}

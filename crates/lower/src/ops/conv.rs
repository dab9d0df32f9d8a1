//! Convolutions: `Conv` and `ConvTranspose`.
//!
//! Inputs without a batch axis get one. `padding="same"` is PyTorch's: the odd element of an even kernel is padded
//! behind. There are no kernels for `float64`, which is computed in `float32`. Integers go through
//! `MatMul` (`integer_conv`). Complex numbers are refused.

use super::support::compute::{single_type, tensor_as, tensor_opt_as};
use super::support::integer_conv::integer_conv;
use super::support::window::with_batch;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::conv1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
        plain,
    ),
    Row::new(
        "aten::conv1d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], str padding=\"valid\", SymInt[1] dilation=[1], SymInt groups=1) -> Tensor",
        padded_by_name,
    ),
    Row::new(
        "aten::conv2d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
        plain,
    ),
    Row::new(
        "aten::conv2d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], str padding=\"valid\", SymInt[2] dilation=[1, 1], SymInt groups=1) -> Tensor",
        padded_by_name,
    ),
    Row::new(
        "aten::conv3d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
        plain,
    ),
    Row::new(
        "aten::conv3d.padding(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], str padding=\"valid\", SymInt[3] dilation=[1, 1, 1], SymInt groups=1) -> Tensor",
        padded_by_name,
    ),
    Row::new(
        "aten::convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups) -> Tensor",
        general,
    ),
    Row::new(
        "aten::_convolution(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled, bool allow_tf32) -> Tensor",
        general,
    ),
    Row::new(
        "aten::_convolution.deprecated(Tensor input, Tensor weight, Tensor? bias, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, int[] output_padding, SymInt groups, bool benchmark, bool deterministic, bool cudnn_enabled) -> Tensor",
        general,
    ),
    Row::new(
        "aten::conv_transpose1d(Tensor input, Tensor weight, Tensor? bias=None, SymInt[1] stride=[1], SymInt[1] padding=[0], SymInt[1] output_padding=[0], SymInt groups=1, SymInt[1] dilation=[1]) -> Tensor",
        transposed,
    ),
    Row::new(
        "aten::conv_transpose2d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[2] stride=[1, 1], SymInt[2] padding=[0, 0], SymInt[2] output_padding=[0, 0], SymInt groups=1, SymInt[2] dilation=[1, 1]) -> Tensor",
        transposed,
    ),
    Row::new(
        "aten::conv_transpose3d.input(Tensor input, Tensor weight, Tensor? bias=None, SymInt[3] stride=[1, 1, 1], SymInt[3] padding=[0, 0, 0], SymInt[3] output_padding=[0, 0, 0], SymInt groups=1, SymInt[3] dilation=[1, 1, 1]) -> Tensor",
        transposed,
    ),
    Row::new("aten::conv_tbc(Tensor self, Tensor weight, Tensor bias, int pad=0) -> Tensor", time_first),
];

/// How many axes the kernel slides over.
fn axes(cx: &Context<'_, '_>) -> Result<usize> {
    match cx.meta("weight")?.sizes.len() {
        rank @ 3.. => Ok(rank - 2),
        rank => cx.wrong("weight", "a kernel of at least 3 dimensions", rank),
    }
}

fn plain(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let padding = cx.ints_for("padding", axes(cx)?)?;
    let pads = padding.iter().chain(&padding).copied().collect();
    convolve(cx, pads)
}

fn padded_by_name(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let axes = axes(cx)?;
    match cx.str_opt("padding")?.as_deref() {
        Some("valid") => return convolve(cx, vec![0; 2 * axes]),
        Some("same") => {}
        other => return cx.wrong("padding", "`valid` or `same`", other),
    }
    let dilation = cx.ints_for("dilation", axes)?;
    let kernel = cx.meta("weight")?.sizes.iter().skip(2);
    let Some(reach): Option<Vec<i64>> =
        kernel.zip(&dilation).map(|(size, dilation)| Some((size.as_static()? - 1) * dilation)).collect()
    else {
        return cx.wrong("weight", "a kernel of known size for `same` padding", "a symbolic size");
    };
    let before = reach.iter().map(|reach| reach / 2);
    let pads = before.clone().chain(reach.iter().zip(before).map(|(reach, before)| reach - before)).collect();
    convolve(cx, pads)
}

fn general(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if cx.bool("transposed")? { transposed(cx) } else { plain(cx) }
}

fn convolve(cx: &mut Context<'_, '_>, pads: Vec<i64>) -> Result<Outputs> {
    run(cx, "Conv", pads, vec![])
}

fn transposed(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let axes = axes(cx)?;
    let padding = cx.ints_for("padding", axes)?;
    let output_padding = cx.ints_for("output_padding", axes)?;
    let strides = cx.ints_for("stride", axes)?;
    if output_padding.iter().zip(&strides).any(|(pad, stride)| pad >= stride) {
        return transposed_and_padded(cx, &padding, &output_padding);
    }
    let extra = if output_padding.iter().any(|&pad| pad != 0) {
        attrs![output_padding = output_padding]
    } else {
        vec![]
    };
    run(cx, "ConvTranspose", padding.iter().chain(&padding).copied().collect(), extra)
}

/// `ConvTranspose` takes no output padding from the stride on. It crops less behind instead; where that is not enough,
/// zeros follow, which have the bias alone.
fn transposed_and_padded(cx: &mut Context<'_, '_>, padding: &[i64], output_padding: &[i64]) -> Result<Outputs> {
    let (axes, rank) = (padding.len(), cx.out()?.sizes.len());
    let behind = padding.iter().zip(output_padding).map(|(pad, more)| (pad - more).max(0));
    let missing: Vec<i64> = padding.iter().zip(output_padding).map(|(pad, more)| (more - pad).max(0)).collect();
    let pads = padding.iter().copied().chain(behind).collect();
    if missing.iter().all(|&more| more == 0) {
        return run(cx, "ConvTranspose", pads, vec![]);
    }
    let dtype = cx.out()?.dtype;
    let (y, bias) = convolved(cx, "ConvTranspose", pads, vec![], true)?;
    let mut zeros = vec![0; 2 * rank - axes];
    zeros.extend(missing);
    let zeros = cx.const_ints(&zeros);
    let mut y = cx.emit("Pad", &[y, zeros], vec![]);
    if let Some(bias) = bias {
        let bias = cx.unsqueeze(bias, &(1..=axes as i64).collect::<Vec<_>>());
        y = cx.emit("Add", &[y, bias], vec![]);
    }
    Ok(cx.cast(y, dtype).into())
}

fn run(
    cx: &mut Context<'_, '_>,
    op: &'static str,
    pads: Vec<i64>,
    attributes: crate::ir::Attrs,
) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    if dtype.is_integer() {
        return integer_conv(cx, &pads, op == "ConvTranspose");
    }
    let (y, _) = convolved(cx, op, pads, attributes, false)?;
    Ok(cx.cast(y, dtype).into())
}

/// The result in the type that it is computed in, and the bias in that type, which `later` leaves out.
fn convolved(
    cx: &mut Context<'_, '_>,
    op: &'static str,
    pads: Vec<i64>,
    mut attributes: crate::ir::Attrs,
    later: bool,
) -> Result<(ValueId, Option<ValueId>)> {
    let dtype = cx.out()?.dtype;
    if !dtype.is_float() {
        return cx.refuse(format!("a convolution of {dtype} is not supported"));
    }
    let axes = axes(cx)?;
    let (strides, dilations) = (cx.ints_for("stride", axes)?, cx.ints_for("dilation", axes)?);
    let kernel: Option<Vec<i64>> = cx.meta("weight")?.sizes.iter().skip(2).map(|size| size.as_static()).collect();
    if let Some(kernel) = kernel {
        attributes.extend(attrs![kernel_shape = kernel]);
    }
    for (key, values, default) in [("strides", strides, 1), ("dilations", dilations, 1), ("pads", pads, 0)] {
        if values.iter().any(|&value| value != default) {
            attributes.push((key.into(), values.into()));
        }
    }
    let groups = cx.int("groups")?;
    if groups != 1 {
        attributes.extend(attrs![group = groups]);
    }
    let compute = single_type(dtype);
    let (x, weight) = (tensor_as(cx, "input", compute)?, tensor_as(cx, "weight", compute)?);
    let bias = tensor_opt_as(cx, "bias", compute)?;
    let rank = cx.meta("input")?.sizes.len();
    let added = bias.filter(|_| !later);
    let results = with_batch(cx, x, rank, axes, |cx, x| {
        let y = cx.emit_optional(op, &[Some(x), Some(weight), added], attributes);
        Ok(vec![y])
    })?;
    match results.as_slice() {
        [y] => Ok((*y, bias)),
        _ => cx.refuse("has no result"),
    }
}

/// Time, batch, channels; the kernel is width, channels in, channels out.
fn time_first(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = single_type(dtype);
    let x = tensor_as(cx, "self", compute)?;
    let weight = tensor_as(cx, "weight", compute)?;
    let bias = tensor_as(cx, "bias", compute)?;
    let pad = cx.int("pad")?;
    let x = cx.transpose(x, &[1, 2, 0]);
    let weight = cx.transpose(weight, &[2, 1, 0]);
    let y = cx.emit("Conv", &[x, weight, bias], attrs![pads = vec![pad, pad]]);
    let y = cx.transpose(y, &[2, 0, 1]);
    Ok(cx.cast(y, dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::{lowered, refused};

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }

    #[test]
    fn integers_of_symbolic_size_are_refused() {
        assert_eq!(
            refused("aten.conv1d.default(input: i64[2, 4, s0], weight: i64[6, 4, 3]) -> i64[2, 6, s1]"),
            "node `conv1d` (aten.conv1d.default) in module `(root)`: a convolution of int64 needs sizes that are known when \
             exporting"
        );
    }
}

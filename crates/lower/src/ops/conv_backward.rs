//! `convolution_backward`: the gradients of input, weight and bias.
//!
//! A convolution gives each place of its result a window of its input. Back to the input goes `ConvTranspose` with the
//! same weight (`Conv` for a transposed convolution). The weight gets, for each of its places, the sum over batch and
//! windows of input times gradient: a `Conv` of one with the other as kernel, the batch as channels, and strides and
//! dilations exchanged. The bias gets the sum of the gradient. Results that `output_mask` leaves out are not in the
//! program. There are no kernels for `float64`, which is computed in `float32`.

use modelexport_graph::shape::static_shape;
use modelexport_graph::{DType, Dim};

use super::support::compute::{filled, formula_type, product, single_type, tensor_as};
use super::support::spread::spread;
use super::support::window::Window;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::{Attrs, ValueId};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new(
    "aten::convolution_backward(Tensor grad_output, Tensor input, Tensor weight, SymInt[]? bias_sizes, SymInt[] stride, SymInt[] padding, SymInt[] dilation, bool transposed, SymInt[] output_padding, SymInt groups, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
    lower,
)];

/// A tensor of images: batch, channels, and the axes that windows slide over.
#[derive(Clone, Copy)]
struct Images<'p> {
    value: ValueId,
    sizes: &'p [Dim],
}

impl<'p> Images<'p> {
    fn spatial(&self) -> &'p [Dim] {
        self.sizes.get(2..).unwrap_or_default()
    }
}

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (weight_meta, dtype) = (cx.meta("weight")?, cx.out()?.dtype);
    let rank = weight_meta.sizes.len();
    if !dtype.is_float() {
        return cx.refuse(format!("the gradient of a convolution of {dtype} is not supported"));
    }
    let Some(kernel) = static_shape(weight_meta.sizes.get(2..).unwrap_or_default()) else {
        return cx.wrong("weight", "a kernel whose size is known when exporting", "a symbolic size");
    };
    let compute = single_type(formula_type(dtype));
    let input = images(cx, "input", rank, compute)?;
    let grad = images(cx, "grad_output", rank, compute)?;
    let weight = tensor_as(cx, "weight", compute)?;
    let axes = kernel.len();
    let window = Window {
        kernel,
        strides: cx.ints_for("stride", axes)?,
        pads: cx.ints_for("padding", axes)?,
        dilations: cx.ints_for("dilation", axes)?,
        ceil: false,
    };
    let groups = cx.int("groups")?;
    let is_transposed = cx.bool("transposed")?;
    let is_empty = input.sizes.iter().chain(grad.sizes).any(|size| size.is(0));
    let mut results = Vec::with_capacity(3);
    for index in 0..3 {
        let Some(meta) = cx.out_at(index) else { continue };
        let value = match index {
            // Where nothing is added up, kernels find nothing to work on.
            _ if is_empty => filled(cx, compute, &meta.sizes, 0.0)?,
            0 if is_transposed => gather(cx, grad, weight, &window, groups, input.spatial())?,
            0 => spread(cx, grad.value, weight, &window, groups, (grad.spatial(), input.spatial()))?,
            1 if is_transposed => correlate(cx, grad, input, &window, groups)?,
            1 => correlate(cx, input, grad, &window, groups)?,
            _ => {
                let others: Vec<i64> = (0..rank as i64).filter(|&axis| axis != 1).collect();
                cx.reduce("ReduceSum", grad.value, &others, false)
            }
        };
        results.push(cx.cast(value, meta.dtype));
    }
    Ok(results.into())
}

fn images<'p>(cx: &mut Context<'_, 'p>, name: &str, rank: usize, dtype: DType) -> Result<Images<'p>> {
    let sizes = &cx.meta(name)?.sizes;
    if sizes.len() != rank || rank < 3 {
        return cx.wrong(name, &format!("as many dimensions as `weight`, which has {rank}"), sizes.len());
    }
    Ok(Images { value: tensor_as(cx, name, dtype)?, sizes })
}

/// What each element of the input of a transposed convolution was spread over, weighted as it was.
fn gather(
    cx: &mut Context<'_, '_>,
    grad: Images<'_>,
    weight: ValueId,
    window: &Window,
    groups: i64,
    to: &[Dim],
) -> Result<ValueId> {
    let attributes = attributes(&window.strides, &window.dilations, &window.pads, groups);
    let y = cx.emit("Conv", &[grad.value, weight], attributes);
    let windows = (0..to.len()).map(|axis| {
        let size = grad.spatial().get(axis)?.as_static()?;
        let (pad, stride) = (window.pads.get(axis)?, window.strides.get(axis)?);
        Some((size + 2 * pad - window.reach(axis)).div_euclid(*stride) + 1)
    });
    // The padding of the output may have room for more windows.
    cut(cx, y, windows.collect(), to)
}

/// For each place of the kernel, the sum over batch and windows of `seen` at that place of the window times the
/// element of `windows`: `[channels of windows, channels of a group of seen, kernel…]`.
fn correlate(
    cx: &mut Context<'_, '_>,
    seen: Images<'_>,
    windows: Images<'_>,
    window: &Window,
    groups: i64,
) -> Result<ValueId> {
    let rank = seen.sizes.len() as i64;
    let exchanged: Vec<i64> = [1, 0].into_iter().chain(2..rank).collect();
    let kernel = cx.transpose(windows.value, &exchanged);
    let x = if groups == 1 { cx.transpose(seen.value, &exchanged) } else { batch_of_groups(cx, seen, groups)? };
    let attributes = attributes(&window.dilations, &window.strides, &window.pads, groups);
    let y = cx.emit("Conv", &[x, kernel], attributes);
    let places = (0..window.kernel.len()).map(|axis| {
        let (size, windows) = (seen.spatial().get(axis)?.as_static()?, windows.spatial().get(axis)?.as_static()?);
        let (pad, stride) = (window.pads.get(axis)?, window.strides.get(axis)?);
        let reach = (windows - 1) * stride + 1;
        Some((size + 2 * pad - reach).div_euclid(*window.dilations.get(axis)?) + 1)
    });
    let wanted: Vec<Dim> = window.kernel.iter().map(|&size| Dim::Static(size)).collect();
    // What no window reaches at the end of an axis looks like more places of the kernel.
    let y = cut(cx, y, places.collect(), &wanted)?;
    Ok(cx.transpose(y, &exchanged))
}

/// `[channels of a group, groups * batch, …]`: groups of a convolution whose channels are the batch.
fn batch_of_groups(cx: &mut Context<'_, '_>, images: Images<'_>, groups: i64) -> Result<ValueId> {
    let [batch, channels, spatial @ ..] = images.sizes else { return cx.refuse("has no channels") };
    let Some(channels) = channels.as_static() else {
        return cx.refuse("groups of channels need a number of channels that is known when exporting");
    };
    let (channels, groups) = (Dim::Static(channels / groups.max(1)), Dim::Static(groups));
    let apart = [batch.clone(), groups.clone(), channels.clone()];
    let apart: Vec<Dim> = apart.into_iter().chain(spatial.iter().cloned()).collect();
    let x = cx.reshape(images.value, &apart)?;
    let order: Vec<i64> = [2, 1, 0].into_iter().chain(3..apart.len() as i64).collect();
    let x = cx.transpose(x, &order);
    let merged = [channels, product(&[groups, batch.clone()])];
    cx.reshape(x, &merged.into_iter().chain(spatial.iter().cloned()).collect::<Vec<_>>())
}

/// The first elements of each axis behind the second; `have` is how many there are, where that is known.
fn cut(cx: &mut Context<'_, '_>, value: ValueId, have: Option<Vec<i64>>, want: &[Dim]) -> Result<ValueId> {
    if have.is_some() && have == static_shape(want) {
        return Ok(value);
    }
    let axes: Vec<i64> = (2..2 + want.len() as i64).collect();
    let (starts, ends, axes) = (cx.const_ints(&vec![0; want.len()]), cx.shape_value(want)?, cx.const_ints(&axes));
    Ok(cx.emit("Slice", &[value, starts, ends, axes], vec![]))
}

/// Those of a `Conv` that are not the defaults. The shape of the kernel is that of its input.
fn attributes(strides: &[i64], dilations: &[i64], pads: &[i64], groups: i64) -> Attrs {
    let mut attributes = Attrs::new();
    for (key, values, default) in [("strides", strides, 1), ("dilations", dilations, 1)] {
        if values.iter().any(|&value| value != default) {
            attributes.push((key.into(), values.to_vec().into()));
        }
    }
    if pads.iter().any(|&pad| pad != 0) {
        attributes.extend(attrs![pads = [pads, pads].concat()]);
    }
    if groups != 1 {
        attributes.extend(attrs![group = groups]);
    }
    attributes
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::{lowered, refused};

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.convolution_backward.default(grad_output: f32[2, 6, 6, 8], input: f32[2, 4, 8, 9], weight: param f32[6, 4, 3, 2], bias_sizes=[6], stride=[1, 1], padding=[0, 0], dilation=[1, 1], transposed=False, output_padding=[0, 0], groups=1, output_mask=[True, True, True]) -> (f32[2, 4, 8, 9], f32[6, 4, 3, 2], f32[6])
            t1 = Conv(Transpose(input, perm=[1, 0, 2, 3]), Transpose(grad_output, perm=[1, 0, 2, 3]))
            ConvTranspose(grad_output, weight, kernel_shape=[3, 2]), Transpose(t1, perm=[1, 0, 2, 3]), ReduceSum(grad_output, [0, 2, 3], keepdims=0)
        aten.convolution_backward.default(grad_output: f32[s0, 6, s1, 5], input: f32[s2, 4, s3, 9], weight: param f32[6, 4, 3, 3], bias_sizes=[6], stride=[2, 2], padding=[1, 1], dilation=[1, 1], transposed=False, output_padding=[0, 0], groups=1, output_mask=[True, True, True]) -> (f32[s2, 4, s3, 9], f32[6, 4, 3, 3], f32[6])
            t1 = ConvTranspose(grad_output, weight, kernel_shape=[3, 3], strides=[2, 2], pads=[1, 1, 0, 0], output_padding=[1, 1])
            t2 = Slice(t1, [0, 0], Concat(Shape(input, start=2, end=3), [9], axis=0), [2, 3])
            t3 = Conv(Transpose(input, perm=[1, 0, 2, 3]), Transpose(grad_output, perm=[1, 0, 2, 3]), dilations=[2, 2], pads=[1, 1, 1, 1])
            t4 = Transpose(Slice(t3, [0, 0], [3, 3], [2, 3]), perm=[1, 0, 2, 3])
            t2, t4, ReduceSum(grad_output, [0, 2, 3], keepdims=0)
        ");
    }

    #[test]
    fn what_has_no_gradient_here() {
        let call = |grad: &str, input: &str, weight: &str| {
            refused(&format!(
                "aten.convolution_backward.default(grad_output: {grad}, input: {input}, weight: {weight}, bias_sizes=None, \
                 stride=[1], padding=[0], dilation=[1], transposed=False, output_padding=[0], groups=1, \
                 output_mask=[True, False, False]) -> ({input}, None, None)"
            ))
        };
        let node = "node `convolution_backward` (aten.convolution_backward.default) in module `(root)`:";
        assert_eq!(
            call("i64[2, 6, 6]", "i64[2, 4, 8]", "i64[6, 4, 3]"),
            format!("{node} the gradient of a convolution of int64 is not supported")
        );
        assert_eq!(
            call("f32[6, 6]", "f32[4, 8]", "f32[6, 4, 3]"),
            format!("{node} argument `input`: expected as many dimensions as `weight`, which has 3, found 2")
        );
        assert_eq!(
            call("f32[2, 6, 6]", "f32[2, 4, 8]", "f32[6, 4, s0]"),
            format!(
                "{node} argument `weight`: expected a kernel whose size is known when exporting, found \"a symbolic size\""
            )
        );
    }

    #[test]
    fn groups_of_a_symbolic_number_of_channels_are_refused() {
        let call = "aten.convolution_backward.default(grad_output: f32[2, 6, 6], input: f32[2, s0, 8], weight: f32[6, 2, 3], \
                    bias_sizes=None, stride=[1], padding=[0], dilation=[1], transposed=False, output_padding=[0], groups=2, \
                    output_mask=[False, True, False]) -> (None, f32[6, 2, 3], None)";
        assert_eq!(
            refused(call),
            "node `convolution_backward` (aten.convolution_backward.default) in module `(root)`: groups of channels need a \
             number of channels that is known when exporting"
        );
    }
}

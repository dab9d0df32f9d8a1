//! Convolutions of integers, for which ONNX has no `Conv`: windows as columns, and `MatMul`. Exact, modulo the type.

use modelexport_graph::{DType, Dim};

use super::compute::{product, tensor_as, tensor_opt_as};
use super::unfold::{Slide, known, unfold};
use super::window::{last, with_batch};
use crate::context::Context;
use crate::error::Result;
use crate::registry::Outputs;

/// `pads`: before each of the axes that the kernel slides over.
pub(crate) fn integer_conv(cx: &mut Context<'_, '_>, pads: &[i64], transposed: bool) -> Result<Outputs> {
    let (input, weight_meta, out) = (cx.meta("input")?, cx.meta("weight")?, cx.out()?);
    let axes = weight_meta.sizes.len() - 2;
    let compute = if out.dtype == DType::I64 { DType::I64 } else { DType::I32 };
    let (Some(sizes), Some(counts), Some(kernel)) =
        (known(last(&input.sizes, axes)), known(last(&out.sizes, axes)), known(&weight_meta.sizes))
    else {
        return cx
            .refuse(format!("a convolution of {} needs sizes that are known when exporting", out.dtype));
    };
    let (strides, dilations) = (cx.ints_for("stride", axes)?, cx.ints_for("dilation", axes)?);
    let groups = cx.int("groups")?.max(1);
    let (&[first, second, ref window @ ..], rank) = (kernel.as_slice(), input.sizes.len()) else {
        return cx.wrong("weight", "a kernel of at least 3 dimensions", kernel);
    };
    let slides: Vec<Slide> = sizes
        .iter()
        .zip(window)
        .zip(&counts)
        .zip(strides.iter().zip(&dilations).zip(pads))
        .map(|(((&size, &kernel), &count), ((&stride, &dilation), &pad))| Slide {
            size,
            kernel,
            count,
            stride,
            dilation,
            pad,
            transposed,
        })
        .collect();
    let elements: i64 = window.iter().product();
    let (channels, features) = if transposed { (first, second) } else { (second * groups, first / groups) };
    let column = channels / groups * elements;
    let (x, mut weight) = (tensor_as(cx, "input", compute)?, tensor_as(cx, "weight", compute)?);
    if transposed {
        weight = cx.reshape_static(weight, &[groups, channels / groups, features, elements]);
        weight = cx.transpose(weight, &[0, 2, 1, 3]);
    }
    let weight = cx.reshape_static(weight, &[groups, features, column]);
    let bias = tensor_opt_as(cx, "bias", compute)?;
    let batch = if rank == axes + 1 { Dim::Static(1) } else { product(input.sizes.get(..1).unwrap_or(&[])) };
    let results = with_batch(cx, x, rank, axes, |cx, x| {
        let windows = unfold(cx, x, 2, &slides);
        let places = Dim::Static(counts.iter().product());
        let columns =
            cx.reshape(windows, &[batch.clone(), Dim::Static(groups), Dim::Static(column), places])?;
        let products = cx.emit("MatMul", &[weight, columns], vec![]);
        let shape: Vec<Dim> = [batch, Dim::Static(groups * features)]
            .into_iter()
            .chain(counts.iter().map(|&count| Dim::Static(count)))
            .collect();
        let mut y = cx.reshape(products, &shape)?;
        if let Some(bias) = bias {
            let bias = cx.unsqueeze(bias, &(1..=axes as i64).collect::<Vec<_>>());
            y = cx.emit("Add", &[y, bias], vec![]);
        }
        Ok(vec![y])
    })?;
    Ok(results.into_iter().map(|y| cx.cast(y, out.dtype)).collect::<Vec<_>>().into())
}

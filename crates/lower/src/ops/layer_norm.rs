//! `layer_norm`: `LayerNormalization` from opset 17, before that the nodes it stands for, which onnxruntime fuses.
//!
//! A missing weight is ones. Statistics of `native_layer_norm` are computed apart and vanish if nothing reads them.

use modelexport_graph::DType;

use super::support::compute::{filled, float_type, formula_type, tensor_as, tensor_opt_as};
use super::support::norm::{affine, standardize};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

const LAYER_NORM: &str = "aten::layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enable=True) -> Tensor";
const NATIVE: &str = "aten::native_layer_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight, Tensor? bias, float eps) -> (Tensor, Tensor, Tensor)";

pub static ROWS: &[Row] = &[
    Row::new(LAYER_NORM, |cx| Ok(composed(cx)?.into())),
    Row::new(LAYER_NORM, |cx| Ok(fused(cx)?.into())).since(17),
    Row::new(NATIVE, |cx| {
        let y = composed(cx)?;
        with_statistics(cx, y)
    }),
    Row::new(NATIVE, |cx| {
        let y = fused(cx)?;
        with_statistics(cx, y)
    })
    .since(17),
];

/// The axes that are normalised, counted from behind.
fn axes(cx: &Context<'_, '_>) -> Result<Vec<i64>> {
    let count = cx.dims("normalized_shape")?.len() as i64;
    Ok((-count..0).collect())
}

/// The type of the whole computation: that of the input, unless its parameters have another.
pub(crate) fn norm_type(cx: &Context<'_, '_>, dtype: DType) -> DType {
    let mixed = ["weight", "bias"].iter().filter_map(|name| cx.meta_opt(name)).any(|meta| meta.dtype != dtype);
    if mixed { formula_type(dtype) } else { float_type(dtype) }
}

fn fused(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    let dtype = cx.out()?.dtype;
    let compute = norm_type(cx, dtype);
    let x = tensor_as(cx, "input", compute)?;
    let weight = match tensor_opt_as(cx, "weight", compute)? {
        Some(weight) => weight,
        None => {
            let shape = cx.dims("normalized_shape")?;
            filled(cx, compute, &shape, 1.0)?
        }
    };
    let bias = tensor_opt_as(cx, "bias", compute)?;
    let axis = -(axes(cx)?.len() as i64);
    let eps = cx.float("eps")?;
    let y = cx.emit_optional(
        "LayerNormalization",
        &[Some(x), Some(weight), bias],
        attrs![axis = axis, epsilon = eps],
    );
    Ok(cx.cast(y, dtype))
}

fn composed(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let x = tensor_as(cx, "input", compute)?;
    let (weight, bias) = (tensor_opt_as(cx, "weight", compute)?, tensor_opt_as(cx, "bias", compute)?);
    let (axes, eps) = (axes(cx)?, cx.float("eps")?);
    let normal = standardize(cx, x, &axes, eps, compute).value;
    let y = affine(cx, normal, weight, bias);
    Ok(cx.cast(y, dtype))
}

fn with_statistics(cx: &mut Context<'_, '_>, y: ValueId) -> Result<Outputs> {
    let metas = cx.out_metas();
    let compute = formula_type(cx.out()?.dtype);
    let x = tensor_as(cx, "input", compute)?;
    let (axes, eps) = (axes(cx)?, cx.float("eps")?);
    let statistics = standardize(cx, x, &axes, eps, compute);
    let as_result = |i: usize| metas.get(i).map_or(compute, |meta| meta.dtype);
    let mean = cx.cast(statistics.mean, as_result(1));
    let inverse = cx.cast(statistics.inverse_deviation, as_result(2));
    Ok([y, mean, inverse].into())
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

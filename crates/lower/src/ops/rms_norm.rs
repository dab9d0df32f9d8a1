//! `rms_norm`: `RMSNormalization` from opset 23, before that the nodes it stands for, which onnxruntime fuses.

use modelexport_graph::DType;

use super::layer_norm::norm_type;
use super::support::compute::{filled, formula_type, tensor_as, tensor_opt_as};
use super::support::norm::{affine, square};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::Row;

const RMS_NORM: &str =
    "aten::rms_norm(Tensor input, SymInt[] normalized_shape, Tensor? weight=None, float? eps=None) -> Tensor";
const FUSED: &str =
    "aten::_fused_rms_norm(Tensor input, int[] normalized_shape, Tensor? weight, float? eps) -> (Tensor, Tensor)";

pub static ROWS: &[Row] = &[
    Row::new(RMS_NORM, |cx| Ok(composed(cx)?.0.into())),
    Row::new(RMS_NORM, |cx| Ok(fused(cx)?.into())).since(23),
    Row::new(FUSED, |cx| {
        let (y, inverse) = composed(cx)?;
        Ok([y, inverse].into())
    }),
    Row::new(FUSED, |cx| {
        let (y, inverse) = (fused(cx)?, composed(cx)?.1);
        Ok([y, inverse].into())
    })
    .since(23),
];

/// The default is the machine epsilon of the type that is computed in.
fn eps(cx: &Context<'_, '_>) -> Result<f64> {
    Ok(match cx.float_opt("eps")? {
        Some(eps) => eps,
        None if cx.meta("input")?.dtype == DType::F64 => f64::EPSILON,
        None => f64::from(f32::EPSILON),
    })
}

fn fused(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    let dtype = cx.out()?.dtype;
    let compute = norm_type(cx, dtype);
    let x = tensor_as(cx, "input", compute)?;
    let shape = cx.dims("normalized_shape")?;
    let weight = match tensor_opt_as(cx, "weight", compute)? {
        Some(weight) => weight,
        None => filled(cx, compute, &shape, 1.0)?,
    };
    let eps = eps(cx)?;
    let y = cx.emit(
        "RMSNormalization",
        &[x, weight],
        attrs![axis = -(shape.len() as i64), epsilon = eps],
    );
    Ok(cx.cast(y, dtype))
}

/// The result, and one over the root of the mean square.
fn composed(cx: &mut Context<'_, '_>) -> Result<(ValueId, ValueId)> {
    let dtype = cx.out()?.dtype;
    let compute = formula_type(dtype);
    let x = tensor_as(cx, "input", compute)?;
    let weight = tensor_opt_as(cx, "weight", compute)?;
    let axes: Vec<i64> = (-(cx.dims("normalized_shape")?.len() as i64)..0).collect();
    let squares = square(cx, x, compute);
    let mean = cx.reduce("ReduceMean", squares, &axes, true);
    let eps = eps(cx)?;
    let eps = cx.const_scalar(compute, eps);
    let sum = cx.emit("Add", &[mean, eps], vec![]);
    let root = cx.emit("Sqrt", &[sum], vec![]);
    let normal = cx.emit("Div", &[x, root], vec![]);
    let y = affine(cx, normal, weight, None);
    let inverse = cx.emit("Reciprocal", &[root], vec![]);
    let inverse_type = cx.out_metas().get(1).map_or(compute, |meta| meta.dtype);
    Ok((cx.cast(y, dtype), cx.cast(inverse, inverse_type)))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.rms_norm.default(input: f32[2, 3, 8], normalized_shape=[8], weight: param f32[8], eps=1e-05) -> f32[2, 3, 8]
            t1 = Sqrt(Add(ReduceMean(Pow(input, 2.0), [-1], keepdims=1), 1e-5))
            Mul(Div(input, t1), weight)
        aten.rms_norm.default(input: f32[2, 3, 8], normalized_shape=[8], weight: param f32[8], eps=1e-05) -> f32[2, 3, 8] at opset 24
            RMSNormalization(input, weight, axis=-1, epsilon=1e-5)
        aten._fused_rms_norm.default(input: f32[2, 3, 8], normalized_shape=[8], weight: param f32[8], eps=1e-05) -> (f32[2, 3, 8], f32[2, 3, 1])
            t1 = Sqrt(Add(ReduceMean(Pow(input, 2.0), [-1], keepdims=1), 1e-5))
            Mul(Div(input, t1), weight), Reciprocal(t1)
        aten._fused_rms_norm.default(input: f32[2, 3, 8], normalized_shape=[8], weight: param f32[8], eps=1e-05) -> (f32[2, 3, 8], f32[2, 3, 1]) at opset 24
            t1 = Sqrt(Add(ReduceMean(Pow(input, 2.0), [-1], keepdims=1), 1e-5))
            RMSNormalization(input, weight, axis=-1, epsilon=1e-5), Reciprocal(t1)
        ");
    }
}

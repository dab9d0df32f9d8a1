//! The fused layers that PyTorch's transformer modules take when no gradient is wanted:
//! `_native_multi_head_attention` and `_transformer_encoder_layer_fwd`, as the nodes they stand for.
//!
//! Masks say where *not* to look (1), and come by `mask_type`: 0 for all rows alike `[rows, keys]`, 1 for the padding
//! of each sequence `[batch, keys]`, 2 for each head `[batch, heads, rows, keys]`. A row that sees nothing gives NaN
//! in the attention and zeros in its result, as in PyTorch.

use modelexport_graph::{DType, Dim};

use super::gelu::erf_formula;
use super::support::compute::{formula_type, tensor_as};
use super::support::norm::{affine, standardize};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::_native_multi_head_attention(Tensor query, Tensor key, Tensor value, int embed_dim, int num_head, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, Tensor? mask=None, bool need_weights=True, bool average_attn_weights=True, int? mask_type=None) -> (Tensor, Tensor)",
        attention,
    ),
    Row::new(
        "aten::_transformer_encoder_layer_fwd(Tensor src, int embed_dim, int num_heads, Tensor qkv_weight, Tensor qkv_bias, Tensor proj_weight, Tensor proj_bias, bool use_gelu, bool norm_first, float eps, Tensor norm_weight_1, Tensor norm_bias_1, Tensor norm_weight_2, Tensor norm_bias_2, Tensor ffn_weight_1, Tensor ffn_bias_1, Tensor ffn_weight_2, Tensor ffn_bias_2, Tensor? mask=None, int? mask_type=None) -> Tensor",
        encoder_layer,
    ),
];

/// `x @ weight^T + bias`.
fn linear(cx: &mut Context<'_, '_>, x: ValueId, weight: &str, bias: &str, dtype: DType) -> Result<ValueId> {
    let (weight, bias) = (tensor_as(cx, weight, dtype)?, tensor_as(cx, bias, dtype)?);
    let weight = cx.transpose(weight, &[1, 0]);
    let product = cx.emit("MatMul", &[x, weight], vec![]);
    Ok(cx.emit("Add", &[product, bias], vec![]))
}

/// Result and weights (`[batch, heads, rows, keys]`) of self-attention over `x`, of `sizes`.
fn self_attention(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    sizes: &[Dim],
    heads: i64,
    dtype: DType,
) -> Result<(ValueId, ValueId)> {
    let [batch, length, Dim::Static(width)] = sizes else {
        return cx.refuse("attention needs batches of sequences of known width");
    };
    let size = width / heads.max(1);
    let projected = linear(cx, x, "qkv_weight", "qkv_bias", dtype)?;
    let parts = cx.split(projected, &[*width; 3], -1);
    let [query, key, value] = parts.as_slice() else { return cx.refuse("cannot be split in three") };
    let split = [batch.clone(), length.clone(), Dim::Static(heads), Dim::Static(size)];
    let by_head = |cx: &mut Context<'_, '_>, part: ValueId, order: &[i64]| -> Result<ValueId> {
        cx.set_shape(part, sizes.to_vec());
        let part = cx.reshape(part, &split)?;
        Ok(cx.transpose(part, order))
    };
    let query = by_head(cx, *query, &[0, 2, 1, 3])?;
    let key = by_head(cx, *key, &[0, 2, 3, 1])?;
    let value = by_head(cx, *value, &[0, 2, 1, 3])?;
    let scale = cx.const_scalar(dtype, 1.0 / (size as f64).sqrt());
    let query = cx.emit("Mul", &[query, scale], vec![]);
    let mut scores = cx.emit("MatMul", &[query, key], vec![]);
    if let Some(meta) = cx.meta_opt("mask") {
        let mask = tensor_as(cx, "mask", DType::Bool)?;
        let mask = match (cx.int_opt("mask_type")?, meta.sizes.len()) {
            (Some(1), 2) => cx.unsqueeze(mask, &[1, 2]),
            (_, 2 | 4) => mask,
            (_, rank) => return cx.wrong("mask", "a mask of 2 or 4 dimensions", rank),
        };
        let low = cx.const_scalar(dtype, f64::NEG_INFINITY);
        scores = cx.emit("Where", &[mask, low, scores], vec![]);
    }
    let weights = cx.emit("Softmax", &[scores], attrs![axis = -1]);
    let mixed = cx.emit("MatMul", &[weights, value], vec![]);
    let mixed = cx.transpose(mixed, &[0, 2, 1, 3]);
    cx.set_shape(mixed, split.to_vec());
    let mixed = cx.reshape(mixed, sizes)?;
    let y = linear(cx, mixed, "proj_weight", "proj_bias", dtype)?;
    Ok((y, weights))
}

fn attention(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = formula_type(out.dtype);
    let x = cx.tensor("query")?;
    if cx.tensor("key")? != x || cx.tensor("value")? != x {
        return cx.refuse("query, key and value must be one tensor");
    }
    let x = cx.cast(x, compute);
    let heads = cx.int("num_head")?;
    let (y, weights) = self_attention(cx, x, &cx.meta("query")?.sizes, heads, compute)?;
    let mut results = vec![cx.cast(y, out.dtype)];
    if cx.bool("need_weights")? {
        let weights = match cx.bool("average_attn_weights")? {
            true => cx.reduce("ReduceMean", weights, &[1], false),
            false => weights,
        };
        results.push(cx.cast(weights, out.dtype));
    }
    Ok(results.into())
}

fn encoder_layer(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = formula_type(out.dtype);
    let x = tensor_as(cx, "src", compute)?;
    let sizes = &cx.meta("src")?.sizes;
    let (heads, norm_first) = (cx.int("num_heads")?, cx.bool("norm_first")?);
    let y = if norm_first {
        let normal = norm(cx, x, "norm_weight_1", "norm_bias_1", compute)?;
        let (mixed, _) = self_attention(cx, normal, sizes, heads, compute)?;
        let x = cx.emit("Add", &[mixed, x], vec![]);
        let normal = norm(cx, x, "norm_weight_2", "norm_bias_2", compute)?;
        let inner = feed_forward(cx, normal, compute)?;
        cx.emit("Add", &[inner, x], vec![])
    } else {
        let (mixed, _) = self_attention(cx, x, sizes, heads, compute)?;
        let sum = cx.emit("Add", &[mixed, x], vec![]);
        let x = norm(cx, sum, "norm_weight_1", "norm_bias_1", compute)?;
        let inner = feed_forward(cx, x, compute)?;
        let sum = cx.emit("Add", &[inner, x], vec![]);
        norm(cx, sum, "norm_weight_2", "norm_bias_2", compute)?
    };
    Ok(cx.cast(y, out.dtype).into())
}

fn norm(cx: &mut Context<'_, '_>, x: ValueId, weight: &str, bias: &str, dtype: DType) -> Result<ValueId> {
    let (weight, bias) = (tensor_as(cx, weight, dtype)?, tensor_as(cx, bias, dtype)?);
    let eps = cx.float("eps")?;
    if cx.opset >= 17 {
        return Ok(cx.emit("LayerNormalization", &[x, weight, bias], attrs![axis = -1, epsilon = eps]));
    }
    let normal = standardize(cx, x, &[-1], eps, dtype).value;
    Ok(affine(cx, normal, Some(weight), Some(bias)))
}

fn feed_forward(cx: &mut Context<'_, '_>, x: ValueId, dtype: DType) -> Result<ValueId> {
    let inner = linear(cx, x, "ffn_weight_1", "ffn_bias_1", dtype)?;
    let bent = match cx.bool("use_gelu")? {
        false => cx.emit("Relu", &[inner], vec![]),
        true if cx.opset >= 20 && dtype != DType::F64 => cx.emit("Gelu", &[inner], vec![]),
        true => {
            let single = cx.cast(inner, DType::F32);
            let bent = erf_formula(cx, single, DType::F32);
            cx.cast(bent, dtype)
        }
    };
    linear(cx, bent, "ffn_weight_2", "ffn_bias_2", dtype)
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

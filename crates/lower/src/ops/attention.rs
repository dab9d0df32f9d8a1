//! `scaled_dot_product_attention`: `softmax(scale * q @ k^T + mask) @ v`.
//!
//! `Attention` from opset 23 where it does the same in onnxruntime, otherwise
//!
//! ```text
//! Mul (q by the scale), Transpose (k), MatMul, Add (mask), Softmax, MatMul
//! ```
//!
//! A row that is masked altogether gives zeros, as in PyTorch. A mask of true and false becomes 0 and a very low number,
//! and the result is multiplied by whether a row sees anything; all but the product is made once for the layers that
//! share the mask. A mask of numbers may have minus infinity, of which `Softmax` makes NaN: the rows where its largest
//! number is that are replaced at the end. A causal mask has no such rows.
//!
//! Grouped queries: the heads that share a key are put one below the other, so that keys and values are not copied.

use modelexport_graph::{DType, Dim};

use super::support::compute::{filled, float_type, product, tensor_as};
use super::support::window::last;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

const ATTENTION: &str = "aten::scaled_dot_product_attention(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, *, float? scale=None, bool enable_gqa=False) -> Tensor";
const MATH: &str = "aten::_scaled_dot_product_attention_math(Tensor query, Tensor key, Tensor value, Tensor? attn_mask=None, float dropout_p=0., bool is_causal=False, Tensor? dropout_mask=None, *, float? scale=None, bool enable_gqa=False) -> (Tensor, Tensor)";
const FLASH_CPU: &str = "aten::_scaled_dot_product_flash_attention_for_cpu(Tensor query, Tensor key, Tensor value, float dropout_p=0., bool is_causal=False, *, Tensor? attn_mask=None, float? scale=None) -> (Tensor output, Tensor logsumexp)";

pub static ROWS: &[Row] = &[
    Row::new(ATTENTION, |cx| {
        let attention = Attention::read(cx)?;
        Ok(attention.composed(cx)?.output.into())
    }),
    Row::new(ATTENTION, |cx| {
        let attention = Attention::read(cx)?;
        Ok(attention.fused(cx)?.into())
    })
    .since(23),
    Row::new(MATH, |cx| {
        let attention = Attention::read(cx)?;
        let composed = attention.composed(cx)?;
        Ok([composed.output, composed.weights].into())
    }),
    Row::new(FLASH_CPU, |cx| {
        let attention = Attention::read(cx)?;
        let composed = attention.composed(cx)?;
        with_logsumexp(cx, composed.output, composed.scores)
    }),
    Row::new(FLASH_CPU, |cx| {
        let attention = Attention::read(cx)?;
        let (output, scores) = (attention.fused(cx)?, attention.composed(cx)?.scores);
        with_logsumexp(cx, output, scores)
    })
    .since(23),
];

/// The arguments of a call.
struct Attention<'p> {
    query: &'p [Dim],
    key: &'p [Dim],
    value: &'p [Dim],
    output: &'p [Dim],
    dtype: DType,
    scale: Option<f64>,
    is_causal: bool,
    dropout: f64,
}

/// What the composed form gives; what nothing reads is removed with the dead nodes.
struct Composed {
    output: ValueId,
    weights: ValueId,
    /// Before the softmax.
    scores: ValueId,
}

impl<'p> Attention<'p> {
    fn read(cx: &Context<'_, 'p>) -> Result<Attention<'p>> {
        let out = cx.out()?;
        let query = &cx.meta("query")?.sizes;
        if query.len() < 2 {
            return cx.wrong("query", "a tensor with at least 2 dimensions", query);
        }
        let size = query.last().and_then(Dim::as_static);
        Ok(Attention {
            query,
            key: &cx.meta("key")?.sizes,
            value: &cx.meta("value")?.sizes,
            output: &out.sizes,
            dtype: out.dtype,
            scale: cx.float_opt("scale")?.or(size.map(|size| 1.0 / (size as f64).sqrt())),
            is_causal: cx.bool("is_causal")?,
            dropout: cx.float("dropout_p")?,
        })
    }

    /// One `Attention` node where it fits.
    fn fused(&self, cx: &mut Context<'_, '_>) -> Result<ValueId> {
        let (Some(scale), true) = (self.scale.filter(|&scale| scale > 0.0), self.can_fuse(cx)) else {
            return Ok(self.composed(cx)?.output);
        };
        let compute = float_type(self.dtype);
        let (q, k, v) =
            (tensor_as(cx, "query", compute)?, tensor_as(cx, "key", compute)?, tensor_as(cx, "value", compute)?);
        let mask = self.whole_mask(cx)?;
        let mut attributes = attrs![scale = scale];
        if self.is_causal {
            attributes.extend(attrs![is_causal = 1]);
        }
        let y = cx.emit_optional("Attention", &[Some(q), Some(k), Some(v), mask], attributes);
        cx.set_shape(y, self.output.to_vec());
        Ok(cx.cast(y, self.dtype))
    }

    /// What onnxruntime's `Attention` does as PyTorch does it: docs/attention.md.
    fn can_fuse(&self, cx: &Context<'_, '_>) -> bool {
        let batches = |sizes: &'p [Dim]| if sizes.len() == 4 { sizes.first() } else { None };
        let has_heads = [self.query, self.key, self.value].iter().all(|sizes| batches(sizes).is_some());
        let same_batch = [self.key, self.value].iter().all(|sizes| batches(sizes) == batches(self.query));
        let mask_fits = cx.meta_opt("attn_mask").is_none_or(|mask| {
            let is_exact = mask.dtype == DType::Bool || float_type(self.dtype) == DType::F32;
            let rows = last(&mask.sizes, 2).first().filter(|_| (2..=4).contains(&mask.sizes.len()));
            let fits_rows = rows.is_some_and(|rows| rows.is(1) || Some(rows) == last(self.query, 2).first());
            is_exact && fits_rows && last(&mask.sizes, 2).last() == last(self.key, 2).first()
        });
        has_heads && same_batch && mask_fits && self.dropout == 0.0 && self.dtype != DType::F64
    }

    /// The mask for every row, without the lowest number of `float32`, which the kernel takes for minus infinity.
    fn whole_mask(&self, cx: &mut Context<'_, '_>) -> Result<Option<ValueId>> {
        let Some(meta) = cx.meta_opt("attn_mask") else { return Ok(None) };
        let mut mask = cx.tensor("attn_mask")?;
        if meta.dtype != DType::Bool {
            mask = tensor_as(cx, "attn_mask", DType::F32)?;
            let almost_one = cx.const_scalar(DType::F32, f64::from(1.0_f32.next_down()));
            mask = cx.emit("Mul", &[mask, almost_one], vec![]);
            cx.set_shape(mask, meta.sizes.clone());
        }
        let mut sizes = meta.sizes.clone();
        if let (Some(rows), Some(wanted)) = (sizes.iter_mut().nth_back(1), self.query.iter().nth_back(1)) {
            *rows = wanted.clone();
        }
        cx.expand(mask, &sizes).map(Some)
    }

    /// Whether the mask says true where to look. The variant of one formula adds every mask as it is.
    fn has_bool_mask(&self, cx: &Context<'_, '_>) -> bool {
        cx.meta_opt("attn_mask").is_some_and(|mask| mask.dtype == DType::Bool) && !cx.target().contains("_math")
    }

    /// The mask as numbers that are added to the scores: 0 and a low one for true and false.
    fn bias(&self, cx: &mut Context<'_, '_>, compute: DType) -> Result<Option<ValueId>> {
        let Some(meta) = cx.meta_opt("attn_mask") else { return Ok(None) };
        if !self.has_bool_mask(cx) {
            return tensor_as(cx, "attn_mask", compute).map(Some);
        }
        let mask = cx.tensor("attn_mask")?;
        let (zero, low) = (cx.const_scalar(compute, 0.0), cx.const_scalar(compute, half_of_lowest(compute)));
        let bias = cx.emit("Where", &[mask, zero, low], vec![]);
        cx.set_shape(bias, meta.sizes.clone());
        Ok(Some(bias))
    }

    /// 0 up to the diagonal, minus infinity above it.
    fn causal_bias(&self, cx: &mut Context<'_, '_>, compute: DType) -> Result<ValueId> {
        let sizes: Vec<Dim> = [self.query, self.key].iter().filter_map(|sizes| sizes.iter().nth_back(1).cloned()).collect();
        // `Trilu` has no kernel for 16-bit floats.
        let kernel = if compute == DType::F16 { DType::F32 } else { compute };
        let low = match modelexport_graph::shape::static_numel(&sizes) {
            Some(count) if count > MAX_LITERAL => {
                let low = cx.const_scalar(kernel, f64::NEG_INFINITY);
                cx.expand(low, &sizes)?
            }
            _ => filled(cx, kernel, &sizes, f64::NEG_INFINITY)?,
        };
        let one = cx.const_int(1);
        let bias = cx.emit("Trilu", &[low, one], attrs![upper = 1]);
        cx.set_shape(bias, sizes);
        Ok(cx.cast(bias, compute))
    }

    fn composed(&self, cx: &mut Context<'_, '_>) -> Result<Composed> {
        let compute = float_type(self.dtype);
        let (q, k, v) =
            (tensor_as(cx, "query", compute)?, tensor_as(cx, "key", compute)?, tensor_as(cx, "value", compute)?);
        let q = self.scaled(cx, q, compute)?;
        let k = cx.transpose_last(k, self.key.len());
        let groups = self.groups(cx)?;
        let q = if groups == 1 { q } else { self.stack_heads(cx, q, self.query)? };
        let scores = cx.emit("MatMul", &[q, k], vec![]);
        let mut score_sizes: Vec<Dim> = self.output.iter().take(self.output.len() - 1).cloned().collect();
        score_sizes.extend(self.key.iter().nth_back(1).cloned());
        let bias = match self.is_causal {
            true => Some(self.causal_bias(cx, compute)?),
            false => self.bias(cx, compute)?,
        };
        let mut scores = scores;
        if groups != 1 && bias.is_some() {
            scores = cx.reshape(scores, &score_sizes)?;
        }
        if let Some(bias) = bias {
            scores = cx.emit("Add", &[scores, bias], vec![]);
        }
        let mut weights = cx.emit("Softmax", &[scores], attrs![axis = -1]);
        if self.dropout > 0.0 {
            let ratio = cx.const_scalar(DType::F32, self.dropout);
            let training = cx.const_scalar(DType::Bool, true);
            weights = cx.emit("Dropout", &[weights, ratio, training], vec![]);
        }
        let is_stacked = groups != 1 && bias.is_none();
        if !is_stacked {
            cx.set_shape(weights, score_sizes.clone());
        }
        let factor =
            if groups == 1 || is_stacked { weights } else { self.stack_heads(cx, weights, &score_sizes)? };
        if is_stacked {
            weights = cx.reshape(weights, &score_sizes)?;
        }
        let mut y = cx.emit("MatMul", &[factor, v], vec![]);
        if groups != 1 {
            y = cx.reshape(y, self.output)?;
        }
        cx.set_shape(y, self.output.to_vec());
        if self.has_bool_mask(cx) {
            y = self.times_seeing(cx, y, compute)?;
        } else if let (Some(bias), false) = (bias, self.is_causal) {
            y = zero_where_masked(cx, y, bias, compute);
        }
        Ok(Composed {
            output: cx.cast(y, self.dtype),
            weights: cx.cast(weights, self.dtype),
            scores: cx.cast(scores, compute),
        })
    }

    /// Zeros in the rows that see nothing: their weights are finite, as the mask is.
    fn times_seeing(&self, cx: &mut Context<'_, '_>, y: ValueId, compute: DType) -> Result<ValueId> {
        let mask = tensor_as(cx, "attn_mask", compute)?;
        let seeing = cx.reduce("ReduceMax", mask, &[-1], true);
        Ok(cx.emit("Mul", &[y, seeing], vec![]))
    }

    fn scaled(&self, cx: &mut Context<'_, '_>, q: ValueId, compute: DType) -> Result<ValueId> {
        let factor = match self.scale {
            Some(scale) => {
                if scale == 1.0 {
                    return Ok(q);
                }
                cx.const_scalar(compute, scale)
            }
            None => {
                let size = cx.dim_value(self.query.last().unwrap_or(&Dim::Static(1)))?;
                let size = cx.cast(size, compute);
                let root = cx.emit("Sqrt", &[size], vec![]);
                cx.emit("Reciprocal", &[root], vec![])
            }
        };
        Ok(cx.emit("Mul", &[q, factor], vec![]))
    }

    /// How many heads of the query share one of the key.
    fn groups(&self, cx: &Context<'_, '_>) -> Result<i64> {
        let heads = |sizes: &[Dim]| sizes.len().checked_sub(3).and_then(|at| sizes.get(at)).cloned();
        if !cx.bool("enable_gqa")? || heads(self.query) == heads(self.key) {
            return Ok(1);
        }
        match (heads(self.query), heads(self.key), heads(self.value)) {
            (Some(Dim::Static(query)), Some(Dim::Static(key)), Some(Dim::Static(value)))
                if key == value && key > 0 && query % key == 0 =>
            {
                Ok(query / key)
            }
            other => cx.wrong("query", "a multiple of the heads that key and value have", other),
        }
    }

    /// `[…, heads, rows, columns]` as `[…, heads of the key, rows of all heads that share it, columns]`.
    fn stack_heads(&self, cx: &mut Context<'_, '_>, x: ValueId, sizes: &[Dim]) -> Result<ValueId> {
        let [heads, rows, columns] = last(sizes, 3) else { return Ok(x) };
        let key_heads = last(self.key, 3).first().and_then(Dim::as_static).unwrap_or(1);
        let groups = heads.as_static().unwrap_or(1) / key_heads.max(1);
        let mut stacked: Vec<Dim> = sizes.iter().take(sizes.len() - 3).cloned().collect();
        stacked.push(Dim::Static(key_heads));
        stacked.push(product(&[Dim::Static(groups), rows.clone()]));
        stacked.push(columns.clone());
        cx.reshape(x, &stacked)
    }
}

/// Causal masks of more elements are made when the model runs.
const MAX_LITERAL: i64 = 1 << 12;

/// Low enough for a weight of 0, and a score added to it does not overflow.
fn half_of_lowest(dtype: DType) -> f64 {
    match dtype {
        DType::F16 => -32752.0,
        DType::F64 => f64::MIN / 2.0,
        _ => f64::from(f32::MIN) / 2.0,
    }
}

/// Zeros in the rows that see nothing, where the mask may have minus infinity.
fn zero_where_masked(cx: &mut Context<'_, '_>, y: ValueId, bias: ValueId, compute: DType) -> ValueId {
    let largest = cx.reduce("ReduceMax", bias, &[-1], true);
    let (low, zero) = (cx.const_scalar(compute, f64::NEG_INFINITY), cx.const_scalar(compute, 0.0));
    let dead = cx.emit("Equal", &[largest, low], vec![]);
    cx.emit("Where", &[dead, zero, y], vec![])
}

/// The second result of the variant for CPUs.
fn with_logsumexp(cx: &mut Context<'_, '_>, output: ValueId, scores: ValueId) -> Result<Outputs> {
    let dtype = cx.out_metas().get(1).map_or(DType::F32, |meta| meta.dtype);
    let sum = cx.reduce("ReduceLogSumExp", scores, &[-1], false);
    let sum = cx.cast(sum, dtype);
    Ok([output, sum].into())
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

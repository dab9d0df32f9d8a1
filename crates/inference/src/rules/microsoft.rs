//! Operators of onnxruntime, which exporters and optimisers fuse others into.

use modelexport_graph::DType;

use super::Element::{By, Fixed, Input};
use super::elementwise::{broadcast, statistic};
use super::quantisation::{DEQUANTIZED, QUANTIZED};
use super::{Row, convolution, indexing, matrix, reduction, row, same};
use crate::operation::Operation;
use crate::size::{Dims, Size, index};

const F32: super::Element = Fixed(DType::F32);

pub(super) const ROWS: &[Row] = &[
    row(
        "BiasAdd BiasGelu BiasSoftmax FastGelu Gelu GroupNorm Inverse LongformerAttention MoE \
         QLinearLeakyRelu QLinearSigmoid QLinearSoftmax QMoE QuickGelu RotaryEmbedding SkipGroupNorm Trilu",
        &[(Input(0), same)],
    ),
    row(
        "SkipLayerNormalization SkipSimplifiedLayerNormalization",
        &[(Input(0), same), (F32, statistic), (F32, statistic), (Input(0), same)],
    ),
    row("EmbedLayerNormalization", &[(Input(2), embedded), (Fixed(DType::I32), batch), (Input(2), embedded)]),
    row("BiasSplitGelu", &[(Input(0), half)]),
    row("BiasDropout", &[(Input(0), same), (Fixed(DType::Bool), same)]),
    row("ComplexMul ComplexMulConj", &[(Input(0), broadcast)]),
    // Products.
    row("FusedMatMul FusedMatMulActivation TransposeMatMul", &[(Input(0), fused_matmul)]),
    row("FusedGemm", &[(Input(0), matrix::gemm::<1>)]),
    row("DynamicQuantizeMatMul GemmFastGelu", &[(Input(0), matrix::matmul::<1>)]),
    row("MatMulBnb4 MatMulNBits", &[(Input(0), packed_matmul)]),
    row("MatMulInteger16", &[(Fixed(DType::I32), matrix::matmul::<1>)]),
    row("MatMulIntegerToFloat", &[(Input(2), matrix::matmul::<1>)]),
    row("QGemm", &[(By(gemm_type), matrix::gemm::<3>)]),
    row("FusedConv", &[(Input(0), convolution::conv::<1>)]),
    row("DynamicQuantizeLSTM", &[(Input(0), matrix::sequence), (Input(0), matrix::state)]),
    // Quantised operators.
    row("DequantizeLinear", &[DEQUANTIZED]),
    row("QuantizeLinear", &[QUANTIZED]),
    row("GatherBlockQuantized", &[(Input(2), gather_blocks)]),
    row("QLinearAdd QLinearMul", &[(Input(0), quantised_broadcast)]),
    row("QLinearAveragePool", &[(Input(0), channels_first::<0>)]),
    row("QLinearConcat", &[(Input(1), quantised_concat)]),
    row("QLinearConv", &[(Input(7), channels_first::<1>)]),
    row("QLinearGlobalAveragePool", &[(Input(0), channels_first::<2>)]),
    row("QLinearReduceMean", &[(Input(0), reduction::reduce)]),
    row("QLinearWhere", &[(Input(1), quantised_where)]),
];

fn half(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = operation.dims(0)?.to_vec();
    let last = dims.last_mut()?;
    *last = last.over(Size::Known(2));
    Some(dims)
}

fn embedded(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(vec![operation.dim(0, 0), operation.dim(0, 1), operation.dim(2, 1)])
}

fn batch(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    Some(vec![operation.dim(0, 0)])
}

fn fused_matmul(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    if operation.flag("transBatchA") || operation.flag("transBatchB") {
        return None;
    }
    let operand = |i: usize, name: &str| {
        let mut dims = operation.dims(i)?.to_vec();
        if let (true, [.., rows, columns]) = (operation.flag(name), dims.as_mut_slice()) {
            std::mem::swap(rows, columns);
        }
        Some(dims)
    };
    matrix::product(operation, &operand(0, "transA")?, &operand(1, "transB")?)
}

/// The second operand is packed; attributes tell its sizes.
fn packed_matmul(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = operation.dims(0)?.to_vec();
    let last = dims.last_mut()?;
    operation.same("inner sizes of the product", *last, operation.attributes.int("K").into())?;
    *last = operation.attributes.int("N").into();
    Some(dims)
}

fn gemm_type(operation: &Operation<'_>) -> Option<DType> {
    match operation.input(8) {
        Some(zero) => zero.dtype,
        None => Some(DType::F32),
    }
}

/// Rows of packed numbers: a byte holds several.
fn gather_blocks(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = indexing::gather(operation, 0)?;
    if operation.dtype(0)? == DType::U8 {
        let last = dims.last_mut()?;
        *last = last.times((8i64.checked_div(operation.int("bits", 4))?).into());
    }
    Some(dims)
}

fn quantised_broadcast(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    operation.broadcast([0, 3])
}

fn quantised_where(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    operation.broadcast([0, 1, 4])
}

/// Scale and zero point of the result, then each part with its own.
fn quantised_concat(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let mut dims = operation.dims(2)?.to_vec();
    let axis = index(operation.int("axis", 0), dims.len())?;
    for i in (5..operation.inputs.len()).step_by(3) {
        let dim = dims.get_mut(axis)?;
        *dim = dim.plus(operation.dim(i, axis as i64));
    }
    Some(dims)
}

/// A rule for images, unless the channels come last.
fn channels_first<const RULE: usize>(operation: &Operation<'_>, output: usize) -> Option<Dims> {
    if operation.flag("channels_last") {
        return None;
    }
    match RULE {
        0 => convolution::pool(operation, output),
        1 => convolution::conv::<3>(operation, output),
        _ => reduction::without_space(operation, output),
    }
}

//! What running a node takes: multiply-adds, and bytes that it produces.

use crate::ValueType;
use crate::operation::Operation;
use crate::rules::{AttentionSizes, Einsum};
use crate::size::{Size, product};

/// Of one node, or of several. What is not known is counted, not guessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Cost {
    /// Of matrix products, convolutions, recurrent layers and attention; all else counts as none.
    pub multiply_adds: u64,
    /// Nodes that have multiply-adds, but nobody knows how many.
    pub unknown_multiply_adds: u64,
    /// Bytes of the outputs.
    pub activation_bytes: u64,
    /// Nodes with an output of unknown size.
    pub unknown_activations: u64,
}

impl Cost {
    /// A node of which nothing is known.
    pub(crate) const UNKNOWN: Cost =
        Cost { multiply_adds: 0, unknown_multiply_adds: 1, activation_bytes: 0, unknown_activations: 1 };

    pub fn plus(self, other: Cost) -> Cost {
        Cost {
            multiply_adds: self.multiply_adds.saturating_add(other.multiply_adds),
            unknown_multiply_adds: self.unknown_multiply_adds.saturating_add(other.unknown_multiply_adds),
            activation_bytes: self.activation_bytes.saturating_add(other.activation_bytes),
            unknown_activations: self.unknown_activations.saturating_add(other.unknown_activations),
        }
    }
}

/// `named` are the outputs that the node has a name for.
pub(crate) fn of_node<'v>(
    operation: &Operation<'_>,
    outputs: &[ValueType],
    named: impl Iterator<Item = &'v ValueType>,
) -> Cost {
    let multiply_adds = multiply_adds(operation, outputs.first()).and_then(|count| u64::try_from(count).ok());
    let bytes = named.map(ValueType::bytes).try_fold(0u64, |sum, bytes| sum.checked_add(bytes?));
    Cost {
        multiply_adds: multiply_adds.unwrap_or(0),
        unknown_multiply_adds: u64::from(multiply_adds.is_none()),
        activation_bytes: bytes.unwrap_or(0),
        unknown_activations: u64::from(bytes.is_none()),
    }
}

/// `None` if the node has some and their number is not known.
fn multiply_adds(operation: &Operation<'_>, output: Option<&ValueType>) -> Option<i64> {
    // All elements of the result, each of which is a sum of so many products.
    let sums_of = |products: Size| product(output?.dims.as_deref()?).times(products).known();
    let inner = |i: usize, is_transposed: bool| operation.dim(i, if is_transposed { -2 } else { -1 });
    // Everything but the first dimension of the kernels.
    let kernel = |i: usize| operation.dims(i)?.get(1..).map(product);
    let elements = |i: usize| operation.dims(i).map(product);
    match (operation.domain, operation.op_type) {
        ("" | "com.microsoft", op_type) => match op_type {
            "MatMul" | "MatMulInteger" | "QLinearMatMul" => sums_of(inner(0, false)),
            "DynamicQuantizeMatMul" | "GemmFastGelu" | "MatMulInteger16" | "MatMulIntegerToFloat" => {
                sums_of(inner(0, false))
            }
            "Gemm" | "FusedGemm" | "QGemm" | "FusedMatMul" | "FusedMatMulActivation" | "TransposeMatMul" => {
                sums_of(inner(0, operation.flag("transA")))
            }
            "MatMulNBits" | "MatMulBnb4" => sums_of(operation.attributes.int("K").into()),
            "Conv" | "ConvInteger" | "DeformConv" | "FusedConv" => sums_of(kernel(1)?),
            "CausalConvWithState" => sums_of(kernel(1)?),
            "QLinearConv" => sums_of(kernel(3)?),
            "ConvTranspose" => elements(0)?.times(kernel(1)?).known(),
            "LSTM" | "GRU" | "RNN" | "DynamicQuantizeLSTM" => {
                let steps = operation.dim(0, 0).times(operation.dim(0, 1));
                steps.times(elements(1)?.plus(elements(2)?)).known()
            }
            "Einsum" if operation.inputs.len() < 2 => Some(0),
            "Einsum" => {
                let einsum = Einsum::of(operation)?;
                let sizes = einsum.sizes.values().chain(&einsum.ellipsis).copied().collect::<Vec<_>>();
                product(&sizes).times(Size::Known(operation.inputs.len() as i64 - 1)).known()
            }
            "Attention" | "MultiHeadAttention" | "GroupQueryAttention" | "QAttention" => {
                let sizes = AttentionSizes::of(operation)?;
                let attention = [sizes.batch, sizes.heads, sizes.queries, sizes.keys];
                let products = product(&attention).times(sizes.head_size.plus(sizes.value_size));
                products.plus(sizes.projection).known()
            }
            "LinearAttention" | "SparseAttention" | "LongformerAttention" | "MoE" | "QMoE" => None,
            _ => Some(0),
        },
        // Operators of others can do anything.
        _ => None,
    }
}

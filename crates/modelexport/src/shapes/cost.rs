//! What running a node takes: multiply-adds, and bytes that it produces.

use modelexport_graph::onnx::Node;

use super::TensorType;
use super::infer::Operation;
use super::matrix::{AttentionSizes, Einsum};

/// Of one node, or of several. What is not known is counted, not guessed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Cost {
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

    pub(crate) fn plus(self, other: Cost) -> Cost {
        Cost {
            multiply_adds: self.multiply_adds.saturating_add(other.multiply_adds),
            unknown_multiply_adds: self.unknown_multiply_adds.saturating_add(other.unknown_multiply_adds),
            activation_bytes: self.activation_bytes.saturating_add(other.activation_bytes),
            unknown_activations: self.unknown_activations.saturating_add(other.unknown_activations),
        }
    }
}

pub(super) fn of_node(node: &Node, inputs: &[Option<TensorType>], outputs: &[TensorType]) -> Cost {
    let multiply_adds = multiply_adds(&Operation { node, inputs }, outputs);
    let used = node.outputs.iter().zip(outputs).filter(|(name, _)| !name.is_empty());
    let bytes = used.map(|(_, output)| output.bytes()).try_fold(0u64, |sum, bytes| sum.checked_add(bytes?));
    Cost {
        multiply_adds: multiply_adds.unwrap_or(0),
        unknown_multiply_adds: u64::from(multiply_adds.is_none()),
        activation_bytes: bytes.unwrap_or(0),
        unknown_activations: u64::from(bytes.is_none()),
    }
}

/// `None` if the node has some and their number is not known.
fn multiply_adds(operation: &Operation<'_>, outputs: &[TensorType]) -> Option<u64> {
    let produced = || outputs.first()?.elements();
    let inner = |i: usize| operation.input(i)?.dim(-1);
    match (&*operation.node.domain, &*operation.node.op_type) {
        ("" | "ai.onnx", op_type) => match op_type {
            "MatMul" | "MatMulInteger" | "QLinearMatMul" => produced()?.checked_mul(inner(0)?),
            "Gemm" => {
                let axis = if operation.int("transA").unwrap_or(0) != 0 { 0 } else { 1 };
                produced()?.checked_mul(operation.input(0)?.dim(axis)?)
            }
            "Conv" | "ConvInteger" | "DeformConv" => produced()?.checked_mul(kernel(operation.input(1)?)?),
            "QLinearConv" => produced()?.checked_mul(kernel(operation.input(3)?)?),
            "ConvTranspose" => operation.input(0)?.elements()?.checked_mul(kernel(operation.input(1)?)?),
            "LSTM" | "GRU" | "RNN" => {
                let steps = operation.input(0)?.dim(0)?.checked_mul(operation.input(0)?.dim(1)?)?;
                let weights = operation.input(1)?.elements()?.checked_add(operation.input(2)?.elements()?)?;
                steps.checked_mul(weights)
            }
            "Einsum" if operation.inputs.len() < 2 => Some(0),
            "Einsum" => {
                let sizes = Einsum::of(operation)?.sizes;
                let product = sizes.values().try_fold(1u64, |product, size| product.checked_mul((*size)?))?;
                product.checked_mul(operation.inputs.len() as u64 - 1)
            }
            "Attention" => {
                let sizes = AttentionSizes::of(operation)?;
                [sizes.heads, sizes.queries, sizes.keys, sizes.head_size.checked_add(sizes.value_size)?]
                    .iter()
                    .try_fold(sizes.batch, |product, &size| product.checked_mul(size))
            }
            _ => Some(0),
        },
        ("com.microsoft", "FusedMatMul" | "MatMulNBits") => produced()?.checked_mul(inner(0)?),
        // Operators of others can do anything.
        _ => None,
    }
}

/// Multiply-adds for one element of the result: everything but the first dimension of the kernels.
fn kernel(weight: &TensorType) -> Option<u64> {
    weight.sizes()?.iter().skip(1).try_fold(1u64, |product, &size| product.checked_mul(size))
}

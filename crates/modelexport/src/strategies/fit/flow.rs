//! How data flows through an ONNX graph: what depends on no input, and where constants meet data.

use super::super::graph::{GraphView, NodeId, ValueId, ValueKind};

/// Operators that give a constant in another layout or type.
const MOVES: &[&str] = &[
    "Cast",
    "DequantizeLinear",
    "Expand",
    "Flatten",
    "Identity",
    "QuantizeLinear",
    "Reshape",
    "Slice",
    "Split",
    "Squeeze",
    "Transpose",
    "Unsqueeze",
];

/// Operators whose result differs from run to run.
const RANDOM: &[&str] =
    &["RandomNormal", "RandomUniform", "RandomNormalLike", "RandomUniformLike", "Bernoulli", "Multinomial"];

/// How many moves are followed.
const MAX_MOVES: usize = 6;

/// By node: whether it depends on no input of the model.
#[derive(Debug)]
pub(super) struct Flow {
    fixed: Vec<bool>,
}

impl Flow {
    pub(super) fn new(graph: &GraphView) -> Self {
        let mut flow = Flow { fixed: Vec::with_capacity(graph.len()) };
        for (id, entry) in graph.nodes() {
            let is_inner = entry.holder().is_some() || entry.function().is_some();
            let is_fixed = !is_inner
                && !RANDOM.contains(&graph.text(entry.op_type))
                && graph.inputs(id).all(|value| flow.is_constant(graph, value));
            flow.fixed.push(is_fixed);
        }
        flow
    }

    pub(super) fn is_fixed(&self, node: NodeId) -> bool {
        self.fixed.get(node.0 as usize).copied().unwrap_or(false)
    }

    /// Whether a node gives a constant in another layout or type.
    pub(super) fn is_move(&self, graph: &GraphView, node: NodeId) -> bool {
        MOVES.contains(&graph.operator(node))
    }

    fn is_constant(&self, graph: &GraphView, value: ValueId) -> bool {
        match graph.value(value).map(|value| value.kind) {
            Some(ValueKind::Initializer(_)) => true,
            Some(ValueKind::Result(node)) => self.is_fixed(node),
            _ => false,
        }
    }

    /// The nodes that read a constant together with data, through nodes that only move it, and at which input.
    pub(super) fn readers(&self, graph: &GraphView, value: ValueId) -> Vec<(NodeId, usize)> {
        let mut found = Vec::new();
        let mut front = vec![value];
        for _ in 0..MAX_MOVES {
            let mut next = Vec::new();
            for value in front {
                for &node in graph.readers(value) {
                    let operator = graph.operator(node);
                    let slot = graph.input_slots(node).position(|slot| slot == Some(value));
                    if self.is_fixed(node) || operator == "DequantizeLinear" {
                        if slot == Some(0) && MOVES.contains(&operator) {
                            next.extend_from_slice(graph.outputs(node));
                        }
                        continue;
                    }
                    found.extend(slot.map(|slot| (node, slot)));
                }
            }
            front = next;
        }
        found
    }
}

/// What data does with a constant.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Uses {
    /// Data is multiplied by it.
    pub product: bool,
    /// Data is looked up in it.
    pub lookup: bool,
}

impl Uses {
    /// Notes that an operator reads the constant at this place.
    pub(super) fn add(&mut self, operator: &str, slot: usize) {
        match operator {
            "MatMul" | "Gemm" | "FusedMatMul" | "FusedGemm" | "MatMulInteger" | "TransposeMatMul"
            | "Einsum" => {
                self.product |= slot < 2;
            }
            "Conv"
            | "ConvTranspose"
            | "ConvInteger"
            | "FusedConv"
            | "NhwcFusedConv"
            | "DynamicQuantizeMatMul"
            | "MatMulIntegerToFloat"
            | "MatMulNBits"
            | "Attention"
            | "QAttention" => self.product |= slot == 1,
            "QLinearMatMul" | "QLinearConv" | "QGemm" => self.product |= slot == 3,
            "LSTM" | "GRU" | "RNN" | "DynamicQuantizeLSTM" => self.product |= slot == 1 || slot == 2,
            "Gather" | "GatherND" => self.lookup |= slot == 0,
            "EmbedLayerNormalization" => self.lookup |= (2..5).contains(&slot),
            _ => {}
        }
    }

    pub(super) fn merge(&mut self, other: Uses) {
        self.product |= other.product;
        self.lookup |= other.lookup;
    }

    /// It is a weight, not a number that an exporter computed.
    pub(super) fn is_weight(self) -> bool {
        self.product || self.lookup
    }
}

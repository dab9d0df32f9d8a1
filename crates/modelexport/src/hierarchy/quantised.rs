//! What operators reveal about quantized initializers: scales and zero points are not parameters, and packed weights have
//! more elements than their shape says.

use std::collections::{HashMap, HashSet};

use modelexport_graph::Name;
use modelexport_graph::onnx::{AttributeValue, Node};

/// Names of values, gathered node by node in the order of the graph.
#[derive(Default)]
pub(crate) struct Quantised {
    /// What is read as a scale, zero point or order of groups.
    scales: HashSet<Name>,
    /// Scales that are computed from activations.
    computed: HashSet<Name>,
    /// Weights of which several elements lie in one, with the number of elements that they stand for.
    packed: HashMap<Name, u64>,
}

impl Quantised {
    /// Takes in what a node and those inside it tell.
    pub(crate) fn note(&mut self, node: &Node) {
        self.note_one(node);
        for graph in node.subgraphs() {
            graph.for_each_node(&mut |inner| self.note_one(inner));
        }
    }

    fn note_one(&mut self, node: &Node) {
        match &*node.op_type {
            "DynamicQuantizeLinear" => self.computed.extend(node.outputs.get(1).cloned()),
            // The product of two quantised tensors is scaled by the product of their scales.
            "Mul" if node.inputs.iter().any(|input| self.computed.contains(input)) => {
                self.scales.extend(node.inputs.iter().cloned());
            }
            "MatMulNBits" => {
                if let (Some(weight), Some(rows), Some(columns)) =
                    (node.inputs.get(1), number(node, "K"), number(node, "N"))
                {
                    self.packed.insert(weight.clone(), rows.saturating_mul(columns));
                }
            }
            _ => {}
        }
        let scales = scales(&node.op_type).iter();
        self.scales.extend(scales.filter_map(|at| node.inputs.get(*at)).cloned());
    }

    pub(crate) fn is_scale(&self, name: &Name) -> bool {
        self.scales.contains(name)
    }

    /// The elements that a packed weight stands for; `None` for all others.
    pub(crate) fn elements(&self, name: &Name) -> Option<u64> {
        self.packed.get(name).copied()
    }
}

fn number(node: &Node, attribute: &str) -> Option<u64> {
    let found = node.attributes.iter().find(|found| &*found.name == attribute)?;
    match found.value {
        AttributeValue::Int(number) => u64::try_from(number).ok(),
        _ => None,
    }
}

/// Which inputs of an operator say how others are quantised. Nobody else uses the names of onnxruntime's operators.
fn scales(operator: &str) -> &'static [usize] {
    match operator {
        "QuantizeLinear" | "DequantizeLinear" => &[1, 2],
        "MatMulInteger" | "ConvInteger" | "DynamicQuantizeMatMul" | "GatherBlockQuantized" => &[2, 3],
        "MatMulNBits" => &[2, 3, 4],
        "MatMulIntegerToFloat" => &[2, 3, 4, 5],
        "QAttention" => &[3, 4, 6, 7],
        "QLinearMatMul" | "QLinearConv" | "QLinearAdd" | "QLinearMul" => &[1, 2, 4, 5, 6, 7],
        "QGemm" => &[1, 2, 4, 5, 7, 8],
        "DynamicQuantizeLSTM" => &[8, 9, 10, 11],
        _ => &[],
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::Attribute;

    use super::*;

    /// Operator, inputs, outputs and attributes.
    type Given<'a> = (&'a str, &'a [&'a str], &'a [&'a str], &'a [(&'a str, i64)]);

    fn noted(nodes: &[Given<'_>]) -> Quantised {
        let mut quantised = Quantised::default();
        for (operator, inputs, outputs, attributes) in nodes {
            let attribute = |(name, number): &(&str, i64)| Attribute {
                name: (*name).into(),
                value: AttributeValue::Int(*number),
                ..Attribute::default()
            };
            quantised.note(&Node {
                op_type: (*operator).into(),
                inputs: inputs.iter().map(|name| (*name).into()).collect(),
                outputs: outputs.iter().map(|name| (*name).into()).collect(),
                attributes: attributes.iter().map(attribute).collect(),
                ..Node::default()
            });
        }
        quantised
    }

    #[test]
    fn scales_are_known_by_who_reads_them() {
        // What onnxruntime's quantize_dynamic makes of a matrix product.
        let quantised = noted(&[
            ("DynamicQuantizeLinear", &["x"], &["x_q", "x_scale", "x_zero"], &[]),
            ("MatMulInteger", &["x_q", "w_q", "x_zero", "w_zero"], &["sums"], &[]),
            ("Mul", &["x_scale", "w_scale"], &["scale"], &[]),
            ("Mul", &["y", "factor"], &["z"], &[]),
        ]);
        let is_scale = |name: &str| quantised.is_scale(&name.into());
        assert_eq!(["w_q", "w_scale", "w_zero", "factor"].map(is_scale), [false, true, true, false]);
    }

    #[test]
    fn packed_weights_have_the_elements_that_they_stand_for() {
        let inputs = ["x", "w_q4", "w_scales", "w_zeros"];
        let quantised = noted(&[("MatMulNBits", &inputs, &["y"], &[("K", 64), ("N", 10)])]);
        assert_eq!(quantised.elements(&"w_q4".into()), Some(640));
        assert_eq!(quantised.elements(&"w_scales".into()), None);
        assert!(quantised.is_scale(&"w_scales".into()) && quantised.is_scale(&"w_zeros".into()));
    }
}

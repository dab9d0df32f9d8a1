//! Keeps onnxruntime from merging a `Pad` by zeros into the `MaxPool` behind it: the padding of a `MaxPool` is minus
//! infinity, so that negative maxima at the border would be lost. Makes no nodes; a `Pad` is written in another way:
//! with its axes from opset 18 on, before that with the smallest positive number instead of 0.

use std::collections::HashSet;

use half::{bf16, f16};
use modelexport_graph::DType;

use super::pads::is_pad_by_zeros;
use crate::ir::{Graph, Ir, Node, ValueId};
use crate::literal::{Literal, Number};

/// True if a node was changed.
pub fn run(ir: &mut Ir, opset: i64) -> bool {
    let mut pooled = HashSet::new();
    collect(&ir.graph, &mut pooled);
    if pooled.is_empty() {
        return false;
    }
    let mut graph = std::mem::take(&mut ir.graph);
    let changed = rewrite(&mut graph, ir, &pooled, opset);
    ir.graph = graph;
    changed
}

/// What `MaxPool` nodes read.
fn collect(graph: &Graph, pooled: &mut HashSet<ValueId>) {
    for node in &graph.nodes {
        if node.op == "MaxPool" {
            pooled.extend(node.inputs.first().copied().flatten());
        }
        node.subgraphs().for_each(|subgraph| collect(subgraph, pooled));
    }
}

fn rewrite(graph: &mut Graph, ir: &mut Ir, pooled: &HashSet<ValueId>, opset: i64) -> bool {
    let mut changed = false;
    for node in &mut graph.nodes {
        for subgraph in node.subgraphs_mut() {
            changed |= rewrite(subgraph, ir, pooled, opset);
        }
        if node.outputs.iter().any(|output| pooled.contains(output)) && pads_by_zeros(node, ir) {
            changed |= rewrite_pad(node, ir, opset);
        }
    }
    changed
}

fn pads_by_zeros(node: &Node, ir: &Ir) -> bool {
    is_pad_by_zeros(node, ir) && node.inputs.len() < 4
}

fn rewrite_pad(node: &mut Node, ir: &mut Ir, opset: i64) -> bool {
    let Some(x) = node.inputs.first().copied().flatten() else { return false };
    let added = if opset >= 18 {
        let Some(rank) = ir.shape(x).map(<[_]>::len) else { return false };
        let axes: Vec<i64> = (0..rank as i64).collect();
        (3, Literal::ints(&axes))
    } else {
        let smallest = match ir.dtype(x) {
            Some(DType::F16) => f64::from(f16::MIN_POSITIVE_SUBNORMAL),
            Some(DType::BF16) => f64::from(bf16::MIN_POSITIVE_SUBNORMAL),
            Some(DType::F32) => f64::from(f32::from_bits(1)),
            Some(DType::F64) => f64::from_bits(1),
            _ => return false,
        };
        let dtype = ir.dtype(x).unwrap_or(DType::F32);
        let Some(literal) = Literal::scalar(dtype, Number::Float(smallest)) else { return false };
        (2, literal)
    };
    let (place, literal) = added;
    let value = ir.add_literal(literal);
    node.inputs.truncate(place);
    node.inputs.resize(place, None);
    node.inputs.push(Some(value));
    true
}

#[cfg(test)]
mod tests {
    use modelexport_graph::Dim;

    use super::*;
    use crate::attrs;
    use crate::builder::Builder;

    fn padded(opset: i64, next: &'static str) -> Ir {
        let mut builder = Builder::new(opset);
        let x = builder.new_value();
        builder.set_dtype(x, DType::F32);
        builder.set_shape(x, vec![Dim::Static(1), Dim::Static(2), Dim::Static(5)]);
        let pads = builder.const_ints(&[0, 0, 1, 0, 0, 1]);
        let padded = builder.emit("Pad", &[x, pads], vec![]);
        let y = builder.emit(next, &[padded], attrs![kernel_shape = vec![3]]);
        builder.into_ir(vec![x], vec![y])
    }

    #[test]
    fn a_pad_before_a_max_pool_is_told_its_axes() {
        let mut ir = padded(18, "MaxPool");
        assert!(run(&mut ir, 18));
        let inputs = ir.graph.nodes[0].inputs.clone();
        assert_eq!(inputs.len(), 4);
        assert_eq!(inputs[2], None);
        let axes = inputs[3].and_then(|axes| ir.literal(axes)).and_then(Literal::as_ints);
        assert_eq!(axes, Some(vec![0, 1, 2]));
        assert!(!run(&mut ir, 18));
    }

    #[test]
    fn before_opset_18_it_pads_by_the_smallest_number() {
        let mut ir = padded(17, "MaxPool");
        assert!(run(&mut ir, 17));
        let value = ir.graph.nodes[0].inputs[2].and_then(|value| ir.literal(value)).cloned();
        assert_eq!(value.map(|literal| literal.bytes), Some(vec![1, 0, 0, 0]));
    }

    #[test]
    fn other_pads_stay() {
        assert!(!run(&mut padded(18, "AveragePool"), 18));
    }
}

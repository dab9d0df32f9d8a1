//! Omits weights: they become inputs of the model.
//!
//! The file stays valid for checkers and runtimes, keeps types and shapes, and can be run by passing the weights by name.

use std::collections::HashSet;

use modelexport_graph::Name;
use modelexport_graph::onnx::{
    Dimension, DimensionValue, Graph, Model, Tensor, TensorData, Type, TypeKind, ValueInfo,
};

use super::placing::length;
use super::{Counts, INLINE_BELOW};

/// Takes the stored weights out of the model's graph and of the graphs inside its nodes. Graphs inside functions keep
/// theirs, as a function sees no inputs of the model.
pub(super) fn omit(model: &mut Model, counts: &mut Counts) {
    let mut taken: HashSet<Name> = model.graph.inputs.iter().map(|input| input.name.clone()).collect();
    let mut inputs = Vec::new();
    let mut count = 0;
    take_out(&mut model.graph, &mut |tensor| {
        count += 1;
        if taken.insert(tensor.name.clone()) {
            inputs.push(input_for(tensor));
        }
        true
    });
    model.graph.for_each_node_mut(&mut |node| {
        for graph in node.subgraphs_mut() {
            take_out(graph, &mut |tensor| {
                // Sibling graphs may use one name for different weights; the first can move out, the others stay.
                let is_new = taken.insert(tensor.name.clone());
                if is_new {
                    count += 1;
                    inputs.push(input_for(tensor));
                }
                is_new
            });
        }
    });
    counts.omitted += count;
    model.graph.inputs.extend(inputs);
}

/// Removes the weights that `take` takes. A weight that has no data anywhere cannot stay, however small it is.
fn take_out(graph: &mut Graph, take: &mut dyn FnMut(&Tensor) -> bool) {
    graph.initializers.retain(|tensor| {
        let is_weight = matches!(tensor.data, TensorData::Stored(_));
        let is_large = length(tensor).is_ok_and(|length| length >= INLINE_BELOW);
        !(((is_weight && is_large) || tensor.lacks_data()) && take(tensor))
    });
}

fn input_for(tensor: &Tensor) -> ValueInfo {
    let dimension = |&dim: &i64| Dimension { value: DimensionValue::Static(dim), ..Dimension::default() };
    let shape = Some(tensor.dims.iter().map(dimension).collect());
    let kind = TypeKind::Tensor { elem_type: tensor.data_type, shape };
    ValueInfo {
        name: tensor.name.clone(),
        value_type: Some(Type { kind, ..Type::default() }.into()),
        ..ValueInfo::default()
    }
}

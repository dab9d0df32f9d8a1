//! Sizes of tensors.

use std::collections::BTreeSet;

use modelexport_graph::onnx::{AttributeValue, Graph, Model, Tensor, TensorData};
use modelexport_io::external_data::Entry;

/// Elements of a tensor; 0 if its dimensions are impossible.
pub(crate) fn elements(tensor: &Tensor) -> u64 {
    let size = |product: u64, &dim: &i64| product.checked_mul(u64::try_from(dim).ok()?);
    if tensor.dims.contains(&0) { 0 } else { tensor.dims.iter().try_fold(1, size).unwrap_or(0) }
}

/// Bytes that a tensor's elements take; 0 for strings and types that are not known.
pub(crate) fn bytes(tensor: &Tensor) -> u64 {
    tensor.dtype().and_then(|dtype| dtype.byte_len(elements(tensor))).unwrap_or(0)
}

/// Calls `visit` for every tensor of the model: initializers and attributes, those of subgraphs and functions too. Sparse
/// tensors are left out.
pub(crate) fn for_each<'a>(model: &'a Model, visit: &mut dyn FnMut(&'a Tensor)) {
    model.graph.initializers.iter().for_each(&mut *visit);
    model.for_each_node(&mut |node| {
        node.subgraphs().for_each(|graph: &Graph| graph.initializers.iter().for_each(&mut *visit));
        for attribute in &node.attributes {
            match &attribute.value {
                AttributeValue::Tensor(tensor) => visit(tensor),
                AttributeValue::Tensors(tensors) => tensors.iter().for_each(&mut *visit),
                _ => {}
            }
        }
    });
}

/// The files that tensors of the model lie in, each once.
pub(crate) fn external_locations(model: &Model) -> Vec<String> {
    let mut locations = BTreeSet::new();
    for_each(model, &mut |tensor| {
        if let TensorData::External(entries) = &tensor.data
            && let Ok(entry) = Entry::parse(entries)
        {
            locations.insert(entry.location);
        }
    });
    locations.into_iter().collect()
}

//! Sizes of tensors.

use std::collections::BTreeSet;

use modelexport_graph::onnx::{
    Attribute, AttributeValue, Function, Graph, Model, Node, SparseTensor, Tensor, TensorData,
};
use modelexport_io::external_data::Entry;

use crate::validate::place_of;

/// Elements of a tensor; 0 if its dimensions are impossible.
pub(crate) fn elements(tensor: &Tensor) -> u64 {
    let size = |product: u64, &dim: &i64| product.checked_mul(u64::try_from(dim).ok()?);
    if tensor.dims.contains(&0) { 0 } else { tensor.dims.iter().try_fold(1, size).unwrap_or(0) }
}

/// Bytes that a tensor's elements take; 0 for strings and types that are not known.
pub(crate) fn bytes(tensor: &Tensor) -> u64 {
    tensor.dtype().and_then(|dtype| dtype.byte_len(elements(tensor))).unwrap_or(0)
}

/// What holds a tensor.
#[derive(Clone, Copy)]
pub(crate) enum Holder<'a> {
    /// It is a weight of a graph.
    Graph,
    Node(&'a Node, &'a Attribute),
    /// It is the default of an attribute.
    Function(&'a Function, &'a Attribute),
}

impl Holder<'_> {
    /// Where to look for `tensor`, which it holds. Tensors of attributes seldom have names.
    pub(crate) fn place_of(&self, tensor: &Tensor) -> String {
        match self {
            Holder::Graph => format!("weight {}", tensor.name),
            Holder::Node(node, attribute) => format!("attribute {} of {}", attribute.name, place_of(node)),
            Holder::Function(function, attribute) => {
                format!("attribute {} of function {}", attribute.name, function.name)
            }
        }
    }
}

/// Calls `visit` for every tensor of the model with what holds it: initializers and attributes, those of subgraphs and
/// functions and the parts of sparse tensors too.
pub(crate) fn for_each<'a>(model: &'a Model, visit: &mut dyn FnMut(Holder<'a>, &'a Tensor)) {
    of_graph(&model.graph, visit);
    model.for_each_node(&mut |node| {
        node.subgraphs().for_each(|graph| of_graph(graph, visit));
        for attribute in &node.attributes {
            of_value(&attribute.value, &mut |tensor| visit(Holder::Node(node, attribute), tensor));
        }
    });
    for function in &model.functions {
        for attribute in &function.attribute_defaults {
            of_value(&attribute.value, &mut |tensor| visit(Holder::Function(function, attribute), tensor));
        }
    }
}

fn of_graph<'a>(graph: &'a Graph, visit: &mut dyn FnMut(Holder<'a>, &'a Tensor)) {
    graph.initializers.iter().for_each(|tensor| visit(Holder::Graph, tensor));
    let sparse = graph.sparse_initializers.iter();
    sparse.for_each(|sparse| of_sparse(sparse, &mut |tensor| visit(Holder::Graph, tensor)));
}

/// Graphs are left to the walk over the nodes.
fn of_value<'a>(value: &'a AttributeValue, visit: &mut dyn FnMut(&'a Tensor)) {
    match value {
        AttributeValue::Tensor(tensor) => visit(tensor),
        AttributeValue::Tensors(tensors) => tensors.iter().for_each(visit),
        AttributeValue::SparseTensor(sparse) => of_sparse(sparse, visit),
        AttributeValue::SparseTensors(all) => all.iter().for_each(|sparse| of_sparse(sparse, visit)),
        _ => {}
    }
}

fn of_sparse<'a>(sparse: &'a SparseTensor, visit: &mut dyn FnMut(&'a Tensor)) {
    sparse.values.iter().chain(&sparse.indices).for_each(visit);
}

/// The files that tensors of the model lie in, each once.
pub(crate) fn external_locations(model: &Model) -> Vec<String> {
    let mut locations = BTreeSet::new();
    for_each(model, &mut |_, tensor| {
        if let TensorData::External(entries) = &tensor.data
            && let Ok(entry) = Entry::parse(entries)
        {
            locations.insert(entry.location);
        }
    });
    locations.into_iter().collect()
}

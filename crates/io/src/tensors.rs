//! Visiting the tensors of an ONNX model.

use modelexport_graph::onnx::{AttributeValue, Graph, Model, Node, SparseTensor, Tensor};

/// Calls `visit` for every initializer, those of graphs inside nodes included.
pub(crate) fn for_each_initializer_mut(model: &mut Model, visit: &mut dyn FnMut(&mut Tensor)) {
    model.graph.initializers.iter_mut().for_each(&mut *visit);
    model.for_each_node_mut(&mut |node| {
        node.subgraphs_mut().for_each(|graph| graph.initializers.iter_mut().for_each(&mut *visit));
    });
}

/// Calls `visit` for every tensor: initializers, attributes and the parts of sparse tensors.
pub(crate) fn for_each_tensor_mut(model: &mut Model, visit: &mut dyn FnMut(&mut Tensor)) {
    of_graph(&mut model.graph, visit);
    model.for_each_node_mut(&mut |node| {
        node.subgraphs_mut().for_each(|graph| of_graph(graph, visit));
        of_attributes(node, visit);
    });
    for function in &mut model.functions {
        for attribute in &mut function.attribute_defaults {
            of_value(&mut attribute.value, visit);
        }
    }
}

fn of_graph(graph: &mut Graph, visit: &mut dyn FnMut(&mut Tensor)) {
    graph.initializers.iter_mut().for_each(&mut *visit);
    graph.sparse_initializers.iter_mut().for_each(|sparse| of_sparse(sparse, visit));
}

fn of_attributes(node: &mut Node, visit: &mut dyn FnMut(&mut Tensor)) {
    for attribute in &mut node.attributes {
        of_value(&mut attribute.value, visit);
    }
}

/// Graphs are left to the walk over the nodes.
fn of_value(value: &mut AttributeValue, visit: &mut dyn FnMut(&mut Tensor)) {
    match value {
        AttributeValue::Tensor(tensor) => visit(tensor),
        AttributeValue::Tensors(tensors) => tensors.iter_mut().for_each(visit),
        AttributeValue::SparseTensor(sparse) => of_sparse(sparse, visit),
        AttributeValue::SparseTensors(all) => all.iter_mut().for_each(|sparse| of_sparse(sparse, visit)),
        _ => {}
    }
}

fn of_sparse(sparse: &mut SparseTensor, visit: &mut dyn FnMut(&mut Tensor)) {
    sparse.values.iter_mut().chain(&mut sparse.indices).for_each(visit);
}

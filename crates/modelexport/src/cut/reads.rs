//! The values that a node reads, including those that graphs inside it read.

use std::collections::HashSet;

use modelexport_graph::Name;
use modelexport_graph::onnx::{Graph, Node, SparseTensor};

/// Calls `visit` for every value that `node` reads from the graph that it stands in, as often as it is read: its
/// inputs, then what graphs inside it take from outside. Inputs that are left out are not values.
pub(crate) fn for_each_read<'a>(node: &'a Node, visit: &mut dyn FnMut(&'a Name)) {
    node.inputs.iter().filter(|name| !name.is_empty()).for_each(&mut *visit);
    for graph in node.subgraphs() {
        for_each_capture(graph, visit);
    }
}

/// Calls `visit` for every value that a graph inside a node takes from outside.
fn for_each_capture<'a>(graph: &'a Graph, visit: &mut dyn FnMut(&'a Name)) {
    let inside: HashSet<&Name> = defined_names(graph).collect();
    let mut visit_if_outside = |name: &'a Name| {
        if !inside.contains(name) {
            visit(name);
        }
    };
    for node in &graph.nodes {
        for_each_read(node, &mut visit_if_outside);
    }
    for output in &graph.outputs {
        if !output.name.is_empty() {
            visit_if_outside(&output.name);
        }
    }
}

/// The names of all values that a graph itself makes: inputs, weights, outputs of its nodes.
pub(crate) fn defined_names(graph: &Graph) -> impl Iterator<Item = &Name> {
    let inputs = graph.inputs.iter().map(|input| &input.name);
    let weights = graph.initializers.iter().map(|tensor| &tensor.name);
    let sparse = graph.sparse_initializers.iter().filter_map(sparse_name);
    let made = graph.nodes.iter().flat_map(|node| &node.outputs).filter(|name| !name.is_empty());
    inputs.chain(weights).chain(sparse).chain(made)
}

/// A sparse weight has the name of its values.
pub(crate) fn sparse_name(tensor: &SparseTensor) -> Option<&Name> {
    tensor.values.as_ref().map(|values| &values.name)
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::{Attribute, AttributeValue, ValueInfo};

    use super::*;

    fn node(inputs: &[&str], outputs: &[&str]) -> Node {
        let names = |list: &[&str]| list.iter().map(|name| Name::from(*name)).collect();
        Node { inputs: names(inputs), outputs: names(outputs), ..Node::default() }
    }

    fn info(name: &str) -> ValueInfo {
        ValueInfo { name: name.into(), ..ValueInfo::default() }
    }

    fn holding(mut holder: Node, graph: Graph) -> Node {
        let value = AttributeValue::Graph(Box::new(graph));
        holder.attributes.push(Attribute { name: "body".into(), value, ..Attribute::default() });
        holder
    }

    #[test]
    fn captures_at_any_depth_are_reads_and_own_values_are_not() {
        let innermost = Graph {
            nodes: vec![node(&["local", "outer", "deep"], &["result"])],
            outputs: vec![info("result")],
            ..Graph::default()
        };
        let body = Graph {
            inputs: vec![info("local")],
            nodes: vec![node(&["local", "x"], &["deep"]), holding(node(&["deep", ""], &["end"]), innermost)],
            outputs: vec![info("end"), info("passed")],
            ..Graph::default()
        };
        let holder = holding(node(&["condition"], &["y"]), body);
        let mut reads = Vec::new();
        for_each_read(&holder, &mut |name| reads.push(&**name));
        assert_eq!(reads, ["condition", "x", "outer", "passed"]);
    }
}

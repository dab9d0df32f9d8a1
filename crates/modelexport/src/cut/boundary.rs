//! The values that cross the boundary of a part of a graph.

use std::collections::HashSet;

use modelexport_graph::Name;
use modelexport_graph::onnx::Graph;

use super::reads::for_each_read;

/// Values that cross the border of some nodes of a graph.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Boundary {
    /// Values that the nodes read and that are made elsewhere, weights among them, by first use.
    pub inputs: Vec<Name>,
    /// Values that the nodes make and that others read or that the graph gives out, in the order in which they are
    /// made.
    pub outputs: Vec<Name>,
}

/// The border of the nodes for which `is_inside` (by position) is true.
pub(crate) fn boundary(graph: &Graph, is_inside: &[bool]) -> Boundary {
    let inside = |i: usize| is_inside.get(i).copied().unwrap_or(false);
    let mut made: HashSet<&Name> = HashSet::new();
    for (i, node) in graph.nodes.iter().enumerate() {
        if inside(i) {
            made.extend(&node.outputs);
        }
    }
    let mut read_outside: HashSet<&Name> = graph.outputs.iter().map(|output| &output.name).collect();
    let mut seen: HashSet<&Name> = HashSet::new();
    let mut result = Boundary::default();
    for (i, node) in graph.nodes.iter().enumerate() {
        for_each_read(node, &mut |name| {
            if !inside(i) {
                read_outside.insert(name);
            } else if !made.contains(name) && seen.insert(name) {
                result.inputs.push(name.clone());
            }
        });
    }
    for (_, node) in graph.nodes.iter().enumerate().filter(|(i, _)| inside(*i)) {
        let crossing = node.outputs.iter().filter(|name| !name.is_empty() && read_outside.contains(name));
        result.outputs.extend(crossing.cloned());
    }
    result
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::{Node, ValueInfo};

    use super::*;

    #[test]
    fn what_is_read_and_what_others_read_crosses_the_border() {
        let names = |list: &[&str]| -> Vec<Name> { list.iter().map(|name| Name::from(*name)).collect() };
        let node = |inputs: &[&str], outputs: &[&str]| Node {
            inputs: names(inputs),
            outputs: names(outputs),
            ..Node::default()
        };
        let graph = Graph {
            nodes: vec![
                node(&["x"], &["a"]),
                node(&["a", "w", "a"], &["b", ""]),
                node(&["b", "x"], &["c", "unread"]),
                node(&["c"], &["y"]),
            ],
            outputs: vec![ValueInfo { name: "b".into(), ..ValueInfo::default() }],
            ..Graph::default()
        };
        let found = boundary(&graph, &[false, true, true, false]);
        assert_eq!(found, Boundary { inputs: names(&["a", "w", "x"]), outputs: names(&["b", "c"]) });
    }
}

//! The functions that a graph calls.

use std::collections::HashMap;

use modelexport_graph::Name;
use modelexport_graph::onnx::{Function, Graph, Node};

/// By position: whether `graph` calls the function, itself or through others.
pub(crate) fn called_functions(graph: &Graph, functions: &[Function]) -> Vec<bool> {
    let mut known: HashMap<(&Name, &Name, &Name), usize> = HashMap::new();
    for (at, function) in functions.iter().enumerate() {
        known.insert((&function.domain, &function.name, &function.overload), at);
    }
    let mut is_called = vec![false; functions.len()];
    let mut open: Vec<usize> = Vec::new();
    let mut call = |node: &Node, open: &mut Vec<usize>| {
        if let Some(&at) = known.get(&(&node.domain, &node.op_type, &node.overload))
            && let Some(called) = is_called.get_mut(at).filter(|called| !**called)
        {
            *called = true;
            open.push(at);
        }
    };
    graph.for_each_node(&mut |node| call(node, &mut open));
    while let Some(function) = open.pop().and_then(|at| functions.get(at)) {
        function.for_each_node(&mut |node| call(node, &mut open));
    }
    is_called
}

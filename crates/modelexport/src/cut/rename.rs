//! Renames values, also inside the graphs of nodes.

use modelexport_graph::Name;
use modelexport_graph::onnx::{Graph, Node};

/// Renames values in `nodes` and in all graphs inside them: `new_name` gives the new name of a value, or `None` for one
/// that keeps its own.
///
/// ONNX does not let an inner graph use the name of an outer value for another one, so that a name means the same
/// everywhere inside.
pub(crate) fn rename_values(nodes: &mut [Node], new_name: &dyn Fn(&Name) -> Option<Name>) {
    let rename = |name: &mut Name| {
        if let Some(new) = new_name(name) {
            *name = new;
        }
    };
    for node in nodes {
        node.inputs.iter_mut().chain(&mut node.outputs).filter(|name| !name.is_empty()).for_each(rename);
        for graph in node.subgraphs_mut() {
            rename_in_graph(graph, new_name);
        }
    }
}

fn rename_in_graph(graph: &mut Graph, new_name: &dyn Fn(&Name) -> Option<Name>) {
    let infos = graph.inputs.iter_mut().chain(&mut graph.outputs).chain(&mut graph.value_infos);
    let tensors = graph.initializers.iter_mut();
    let sparse = graph.sparse_initializers.iter_mut().filter_map(|tensor| tensor.values.as_mut());
    let names = infos.map(|info| &mut info.name).chain(tensors.chain(sparse).map(|tensor| &mut tensor.name));
    for name in names {
        if let Some(new) = new_name(name) {
            *name = new;
        }
    }
    rename_values(&mut graph.nodes, new_name);
}

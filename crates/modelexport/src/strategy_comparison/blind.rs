//! A model without any information about the modules of its nodes.

use std::collections::{HashMap, HashSet};

use modelexport_graph::Name;
use modelexport_graph::onnx::{Graph, Model, Node};

/// A copy without metadata, texts, node names, and names of values inside the graph. Inputs, outputs and initializers
/// of the main graph keep theirs.
pub fn blind(model: &Model) -> Model {
    let mut model = model.clone();
    let graph = &model.graph;
    let borders = graph.inputs.iter().chain(&graph.outputs).map(|value| value.name.clone());
    let kept = borders.chain(graph.initializers.iter().map(|tensor| tensor.name.clone())).collect();
    let mut names = Names { kept, new: HashMap::new() };
    blind_graph(&mut model.graph, &mut names);
    for function in &mut model.functions {
        blind_nodes(&mut function.nodes, &mut names);
        function.inputs.iter_mut().chain(&mut function.outputs).for_each(|name| names.replace(name));
        function.value_infos.clear();
    }
    model
}

fn blind_graph(graph: &mut Graph, names: &mut Names) {
    blind_nodes(&mut graph.nodes, names);
    let values = graph.inputs.iter_mut().chain(&mut graph.outputs).chain(&mut graph.value_infos);
    values.for_each(|value| names.replace(&mut value.name));
    graph.initializers.iter_mut().for_each(|tensor| names.replace(&mut tensor.name));
}

fn blind_nodes(nodes: &mut [Node], names: &mut Names) {
    for node in nodes {
        node.name = "".into();
        node.doc_string.clear();
        node.metadata.clear();
        node.origin = None;
        node.inputs.iter_mut().chain(&mut node.outputs).for_each(|name| names.replace(name));
        node.subgraphs_mut().for_each(|graph| blind_graph(graph, names));
    }
}

struct Names {
    kept: HashSet<Name>,
    new: HashMap<Name, Name>,
}

impl Names {
    fn replace(&mut self, name: &mut Name) {
        if name.is_empty() || self.kept.contains(name) {
            return;
        }
        let number = self.new.len();
        *name = self.new.entry(name.clone()).or_insert_with(|| format!("v{number}").into()).clone();
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::{Tensor, ValueInfo};

    use super::*;

    #[test]
    fn only_the_borders_keep_their_names() {
        let info = |name: &str| ValueInfo { name: name.into(), ..ValueInfo::default() };
        let names = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
        let node = |inputs: &[&str], outputs: &[&str]| Node {
            name: "/scope/Add".into(),
            doc_string: "text".into(),
            metadata: vec![("namespace".into(), "x".into())],
            inputs: names(inputs),
            outputs: names(outputs),
            ..Node::default()
        };
        let graph = Graph {
            nodes: vec![node(&["x", "fc.weight", ""], &["hidden"]), node(&["hidden"], &["y"])],
            inputs: vec![info("x")],
            outputs: vec![info("y")],
            value_infos: vec![info("hidden")],
            initializers: vec![Tensor { name: "fc.weight".into(), ..Tensor::default() }],
            ..Graph::default()
        };
        let blinded = blind(&Model { graph, ..Model::default() }).graph;
        let [first, second] = blinded.nodes.as_slice() else { panic!("two nodes") };
        assert_eq!(first.inputs, ["x".into(), "fc.weight".into(), "".into()]);
        assert_eq!((&first.outputs, &second.inputs), (&vec!["v0".into()], &vec!["v0".into()]));
        assert_eq!(second.outputs, ["y".into()]);
        assert_eq!(&*blinded.value_infos[0].name, "v0");
        assert!(first.name.is_empty() && first.doc_string.is_empty() && first.metadata.is_empty());
    }
}

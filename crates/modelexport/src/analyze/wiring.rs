//! The connections between nodes, in all graphs of a model.

use std::collections::HashMap;

use modelexport_graph::Name;
use modelexport_graph::onnx::{Graph, Model, Node, ValueInfo};

/// All nodes of a model with the producers of their inputs.
pub(super) struct Wiring<'a> {
    /// The main graph first, then graphs inside nodes where they occur, then functions.
    pub graphs: Vec<WiredGraph<'a>>,
    /// In the order of the file; a node of an inner graph comes after the node that holds it.
    pub nodes: Vec<WiredNode<'a>>,
}

pub(super) struct WiredGraph<'a> {
    pub kind: GraphKind<'a>,
    pub inputs: Vec<&'a Name>,
    /// Types of the inputs, where the graph declares them.
    pub declared: Vec<&'a ValueInfo>,
    pub outputs: Vec<(&'a Name, Option<Producer>)>,
}

pub(super) enum GraphKind<'a> {
    Main,
    /// In the attribute of a node, which is given by its index.
    Inner {
        holder: usize,
        attribute: &'a Name,
    },
    Function(&'a Name),
}

pub(super) struct WiredNode<'a> {
    pub node: &'a Node,
    /// Index of the graph that it lies in.
    pub graph: usize,
    /// Where each input comes from; `None` for weights and inputs that are left out.
    pub inputs: Vec<Option<Producer>>,
    /// Graphs inside the node.
    pub inner: Vec<usize>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Producer {
    Input { graph: usize, input: usize },
    Node { node: usize, output: usize },
}

impl<'a> Wiring<'a> {
    pub(super) fn new(model: &'a Model) -> Self {
        let mut wiring = Wiring { graphs: Vec::new(), nodes: Vec::new() };
        wiring.add_graph(&model.graph, GraphKind::Main, None);
        for function in &model.functions {
            let inputs: Vec<&Name> = function.inputs.iter().collect();
            let at = wiring.open(GraphKind::Function(&function.name), inputs, Vec::new());
            let mut values = wiring.values_of_inputs(at, None);
            wiring.add_nodes(&function.nodes, at, &mut values);
            wiring.close(at, function.outputs.iter(), &values);
        }
        wiring
    }

    fn open(&mut self, kind: GraphKind<'a>, inputs: Vec<&'a Name>, declared: Vec<&'a ValueInfo>) -> usize {
        self.graphs.push(WiredGraph { kind, inputs, declared, outputs: Vec::new() });
        self.graphs.len() - 1
    }

    fn values_of_inputs<'v>(&self, at: usize, outer: Option<&'v Values<'v, 'a>>) -> Values<'v, 'a> {
        let inputs = self.graphs.get(at).map(|graph| graph.inputs.as_slice()).unwrap_or_default();
        let producer =
            |(input, name): (usize, &&'a Name)| (&***name, Some(Producer::Input { graph: at, input }));
        Values { own: inputs.iter().enumerate().map(producer).collect(), outer }
    }

    fn add_graph(&mut self, graph: &'a Graph, kind: GraphKind<'a>, outer: Option<&Values<'_, 'a>>) -> usize {
        let weights: std::collections::HashSet<&Name> =
            graph.initializers.iter().map(|tensor| &tensor.name).collect();
        let inputs: Vec<&ValueInfo> =
            graph.inputs.iter().filter(|input| !weights.contains(&input.name)).collect();
        let names = inputs.iter().map(|input| &input.name).collect();
        let at = self.open(kind, names, inputs);
        let mut values = self.values_of_inputs(at, outer);
        values.own.extend(graph.initializers.iter().map(|tensor| (&*tensor.name, None)));
        self.add_nodes(&graph.nodes, at, &mut values);
        self.close(at, graph.outputs.iter().map(|output| &output.name), &values);
        at
    }

    fn add_nodes(&mut self, nodes: &'a [Node], graph: usize, values: &mut Values<'_, 'a>) {
        for node in nodes {
            let at = self.nodes.len();
            let inputs = node.inputs.iter().map(|name| values.get(name)).collect();
            self.nodes.push(WiredNode { node, graph, inputs, inner: Vec::new() });
            let mut inner = Vec::new();
            for attribute in &node.attributes {
                for graph in attribute.subgraphs() {
                    let kind = GraphKind::Inner { holder: at, attribute: &attribute.name };
                    inner.push(self.add_graph(graph, kind, Some(values)));
                }
            }
            if let Some(wired) = self.nodes.get_mut(at) {
                wired.inner = inner;
            }
            let outputs = node.outputs.iter().enumerate().filter(|(_, name)| !name.is_empty());
            values
                .own
                .extend(outputs.map(|(output, name)| (&**name, Some(Producer::Node { node: at, output }))));
        }
    }

    fn close(&mut self, at: usize, outputs: impl Iterator<Item = &'a Name>, values: &Values<'_, 'a>) {
        let outputs = outputs.map(|name| (name, values.get(name))).collect();
        if let Some(graph) = self.graphs.get_mut(at) {
            graph.outputs = outputs;
        }
    }
}

/// Producers by name; `None` for weights, which hide what is around them too.
struct Values<'v, 'a> {
    own: HashMap<&'a str, Option<Producer>>,
    outer: Option<&'v Values<'v, 'a>>,
}

impl Values<'_, '_> {
    fn get(&self, name: &str) -> Option<Producer> {
        let mut scope = self;
        loop {
            match (scope.own.get(name), scope.outer) {
                (Some(found), _) => return *found,
                (None, Some(outer)) => scope = outer,
                (None, None) => return None,
            }
        }
    }
}

//! The graph as JSON for Model Explorer. Namespaces are tags, so layers collapse like modules.

use std::collections::BTreeMap;

use modelexport_graph::ModuleId;
use modelexport_graph::onnx::ValueInfo;
use modelexport_inference::{Sizes, Symbols, ValueType, walk};
use serde::Serialize;

use super::figures::module_of;
use super::wiring::{GraphKind, Producer, WiredGraph, WiredNode, Wiring};
use crate::tagged_file::TaggedFile;
use crate::tagger::operator_name;

/// A collection of graphs, as Model Explorer takes it.
#[derive(Serialize)]
pub struct Collection {
    label: String,
    graphs: Vec<Graph>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Graph {
    id: String,
    nodes: Vec<Node>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    group_node_attributes: BTreeMap<String, BTreeMap<&'static str, String>>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Node {
    id: String,
    label: String,
    namespace: String,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    subgraph_ids: Vec<String>,
    attrs: Vec<KeyValue>,
    incoming_edges: Vec<Edge>,
    inputs_metadata: Vec<Metadata>,
    outputs_metadata: Vec<Metadata>,
}

#[derive(Serialize)]
struct KeyValue {
    key: &'static str,
    value: String,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Edge {
    source_node_id: String,
    source_node_output_id: String,
    target_node_input_id: String,
}

#[derive(Serialize)]
struct Metadata {
    id: String,
    attrs: Vec<KeyValue>,
}

/// The graphs of `file`: the main graph, those inside its nodes, and its functions.
pub fn collection(file: &TaggedFile) -> Collection {
    let wiring = Wiring::new(&file.model);
    let mut types: BTreeMap<String, ValueType> = BTreeMap::new();
    walk(&file.model, &Sizes::Unknown, &mut |typed| {
        for (name, known) in typed.node.outputs.iter().zip(&typed.outputs) {
            types.insert(name.to_string(), known.clone());
        }
    });
    let graphs = (0..wiring.graphs.len()).map(|index| graph(file, &wiring, index, &types)).collect();
    let label = file.path.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Collection { label, graphs }
}

fn graph(file: &TaggedFile, wiring: &Wiring<'_>, index: usize, types: &BTreeMap<String, ValueType>) -> Graph {
    let Some(wired) = wiring.graphs.get(index) else {
        return Graph { id: String::new(), nodes: Vec::new(), group_node_attributes: BTreeMap::new() };
    };
    let mut nodes: Vec<Node> = inputs(wired, index);
    let mut modules = Vec::new();
    for (at, node) in wiring.nodes.iter().enumerate().filter(|(_, node)| node.graph == index) {
        let module = module_of(file, node.node);
        modules.push(module);
        nodes.push(operation(file, wiring, at, node, module, types));
    }
    nodes.extend(outputs(wired, index));
    Graph { id: graph_id(wiring, index), nodes, group_node_attributes: groups(file, &modules) }
}

fn graph_id(wiring: &Wiring<'_>, index: usize) -> String {
    match wiring.graphs.get(index).map(|graph| &graph.kind) {
        Some(GraphKind::Main) | None => "main".to_owned(),
        Some(GraphKind::Inner { holder, attribute }) => {
            let name = wiring.nodes.get(*holder).map(|node| node.node.name.to_string()).unwrap_or_default();
            format!("{index}: {name}.{attribute}")
        }
        Some(GraphKind::Function(name)) => format!("{index}: {name}"),
    }
}

fn input_id(graph: usize, input: usize) -> String {
    format!("in{graph}.{input}")
}

fn producer_id(producer: Producer) -> (String, String) {
    match producer {
        Producer::Input { graph, input } => (input_id(graph, input), "0".to_owned()),
        Producer::Node { node, output } => (node.to_string(), output.to_string()),
    }
}

/// The tag without its first `/`.
fn namespace(file: &TaggedFile, module: ModuleId) -> String {
    file.tags.tag(module).trim_start_matches('/').to_owned()
}

fn operation(
    file: &TaggedFile,
    wiring: &Wiring<'_>,
    at: usize,
    wired: &WiredNode<'_>,
    module: ModuleId,
    types: &BTreeMap<String, ValueType>,
) -> Node {
    let node = wired.node;
    let path = file.hierarchy.tree.get(module).map(|module| module.path.to_string()).unwrap_or_default();
    let mut attrs = vec![
        KeyValue { key: "name", value: node.name.to_string() },
        KeyValue { key: "module", value: path },
        KeyValue { key: "tag", value: file.tags.tag(module).to_string() },
    ];
    if let Some(origin) = &node.origin {
        attrs.push(KeyValue { key: "method", value: origin.method.name().to_owned() });
    }
    let is_here = |producer: &Producer| match *producer {
        Producer::Input { graph, .. } => graph == wired.graph,
        Producer::Node { node, .. } => wiring.nodes.get(node).is_some_and(|other| other.graph == wired.graph),
    };
    let edges = wired.inputs.iter().enumerate().filter_map(|(input, producer)| {
        let (source_node_id, source_node_output_id) = producer_id(producer.filter(is_here)?);
        Some(Edge { source_node_id, source_node_output_id, target_node_input_id: input.to_string() })
    });
    let named = |(i, name): (usize, &modelexport_graph::Name)| {
        let mut attrs = vec![KeyValue { key: "tensor_name", value: name.to_string() }];
        let known = types.get(&**name).map(ValueType::text).filter(|text| !text.is_empty());
        attrs.extend(known.map(|value| KeyValue { key: "shape", value }));
        Metadata { id: i.to_string(), attrs }
    };
    Node {
        id: at.to_string(),
        label: operator_name(node).to_string(),
        namespace: namespace(file, module),
        subgraph_ids: wired.inner.iter().map(|&inner| graph_id(wiring, inner)).collect(),
        attrs,
        incoming_edges: edges.collect(),
        inputs_metadata: node.inputs.iter().enumerate().map(named).collect(),
        outputs_metadata: node.outputs.iter().enumerate().map(named).collect(),
    }
}

fn inputs(graph: &WiredGraph<'_>, index: usize) -> Vec<Node> {
    let mut symbols = Symbols::default();
    let mut declared = |input: usize| {
        let declared: &&ValueInfo = graph.declared.get(input)?;
        Some(ValueType::declared(declared.value_type.as_deref()?, &mut symbols))
    };
    let inputs = graph.inputs.iter().enumerate().map(|(input, name)| {
        let mut attrs = vec![KeyValue { key: "tensor_name", value: name.to_string() }];
        let known = declared(input).map(|known| known.text()).filter(|text| !text.is_empty());
        attrs.extend(known.map(|value| KeyValue { key: "shape", value }));
        Node {
            id: input_id(index, input),
            label: name.to_string(),
            namespace: String::new(),
            subgraph_ids: Vec::new(),
            attrs: Vec::new(),
            incoming_edges: Vec::new(),
            inputs_metadata: Vec::new(),
            outputs_metadata: vec![Metadata { id: "0".to_owned(), attrs }],
        }
    });
    inputs.collect()
}

fn outputs(graph: &WiredGraph<'_>, index: usize) -> Vec<Node> {
    let outputs = graph.outputs.iter().enumerate().map(|(output, (name, producer))| Node {
        id: format!("out{index}.{output}"),
        label: name.to_string(),
        namespace: String::new(),
        subgraph_ids: Vec::new(),
        attrs: Vec::new(),
        incoming_edges: producer
            .map(|producer| {
                let (source_node_id, source_node_output_id) = producer_id(producer);
                Edge { source_node_id, source_node_output_id, target_node_input_id: "0".to_owned() }
            })
            .into_iter()
            .collect(),
        inputs_metadata: Vec::new(),
        outputs_metadata: Vec::new(),
    });
    outputs.collect()
}

/// What a folded layer shows: the module that it stands for.
fn groups(file: &TaggedFile, modules: &[ModuleId]) -> BTreeMap<String, BTreeMap<&'static str, String>> {
    let mut groups = BTreeMap::new();
    let tree = &file.hierarchy.tree;
    let mut seen = std::collections::BTreeSet::new();
    for &module in modules {
        let new = tree.chain(module).into_iter().rev().take_while(|id| seen.insert(*id));
        for id in new.filter(|id| file.tags.is_visible(*id)).collect::<Vec<_>>() {
            if let Some(module) = tree.get(id) {
                let attributes = BTreeMap::from([
                    ("class", module.class.to_string()),
                    ("module", module.path.to_string()),
                    ("tag", file.tags.tag(id).to_string()),
                ]);
                groups.insert(namespace(file, id), attributes);
            }
        }
    }
    groups
}

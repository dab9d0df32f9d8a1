//! Whether the graph itself is whole: names, order, shapes, data.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use modelexport_graph::Name;
use modelexport_graph::onnx::{Graph, Node, OpsetImport, Tensor, TensorData, ValueInfo};
use modelexport_inference::{Sizes, Symbols, ValueType, walk};
use modelexport_io::external_data::{self, Checker};

use super::finding::{Findings, Group, Severity, place_of};
use crate::checksums::Checksums;
use crate::tagged_file::TaggedFile;
use crate::tensors;

pub(super) fn check(file: &TaggedFile, findings: &mut Findings) {
    let model = &file.model;
    let mut graphs = Graphs { findings };
    graphs.graph(&model.graph, "the graph", None);
    graphs.node_names(&mut |visit| model.graph.for_each_node(visit));
    let mut functions = HashSet::new();
    for function in &model.functions {
        let place = format!("function {}", function.name);
        if !functions.insert((&function.domain, &function.name, &function.overload)) {
            graphs.error("duplicate-function", place.clone(), "a second function of this name");
        }
        let mut defined = Defined { own: HashSet::new(), outer: None };
        function.inputs.iter().for_each(|name| _ = defined.own.insert(name));
        graphs.nodes(&function.nodes, &place, &mut defined);
        let names = function.outputs.iter();
        graphs.outputs(names, &place, &defined);
        graphs.node_names(&mut |visit| function.for_each_node(visit));
        graphs.opsets(&function.opset_imports, &place, &mut |visit| function.for_each_node(visit));
    }
    graphs.opsets(&model.opset_imports, "the model", &mut |visit| model.graph.for_each_node(visit));
    types(file, findings);
    data(file, findings);
}

/// Names that are defined so far: in a graph, then in those around it.
struct Defined<'v, 'a> {
    own: HashSet<&'a Name>,
    outer: Option<&'v Defined<'v, 'a>>,
}

impl Defined<'_, '_> {
    fn has(&self, name: &Name) -> bool {
        let mut scope = self;
        loop {
            match (scope.own.contains(name), scope.outer) {
                (true, _) => return true,
                (false, Some(outer)) => scope = outer,
                (false, None) => return false,
            }
        }
    }
}

type ForEachNode<'a, 'f> = &'f mut dyn FnMut(&mut dyn FnMut(&'a Node));

struct Graphs<'f> {
    findings: &'f mut Findings,
}

impl Graphs<'_> {
    fn error(&mut self, check: &'static str, place: String, message: impl Into<String>) {
        self.findings.add(Group::Structure, check, Severity::Error, place, message);
    }

    fn graph<'a>(&mut self, graph: &'a Graph, place: &str, outer: Option<&Defined<'_, 'a>>) {
        let mut defined = Defined { own: HashSet::new(), outer };
        for input in &graph.inputs {
            self.define(&mut defined, &input.name, "input", place);
        }
        let mut weights = HashSet::new();
        for tensor in &graph.initializers {
            // A weight may be an input, too: its default value.
            defined.own.insert(&tensor.name);
            if !weights.insert(&tensor.name) {
                let message = format!("{place} has two weights of this name");
                self.error("duplicate-value", format!("weight {}", tensor.name), message);
            }
        }
        let sparse = graph.sparse_initializers.iter().filter_map(|sparse| sparse.values.as_ref());
        sparse.for_each(|values| _ = defined.own.insert(&values.name));
        self.nodes(&graph.nodes, place, &mut defined);
        self.outputs(graph.outputs.iter().map(|output| &output.name), place, &defined);
    }

    fn define<'a>(&mut self, defined: &mut Defined<'_, 'a>, name: &'a Name, what: &str, place: &str) {
        if !name.is_empty() && !defined.own.insert(name) {
            let message = format!("{place} defines this value twice, the second time as {what}");
            self.error("duplicate-value", format!("value {name}"), message);
        }
    }

    fn nodes<'a>(&mut self, nodes: &'a [Node], place: &str, defined: &mut Defined<'_, 'a>) {
        // Made when the first value is missing: most graphs have none.
        let mut later: Option<HashSet<&Name>> = None;
        for node in nodes {
            for input in node.inputs.iter().filter(|name| !name.is_empty() && !defined.has(name)) {
                let later =
                    later.get_or_insert_with(|| nodes.iter().flat_map(|node| &node.outputs).collect());
                match later.contains(input) {
                    true => self.error(
                        "order",
                        place_of(node),
                        format!("reads {input:?} before the node that gives it"),
                    ),
                    false => self.error(
                        "undefined-value",
                        place_of(node),
                        format!("reads {input:?}, which nothing gives"),
                    ),
                }
            }
            for attribute in &node.attributes {
                for graph in attribute.subgraphs() {
                    let inner = format!("{} of {}", attribute.name, place_of(node));
                    self.graph(graph, &inner, Some(defined));
                }
            }
            for output in &node.outputs {
                self.define(defined, output, &format!("an output of {}", place_of(node)), place);
            }
        }
    }

    fn outputs<'a>(&mut self, names: impl Iterator<Item = &'a Name>, place: &str, defined: &Defined<'_, '_>) {
        for name in names.filter(|name| !defined.has(name)) {
            let message = format!("is an output of {place}, but nothing gives it");
            self.error("undefined-value", format!("value {name}"), message);
        }
    }

    fn node_names<'a>(&mut self, for_each: ForEachNode<'a, '_>) {
        let mut counts: HashMap<&Name, u64> = HashMap::new();
        let mut repeated: Vec<&Name> = Vec::new();
        for_each(&mut |node| {
            let count = counts.entry(&node.name).or_default();
            *count += 1;
            if *count == 2 && !node.name.is_empty() {
                repeated.push(&node.name);
            }
        });
        for name in repeated {
            let nodes = counts.get(name).copied().unwrap_or(0);
            let message = format!("{nodes} nodes have this name, so that a sidecar cannot tell them apart");
            let place = format!("node {name}");
            self.findings.add(Group::Structure, "duplicate-name", Severity::Warning, place, message);
        }
    }

    fn opsets<'a>(&mut self, imports: &[OpsetImport], place: &str, for_each: ForEachNode<'a, '_>) {
        let domain = |name: &str| if name == "ai.onnx" { String::new() } else { name.to_owned() };
        let known: HashSet<String> = imports.iter().map(|import| domain(&import.domain)).collect();
        let mut missing: Vec<(String, String)> = Vec::new();
        for_each(&mut |node| {
            let wanted = domain(&node.domain);
            if !known.contains(&wanted) && missing.iter().all(|(domain, _)| *domain != wanted) {
                missing.push((wanted, place_of(node)));
            }
        });
        for (domain, node) in missing {
            self.error("missing-opset", node, format!("{place} does not import the operators of {domain:?}"));
        }
    }
}

/// What the file declares against what operators and weights give.
fn types(file: &TaggedFile, findings: &mut Findings) {
    let graph = &file.model.graph;
    let weights: HashMap<&Name, ValueType> =
        graph.initializers.iter().map(|tensor| (&tensor.name, ValueType::of_tensor(tensor))).collect();
    let declared = graph.inputs.iter().chain(&graph.value_infos);
    let mut symbols = Symbols::default();
    let mut declared_type =
        |value: &ValueInfo| Some(ValueType::declared(value.value_type.as_deref()?, &mut symbols));
    for value in declared {
        if let (Some(weight), Some(declared)) = (weights.get(&value.name), declared_type(value))
            && let Some(words) = declared.contradiction(weight)
        {
            let place = format!("weight {}", value.name);
            let message = format!("the graph declares {words} of the weight itself");
            findings.add(Group::Structure, "type", Severity::Error, place, message);
        }
    }
    walk(&file.model, &Sizes::Unknown, &mut |typed| {
        let operator = &typed.node.op_type;
        let contradictions = typed.contradictions.iter();
        let messages = contradictions
            .map(|(name, words)| format!("{name:?}: the graph declares {words} of what {operator} gives"))
            .chain(typed.impossible.iter().map(|reason| format!("{operator}: {reason}")));
        for message in messages {
            findings.add(Group::Structure, "type", Severity::Error, place_of(typed.node), message);
        }
    });
}

/// The data file of a tensor and the hash that it says the file has.
fn recorded(tensor: &Tensor) -> Option<(&str, &str)> {
    let TensorData::External(entries) = &tensor.data else { return None };
    let location = entries.iter().find(|(key, _)| key == "location")?;
    Some((&location.1, external_data::checksum(entries)?))
}

/// Whether the bytes of every weight are there, and those that the model says.
fn data(file: &TaggedFile, findings: &mut Findings) {
    let folder = file.path.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let mut checker = Checker::new(folder);
    let mut checksums = Checksums::default();
    let mut without = Vec::new();
    tensors::for_each(&file.model, &mut |holder, tensor| {
        let problem = match checker.find(tensor) {
            Ok(span) => span.zip(recorded(tensor)).and_then(|(span, (location, hash))| {
                let problem = checksums.problem(hash, span, checker.sources())?;
                Some((location.to_owned(), problem))
            }),
            Err(error) => Some((error.location, error.reason.to_string())),
        };
        if let Some((location, reason)) = problem {
            let message = format!("external data {location:?}: {reason}");
            let place = holder.place_of(tensor);
            findings.add(Group::Structure, "external-data", Severity::Error, place, message);
        }
        let is_empty = matches!(&tensor.data, TensorData::Typed(bytes) if bytes.is_empty());
        if is_empty && tensors::elements(tensor) > 0 {
            without.push(&tensor.name);
        }
    });
    if let Some(first) = without.first() {
        let message = match without.len() {
            1 => "it has no data: the file was written without it".to_owned(),
            count => format!("{count} weights have no data: the file was written without them"),
        };
        findings.add(Group::Structure, "no-data", Severity::Note, format!("weight {first}"), message);
    }
}

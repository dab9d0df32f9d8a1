//! Nodes that were added, removed, moved or changed.

use std::collections::{BTreeSet, HashMap};

use modelexport_graph::onnx::{AttributeValue, Graph, Node, Tensor, TensorData};

use modelexport_io::onnx::DocString;
use modelexport_io::onnx::OWN_PREFIX;

use super::matching::{Matching, all_nodes};
use super::report::Repeated;
use super::{Category, Difference, Found, path_of};
use crate::embedding;
use crate::numbers::counted;
use crate::tagged_file::TaggedFile;
use crate::tagger::operator_name;
use crate::torch_scopes::{CLASS_HIERARCHY, NAME_SCOPES, NAMESPACE};

pub(super) fn compare(before: &TaggedFile, after: &TaggedFile, matching: &Matching, found: &mut Found) {
    let (old, new) = (all_nodes(&before.model), all_nodes(&after.model));
    for (at, node) in old.iter().enumerate() {
        found.node = at;
        let module = path_of(before, before.module(node));
        match matching.to_after.get(at).copied().flatten().and_then(|other| new.get(other)) {
            None => {
                let difference = Difference::structure("node removed", node_name(node));
                found.push(module, difference.from(operator_name(node).to_string()));
            }
            Some(other) => pair(before, after, node, other, matching, found),
        }
    }
    for (at, node) in new.iter().enumerate() {
        if matching.to_before.get(at).copied().flatten().is_none() {
            let difference = Difference::structure("node added", node_name(node));
            found.push(path_of(after, after.module(node)), difference.to(operator_name(node).to_string()));
        }
    }
    moved(before, &old, matching, found);
}

fn pair(
    before: &TaggedFile,
    after: &TaggedFile,
    old: &Node,
    new: &Node,
    matching: &Matching,
    found: &mut Found,
) {
    let (was_module, module) = (path_of(before, before.module(old)), path_of(after, after.module(new)));
    let name = node_name(new);
    let owner = module.clone().or_else(|| was_module.clone());
    let mut push = |difference: Difference| found.push(owner.clone(), difference);
    if old.name != new.name {
        let difference = Difference::structure("node renamed", &name).from(&*old.name).to(&*new.name);
        push(difference.one_of(Some(Repeated::Renamed)));
    }
    if operator_name(old) != operator_name(new) || old.overload != new.overload {
        let (was, is) = (operator_name(old), operator_name(new));
        push(Difference::structure("operator changed", &name).from(&*was).to(&*is));
    }
    attributes(old, new, &name, &mut push);
    let inputs = |node: &Node, is_new: bool| -> Vec<String> {
        let text = |input: &modelexport_graph::Name| match is_new {
            true => matching.old_name(input).to_string(),
            false => input.to_string(),
        };
        node.inputs.iter().map(text).collect()
    };
    let (was, is) = (inputs(old, false), inputs(new, true));
    if was != is {
        push(Difference::structure("inputs changed", &name).from(was.join(", ")).to(is.join(", ")));
    }
    if old.outputs.len() != new.outputs.len() {
        let count = |node: &Node| node.outputs.len().to_string();
        push(Difference::structure("outputs changed", &name).from(count(old)).to(count(new)));
    }
    if was_module != module {
        let shown = |path: &Option<modelexport_graph::Name>| match path {
            None => "(none)".to_owned(),
            Some(path) if path.is_empty() => "(root)".to_owned(),
            Some(path) => path.to_string(),
        };
        let (was, is) = (shown(&was_module), shown(&module));
        let difference = Difference::new(Category::Tags, "module changed", &name).from(was).to(is);
        push(difference.one_of(came_or_went(&was_module, &module, true, "")));
    }
    tags(old, new, &name, &mut push);
}

fn attributes(old: &Node, new: &Node, name: &str, push: &mut dyn FnMut(Difference)) {
    for attribute in &old.attributes {
        let subject = format!("{name}: {}", attribute.name);
        let was = attribute_text(&attribute.value);
        match new.attributes.iter().find(|other| other.name == attribute.name) {
            None => push(Difference::structure("attribute removed", subject).from(was)),
            Some(other) => {
                let is = attribute_text(&other.value);
                if was != is || attribute.ref_attr_name != other.ref_attr_name {
                    push(Difference::structure("attribute changed", subject).from(was).to(is));
                }
            }
        }
    }
    for attribute in &new.attributes {
        if !old.attributes.iter().any(|other| other.name == attribute.name) {
            let subject = format!("{name}: {}", attribute.name);
            let is = attribute_text(&attribute.value);
            push(Difference::structure("attribute added", subject).to(is));
        }
    }
}

fn tags(old: &Node, new: &Node, name: &str, push: &mut dyn FnMut(Difference)) {
    let change = |kind, subject: String, was: Option<&str>, is: Option<&str>| {
        let difference = Difference::new(Category::Tags, kind, subject);
        Difference { before: was.map(str::to_owned), after: is.map(str::to_owned), ..difference }
    };
    let is_tag =
        |key: &str| key.starts_with(OWN_PREFIX) || [NAMESPACE, NAME_SCOPES, CLASS_HIERARCHY].contains(&key);
    let keys: BTreeSet<&str> =
        old.metadata.iter().chain(&new.metadata).map(|(key, _)| key.as_str()).collect();
    for key in keys {
        let (was, is) = (embedding::get(&old.metadata, key), embedding::get(&new.metadata, key));
        if was != is {
            let kind = if key == embedding::TAG { "tag changed" } else { "metadata changed" };
            let repeated = came_or_went(&was, &is, is_tag(key), key);
            push(change(kind, format!("{name}: {key}"), was, is).one_of(repeated));
        }
    }
    if old.doc_string != new.doc_string {
        let tags = |node: &Node| DocString::parse(&node.doc_string).map(|doc| doc.hierarchy_path.to_string());
        let (was, is) = (tags(old), tags(new));
        match was == is {
            true => {
                let (was, is) = (Some(&*old.doc_string), Some(&*new.doc_string));
                let difference = change("doc string changed", name.to_owned(), was, is);
                push(difference.one_of(Some(Repeated::DocString)));
            }
            false => {
                let repeated = came_or_went(&was, &is, true, "");
                let difference = change("tag changed", name.to_owned(), was.as_deref(), is.as_deref());
                push(difference.one_of(repeated));
            }
        }
    }
}

/// What a tag, or an entry under a key, is one of many of. New tags and modules are told one by one.
fn came_or_went<T>(was: &Option<T>, is: &Option<T>, is_tag: bool, key: &str) -> Option<Repeated> {
    match (was.is_some(), is.is_some(), is_tag) {
        (true, false, true) => Some(Repeated::TagsRemoved),
        (false, true, true) => Some(Repeated::TagsAdded),
        (true, false, false) => Some(Repeated::MetadataRemoved(key.to_owned())),
        (false, true, false) => Some(Repeated::MetadataAdded(key.to_owned())),
        _ if ["", embedding::TAG, embedding::MODULE].contains(&key) => None,
        _ => Some(Repeated::MetadataChanged(key.to_owned())),
    }
}

/// Matched nodes that stand elsewhere in the order: all but the longest run that kept its order.
fn moved(before: &TaggedFile, old: &[&Node], matching: &Matching, found: &mut Found) {
    let places: Vec<(usize, usize)> =
        matching.to_after.iter().enumerate().filter_map(|(at, other)| Some((at, (*other)?))).collect();
    let kept = longest_increasing(&places.iter().map(|(_, other)| *other).collect::<Vec<_>>());
    for (i, (at, other)) in places.iter().enumerate() {
        if kept.get(i) == Some(&false)
            && let Some(node) = old.get(*at)
        {
            let difference = Difference::structure("node moved", node_name(node));
            let (was, is) = (format!("place {at}"), format!("place {other}"));
            found.push(path_of(before, before.module(node)), difference.from(was).to(is));
        }
    }
}

/// Which numbers belong to the longest increasing run.
fn longest_increasing(numbers: &[usize]) -> Vec<bool> {
    let mut ends: Vec<usize> = Vec::new();
    let mut previous: Vec<Option<usize>> = vec![None; numbers.len()];
    for (i, number) in numbers.iter().enumerate() {
        let at = ends.partition_point(|end| numbers.get(*end).is_some_and(|last| last < number));
        if let Some(slot) = previous.get_mut(i) {
            *slot = at.checked_sub(1).and_then(|before| ends.get(before).copied());
        }
        match ends.get_mut(at) {
            Some(end) => *end = i,
            None => ends.push(i),
        }
    }
    let mut kept = vec![false; numbers.len()];
    let mut at = ends.last().copied();
    while let Some(i) = at {
        if let Some(slot) = kept.get_mut(i) {
            *slot = true;
        }
        at = previous.get(i).copied().flatten();
    }
    kept
}

fn node_name(node: &Node) -> String {
    match node.name.is_empty() {
        true => format!("(unnamed {})", operator_name(node)),
        false => node.name.to_string(),
    }
}

/// An attribute as text: short ones in full, tensors and graphs by what tells them apart.
pub(super) fn attribute_text(value: &AttributeValue) -> String {
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    match value {
        AttributeValue::Undefined => "(undefined)".to_owned(),
        AttributeValue::Float(number) => number.to_string(),
        AttributeValue::Int(number) => number.to_string(),
        AttributeValue::String(bytes) => String::from_utf8_lossy(bytes).into_owned(),
        AttributeValue::Floats(numbers) => list(numbers.iter().map(f32::to_string).collect()),
        AttributeValue::Ints(numbers) => list(numbers.iter().map(i64::to_string).collect()),
        AttributeValue::Strings(texts) => {
            list(texts.iter().map(|bytes| String::from_utf8_lossy(bytes).into_owned()).collect())
        }
        AttributeValue::Tensor(tensor) => tensor_text(tensor),
        AttributeValue::Tensors(tensors) => list(tensors.iter().map(tensor_text).collect()),
        AttributeValue::Type(found) => format!("{:?}", found.kind),
        AttributeValue::Types(all) => list(all.iter().map(|found| format!("{:?}", found.kind)).collect()),
        // Nodes inside are compared like all others; here only how many there are.
        AttributeValue::Graph(graph) => graph_text(graph),
        AttributeValue::Graphs(graphs) => list(graphs.iter().map(graph_text).collect()),
        AttributeValue::SparseTensor(tensor) => format!("sparse {:?}", tensor.dims),
        AttributeValue::SparseTensors(all) => {
            list(all.iter().map(|tensor| format!("sparse {:?}", tensor.dims)).collect())
        }
    }
}

fn graph_text(graph: &Graph) -> String {
    format!("graph of {}", counted(graph.nodes.len() as u64, "node"))
}

fn tensor_text(tensor: &Tensor) -> String {
    let dtype = tensor.dtype().map_or("?", |dtype| dtype.name());
    let content = match &tensor.data {
        TensorData::Raw(bytes) | TensorData::Typed(bytes) => {
            let shown: String = bytes.iter().take(16).map(|byte| format!("{byte:02x}")).collect();
            let rest = if bytes.len() > 16 { format!("…{:08x}", checksum(bytes)) } else { String::new() };
            format!("{shown}{rest}")
        }
        TensorData::Stored(view) => counted(view.span.length, "byte"),
        TensorData::TypedStored(span) => counted(span.length, "byte"),
        TensorData::Scaled { .. } => "scaled".to_owned(),
        TensorData::External(entries) => {
            let entries: HashMap<_, _> = entries.iter().map(|(key, value)| (key.as_str(), value)).collect();
            format!("in {:?}", entries.get("location"))
        }
    };
    format!("{dtype}{:?} {content}", tensor.dims)
}

/// FNV-1a, to tell long constants apart in text.
fn checksum(bytes: &[u8]) -> u32 {
    bytes.iter().fold(0x811c_9dc5, |hash: u32, byte| (hash ^ u32::from(*byte)).wrapping_mul(0x0100_0193))
}

//! Differences of the model as a whole: versions, inputs and outputs, functions, and the types of values.

use std::collections::{BTreeMap, BTreeSet, HashMap};

use modelexport_graph::onnx::{DimensionValue, Graph, Model, Type, TypeKind, ValueInfo};
use modelexport_graph::{DType, Name};

use super::matching::Matching;
use super::{Category, Difference, Found, path_of};
use crate::embedding;
use crate::numbers::counted;
use crate::tagged_file::TaggedFile;

pub(super) fn compare(before: &TaggedFile, after: &TaggedFile, matching: &Matching, found: &mut Found) {
    let (old, new) = (&before.model, &after.model);
    versions(old, new, found);
    functions(old, new, found);
    ends(&old.graph.inputs, &new.graph.inputs, ["input added", "input removed", "input changed"], found);
    ends(&old.graph.outputs, &new.graph.outputs, ["output added", "output removed", "output changed"], found);
    inner_types(before, after, matching, found);
}

fn versions(old: &Model, new: &Model, found: &mut Found) {
    let mut push = |kind, subject: &str, was: Option<String>, is: Option<String>| {
        if was != is {
            let difference = Difference::structure(kind, subject);
            found.push(None, Difference { before: was, after: is, ..difference });
        }
    };
    let number = |number: i64| Some(number.to_string());
    push("format version changed", "ir_version", number(old.ir_version), number(new.ir_version));
    let imports = |model: &Model| -> BTreeMap<String, i64> {
        model.opset_imports.iter().map(|import| (import.domain.clone(), import.version)).collect()
    };
    let (was, is) = (imports(old), imports(new));
    let domains: BTreeSet<&String> = was.keys().chain(is.keys()).collect();
    for domain in domains {
        let subject = if domain.is_empty() { "ai.onnx" } else { domain };
        let version = |imports: &BTreeMap<String, i64>| imports.get(domain).map(i64::to_string);
        push("opset changed", subject, version(&was), version(&is));
    }
    let producer = |model: &Model| Some(format!("{} {}", model.producer_name, model.producer_version));
    let mut tell = |kind, subject: &str, was: Option<String>, is: Option<String>| {
        if was != is {
            let difference = Difference::new(Category::Tags, kind, subject);
            found.push(None, Difference { before: was, after: is, ..difference });
        }
    };
    tell("producer changed", "model", producer(old), producer(new));
    let keys: BTreeSet<&str> =
        old.metadata.iter().chain(&new.metadata).map(|(key, _)| key.as_str()).collect();
    for key in keys {
        let value = |model: &Model| embedding::get(&model.metadata, key).map(str::to_owned);
        tell("metadata changed", key, value(old), value(new));
    }
}

fn functions(old: &Model, new: &Model, found: &mut Found) {
    let names = |model: &Model| -> BTreeMap<String, (usize, usize)> {
        let functions = model.functions.iter();
        functions
            .map(|function| {
                let name = format!("{}.{}", function.domain, function.name);
                (name, (function.inputs.len(), function.outputs.len()))
            })
            .collect()
    };
    let (was, is) = (names(old), names(new));
    for (name, border) in &was {
        match is.get(name) {
            None => found.push(None, Difference::structure("function removed", name)),
            Some(other) if other != border => {
                let text = |(inputs, outputs): &(usize, usize)| {
                    let (inputs, outputs) =
                        (counted(*inputs as u64, "input"), counted(*outputs as u64, "output"));
                    format!("{inputs}, {outputs}")
                };
                let difference = Difference::structure("function changed", name);
                found.push(None, difference.from(text(border)).to(text(other)));
            }
            Some(_) => {}
        }
    }
    for name in is.keys().filter(|name| !was.contains_key(*name)) {
        found.push(None, Difference::structure("function added", name));
    }
}

/// Inputs or outputs of the model; `kinds` are what to call one that came, went or changed.
fn ends(old: &[ValueInfo], new: &[ValueInfo], kinds: [&'static str; 3], found: &mut Found) {
    let [added, removed, changed] = kinds;
    for (at, info) in old.iter().enumerate() {
        let was = type_text(info.value_type.as_deref());
        match new.iter().position(|other| other.name == info.name) {
            None => found.push(None, Difference::structure(removed, &*info.name).from(was)),
            Some(place) => {
                let is = type_text(new.get(place).and_then(|other| other.value_type.as_deref()));
                if was != is {
                    found.push(None, Difference::structure(changed, &*info.name).from(was).to(is));
                } else if place != at && old.len() == new.len() {
                    let (was, is) = (format!("place {at}"), format!("place {place}"));
                    found.push(None, Difference::structure(changed, &*info.name).from(was).to(is));
                }
            }
        }
    }
    for info in new.iter().filter(|info| !old.iter().any(|other| other.name == info.name)) {
        let is = type_text(info.value_type.as_deref());
        found.push(None, Difference::structure(added, &*info.name).to(is));
    }
}

/// Values whose type or shape both files tell, and tell differently.
fn inner_types(before: &TaggedFile, after: &TaggedFile, matching: &Matching, found: &mut Found) {
    let infos = |graph: &'_ Graph| -> Vec<(Name, String)> {
        graph
            .value_infos
            .iter()
            .map(|info| (info.name.clone(), type_text(info.value_type.as_deref())))
            .collect()
    };
    let was: HashMap<Name, String> = infos(&before.model.graph).into_iter().collect();
    let mut makers = HashMap::new();
    for node in &after.model.graph.nodes {
        makers.extend(node.outputs.iter().map(|output| (output, node)));
    }
    for (name, is) in infos(&after.model.graph) {
        let Some(was) = was.get(matching.old_name(&name)).filter(|was| **was != is) else { continue };
        let module = makers.get(&name).and_then(|node| path_of(after, after.module(node)));
        let difference = Difference::structure("shape changed", &*name);
        found.push(module, difference.from(was.clone()).to(is));
    }
}

/// `float32[1, batch]`.
pub(super) fn type_text(value_type: Option<&Type>) -> String {
    let Some(found) = value_type else { return "(unknown)".to_owned() };
    match &found.kind {
        TypeKind::Tensor { elem_type, shape } | TypeKind::SparseTensor { elem_type, shape } => {
            let dtype = DType::from_onnx_code(*elem_type).map_or("?", |dtype| dtype.name());
            let size = |value: &DimensionValue| match value {
                DimensionValue::Static(size) => size.to_string(),
                DimensionValue::Named(name) => name.clone(),
                DimensionValue::Unknown => "?".to_owned(),
            };
            match shape {
                None => format!("{dtype}[…]"),
                Some(dims) => {
                    let dims: Vec<String> = dims.iter().map(|dim| size(&dim.value)).collect();
                    format!("{dtype}[{}]", dims.join(", "))
                }
            }
        }
        other => format!("{other:?}"),
    }
}

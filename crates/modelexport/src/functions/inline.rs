//! Inlines the functions that modelexport created: their calls become nodes again.

use std::collections::hash_map::Entry;
use std::collections::{HashMap, HashSet};

use modelexport_graph::Name;
use modelexport_graph::onnx::{Function, Model, Node, ValueInfo};
use serde::Serialize;

use super::Error;
use super::build::predict;
use super::record::{self, Correction};
use super::template::Template;
use super::texts::{TextKind, for_each_text};
use crate::cut::{called_functions, rename_values};
use crate::embedding;

/// A model that would have more nodes than this is not one that functions were made from.
const MAX_NODES: usize = 20_000_000;

/// What was inlined.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Inlined {
    /// Functions that were inlined.
    pub functions: usize,
    /// Calls that were replaced.
    pub calls: usize,
    /// Nodes of the main graph before.
    pub nodes_before: usize,
    /// Nodes of the main graph afterwards.
    pub nodes_after: usize,
}

/// Replaces every call of a function that modelexport made by its nodes, with the names, the order and the metadata that
/// they had before. Other functions stay; a model without any is left as it is. Nodes have no origin afterwards.
pub fn inline(model: &mut Model) -> Result<Inlined, Error> {
    let mut functions = HashMap::new();
    for (at, function) in model.functions.iter().enumerate() {
        if embedding::get(&function.metadata, record::FUNCTION).is_some() {
            functions.insert((function.domain.clone(), function.name.clone()), at);
        }
    }
    let mut report = Inlined { nodes_before: model.graph.nodes.len(), ..Inlined::default() };
    let mut inliner = Inliner {
        functions: &model.functions,
        by_name: functions,
        parsed: HashMap::new(),
        infos: Vec::new(),
        nodes: Vec::new(),
        calls: 0,
    };
    let nodes = std::mem::take(&mut model.graph.nodes);
    inliner.expand(nodes)?;
    let Inliner { nodes, infos, calls, by_name, .. } = inliner;
    (report.calls, report.nodes_after) = (calls, nodes.len());
    model.graph.nodes = nodes;
    restore_order(model);
    add_infos(model, infos);
    // A graph inside a node may call a function, too, if somebody put the call there.
    let is_called = called_functions(&model.graph, &model.functions);
    let before = model.functions.len();
    let mut called = is_called.into_iter();
    model.functions.retain(|function| {
        let is_ours = by_name.contains_key(&(function.domain.clone(), function.name.clone()));
        called.next() == Some(true) || !is_ours
    });
    report.functions = before - model.functions.len();
    restore_model(model);
    Ok(report)
}

fn restore_model(model: &mut Model) {
    if let Some(imports) = record::take(model, record::IMPORTS).and_then(|text| text.parse::<usize>().ok()) {
        let used: HashSet<String> =
            model.functions.iter().map(|function| function.domain.to_string()).collect();
        let mut at = 0;
        model.opset_imports.retain(|import| {
            at += 1;
            at <= imports || used.contains(&import.domain)
        });
    }
    if let Some(version) = record::take(model, record::IR_VERSION).and_then(|text| text.parse().ok()) {
        model.ir_version = version;
    }
}

/// Puts the nodes where they were. A file that somebody changed since keeps the order that it has.
fn restore_order(model: &mut Model) {
    let count = model.graph.nodes.len();
    let order = record::take(model, record::ORDER).and_then(|text| record::order_from_text(&text, count));
    let Some(order) = order else { return };
    let mut placed: Vec<(usize, Node)> =
        order.into_iter().zip(std::mem::take(&mut model.graph.nodes)).collect();
    placed.sort_by_key(|(at, _)| *at);
    model.graph.nodes = placed.into_iter().map(|(_, node)| node).collect();
}

/// Types of values stand in the order in which the values are made.
fn add_infos(model: &mut Model, infos: Vec<ValueInfo>) {
    if infos.is_empty() {
        return;
    }
    let outputs = model.graph.nodes.iter().flat_map(|node| &node.outputs);
    let places: HashMap<&Name, usize> = outputs.enumerate().map(|(at, name)| (name, at)).collect();
    let mut all: Vec<(usize, ValueInfo)> = std::mem::take(&mut model.graph.value_infos)
        .into_iter()
        .chain(infos)
        .map(|info| (places.get(&info.name).copied().unwrap_or(usize::MAX), info))
        .collect();
    all.sort_by_key(|(at, _)| *at);
    model.graph.value_infos = all.into_iter().map(|(_, info)| info).collect();
}

struct Inliner<'a> {
    functions: &'a [Function],
    by_name: HashMap<(Name, Name), usize>,
    /// Functions whose texts were looked at.
    parsed: HashMap<usize, Parsed>,
    infos: Vec<ValueInfo>,
    nodes: Vec<Node>,
    calls: usize,
}

/// The texts of a function as templates.
struct Parsed {
    templates: Vec<Template>,
    /// Which shift each number follows.
    followed: Vec<u32>,
}

impl Inliner<'_> {
    fn expand(&mut self, nodes: Vec<Node>) -> Result<(), Error> {
        for mut node in nodes {
            node.origin = None;
            match self.by_name.get(&(node.domain.clone(), node.op_type.clone())) {
                None => {
                    if self.nodes.len() >= MAX_NODES {
                        return Err(Error::TooManyNodes { limit: MAX_NODES });
                    }
                    self.nodes.push(node);
                }
                Some(&at) => {
                    self.calls += 1;
                    let inner = self.body(at, &node)?;
                    self.expand(inner)?;
                }
            }
        }
        Ok(())
    }

    /// The nodes that a call stands for.
    fn body(&mut self, at: usize, call: &Node) -> Result<Vec<Node>, Error> {
        let Some(function) = self.functions.get(at) else { return Ok(Vec::new()) };
        let given_out: HashSet<&Name> = function.outputs.iter().collect();
        let is_given_out = |name: &Name| given_out.contains(name);
        let mut nodes = function.nodes.clone();
        let parsed = match self.parsed.entry(at) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(open) => open.insert(parse(function, &mut nodes, &is_given_out)?),
        };
        let texts = texts(function, call, parsed)?;

        let mut new_names: HashMap<Name, Name> = HashMap::new();
        let missing: Name = "".into();
        for (i, formal) in function.inputs.iter().enumerate() {
            new_names.insert(formal.clone(), call.inputs.get(i).unwrap_or(&missing).clone());
        }
        for (i, formal) in function.outputs.iter().enumerate() {
            new_names.insert(formal.clone(), call.outputs.get(i).unwrap_or(&missing).clone());
        }
        let mut next = texts.into_iter();
        for_each_text(&mut nodes, &is_given_out, &mut |kind, old| {
            let new = next.next()?;
            if kind == TextKind::Value {
                new_names.insert(old.into(), new.into());
                return None;
            }
            Some(new)
        });
        let new_name = |name: &Name| new_names.get(name).cloned();
        rename_values(&mut nodes, &new_name);
        let infos = function.value_infos.iter().map(|info| ValueInfo {
            name: new_name(&info.name).unwrap_or_else(|| info.name.clone()),
            ..info.clone()
        });
        self.infos.extend(infos);
        Ok(nodes)
    }
}

fn parse(
    function: &Function,
    nodes: &mut [Node],
    is_given_out: &dyn Fn(&Name) -> bool,
) -> Result<Parsed, Error> {
    let name = embedding::get(&function.metadata, record::FUNCTION).unwrap_or_default();
    let patterns = record::patterns(name, &function.name, &function.metadata);
    let mut templates = Vec::new();
    for_each_text(nodes, is_given_out, &mut |_, text| {
        templates.push(Template::new(text, &patterns));
        None
    });
    let numbers = templates.iter().map(Template::number_count).sum();
    let slots = embedding::get(&function.metadata, record::SLOTS).unwrap_or_default();
    let followed = record::slots_from_text(slots, numbers, &function.name)?;
    Ok(Parsed { templates, followed })
}

/// The texts of the nodes that `call` stands for.
fn texts(function: &Function, call: &Node, parsed: &Parsed) -> Result<Vec<String>, Error> {
    let bad = |key: &'static str, reason: String| Error::BadRecord {
        function: function.name.to_string(),
        key,
        reason: format!("call `{}`: {reason}", call.name),
    };
    let shifts: Vec<i64> = match embedding::get(&call.metadata, record::SHIFTS) {
        None => Vec::new(),
        Some(text) => text
            .split(',')
            .map(str::parse)
            .collect::<Result<_, std::num::ParseIntError>>()
            .map_err(|error| bad(record::SHIFTS, error.to_string()))?,
    };
    let patterns = record::patterns(&call.name, &function.name, &call.metadata);
    let mut texts = predict(&parsed.templates, &patterns, &parsed.followed, &shifts);
    if let Some(text) = embedding::get(&call.metadata, record::TEXTS) {
        let corrections: Vec<Correction> =
            serde_json::from_str(text).map_err(|error| bad(record::TEXTS, error.to_string()))?;
        for correction in corrections {
            let text = texts.get_mut(correction.0);
            let right = text.as_ref().and_then(|text| correction.apply(text));
            match (text, right) {
                (Some(text), Some(right)) => *text = right,
                _ => return Err(bad(record::TEXTS, format!("text {} cannot be corrected", correction.0))),
            }
        }
    }
    Ok(texts)
}

//! Matches the nodes of one file with those of the other.

use std::collections::{BTreeMap, HashMap, HashSet};

use modelexport_graph::Name;
use modelexport_graph::onnx::{Model, Node};

use crate::tagged_file::TaggedFile;
use crate::tagger::operator_name;

/// Pairs of positions larger than this are not looked through for the best alignment.
const MOST_PAIRS: usize = 4_000_000;

/// All nodes of both files, graphs inside nodes and functions included, in the order of the file.
pub(super) struct Matching {
    /// By position in the file before: the node after.
    pub to_after: Vec<Option<usize>>,
    /// By position in the file after: the node before.
    pub to_before: Vec<Option<usize>>,
    /// Values of the file after by the name that they had before.
    old_names: HashMap<Name, Name>,
}

/// All nodes of a model, in a fixed order.
pub(super) fn all_nodes(model: &Model) -> Vec<&Node> {
    let mut nodes = Vec::new();
    model.for_each_node(&mut |node| nodes.push(node));
    nodes
}

impl Matching {
    /// `renamed` are weights by their names after.
    pub(super) fn new(before: &TaggedFile, after: &TaggedFile, renamed: HashMap<Name, Name>) -> Matching {
        let (old, new) = (all_nodes(&before.model), all_nodes(&after.model));
        let mut matching = Matching {
            to_after: vec![None; old.len()],
            to_before: vec![None; new.len()],
            old_names: renamed,
        };
        matching.by_name(&old, &new, true);
        matching.by_place(before, after, &old, &new);
        matching.by_deed(&old, &new);
        matching.by_name(&old, &new, false);
        matching.name_values(before, after, &old, &new);
        matching
    }

    /// The name that a value of the file after had before; its own if nothing is known of it.
    pub(super) fn old_name<'n>(&'n self, name: &'n Name) -> &'n Name {
        self.old_names.get(name).unwrap_or(name)
    }

    fn pair(&mut self, old: usize, new: usize) {
        if let (Some(forth @ None), Some(back @ None)) =
            (self.to_after.get_mut(old), self.to_before.get_mut(new))
        {
            (*forth, *back) = (Some(new), Some(old));
        }
    }

    fn is_open(&self, old: usize) -> bool {
        self.to_after.get(old) == Some(&None)
    }

    fn is_new(&self, new: usize) -> bool {
        self.to_before.get(new) == Some(&None)
    }

    /// Nodes of one name that is used once in each file.
    fn by_name(&mut self, old: &[&Node], new: &[&Node], same_operator: bool) {
        let (old_places, new_places) = (places(old), places(new));
        for (at, node) in old.iter().enumerate() {
            let is_once = !node.name.is_empty() && old_places.get(&node.name) == Some(&Some(at));
            let Some(&Some(other)) = new_places.get(&node.name).filter(|_| is_once) else { continue };
            let fits = new.get(other).is_some_and(|found| !same_operator || found.op_type == node.op_type);
            if fits && self.is_open(at) && self.is_new(other) {
                self.pair(at, other);
            }
        }
    }

    /// Nodes of one module in the same order with the same operators.
    fn by_place(&mut self, before: &TaggedFile, after: &TaggedFile, old: &[&Node], new: &[&Node]) {
        let group = |file: &TaggedFile, nodes: &[&Node], is_free: &dyn Fn(usize) -> bool| {
            let mut groups: BTreeMap<Name, Vec<usize>> = BTreeMap::new();
            for (at, node) in nodes.iter().enumerate().filter(|(at, _)| is_free(*at)) {
                let path = super::path_of(file, file.module(node)).unwrap_or_else(|| "".into());
                groups.entry(path).or_default().push(at);
            }
            groups
        };
        let old_groups = group(before, old, &|at| self.is_open(at));
        let new_groups = group(after, new, &|at| self.is_new(at));
        for (path, old_nodes) in &old_groups {
            let Some(new_nodes) = new_groups.get(path) else { continue };
            let key = |nodes: &[&Node], at: usize| nodes.get(at).map(|node| operator_name(node));
            let old_keys: Vec<_> = old_nodes.iter().map(|at| key(old, *at)).collect();
            let new_keys: Vec<_> = new_nodes.iter().map(|at| key(new, *at)).collect();
            for (i, j) in common(&old_keys, &new_keys) {
                if let (Some(a), Some(b)) = (old_nodes.get(i), new_nodes.get(j)) {
                    self.pair(*a, *b);
                }
            }
        }
    }

    /// Nodes that do something that no other open node does.
    fn by_deed(&mut self, old: &[&Node], new: &[&Node]) {
        let deeds = |nodes: &[&Node], is_after: bool, is_free: &dyn Fn(usize) -> bool| {
            let mut deeds: HashMap<String, Option<usize>> = HashMap::new();
            for (at, node) in nodes.iter().enumerate().filter(|(at, _)| is_free(*at)) {
                deeds
                    .entry(deed(node, is_after.then_some(&self.old_names)))
                    .and_modify(|seen| *seen = None)
                    .or_insert(Some(at));
            }
            deeds
        };
        let new_deeds = deeds(new, true, &|at| self.is_new(at));
        let old_deeds = deeds(old, false, &|at| self.is_open(at));
        for (at, node) in old.iter().enumerate() {
            let key = deed(node, None);
            if old_deeds.get(&key) == Some(&Some(at))
                && let Some(&Some(other)) = new_deeds.get(&key)
            {
                self.pair(at, other);
            }
        }
    }

    fn name_values(&mut self, before: &TaggedFile, after: &TaggedFile, old: &[&Node], new: &[&Node]) {
        for (at, other) in self.to_after.iter().enumerate() {
            let (Some(a), Some(b)) = (old.get(at), other.and_then(|other| new.get(other))) else { continue };
            for (was, is) in a.outputs.iter().zip(&b.outputs).filter(|(was, is)| was != is) {
                self.old_names.insert(is.clone(), was.clone());
            }
        }
        // An input that was renamed has the place that it had.
        let (old_inputs, new_inputs) = (&before.model.graph.inputs, &after.model.graph.inputs);
        let was: HashSet<&Name> = old_inputs.iter().map(|input| &input.name).collect();
        let is: HashSet<&Name> = new_inputs.iter().map(|input| &input.name).collect();
        for (a, b) in old_inputs.iter().zip(new_inputs) {
            if old_inputs.len() == new_inputs.len() && !was.contains(&b.name) && !is.contains(&a.name) {
                self.old_names.insert(b.name.clone(), a.name.clone());
            }
        }
    }
}

/// Where each name stands; `None` if at several places.
fn places<'n>(nodes: &[&'n Node]) -> HashMap<&'n Name, Option<usize>> {
    let mut places = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        places.entry(&node.name).and_modify(|seen| *seen = None).or_insert(Some(at));
    }
    places
}

/// Operator, attributes and what is read, by the names that it had.
fn deed(node: &Node, old_names: Option<&HashMap<Name, Name>>) -> String {
    let attributes: Vec<String> = node
        .attributes
        .iter()
        .map(|attribute| format!("{}={}", attribute.name, super::nodes::attribute_text(&attribute.value)))
        .collect();
    let old_name = |input| old_names.and_then(|names| names.get(input)).unwrap_or(input);
    let inputs: Vec<&str> = node.inputs.iter().map(|input| &**old_name(input)).collect();
    format!("{}|{}|{}", operator_name(node), attributes.join(","), inputs.join(","))
}

/// The longest run of equal keys in the same order: pairs of positions.
fn common<K: PartialEq>(a: &[K], b: &[K]) -> Vec<(usize, usize)> {
    let start = a.iter().zip(b).take_while(|(x, y)| x == y).count();
    let mut pairs: Vec<(usize, usize)> = (0..start).map(|i| (i, i)).collect();
    let (rest_a, rest_b) = (a.get(start..).unwrap_or_default(), b.get(start..).unwrap_or_default());
    if rest_a.len().saturating_mul(rest_b.len()) > MOST_PAIRS {
        return pairs;
    }
    let width = rest_b.len() + 1;
    let mut longest = vec![0u32; (rest_a.len() + 1) * width];
    let at = |table: &[u32], i: usize, j: usize| table.get(i * width + j).copied().unwrap_or(0);
    for (i, x) in rest_a.iter().enumerate().rev() {
        for (j, y) in rest_b.iter().enumerate().rev() {
            let best = match x == y {
                true => at(&longest, i + 1, j + 1) + 1,
                false => at(&longest, i + 1, j).max(at(&longest, i, j + 1)),
            };
            if let Some(slot) = longest.get_mut(i * width + j) {
                *slot = best;
            }
        }
    }
    let (mut i, mut j) = (0, 0);
    while i < rest_a.len() && j < rest_b.len() {
        if rest_a.get(i) == rest_b.get(j) {
            pairs.push((start + i, start + j));
            (i, j) = (i + 1, j + 1);
        } else if at(&longest, i + 1, j) >= at(&longest, i, j + 1) {
            i += 1;
        } else {
            j += 1;
        }
    }
    pairs
}

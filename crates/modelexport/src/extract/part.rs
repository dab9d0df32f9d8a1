//! The nodes to extract, and the graph that contains them.

use std::collections::HashSet;

use modelexport_graph::onnx::{Graph, Node};
use modelexport_graph::{ModuleId, Name, Scopes};

use super::Error;
use super::calls::{self, Calls, Inside};
use crate::cut::for_each_read;
use crate::embedding;
use crate::tagged_file::TaggedFile;

/// Some nodes of one graph. Graphs inside these nodes come along.
pub(super) struct Part<'a> {
    pub graph: &'a Graph,
    /// The graphs around it, the model's first.
    pub outer: Vec<&'a Graph>,
    /// By position of the node in the graph.
    pub is_inside: Vec<bool>,
    /// By position: a node that the part shares with other modules, and that was put above them all. The part has
    /// its own copy; what the node makes is no output of the part.
    pub is_shared: Vec<bool>,
    /// The node that holds the graph.
    holder: Option<&'a Node>,
}

impl<'a> Part<'a> {
    pub(crate) fn nodes(&self) -> impl Iterator<Item = &'a Node> {
        self.graph.nodes.iter().zip(&self.is_inside).filter(|(_, inside)| **inside).map(|(node, _)| node)
    }

    /// Nodes that belong to the part alone.
    pub(crate) fn own_nodes(&self) -> impl Iterator<Item = &'a Node> {
        let flags = self.is_inside.iter().zip(&self.is_shared);
        let own = self.graph.nodes.iter().zip(flags).filter(|(_, (inside, shared))| **inside && !**shared);
        own.map(|(node, _)| node)
    }

    /// Nodes that stand for nodes of other modules, too.
    pub(crate) fn shared_nodes(&self) -> impl Iterator<Item = &'a Node> {
        self.graph.nodes.iter().zip(&self.is_shared).filter(|(_, shared)| **shared).map(|(node, _)| node)
    }

    /// The part is the model.
    pub(crate) fn is_whole(&self) -> bool {
        self.outer.is_empty() && self.is_inside.iter().all(|inside| *inside)
    }

    /// What somebody who uses the part should know.
    pub(crate) fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if let Some(holder) = self.holder {
            notes.push(format!(
                "the nodes lie inside `{}` ({}): each of its runs is one run of this model",
                holder.name, holder.op_type
            ));
        }
        if let Some((value, reader)) = self.way_back() {
            notes.push(format!(
                "`{value}`, which `{reader}` reads, is computed outside from an output of this model: feed the inputs \
                 with that in mind"
            ));
        }
        notes
    }

    /// Takes in nodes outside that stand for one of the part's, too: nodes of several modules that compute the same
    /// from the same are one node.
    fn take_shared(&mut self, inside: &Inside<'_>) {
        let mut wanted: HashSet<&Name> = HashSet::new();
        for at in (0..self.graph.nodes.len()).rev() {
            let (Some(node), Some(is_inside), Some(is_shared)) =
                (self.graph.nodes.get(at), self.is_inside.get_mut(at), self.is_shared.get_mut(at))
            else {
                continue;
            };
            if !*is_inside && node.outputs.iter().any(|output| wanted.contains(output)) {
                let calls = embedding::shared(&node.metadata);
                *is_shared = calls.iter().any(|(path, call)| inside.holds(path, *call));
                *is_inside = *is_shared;
            }
            if *is_inside {
                for_each_read(node, &mut |name| {
                    wanted.insert(name);
                });
            }
        }
    }

    /// A node that does the work of a module outside, too, gives something else than the module alone.
    fn check_fused(&self, inside: &Inside<'_>, module: impl Fn() -> String) -> Result<(), Error> {
        for node in self.own_nodes() {
            let mut others = embedding::fused(&node.metadata);
            others.retain(|other| !inside.is_below(other));
            if !others.is_empty() {
                let (node, others) = (node.name.to_string(), others.join("`, `"));
                return Err(Error::Fused { module: module(), node, others });
            }
        }
        Ok(())
    }

    /// A node at the border that also does what a node on the other side did: a reshape at the end of one module and
    /// one at the start of the next are one node, or none. There the part would have other shapes than the module.
    fn check_merged(
        &self,
        inside: &Inside<'_>,
        file: &TaggedFile,
        module: impl Fn() -> String,
    ) -> Result<(), Error> {
        let is_inside = |(path, call): &(String, u32)| inside.holds(path, *call);
        let mut made: HashSet<&Name> = HashSet::new();
        let flags = self.is_inside.iter().zip(&self.is_shared);
        for (node, (is_own, is_shared)) in self.graph.nodes.iter().zip(flags) {
            if *is_own {
                made.extend(&node.outputs);
            }
            let calls = embedding::shared(&node.metadata);
            if calls.is_empty() || *is_shared {
                continue;
            }
            let others = match *is_own {
                true => calls.into_iter().filter(|call| !is_inside(call)).collect(),
                false if calls.iter().any(is_inside) && reads_any(node, &made) => calls,
                false => Vec::new(),
            };
            let mut others: Vec<String> = others
                .into_iter()
                .filter(|call| !is_later_call(call, node, file))
                .map(|(path, _)| path)
                .collect();
            others.dedup();
            if !others.is_empty() {
                let (node, operator) = (node.name.to_string(), node.op_type.to_string());
                let others = others.iter().map(|path| calls::shown(path)).collect::<Vec<_>>().join("`, `");
                return Err(Error::Merged { module: module(), node, operator, others });
            }
        }
        Ok(())
    }

    /// A value from outside that depends on one from inside, and the node inside that reads it.
    fn way_back(&self) -> Option<(&'a Name, &'a Name)> {
        let mut dependent: HashSet<&Name> = HashSet::new();
        let mut made: HashSet<&Name> = HashSet::new();
        let flags = self.is_inside.iter().zip(&self.is_shared);
        // The copy of a shared node is no way through the part.
        for (node, (inside, _)) in self.graph.nodes.iter().zip(flags).filter(|(_, (_, shared))| !**shared) {
            let mut depends = None;
            for_each_read(node, &mut |name| {
                if dependent.contains(name) && (!*inside || !made.contains(name)) {
                    depends.get_or_insert(name);
                }
            });
            if *inside {
                if let Some(value) = depends {
                    return Some((value, &node.name));
                }
                made.extend(&node.outputs);
                dependent.extend(&node.outputs);
            } else if depends.is_some() {
                dependent.extend(&node.outputs);
            }
        }
        None
    }
}

/// The nodes of the chosen calls.
pub(super) fn find<'a>(file: &'a TaggedFile, modules: &[ModuleId], calls: &Calls) -> Result<Part<'a>, Error> {
    let is_inside = |node: &Node| {
        // A node of which nothing is known belongs to the root.
        let scope = file.scope(node).unwrap_or(Scopes::ROOT);
        calls.is_inside.get(scope.0 as usize).copied().unwrap_or(false)
    };
    let mut parts = Vec::new();
    collect(&file.model.graph, &mut Vec::new(), None, &is_inside, &mut parts);
    let names = || calls::names(file, modules);
    let mut parts = parts.into_iter();
    match (parts.next(), parts.next()) {
        (Some(mut only), None) => {
            let inside = calls.inside(file);
            only.take_shared(&inside);
            only.check_fused(&inside, names)?;
            only.check_merged(&inside, file, names)?;
            Ok(only)
        }
        (None, _) => {
            let holds = |function: &&modelexport_graph::onnx::Function| {
                let mut found = false;
                function.for_each_node(&mut |node| found |= is_inside(node));
                found
            };
            match file.model.functions.iter().find(holds) {
                Some(function) => {
                    Err(Error::InFunction { modules: names(), function: function.name.to_string() })
                }
                None => Err(Error::NoNodes { module: names() }),
            }
        }
        (Some(first), Some(second)) => {
            let place = |part: Part<'_>| match part.holder {
                Some(holder) => format!("a graph inside `{}` ({})", holder.name, holder.op_type),
                None => "the main graph".to_owned(),
            };
            let places = [first, second].into_iter().chain(parts).map(place).collect();
            Err(Error::Scattered { modules: names(), places })
        }
    }
}

fn reads_any(node: &Node, values: &HashSet<&Name>) -> bool {
    let mut reads = false;
    for_each_read(node, &mut |name| reads |= values.contains(name));
    reads
}

/// Whether `call` is a later call of the node's own module: equal nodes of calls of one module are one node, which
/// stands in the first of them and is that call's own.
fn is_later_call((path, call): &(String, u32), node: &Node, file: &TaggedFile) -> bool {
    let Some(scope) = file.scope(node) else { return false };
    let own = file.hierarchy.scopes.get(scope);
    let module = file.hierarchy.tree.get(own.module);
    module.is_some_and(|module| *module.path == **path) && *call > own.call
}

fn collect<'a>(
    graph: &'a Graph,
    outer: &mut Vec<&'a Graph>,
    holder: Option<&'a Node>,
    is_inside: &dyn Fn(&Node) -> bool,
    parts: &mut Vec<Part<'a>>,
) {
    let inside: Vec<bool> = graph.nodes.iter().map(is_inside).collect();
    outer.push(graph);
    let before = parts.len();
    for (node, inside) in graph.nodes.iter().zip(&inside) {
        if !inside {
            for subgraph in node.subgraphs() {
                collect(subgraph, outer, Some(node), is_inside, parts);
            }
        }
    }
    outer.pop();
    if inside.contains(&true) {
        let part = Part {
            graph,
            outer: outer.clone(),
            is_shared: vec![false; inside.len()],
            is_inside: inside,
            holder,
        };
        parts.insert(before, part);
    }
}

//! Names of boundary values, after the modules that produce them.
//!
//! Inputs and outputs of the whole model keep their names. A value that another module returns is
//! `encoder.layer.0.output`. A value that an enclosing module computes itself is named after that module and the operator.

use std::collections::{HashMap, HashSet};

use modelexport_graph::onnx::Node;
use modelexport_graph::{ModuleId, Name, ScopeId, Scopes};

use super::Extraction;
use crate::tagged_file::TaggedFile;

pub(super) struct Naming<'c, 'a> {
    cut: &'c Extraction<'a>,
    keeps_names: bool,
    taken: HashSet<Name>,
    next: HashMap<String, u32>,
    /// The calls that hold the whole part, from the root down.
    around: Vec<ScopeId>,
    /// Names that the user gave.
    user_names: HashSet<&'a Name>,
}

impl<'c, 'a> Naming<'c, 'a> {
    pub(crate) fn new(cut: &'c Extraction<'a>, keeps_names: bool) -> Self {
        let border: HashSet<&Name> = cut.border.inputs.iter().chain(&cut.border.outputs).collect();
        let mut taken: HashSet<Name> = cut.weight_names().into_iter().cloned().collect();
        for node in cut.part.nodes() {
            taken.extend(node.outputs.iter().filter(|name| !border.contains(name)).cloned());
            for graph in node.subgraphs() {
                taken.extend(crate::cut::defined_names(graph).cloned());
                graph.for_each_node(&mut |inner| taken.extend(inner.outputs.iter().cloned()));
            }
        }
        let graph = cut.part.graph;
        let user_names: HashSet<&Name> =
            graph.inputs.iter().chain(&graph.outputs).map(|info| &info.name).collect();
        taken.extend(border.iter().filter(|name| user_names.contains(*name)).map(|name| (*name).clone()));
        let scopes = &cut.file.hierarchy.scopes;
        let whole = cut.part.own_nodes().filter_map(|node| cut.file.scope(node));
        let around = whole.reduce(|a, b| scopes.lowest_common_ancestor(a, b)).unwrap_or(Scopes::ROOT);
        Naming { cut, keeps_names, taken, next: HashMap::new(), around: scopes.chain(around), user_names }
    }

    pub(crate) fn input(&mut self, value: &Name) -> Name {
        if self.is_kept(value) {
            return value.clone();
        }
        let wanted = match self.cut.makers.get(value) {
            Some(node) => self.after(node),
            None => value.to_string(),
        };
        self.unique(&wanted)
    }

    pub(crate) fn output(&mut self, value: &Name) -> Name {
        if self.is_kept(value) {
            return value.clone();
        }
        let scopes = &self.cut.file.hierarchy.scopes;
        let maker = self.cut.makers.get(value).and_then(|node| self.cut.file.scope(node));
        let chosen = |scope: &ScopeId| self.cut.modules.contains(&scopes.module(*scope));
        let module = maker.and_then(|scope| scopes.chain(scope).into_iter().find(chosen));
        let path = module.map_or("", |scope| path(self.cut.file, scopes.module(scope)));
        self.unique(&joined(path, "output"))
    }

    /// Whether a value keeps its name: that is the user's, or the user asks for it.
    fn is_kept(&self, value: &Name) -> bool {
        self.keeps_names || self.user_names.contains(value)
    }

    /// A name after the module outside the part that gives out what `node` makes.
    fn after(&self, node: &Node) -> String {
        let file = self.cut.file;
        let scopes = &file.hierarchy.scopes;
        let chain = file.scope(node).map(|scope| scopes.chain(scope)).unwrap_or_default();
        match chain.iter().find(|scope| !self.around.contains(scope)) {
            Some(giver) => joined(path(file, scopes.module(*giver)), "output"),
            None => {
                let owner = chain.last().map_or("", |scope| path(file, scopes.module(*scope)));
                joined(owner, &node.op_type.to_lowercase())
            }
        }
    }

    fn unique(&mut self, wanted: &str) -> Name {
        let wanted: String = wanted.chars().map(|c| if c.is_control() { '_' } else { c }).collect();
        let mut name: Name = wanted.as_str().into();
        let mut number = self.next.get(&wanted).copied().unwrap_or(0);
        while !self.taken.insert(name.clone()) {
            number += 1;
            name = format!("{wanted}_{number}").into();
        }
        self.next.insert(wanted, number);
        name
    }
}

fn path(file: &TaggedFile, module: ModuleId) -> &str {
    file.hierarchy.tree.get(module).map_or("", |module| &module.path)
}

fn joined(path: &str, last: &str) -> String {
    if path.is_empty() { last.to_owned() } else { format!("{path}.{last}") }
}

/// A name for the graph: the module's path, or the class of the root.
pub(super) fn graph_name(file: &TaggedFile, modules: &[ModuleId]) -> String {
    let name = |module: &ModuleId| match path(file, *module) {
        "" => file.model.graph.name.clone(),
        path => path.to_owned(),
    };
    let names: Vec<String> = modules.iter().take(3).map(name).collect();
    names.join(", ") + if modules.len() > 3 { ", …" } else { "" }
}

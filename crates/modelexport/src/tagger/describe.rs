//! The contents of the sidecar: nodes, modules and statistics.

use std::collections::BTreeMap;

use modelexport_graph::onnx::{Model, Node};
use modelexport_graph::{ModuleId, ModuleTree, ScopeId, Scopes};
use modelexport_io::sidecar::{self, Generator, NodeCount, Sidecar, Statistics};

use super::{Options, place};
use crate::parameter_counts;
use crate::tags::Tags;

/// The sidecar of a model whose nodes have their origins.
pub(crate) fn describe(
    model: &Model,
    tree: &ModuleTree,
    scopes: &Scopes,
    tags: &Tags,
    options: &Options,
) -> Sidecar {
    let nodes = Describing { tree, scopes, tags }.all(model);
    Sidecar { nodes, ..describe_modules(model, tree, scopes, tags, options) }
}

/// The same without what it says of the nodes one by one.
pub(crate) fn describe_modules(
    model: &Model,
    tree: &ModuleTree,
    scopes: &Scopes,
    tags: &Tags,
    options: &Options,
) -> Sidecar {
    let by = Describing { tree, scopes, tags };
    let mut counted = Counted::new(tree);
    model.for_each_node(&mut |node| counted.add(node, &by));
    counted.into_sidecar(Vec::new(), &by, options)
}

/// Shows all nodes of a model to a visitor.
pub(crate) type EachNode<'n> = dyn Fn(&mut dyn FnMut(&Node)) + 'n;

/// The sidecar of nodes that `each_node` shows, in the order of [`Model::for_each_node`].
pub(crate) fn describe_nodes(
    each_node: &EachNode<'_>,
    tree: &ModuleTree,
    scopes: &Scopes,
    tags: &Tags,
    options: &Options,
) -> Sidecar {
    let by = Describing { tree, scopes, tags };
    let mut counted = Counted::new(tree);
    let mut calls = LastCalls::new(scopes);
    let mut nodes = Vec::new();
    each_node(&mut |node| {
        counted.add(node, &by);
        nodes.extend(by.one(node, &mut calls));
    });
    counted.into_sidecar(nodes, &by, options)
}

/// Says of nodes what the sidecar says of them.
#[derive(Clone, Copy)]
pub(crate) struct Describing<'a> {
    pub tree: &'a ModuleTree,
    pub scopes: &'a Scopes,
    pub tags: &'a Tags,
}

impl Describing<'_> {
    /// Calls `take` with what is said of each of the nodes that has an origin, those inside it behind it.
    pub(crate) fn each(&self, nodes: &[Node], take: &mut dyn FnMut(sidecar::Node)) {
        let mut calls = LastCalls::new(self.scopes);
        for node in nodes {
            self.one(node, &mut calls).into_iter().for_each(&mut *take);
            for graph in node.subgraphs() {
                graph.for_each_node(&mut |node| {
                    self.one(node, &mut calls).into_iter().for_each(&mut *take);
                });
            }
        }
    }

    /// The same of all nodes of a model, in the order of [`Model::for_each_node`].
    pub(crate) fn all(&self, model: &Model) -> Vec<sidecar::Node> {
        let mut described = Vec::with_capacity(model.graph.nodes.len());
        for nodes in node_lists(model) {
            self.each(nodes, &mut |node| described.push(node));
        }
        described
    }

    /// Of one node; `None` if it has no origin.
    fn one(&self, node: &Node, calls: &mut LastCalls) -> Option<sidecar::Node> {
        let origin = node.origin.as_ref()?;
        let placed = place(node, origin, self.scopes, self.tags);
        Some(sidecar::Node {
            name: node.name.clone(),
            tags: placed.tags(),
            op_type: placed.operator.into_owned(),
            module: self.tree.get(placed.module).map(|module| module.path.clone()).unwrap_or_default(),
            calls: calls.of(origin.scope, self.scopes).to_vec(),
            path: placed.path.clone(),
            method: origin.method,
            confidence: origin.confidence,
            source: origin.source.as_ref().map(|source| source.name.clone()),
        })
    }
}

/// The nodes of a model's graph, then those of its functions.
pub(crate) fn node_lists(model: &Model) -> impl Iterator<Item = &[Node]> {
    let functions = model.functions.iter().map(|function| function.nodes.as_slice());
    std::iter::once(model.graph.nodes.as_slice()).chain(functions)
}

/// The calls of the last scope that was asked for: nodes of one call follow each other.
struct LastCalls {
    scope: ScopeId,
    calls: Vec<u32>,
}

impl LastCalls {
    fn new(scopes: &Scopes) -> Self {
        LastCalls { scope: Scopes::ROOT, calls: later_calls(scopes, Scopes::ROOT) }
    }

    fn of(&mut self, scope: ScopeId, scopes: &Scopes) -> &[u32] {
        if self.scope != scope {
            *self = LastCalls { scope, calls: later_calls(scopes, scope) };
        }
        &self.calls
    }
}

/// How many nodes there are, of which modules.
struct Counted {
    /// By [`ModuleId`].
    counts: Vec<NodeCount>,
    statistics: Statistics,
    by_method: BTreeMap<&'static str, u64>,
}

impl Counted {
    fn new(tree: &ModuleTree) -> Self {
        Counted {
            counts: vec![NodeCount::default(); tree.len()],
            statistics: Statistics::default(),
            by_method: BTreeMap::new(),
        }
    }

    fn add(&mut self, node: &Node, by: &Describing<'_>) {
        self.statistics.nodes += 1;
        let Some(origin) = &node.origin else { return };
        let module = by.scopes.module(origin.scope);
        if let Some(count) = self.counts.get_mut(module.0 as usize) {
            count.own += 1;
        }
        self.statistics.attributed_nodes += 1;
        self.statistics.tagged_operations += u64::from(by.tags.is_chosen(module));
        *self.by_method.entry(origin.method.name()).or_default() += 1;
    }

    fn into_sidecar(self, nodes: Vec<sidecar::Node>, by: &Describing<'_>, options: &Options) -> Sidecar {
        let Counted { mut counts, mut statistics, by_method } = self;
        statistics.by_method =
            by_method.into_iter().map(|(method, count)| (method.to_owned(), count)).collect();
        statistics.coverage = match statistics.nodes {
            0 => 1.0,
            all => statistics.attributed_nodes as f64 / all as f64,
        };
        add_totals(by.tree, &mut counts);
        let modules: Vec<sidecar::Module> = modules(by.tree, by.tags, &counts);
        statistics.modules = modules.len() as u64;
        statistics.parameters =
            parameter_counts::of_modules(by.tree, by.tree.iter().map(|(id, _)| id)).elements;
        statistics.executed_modules = modules.iter().filter(|module| module.executed).count() as u64;
        statistics.visible_modules = modules.iter().filter(|module| module.visible).count() as u64;
        Sidecar {
            schema_version: sidecar::SCHEMA_VERSION.to_owned(),
            generator: Generator {
                name: "modelexport".to_owned(),
                version: env!("CARGO_PKG_VERSION").to_owned(),
            },
            source: options.source.clone(),
            strategy: options.strategy.clone(),
            policy: by.tags.policy().clone(),
            modules,
            nodes,
            statistics,
        }
    }
}

/// Which calls of the modules from the root down a scope stands for; empty if all are first calls.
fn later_calls(scopes: &Scopes, scope: ScopeId) -> Vec<u32> {
    let mut calls = scopes.calls(scope);
    if calls.iter().all(|&call| call == 0) {
        calls.clear();
    }
    calls
}

/// Adds the nodes of each module to the totals of all modules above it. Parents come before children in the tree.
fn add_totals(tree: &ModuleTree, counts: &mut [NodeCount]) {
    counts.iter_mut().for_each(|count| count.total = count.own);
    for id in (1..counts.len()).rev() {
        let total = counts.get(id).map_or(0, |count| count.total);
        let parent = tree.get(ModuleId(id as u32)).and_then(|module| module.parent);
        if let Some(parent) = parent.and_then(|parent| counts.get_mut(parent.0 as usize)) {
            parent.total += total;
        }
    }
}

fn modules(tree: &ModuleTree, tags: &Tags, counts: &[NodeCount]) -> Vec<sidecar::Module> {
    let path_of = |id: ModuleId| tree.get(id).map(|module| module.path.clone());
    let modules = tree.iter().zip(counts).map(|((id, module), &nodes)| sidecar::Module {
        path: module.path.clone(),
        aliases: module.aliases.clone(),
        class: module.class.clone(),
        tag: tags.tag(id).clone(),
        visible: tags.is_visible(id),
        parent: module.parent.and_then(path_of),
        executed: module.order.is_some(),
        order: module.order,
        calls: module.calls,
        parameters: module.parameters.iter().map(sidecar::Parameter::from).collect(),
        nodes,
    });
    modules.collect()
}

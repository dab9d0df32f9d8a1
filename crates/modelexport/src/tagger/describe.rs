//! What the sidecar says of a model: its nodes, its modules, and how many of which there are.

use std::collections::BTreeMap;

use modelexport_graph::onnx::{Model, Node};
use modelexport_graph::{ModuleId, ModuleTree, ScopeId, Scopes};
use modelexport_io::sidecar::{self, Generator, NodeCount, Sidecar, Statistics};

use super::{Options, place};
use crate::tags::Tags;

/// The sidecar of a model whose nodes have their origins.
pub fn describe(
    model: &Model,
    tree: &ModuleTree,
    scopes: &Scopes,
    tags: &Tags,
    options: &Options,
) -> Sidecar {
    let by = Describing { tree, scopes, tags };
    describe_model(model, &by).into_sidecar(&by, options)
}

/// Shows all nodes of a model to a visitor.
pub type EachNode<'n> = dyn Fn(&mut dyn FnMut(&Node)) + 'n;

/// The same for nodes that `each_node` shows, in the order of [`Model::for_each_node`].
pub fn describe_nodes(
    each_node: &EachNode<'_>,
    tree: &ModuleTree,
    scopes: &Scopes,
    tags: &Tags,
    options: &Options,
) -> Sidecar {
    let by = Describing { tree, scopes, tags };
    let mut described = Described::new(0, &by);
    each_node(&mut |node| described.add(node, &by));
    described.into_sidecar(&by, options)
}

/// What nodes are described by.
struct Describing<'a> {
    tree: &'a ModuleTree,
    scopes: &'a Scopes,
    tags: &'a Tags,
}

/// What the sidecar says of some nodes.
struct Described {
    nodes: Vec<sidecar::Node>,
    /// By [`ModuleId`].
    counts: Vec<NodeCount>,
    statistics: Statistics,
    by_method: BTreeMap<&'static str, u64>,
    /// Of the last node: nodes of one call follow each other.
    last_calls: (ScopeId, Vec<u32>),
}

/// Fewer nodes are described by one thread.
pub(super) const MANY_NODES: usize = 1 << 14;

/// Describes all nodes of a model, in the order of [`Model::for_each_node`].
fn describe_model(model: &Model, by: &Describing<'_>) -> Described {
    let nodes = &model.graph.nodes;
    let middle = if nodes.len() < MANY_NODES { nodes.len() } else { nodes.len() / 2 };
    let (first, second) = nodes.split_at_checked(middle).unwrap_or((nodes, &[]));
    let mut described = Described::new(nodes.len(), by);
    std::thread::scope(|threads| {
        let rest = (!second.is_empty()).then(|| {
            threads.spawn(|| {
                let mut described = Described::new(second.len(), by);
                described.add_all(second, by);
                described
            })
        });
        described.add_all(first, by);
        if let Some(rest) = rest {
            described.append(rest.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        }
    });
    model.functions.iter().for_each(|function| described.add_all(&function.nodes, by));
    described
}

impl Described {
    fn new(nodes: usize, by: &Describing<'_>) -> Self {
        Described {
            nodes: Vec::with_capacity(nodes),
            counts: vec![NodeCount::default(); by.tree.len()],
            statistics: Statistics::default(),
            by_method: BTreeMap::new(),
            last_calls: (Scopes::ROOT, later_calls(by.scopes, Scopes::ROOT)),
        }
    }

    /// Adds nodes, each with those of the graphs inside it.
    fn add_all(&mut self, nodes: &[Node], by: &Describing<'_>) {
        for node in nodes {
            self.add(node, by);
            for graph in node.subgraphs() {
                graph.for_each_node(&mut |node| self.add(node, by));
            }
        }
    }

    fn add(&mut self, node: &Node, by: &Describing<'_>) {
        self.statistics.nodes += 1;
        let Some(origin) = &node.origin else { return };
        let placed = place(node, origin, by.scopes, by.tags);
        if self.last_calls.0 != origin.scope {
            self.last_calls = (origin.scope, later_calls(by.scopes, origin.scope));
        }
        if let Some(count) = self.counts.get_mut(placed.module.0 as usize) {
            count.own += 1;
        }
        self.statistics.attributed_nodes += 1;
        self.statistics.tagged_operations += u64::from(by.tags.is_chosen(placed.module));
        *self.by_method.entry(origin.method.name()).or_default() += 1;
        self.nodes.push(sidecar::Node {
            name: node.name.clone(),
            tags: placed.tags(),
            op_type: placed.operator.into_owned(),
            module: by.tree.get(placed.module).map(|module| module.path.clone()).unwrap_or_default(),
            calls: self.last_calls.1.clone(),
            path: placed.path.clone(),
            method: origin.method,
            confidence: origin.confidence,
            source: origin.source.as_ref().map(|source| source.name.clone()),
        });
    }

    fn append(&mut self, mut other: Described) {
        self.nodes.append(&mut other.nodes);
        for (count, more) in self.counts.iter_mut().zip(&other.counts) {
            count.own += more.own;
        }
        self.statistics.nodes += other.statistics.nodes;
        self.statistics.attributed_nodes += other.statistics.attributed_nodes;
        self.statistics.tagged_operations += other.statistics.tagged_operations;
        for (method, count) in other.by_method {
            *self.by_method.entry(method).or_default() += count;
        }
    }

    fn into_sidecar(self, by: &Describing<'_>, options: &Options) -> Sidecar {
        let Described { nodes, mut counts, mut statistics, by_method, .. } = self;
        statistics.by_method =
            by_method.into_iter().map(|(method, count)| (method.to_owned(), count)).collect();
        statistics.coverage = match statistics.nodes {
            0 => 1.0,
            all => statistics.attributed_nodes as f64 / all as f64,
        };
        add_totals(by.tree, &mut counts);
        let modules: Vec<sidecar::Module> = modules(by.tree, by.tags, &counts);
        statistics.modules = modules.len() as u64;
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
        class: module.class.clone(),
        tag: tags.tag(id).clone(),
        visible: tags.is_visible(id),
        parent: module.parent.and_then(path_of),
        executed: module.order.is_some(),
        order: module.order,
        calls: module.calls,
        parameters: module
            .parameters
            .iter()
            .map(|parameter| sidecar::Parameter {
                name: parameter.name.clone(),
                elements: parameter.elements,
                bytes: parameter.bytes,
                buffer: parameter.is_buffer,
            })
            .collect(),
        nodes,
    });
    modules.collect()
}

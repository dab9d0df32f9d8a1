//! The hierarchy of an ONNX model, from its nodes and its sidecar.
//!
//! A first round places nodes that name their module: in modelexport's own entry, in torch's stacks, or in the sidecar. A
//! second round places the rest: by a tag that a placed node also has, or in a subgraph by the node around it. If the nodes
//! of a file carry only tags, its modules are derived from these.

use std::collections::HashMap;

use modelexport_graph::module_tree::Parameter;
use modelexport_graph::onnx::{Model, Node, Origin, ValueInfo};
use modelexport_graph::{Method, ModuleId, ModuleTree, Name, ScopeId, Scopes, SourceId};
use modelexport_io::onnx::{self, GraphVisitor};
use modelexport_io::sidecar::Sidecar;
use modelexport_io::source::Sources;

use super::initializers::{add_initializers, readers, readers_in};
use super::node_claim::{Claim, Frame};
use super::quantised::Quantised;
use super::tag_tree::TagTree;
use super::{Evidence, EvidenceKind, Hierarchy, RecordedTag};
use crate::strategies::graph::{TextId, Texts};
use crate::strategies::{GraphBuilder, GraphView};
use crate::tags::Tags;

/// Places the nodes of `model` and writes their origin. A node that nothing is known of has none afterwards.
pub fn from_onnx(model: &mut Model, sidecar: Option<&Sidecar>) -> Hierarchy {
    let mut placer = Placer::new(sidecar);
    model.graph.nodes.iter().for_each(|node| placer.note(node, None));
    placer.note_functions(model);
    placer.place_rest();
    let mut places = placer.notes.iter().map(|note| (note.scope, note.method));
    model.for_each_node_mut(&mut |node| {
        let origin = |(scope, method): (Option<ScopeId>, Method)| {
            Some(Origin { method, ..Origin::direct(scope?, None) })
        };
        node.origin = places.next().and_then(origin);
    });
    drop(places);
    let mut hierarchy = placer.finish();
    if sidecar.is_none() {
        let readers = readers(model, &hierarchy);
        let mut quantised = Quantised::default();
        model.graph.nodes.iter().for_each(|node| quantised.note(node));
        add_initializers(&model.graph.initializers, &mut hierarchy.tree, &quantised, &|tensor, _| {
            readers.get(&tensor.name).copied().flatten()
        });
    }
    hierarchy
}

/// A model of which the nodes are known by their places alone.
#[derive(Debug)]
pub struct PlacedGraph {
    /// Without most nodes of its main graph.
    pub model: Model,
    pub(crate) graph: GraphView,
    /// By node of the graph: where it ran.
    pub calls: Vec<Option<ScopeId>>,
}

/// Reads a model and places its nodes at once, without having them in memory. The sidecar loses its nodes.
pub fn read_onnx(
    sources: &Sources,
    source: SourceId,
    sidecar: Option<&mut Sidecar>,
) -> Result<(PlacedGraph, Hierarchy), onnx::Error> {
    let mut reading = Reading::new(sidecar, false);
    let model = onnx::read_visiting(sources, source, &mut reading)?;
    let (graph, calls, hierarchy) = reading.finish(&model);
    Ok((PlacedGraph { model, graph, calls }, hierarchy))
}

/// Places the nodes of a model while it is read, and makes its graph.
pub(crate) struct Reading {
    placer: Placer,
    builder: GraphBuilder,
    quantised: Quantised,
}

impl Reading {
    /// The sidecar loses its nodes. `reads_marks`: the graph tells what metadata say.
    pub(crate) fn new(sidecar: Option<&mut Sidecar>, reads_marks: bool) -> Self {
        let placer = Placer::new(sidecar.as_deref());
        sidecar.into_iter().for_each(|sidecar| sidecar.nodes = Vec::new());
        Reading { placer, builder: GraphBuilder::new(reads_marks), quantised: Quantised::default() }
    }

    /// The graph of the model that was read, where its nodes ran, and its modules.
    pub(crate) fn finish(self, model: &Model) -> (GraphView, Vec<Option<ScopeId>>, Hierarchy) {
        let Reading { mut placer, builder, quantised } = self;
        placer.note_functions(model);
        placer.place_rest();
        let graph = builder.finish(model);
        let calls: Vec<Option<ScopeId>> = placer.notes.iter().map(|note| note.scope).collect();
        let has_sidecar = placer.has_sidecar;
        let mut hierarchy = placer.finish();
        if !has_sidecar {
            let readers = readers_in(&graph, &calls, &hierarchy);
            add_initializers(&model.graph.initializers, &mut hierarchy.tree, &quantised, &|_, number| {
                readers.get(number).copied().flatten()
            });
        }
        (graph, calls, hierarchy)
    }
}

impl GraphVisitor for Reading {
    fn node(&mut self, node: &mut Node) -> bool {
        let claim = Claim::of(node);
        self.quantised.note(node);
        let is_kept = self.builder.node_with(node, Some(&claim));
        self.placer.note_claimed(node, claim, None);
        is_kept
    }

    /// Who goes by what nodes say does not look at types.
    fn value_info(&mut self, _: &ValueInfo) -> bool {
        false
    }
}

/// What is known of a node until all are placed.
struct Note {
    scope: Option<ScopeId>,
    method: Method,
    /// The node in whose subgraph it lies.
    holder: Option<u32>,
    /// Of a node that did not name its module.
    tag: Option<Name>,
}

#[derive(Default)]
struct Placer {
    tree: ModuleTree,
    scopes: Scopes,
    evidence: Evidence,
    /// In the order of [`Model::for_each_node`].
    notes: Vec<Note>,
    executed: u32,
    has_sidecar: bool,
    sidecar_nodes: SidecarNodes,
    /// The shallowest module whose nodes have a tag.
    by_tag: HashMap<Name, ModuleId>,
    recorded: Vec<RecordedTag>,
    recorded_index: HashMap<(ModuleId, Name), usize>,
    tags_only: Option<Tags>,
}

/// The modules that a sidecar names for nodes, by name of the node.
#[derive(Default)]
struct SidecarNodes {
    names: Texts,
    /// By name.
    modules: Vec<Option<ModuleId>>,
    /// The calls on the way to the module, where not all are the first.
    calls: HashMap<TextId, Vec<u32>>,
}

impl SidecarNodes {
    /// The last node of a name counts.
    fn insert(&mut self, name: &str, module: ModuleId, calls: &[u32]) {
        let name = self.names.add(name);
        self.modules.resize(self.names.count(), None);
        if let Some(slot) = self.modules.get_mut(name.0 as usize) {
            *slot = Some(module);
        }
        self.calls.remove(&name);
        if !calls.is_empty() {
            self.calls.insert(name, calls.to_vec());
        }
    }

    fn find(&self, name: &str) -> Option<(ModuleId, Vec<u32>)> {
        let name = self.names.find(name)?;
        let module = self.modules.get(name.0 as usize).copied().flatten()?;
        Some((module, self.calls.get(&name).cloned().unwrap_or_default()))
    }
}

impl Placer {
    fn new(sidecar: Option<&Sidecar>) -> Self {
        let mut placer = Placer::default();
        sidecar.into_iter().for_each(|sidecar| placer.read_sidecar(sidecar));
        placer
    }

    fn read_sidecar(&mut self, sidecar: &Sidecar) {
        self.has_sidecar = true;
        for entry in &sidecar.modules {
            let id = self.tree.insert(&entry.path);
            let Some(module) = self.tree.get_mut(id) else { continue };
            module.class = entry.class.clone();
            module.order = entry.order;
            module.calls = entry.calls;
            module.parameters = entry.parameters.iter().map(Parameter::from).collect();
            if let Some(order) = entry.order {
                self.executed = self.executed.max(order.saturating_add(1));
            }
        }
        for entry in &sidecar.modules {
            let Some(id) = self.tree.find(&entry.path) else { continue };
            entry.aliases.iter().for_each(|alias| self.tree.add_alias(id, alias));
        }
        for node in &sidecar.nodes {
            if let Some(module) = self.tree.find(&node.module) {
                self.sidecar_nodes.insert(&node.name, module, &node.calls);
            }
        }
    }

    /// Places a node that names its module, and the nodes of its subgraphs.
    fn note(&mut self, node: &Node, holder: Option<u32>) {
        self.note_claimed(node, Claim::of(node), holder);
    }

    /// The same for a node that says `claim`.
    fn note_claimed(&mut self, node: &Node, claim: Claim, holder: Option<u32>) {
        let number = self.notes.len() as u32;
        let method = claim.method.unwrap_or(Method::Scope);
        let mut note = Note { scope: None, method, holder, tag: None };
        match self.place_by_module(&claim, &node.name) {
            Some(scope) => {
                note.scope = Some(scope);
                if let Some(tag) = claim.tag {
                    self.record(self.scopes.module(scope), &tag.into());
                }
            }
            None => note.tag = claim.tag.map(Name::from),
        }
        self.notes.push(note);
        for inner in node.subgraphs().flat_map(|graph| &graph.nodes) {
            self.note(inner, Some(number));
        }
    }

    fn note_functions(&mut self, model: &Model) {
        for function in &model.functions {
            function.nodes.iter().for_each(|node| self.note(node, None));
        }
    }

    fn place_by_module(&mut self, claim: &Claim, name: &str) -> Option<ScopeId> {
        let (kind, scope) = match (&claim.module, &claim.stack) {
            (Some(module), Some((_, frames))) if ends_in(frames, module) => {
                (EvidenceKind::Modelexport, self.enter(frames, &claim.calls))
            }
            (Some(module), _) => {
                let id = self.tree.insert(module);
                (EvidenceKind::Modelexport, self.enter_module(id, &claim.calls))
            }
            (None, Some((kind, frames))) => (*kind, self.enter(frames, &claim.calls)),
            (None, None) => {
                let (module, calls) = self.sidecar_nodes.find(name)?;
                (EvidenceKind::Sidecar, self.enter_module(module, &calls))
            }
        };
        self.evidence.add(kind, 1);
        Some(scope)
    }

    /// Places what did not name its module, once all that did are placed.
    fn place_rest(&mut self) {
        let mut tag_tree = TagTree::default();
        let tags_only = self.evidence.is_empty();
        for number in 0..self.notes.len() {
            let Some(note) = self.notes.get_mut(number).filter(|note| note.scope.is_none()) else { continue };
            let (tag, holder) = (note.tag.take(), note.holder);
            let tagged = tag.and_then(|tag| match tags_only {
                true => Some(tag_tree.insert(&tag)),
                false => self.by_tag.get(&tag).copied(),
            });
            let around = holder.and_then(|holder| self.notes.get(holder as usize)?.scope);
            let (kind, scope) = match (tagged, around) {
                (Some(module), _) => (EvidenceKind::Tag, self.scopes.child(Scopes::ROOT, module, 0)),
                (None, Some(around)) => (EvidenceKind::Holder, around),
                (None, None) => continue,
            };
            self.evidence.add(kind, 1);
            if let Some(note) = self.notes.get_mut(number) {
                note.scope = Some(scope);
            }
        }
        if tags_only && !self.evidence.is_empty() {
            self.tree = std::mem::take(&mut tag_tree.tree);
            tag_tree.tags.resize(self.tree.len(), None);
            self.tags_only = Some(Tags::recorded(&self.tree, &tag_tree.tags));
        }
    }

    fn enter(&mut self, frames: &[Frame], calls: &[u32]) -> ScopeId {
        let calls = fitting(calls, frames.len());
        let mut scope = Scopes::ROOT;
        for (i, frame) in frames.iter().enumerate() {
            let id = self.tree.insert(&frame.path);
            let call = calls.get(i).copied().unwrap_or(0);
            self.execute(id, call, Some(&frame.class));
            if id != ModuleId::ROOT {
                scope = self.scopes.child(scope, id, call);
            }
        }
        scope
    }

    /// A call of a module of which only the place in the tree is known.
    fn enter_module(&mut self, module: ModuleId, calls: &[u32]) -> ScopeId {
        let mut chain = self.tree.chain(module);
        chain.retain(|&id| id == ModuleId::ROOT || id == module || self.is_called(id));
        let calls = fitting(calls, chain.len());
        let mut scope = Scopes::ROOT;
        for (i, id) in chain.into_iter().enumerate() {
            let call = calls.get(i).copied().unwrap_or(0);
            self.execute(id, call, None);
            if id != ModuleId::ROOT {
                scope = self.scopes.child(scope, id, call);
            }
        }
        scope
    }

    /// Whether a module above the one that ran was called itself. The sidecar tells; else a container, which is
    /// not called, is one without a class.
    fn is_called(&self, id: ModuleId) -> bool {
        let Some(module) = self.tree.get(id) else { return false };
        if self.has_sidecar { module.order.is_some() } else { !module.class.is_empty() }
    }

    fn execute(&mut self, id: ModuleId, call: u32, class: Option<&str>) {
        let Some(module) = self.tree.get_mut(id) else { return };
        if module.class.is_empty()
            && let Some(class) = class
        {
            module.class = class.into();
        }
        if module.order.is_none() {
            module.order = Some(self.executed);
            self.executed += 1;
        }
        module.calls = module.calls.max(call.saturating_add(1));
    }

    fn record(&mut self, module: ModuleId, tag: &Name) {
        let index = *self.recorded_index.entry((module, tag.clone())).or_insert_with(|| {
            self.recorded.push(RecordedTag { module, tag: tag.clone(), nodes: 0 });
            self.recorded.len() - 1
        });
        if let Some(recorded) = self.recorded.get_mut(index) {
            recorded.nodes += 1;
        }
        let depth = |id| self.tree.get(id).map_or(0, |module| module.path.len());
        let is_shallower = self.by_tag.get(tag).is_none_or(|&known| depth(module) < depth(known));
        if is_shallower {
            self.by_tag.insert(tag.clone(), module);
        }
    }

    fn finish(self) -> Hierarchy {
        let mut own_nodes = vec![0; self.tree.len()];
        let mut unattributed_nodes = 0;
        for note in &self.notes {
            let module = note.scope.map(|scope| self.scopes.module(scope));
            match module.and_then(|module| own_nodes.get_mut(module.0 as usize)) {
                Some(count) => *count += 1,
                None => unattributed_nodes += 1,
            }
        }
        Hierarchy {
            tree: self.tree,
            scopes: self.scopes,
            own_nodes,
            unattributed_nodes,
            evidence: self.evidence,
            recorded_tags: self.recorded,
            tags_only: self.tags_only,
        }
    }
}

/// The call numbers of a chain of `length` modules; none if they are those of another chain.
fn fitting(calls: &[u32], length: usize) -> &[u32] {
    if calls.len() == length { calls } else { &[] }
}

fn ends_in(frames: &[Frame], module: &str) -> bool {
    frames.last().is_some_and(|frame| frame.path == module)
}

#[cfg(test)]
mod tests;

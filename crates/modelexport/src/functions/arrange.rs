//! Assigns nodes to functions, and orders them.
//!
//! A call can become one node only if no value leaves it and returns to it. All calls of one level are checked together,
//! because two calls can also depend on each other: values go from one to the other and back. Such calls are not converted.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BinaryHeap, HashMap, HashSet};

use modelexport_graph::onnx::Node;
use modelexport_graph::{ModuleId, Name, ScopeId, Scopes};

use super::UnconvertedCall;
use crate::cut::for_each_read;
use crate::tagged_file::TaggedFile;

/// The calls that are to become functions, by [`ScopeId`].
#[derive(Clone, Debug)]
pub(super) struct Candidates(Vec<bool>);

impl Candidates {
    fn contains(&self, scope: ScopeId) -> bool {
        self.0.get(scope.0 as usize).copied().unwrap_or(false)
    }

    pub(crate) fn remove(&mut self, scope: ScopeId) {
        if let Some(slot) = self.0.get_mut(scope.0 as usize) {
            *slot = false;
        }
    }
}

/// A node of the main graph by its position, or a call by its position in [`Arrangement::groups`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Item {
    Node(usize),
    Group(usize),
}

/// The nodes of one call.
#[derive(Clone, Debug)]
pub(super) struct Group {
    pub scope: ScopeId,
    pub items: Vec<Item>,
    /// Values from outside, weights among them, by first use.
    pub inputs: Vec<Name>,
    /// Values that others read, in the order in which they are made.
    pub outputs: Vec<Name>,
}

/// The main graph as calls and nodes.
#[derive(Debug, Default)]
pub(super) struct Arrangement {
    /// Inner calls before the calls that hold them.
    pub groups: Vec<Group>,
    pub top: Vec<Item>,
}

impl Arrangement {
    /// Positions of the nodes in the order in which they come when all calls are inlined.
    pub(crate) fn flat(&self) -> Vec<usize> {
        let mut flat = Vec::new();
        self.flatten(&self.top, &mut flat);
        flat
    }

    fn flatten(&self, items: &[Item], flat: &mut Vec<usize>) {
        for item in items {
            match item {
                Item::Node(at) => flat.push(*at),
                Item::Group(group) => {
                    if let Some(group) = self.groups.get(*group) {
                        self.flatten(&group.items, flat);
                    }
                }
            }
        }
    }
}

/// The calls of `modules` that have nodes in the main graph, the root's left out.
pub(super) fn candidates(
    file: &TaggedFile,
    modules: &[ModuleId],
    notes: &mut Vec<UnconvertedCall>,
) -> Candidates {
    let scopes = &file.hierarchy.scopes;
    let mut is_module = vec![false; file.hierarchy.tree.len()];
    for module in modules {
        if let Some(slot) = is_module.get_mut(module.0 as usize) {
            *slot = true;
        }
    }
    let mut has_nodes = vec![false; scopes.len()];
    file.model.graph.nodes.iter().for_each(|node| mark(file, node, &mut has_nodes));
    let mut has_any_nodes = has_nodes.clone();
    file.model.graph.for_each_node(&mut |node| mark(file, node, &mut has_any_nodes));
    let holds = |flags: &[bool], id: usize| flags.get(id).copied().unwrap_or(false);
    if modules.contains(&ModuleId::ROOT) {
        notes.push(left(file, Scopes::ROOT, "the root is the model itself"));
    }
    let chosen = scopes.iter().map(|(id, scope)| {
        let is_chosen = id != Scopes::ROOT && holds(&is_module, scope.module.0 as usize);
        let has_nodes = holds(&has_nodes, id.0 as usize);
        if is_chosen && !has_nodes && holds(&has_any_nodes, id.0 as usize) {
            notes.push(left(file, id, "its nodes lie in a branch or in the body of a loop"));
        }
        is_chosen && has_nodes
    });
    Candidates(chosen.collect())
}

/// Notes the call of a node and those around it.
fn mark(file: &TaggedFile, node: &Node, has_nodes: &mut [bool]) {
    let mut at = file.scope(node);
    while let Some(scope) = at {
        match has_nodes.get_mut(scope.0 as usize) {
            Some(slot) if !*slot => *slot = true,
            _ => break,
        }
        at = file.hierarchy.scopes.get(scope).parent;
    }
}

pub(super) fn left(file: &TaggedFile, scope: ScopeId, reason: &str) -> UnconvertedCall {
    let found = file.hierarchy.scopes.get(scope);
    let module = file.hierarchy.tree.get(found.module);
    UnconvertedCall {
        module: module.map_or_else(|| "".into(), |module| module.path.clone()),
        call: found.call,
        reason: reason.to_owned(),
    }
}

/// Sorts the nodes of the main graph into calls. Candidates that cannot be functions are removed and noted.
pub(super) fn arrange(
    file: &TaggedFile,
    candidates: &mut Candidates,
    notes: &mut Vec<UnconvertedCall>,
) -> Arrangement {
    let nodes = &file.model.graph.nodes;
    let mut made_by = HashMap::new();
    let mut read_by: HashMap<&Name, Vec<usize>> = HashMap::new();
    for (at, node) in nodes.iter().enumerate() {
        made_by.extend(node.outputs.iter().filter(|name| !name.is_empty()).map(|name| (name, at)));
        for_each_read(node, &mut |name| read_by.entry(name).or_default().push(at));
    }
    let given_out = file.model.graph.outputs.iter().map(|output| &output.name).collect();
    let mut arranger =
        Arranger { file, nodes, made_by, read_by, given_out, candidates, notes, groups: Vec::new() };
    let top = arranger.level((0..nodes.len()).collect(), None);
    Arrangement { groups: arranger.groups, top }
}

struct Arranger<'a, 'c> {
    file: &'a TaggedFile,
    nodes: &'a [Node],
    made_by: HashMap<&'a Name, usize>,
    read_by: HashMap<&'a Name, Vec<usize>>,
    given_out: HashSet<&'a Name>,
    candidates: &'c mut Candidates,
    notes: &'c mut Vec<UnconvertedCall>,
    groups: Vec<Group>,
}

/// A node or the nodes of a call, as one thing to put in order.
struct Vertex {
    call: Option<ScopeId>,
    nodes: Vec<usize>,
}

impl Arranger<'_, '_> {
    /// The nodes at `positions`, which are those of the call `around`, in order and sorted into calls.
    fn level(&mut self, positions: Vec<usize>, around: Option<ScopeId>) -> Vec<Item> {
        let (vertices, order) = loop {
            let vertices = self.vertices(&positions, around);
            match self.order(&vertices) {
                Ok(order) => break (vertices, order),
                Err(in_the_way) => {
                    for scope in in_the_way {
                        self.candidates.remove(scope);
                        let reason = "a value that leaves it comes back into it";
                        self.notes.push(left(self.file, scope, reason));
                    }
                }
            }
        };
        let mut vertices: Vec<Option<Vertex>> = vertices.into_iter().map(Some).collect();
        let in_order = order.into_iter().filter_map(|at| vertices.get_mut(at).and_then(Option::take));
        let in_order: Vec<Vertex> = in_order.collect();
        in_order.into_iter().flat_map(|vertex| self.item(vertex)).collect()
    }

    fn item(&mut self, vertex: Vertex) -> Option<Item> {
        let Some(scope) = vertex.call else { return vertex.nodes.first().map(|at| Item::Node(*at)) };
        let is_inside: HashSet<usize> = vertex.nodes.iter().copied().collect();
        let items = self.level(vertex.nodes, Some(scope));
        let (inputs, outputs) = self.border(&items, &is_inside);
        self.groups.push(Group { scope, items, inputs, outputs });
        Some(Item::Group(self.groups.len() - 1))
    }

    /// Each node or outermost call below `around`, by the position of its first node.
    fn vertices(&self, positions: &[usize], around: Option<ScopeId>) -> Vec<Vertex> {
        let mut by_call: BTreeMap<ScopeId, usize> = BTreeMap::new();
        let mut vertices: Vec<Vertex> = Vec::new();
        for &at in positions {
            let Some(call) = self.outermost(at, around) else {
                vertices.push(Vertex { call: None, nodes: vec![at] });
                continue;
            };
            let index = *by_call.entry(call).or_insert_with(|| {
                vertices.push(Vertex { call: Some(call), nodes: Vec::new() });
                vertices.len() - 1
            });
            if let Some(vertex) = vertices.get_mut(index) {
                vertex.nodes.push(at);
            }
        }
        vertices
    }

    /// The outermost candidate below `around` that a node belongs to.
    fn outermost(&self, at: usize, around: Option<ScopeId>) -> Option<ScopeId> {
        let mut found = None;
        let mut scope = self.nodes.get(at).and_then(|node| self.file.scope(node));
        while let Some(id) = scope.filter(|id| Some(*id) != around) {
            if self.candidates.contains(id) {
                found = Some(id);
            }
            scope = self.file.hierarchy.scopes.get(id).parent;
        }
        found
    }

    /// An order in which everything is made before it is read, as close to the file's as can be; or the calls for
    /// which there is none.
    fn order(&self, vertices: &[Vertex]) -> Result<Vec<usize>, Vec<ScopeId>> {
        let mut vertex_of: HashMap<usize, usize> = HashMap::new();
        for (i, vertex) in vertices.iter().enumerate() {
            vertex_of.extend(vertex.nodes.iter().map(|at| (*at, i)));
        }
        let mut after: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
        let mut before: Vec<Vec<usize>> = vec![Vec::new(); vertices.len()];
        for (i, vertex) in vertices.iter().enumerate() {
            for node in vertex.nodes.iter().filter_map(|at| self.nodes.get(*at)) {
                for_each_read(node, &mut |name| {
                    let maker = self.made_by.get(name).and_then(|at| vertex_of.get(at));
                    if let Some(&maker) = maker.filter(|maker| **maker != i)
                        && let (Some(next), Some(previous)) = (after.get_mut(maker), before.get_mut(i))
                    {
                        next.push(i);
                        previous.push(maker);
                    }
                });
            }
        }
        let order = peel(&after, &before);
        if order.len() == vertices.len() {
            return Ok(order);
        }
        // What is left after peeling from both ends is what goes round.
        let from_front: HashSet<usize> = order.into_iter().collect();
        let from_back: HashSet<usize> = peel(&before, &after).into_iter().collect();
        let stuck = (0..vertices.len()).filter(|i| !from_front.contains(i) && !from_back.contains(i));
        let calls: Vec<ScopeId> = stuck.filter_map(|i| vertices.get(i)?.call).collect();
        if calls.is_empty() {
            // The file itself goes round; leave its order alone.
            return Ok((0..vertices.len()).collect());
        }
        Err(calls)
    }

    fn border(&self, items: &[Item], is_inside: &HashSet<usize>) -> (Vec<Name>, Vec<Name>) {
        let mut inputs = Vec::new();
        let mut outputs = Vec::new();
        let mut seen: HashSet<Name> = HashSet::new();
        let mut read = |name: &Name, inputs: &mut Vec<Name>| {
            let is_own = self.made_by.get(name).is_some_and(|at| is_inside.contains(at));
            if !is_own && seen.insert(name.clone()) {
                inputs.push(name.clone());
            }
        };
        let leaves = |name: &Name| {
            let mut readers = self.read_by.get(name).into_iter().flatten();
            self.given_out.contains(name) || readers.any(|at| !is_inside.contains(at))
        };
        for item in items {
            match item {
                Item::Node(at) => {
                    let Some(node) = self.nodes.get(*at) else { continue };
                    for_each_read(node, &mut |name| read(name, &mut inputs));
                    outputs
                        .extend(node.outputs.iter().filter(|name| !name.is_empty() && leaves(name)).cloned());
                }
                Item::Group(at) => {
                    let Some(group) = self.groups.get(*at) else { continue };
                    group.inputs.iter().for_each(|name| read(name, &mut inputs));
                    outputs.extend(group.outputs.iter().filter(|name| leaves(name)).cloned());
                }
            }
        }
        (inputs, outputs)
    }
}

/// Takes away what nothing is before, the first of them first, as long as there is something.
fn peel(after: &[Vec<usize>], before: &[Vec<usize>]) -> Vec<usize> {
    let mut open: Vec<usize> = before.iter().map(Vec::len).collect();
    let mut ready: BinaryHeap<Reverse<usize>> =
        open.iter().enumerate().filter(|(_, count)| **count == 0).map(|(i, _)| Reverse(i)).collect();
    let mut order = Vec::with_capacity(open.len());
    while let Some(Reverse(i)) = ready.pop() {
        order.push(i);
        for &next in after.get(i).into_iter().flatten() {
            if let Some(count) = open.get_mut(next) {
                *count -= 1;
                if *count == 0 {
                    ready.push(Reverse(next));
                }
            }
        }
    }
    order
}

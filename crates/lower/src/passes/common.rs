//! Makes equal constants one value, and nodes that compute the same from the same inputs one node.
//!
//! Origin of a merged node: the lowest common ancestor of the nodes that it stands for. A node that reads a weight is
//! merged only within one module, so that each module keeps the nodes that read its weights.

use std::hash::BuildHasher;

use hashbrown::hash_table::{Entry, HashTable};
use modelexport_graph::hash::{HashMap, HashSet, RandomState};
use modelexport_graph::{ScopeId, Scopes};

use crate::ir::{Attr, Constant, Graph, Ir, Node, ValueId};

/// True if something was merged.
pub fn run(ir: &mut Ir, scopes: &Scopes) -> bool {
    let mut graph = std::mem::take(&mut ir.graph);
    let mut replaced: Vec<Option<ValueId>> = vec![None; ir.values.len()];
    let mut changed = merge_constants(ir, &mut replaced);
    changed |= merge_nodes(&mut graph, ir, scopes, &mut replaced);
    ir.graph = graph;
    changed
}

fn resolve(replaced: &[Option<ValueId>], id: ValueId) -> ValueId {
    replaced.get(id.0 as usize).copied().flatten().unwrap_or(id)
}

fn merge_constants(ir: &Ir, replaced: &mut [Option<ValueId>]) -> bool {
    let mut seen: HashMap<u64, Vec<ValueId>> = HashMap::default();
    let hasher = RandomState::default();
    let mut changed = false;
    for (i, value) in ir.values.iter().enumerate() {
        let Some(Constant::Literal(literal)) = value.constant.as_deref() else { continue };
        let known = seen.entry(hasher.hash_one(literal)).or_default();
        match known.iter().find(|&&other| ir.literal(other) == Some(literal)) {
            Some(&first) => {
                if let Some(slot) = replaced.get_mut(i) {
                    *slot = Some(first);
                    changed = true;
                }
            }
            None => known.push(ValueId(i as u32)),
        }
    }
    changed
}

/// Two calls of one module have that module in common.
fn merged(scopes: &Scopes, a: ScopeId, b: ScopeId) -> ScopeId {
    if scopes.module(a) == scopes.module(b) { a } else { scopes.lowest_common_ancestor(a, b) }
}

/// Remembers which calls the merged node stands for: who cuts one of them out needs the node, too.
fn note_sharing(first: &mut Node, equal: &Node) {
    if first.shared_by.is_empty() && equal.shared_by.is_empty() && first.origin.scope == equal.origin.scope {
        return;
    }
    if first.shared_by.is_empty() {
        first.shared_by.push(first.origin.scope);
    }
    let own = [equal.origin.scope];
    let calls = if equal.shared_by.is_empty() { &own[..] } else { &equal.shared_by };
    for call in calls {
        if first.shared_by.last() != Some(call) {
            first.shared_by.push(*call);
        }
    }
}

/// Nodes kept so far, found by what they compute.
struct Seen {
    /// Hash of the key, and place of the node.
    nodes: HashTable<(u64, usize)>,
    hasher: RandomState,
    /// Room for the keys that are compared.
    key: Vec<u8>,
    other_key: Vec<u8>,
}

impl Seen {
    /// The place in `kept` of a node that computes the same as `node`. If there is none, the next place is noted for
    /// it.
    fn equal(&mut self, node: &Node, kept: &[Node], ir: &Ir, scopes: &Scopes) -> Option<usize> {
        let Seen { nodes, hasher, key, other_key } = self;
        if !write_key(node, ir, scopes, key) {
            return None;
        }
        let hash = hasher.hash_one(&*key);
        let is_same = |&(other_hash, at): &(u64, usize)| {
            other_hash == hash
                && kept
                    .get(at)
                    .is_some_and(|other| write_key(other, ir, scopes, other_key) && other_key == key)
        };
        match nodes.entry(hash, is_same, |&(hash, _)| hash) {
            Entry::Occupied(found) => Some(found.get().1),
            Entry::Vacant(free) => {
                free.insert((hash, kept.len()));
                None
            }
        }
    }
}

fn merge_nodes(graph: &mut Graph, ir: &Ir, scopes: &Scopes, replaced: &mut [Option<ValueId>]) -> bool {
    let outputs: HashSet<ValueId> = graph.outputs.iter().copied().collect();
    let mut seen = Seen {
        nodes: HashTable::with_capacity(graph.nodes.len()),
        hasher: RandomState::default(),
        key: Vec::new(),
        other_key: Vec::new(),
    };
    let mut changed = false;
    // Nodes move to the front of their list: another list would take as much memory again.
    let mut kept = 0;
    for at in 0..graph.nodes.len() {
        let (before, from_here) = graph.nodes.split_at_mut(at);
        let Some(node) = from_here.first_mut() else { break };
        for input in node.inputs.iter_mut().flatten() {
            *input = resolve(replaced, *input);
        }
        for subgraph in node.subgraphs_mut() {
            changed |= merge_nodes(subgraph, ir, scopes, replaced);
        }
        let before = before.get_mut(..kept).unwrap_or_default();
        let is_output = node.outputs.iter().any(|output| outputs.contains(output));
        let equal = if is_output { None } else { seen.equal(node, before, ir, scopes) };
        let Some(first) = equal.and_then(|equal| before.get_mut(equal)) else {
            if kept != at {
                graph.nodes.swap(kept, at);
            }
            kept += 1;
            continue;
        };
        changed = true;
        note_sharing(first, node);
        first.origin.scope = merged(scopes, first.origin.scope, node.origin.scope);
        // The merged node's place is as sure as the less sure of the two.
        if node.origin.confidence < first.origin.confidence {
            (first.origin.method, first.origin.confidence) = (node.origin.method, node.origin.confidence);
        }
        for (output, value) in node.outputs.iter().zip(&first.outputs) {
            if let Some(slot) = replaced.get_mut(output.0 as usize) {
                *slot = Some(*value);
            }
        }
    }
    graph.nodes.truncate(kept);
    for output in &mut graph.outputs {
        *output = resolve(replaced, *output);
    }
    changed
}

/// Writes all that decides what a node computes to `key`, so that nodes with equal keys are equal; false for nodes that
/// must not be merged.
fn write_key(node: &Node, ir: &Ir, scopes: &Scopes, key: &mut Vec<u8>) -> bool {
    let is_random = matches!(
        &*node.op,
        "RandomNormal"
            | "RandomUniform"
            | "RandomNormalLike"
            | "RandomUniformLike"
            | "Multinomial"
            | "Bernoulli"
            | "Dropout"
    );
    if is_random || !node.domain.is_empty() || node.subgraphs().next().is_some() {
        return false;
    }
    key.clear();
    let mut text = |bytes: &[u8]| {
        key.extend((bytes.len() as u32).to_le_bytes());
        key.extend(bytes);
    };
    text(node.op.as_bytes());
    text(&[node.outputs.len() as u8]);
    let mut reads_weight = false;
    for input in &node.inputs {
        match input {
            None => text(&[]),
            Some(id) => {
                text(&id.0.to_le_bytes());
                reads_weight |= matches!(
                    ir.value(*id).and_then(|value| value.constant.as_deref()),
                    Some(Constant::Weight { .. })
                );
            }
        }
    }
    if reads_weight {
        text(&scopes.module(node.origin.scope).0.to_le_bytes());
    }
    for (name, value) in &node.attributes {
        text(name.as_bytes());
        match value {
            Attr::Int(value) => text(&value.to_le_bytes()),
            Attr::Ints(values) => {
                text(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
            }
            Attr::Float(value) => text(&value.to_le_bytes()),
            Attr::Floats(values) => {
                text(&values.iter().flat_map(|value| value.to_le_bytes()).collect::<Vec<u8>>())
            }
            Attr::Str(value) => text(value.as_bytes()),
            Attr::Strs(values) => values.iter().for_each(|value| text(value.as_bytes())),
            Attr::Tensor(literal) => {
                text(literal.dtype.name().as_bytes());
                text(&literal.dims.iter().flat_map(|dim| dim.to_le_bytes()).collect::<Vec<u8>>());
                text(&literal.bytes);
            }
            Attr::Graph(_) => return false,
        }
    }
    true
}

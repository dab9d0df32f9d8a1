//! Makes equal constants one value, and nodes that compute the same from the same inputs one node.
//!
//! Origin of a merged node: the lowest common ancestor of the nodes that it stands for. A node that reads a weight is
//! merged only within one module, so that each module keeps the nodes that read its weights.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

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
    let mut seen: HashMap<u64, Vec<ValueId>> = HashMap::new();
    let mut changed = false;
    for (i, value) in ir.values.iter().enumerate() {
        let Some(Constant::Literal(literal)) = &value.constant else { continue };
        let mut hasher = DefaultHasher::new();
        literal.hash(&mut hasher);
        let known = seen.entry(hasher.finish()).or_default();
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
fn note_sharing(first: &mut Node, twin: &Node) {
    if first.shared_by.is_empty() && twin.shared_by.is_empty() && first.origin.scope == twin.origin.scope {
        return;
    }
    if first.shared_by.is_empty() {
        first.shared_by.push(first.origin.scope);
    }
    let own = [twin.origin.scope];
    let calls = if twin.shared_by.is_empty() { &own[..] } else { &twin.shared_by };
    for call in calls {
        if first.shared_by.last() != Some(call) {
            first.shared_by.push(*call);
        }
    }
}

/// Nodes seen so far by what they compute; the key is complete, so that equal keys are equal nodes.
type Seen = HashMap<Vec<u8>, (usize, Vec<ValueId>)>;

fn merge_nodes(graph: &mut Graph, ir: &Ir, scopes: &Scopes, replaced: &mut [Option<ValueId>]) -> bool {
    let outputs: std::collections::HashSet<ValueId> = graph.outputs.iter().copied().collect();
    let mut seen: Seen = HashMap::new();
    let mut kept: Vec<Node> = Vec::with_capacity(graph.nodes.len());
    let mut changed = false;
    for mut node in std::mem::take(&mut graph.nodes) {
        for input in node.inputs.iter_mut().flatten() {
            *input = resolve(replaced, *input);
        }
        for subgraph in node.subgraphs_mut() {
            changed |= merge_nodes(subgraph, ir, scopes, replaced);
        }
        let is_output = node.outputs.iter().any(|output| outputs.contains(output));
        let key = if is_output { None } else { key(&node, ir, scopes) };
        let twin = key.as_ref().and_then(|key| seen.get(key).cloned());
        match (key, twin) {
            (_, Some((at, values))) => {
                changed = true;
                if let Some(first) = kept.get_mut(at) {
                    note_sharing(first, &node);
                    first.origin.scope = merged(scopes, first.origin.scope, node.origin.scope);
                }
                for (&output, value) in node.outputs.iter().zip(values) {
                    if let Some(slot) = replaced.get_mut(output.0 as usize) {
                        *slot = Some(value);
                    }
                }
            }
            (key, None) => {
                if let Some(key) = key {
                    seen.insert(key, (kept.len(), node.outputs.clone()));
                }
                kept.push(node);
            }
        }
    }
    for output in &mut graph.outputs {
        *output = resolve(replaced, *output);
    }
    graph.nodes = kept;
    changed
}

/// All that decides what a node computes; `None` for nodes that must not be merged.
fn key(node: &Node, ir: &Ir, scopes: &Scopes) -> Option<Vec<u8>> {
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
        return None;
    }
    let mut key = Vec::new();
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
                    ir.value(*id).and_then(|value| value.constant.as_ref()),
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
            Attr::Graph(_) => return None,
        }
    }
    Some(key)
}

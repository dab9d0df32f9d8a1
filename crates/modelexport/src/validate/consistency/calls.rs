//! What lies between two nodes of one call belongs to that call.
//!
//! A module that is called runs to its end before anything else does. So a value that leaves a call, goes through a
//! node of another and comes back tells of a wrong module, or of a call that nobody recorded. Nodes of calls above are
//! no offence: a merged node belongs to the lowest call that holds all it stands for.

use std::collections::{HashMap, HashSet};

use modelexport_graph::onnx::Node;
use modelexport_graph::{ModuleId, ScopeId, Scopes};

use super::super::finding::{Findings, Group, Severity, place_of};
use crate::tagged_file::TaggedFile;

/// Nodes that are looked at, for each node of the graph. A file with most of its tags wrong has calls that stretch over
/// the whole graph; after a while more of them say nothing new.
const EFFORT: usize = 128;

pub(in super::super) fn check(file: &TaggedFile, findings: &mut Findings) {
    let nodes = &file.model.graph.nodes;
    let scopes = &file.hierarchy.scopes;
    let chains: Vec<Option<Vec<ScopeId>>> =
        nodes.iter().map(|node| file.scope(node).map(|scope| scopes.chain(scope))).collect();
    let mut effort = EFFORT.saturating_mul(nodes.len());
    for call in calls(&chains, scopes, &countable(file)) {
        let length = call.last - call.first + 1;
        let Some(left) = effort.checked_sub(length) else { return };
        effort = left;
        if call.members < length {
            check_call(file, &call, &chains, nodes, findings);
        }
    }
}

/// Where the nodes of a call lie.
struct Call {
    scope: ScopeId,
    first: usize,
    last: usize,
    members: usize,
}

/// Modules of which every call is known: the file tells as many as there were.
fn countable(file: &TaggedFile) -> Vec<bool> {
    let scopes = &file.hierarchy.scopes;
    let mut told: HashMap<ModuleId, HashSet<u32>> = HashMap::new();
    for (_, scope) in scopes.iter() {
        told.entry(scope.module).or_default().insert(scope.call);
    }
    let is_ours =
        file.hierarchy.evidence.iter().any(|(kind, _)| kind == crate::hierarchy::EvidenceKind::Modelexport);
    let tree = file.hierarchy.tree.iter();
    let count = |id: ModuleId| told.get(&id).map_or(0, HashSet::len);
    tree.map(|(id, module)| is_ours && module.calls as usize <= count(id).max(1)).collect()
}

/// The calls that have nodes in the graph, the root's left out, in the order of their first node.
fn calls(chains: &[Option<Vec<ScopeId>>], scopes: &Scopes, countable: &[bool]) -> Vec<Call> {
    let mut index: HashMap<ScopeId, usize> = HashMap::new();
    let mut calls: Vec<Call> = Vec::new();
    for (at, chain) in chains.iter().enumerate() {
        for &scope in chain.iter().flatten().skip(1) {
            let is_countable = countable.get(scopes.module(scope).0 as usize).copied().unwrap_or(false);
            if !is_countable {
                continue;
            }
            let i = *index.entry(scope).or_insert_with(|| {
                calls.push(Call { scope, first: at, last: at, members: 0 });
                calls.len() - 1
            });
            if let Some(call) = calls.get_mut(i) {
                (call.last, call.members) = (at, call.members + 1);
            }
        }
    }
    calls
}

/// Follows values from the call's nodes through others, back to the call's nodes.
fn check_call(
    file: &TaggedFile,
    call: &Call,
    chains: &[Option<Vec<ScopeId>>],
    nodes: &[Node],
    findings: &mut Findings,
) {
    let scopes = &file.hierarchy.scopes;
    let above = scopes.chain(call.scope);
    let is_inside = |at: usize| matches!(chains.get(at), Some(Some(chain)) if chain.contains(&call.scope));
    // A node of a call above, or of no known one, may stand anywhere.
    let is_stranger = |at: usize| match chains.get(at) {
        Some(Some(chain)) => chain.last().is_some_and(|scope| !above.contains(scope)),
        _ => false,
    };
    let mut own: HashSet<&str> = HashSet::new();
    // Values that left the call, with the first stranger that they went through.
    let mut strayed: HashMap<&str, usize> = HashMap::new();
    let mut reported: HashSet<usize> = HashSet::new();
    for (at, node) in nodes.iter().enumerate().take(call.last + 1).skip(call.first) {
        let inputs = node.inputs.iter().filter(|name| !name.is_empty());
        if is_inside(at) {
            for stranger in inputs.filter_map(|name| strayed.get(&**name)) {
                if reported.insert(*stranger) {
                    report(file, call, nodes.get(*stranger), node, findings);
                }
            }
            own.extend(node.outputs.iter().map(|name| &**name));
        } else {
            let mut inputs = inputs;
            let origin = inputs.find_map(|name| match strayed.get(&**name) {
                Some(stranger) => Some(*stranger),
                None => (own.contains(&**name) && is_stranger(at)).then_some(at),
            });
            if let Some(origin) = origin {
                strayed.extend(node.outputs.iter().map(|name| (&**name, origin)));
            }
        }
    }
}

fn report(file: &TaggedFile, call: &Call, stranger: Option<&Node>, back: &Node, findings: &mut Findings) {
    let Some(stranger) = stranger else { return };
    let tree = &file.hierarchy.tree;
    let path_of = |module: Option<ModuleId>| {
        module.and_then(|id| tree.get(id)).map(|module| module.path.to_string()).unwrap_or_default()
    };
    let module = path_of(Some(file.hierarchy.scopes.module(call.scope)));
    let message = format!(
        "belongs to {:?}, but lies between two nodes of one call of {module:?}: its result comes back in {}",
        path_of(file.module(stranger)),
        place_of(back)
    );
    findings.add(Group::Consistency, "broken-call", Severity::Warning, place_of(stranger), message);
}

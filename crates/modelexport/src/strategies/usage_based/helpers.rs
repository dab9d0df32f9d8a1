//! Constants and sizes, which no operator of the model represents, placed by their purpose.
//!
//! Exporters write them right before the first node that needs them. One that comes much earlier may have been created for
//! another node that no longer exists, so it only gets the instance of the nodes around it.

use modelexport_graph::{Method, ScopeId};

use super::timeline::ValueOrigin;
use super::{Attribution, Context, Draft};
use crate::strategies::graph::NodeId;

/// Confidence of what stands right before the node that it is for, and of what stands elsewhere.
const BESIDE: f32 = 0.6;
const AHEAD: f32 = 0.4;

/// What reads the results of a node, through further constants and sizes.
#[derive(Clone, Copy)]
struct Purpose {
    first: NodeId,
    /// What holds all of them.
    call: ScopeId,
}

/// Places constants and sizes that lead to placed nodes. `made` tells what nodes make.
pub(super) fn fill(context: &Context<'_>, made: &[ValueOrigin], draft: &mut Draft) {
    let purposes = purposes(context, made, draft);
    let calls = context.evidence.calls();
    let mut before: Option<ScopeId> = None;
    let mut waiting: Vec<(NodeId, Purpose)> = Vec::new();
    for (id, entry) in context.graph.nodes() {
        if entry.holder().is_some() || entry.function().is_some() {
            continue;
        }
        let Some(here) = draft.get(id.0 as usize).and_then(Option::as_ref).map(|found| found.call) else {
            waiting.extend(purposes.get(id.0 as usize).copied().flatten().map(|purpose| (id, purpose)));
            continue;
        };
        for (node, Purpose { first, call }) in waiting.drain(..) {
            let around = before.into_iter().chain([here]).filter(|_| before.is_some() && first > id);
            let apart = around.filter(|&around| calls.is_other_instance(around, call));
            let place = apart.fold(call, |place, around| calls.common(place, around));
            let confidence = if first == id && place == call { BESIDE } else { AHEAD };
            if let Some(slot) = draft.get_mut(node.0 as usize) {
                *slot = Some(Attribution::new(place, Method::Propagated, confidence));
            }
        }
        before = Some(here);
    }
}

/// By node: what a constant or a size is for; `None` for other nodes and where nothing tells.
fn purposes(context: &Context<'_>, made: &[ValueOrigin], draft: &Draft) -> Vec<Option<Purpose>> {
    let calls = context.evidence.calls();
    let mut purposes: Vec<Option<Purpose>> = vec![None; context.graph.len()];
    for id in context.graph.main_nodes().rev().map(NodeId) {
        let is_open = draft.get(id.0 as usize).is_some_and(Option::is_none);
        if !is_open || made.get(id.0 as usize).is_none_or(|made| *made > ValueOrigin::Size) {
            continue;
        }
        let of_reader = |reader: NodeId| match draft.get(reader.0 as usize).and_then(Option::as_ref) {
            Some(found) => Some(Purpose { first: reader, call: found.call }),
            None => purposes.get(reader.0 as usize).copied().flatten(),
        };
        let found = context.graph.consumers(id).filter_map(of_reader).reduce(|one, other| Purpose {
            first: one.first.min(other.first),
            call: calls.common(one.call, other.call),
        });
        if let Some(slot) = purposes.get_mut(id.0 as usize) {
            *slot = found;
        }
    }
    purposes
}

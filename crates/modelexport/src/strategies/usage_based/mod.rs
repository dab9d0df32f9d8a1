//! `usage_based`: which module reads which parameter, and the nodes that lead there.
//!
//! A node that reads a parameter belongs to the call that read it in PyTorch or, if the evidence does not record that, to the
//! module that owns it. If the evidence records the order of operators, the nodes between two reads are distributed among the
//! calls that ran between them ([`timeline`]). Otherwise they follow their neighbors. In both cases a tag does not spread
//! across boundaries: a node between two boundary modules gets their lowest common ancestor.

mod candidates;
mod helpers;
mod marks;
mod steps;
mod timeline;

use modelexport_graph::{Method, ModuleId, ScopeId};

use super::evidence::{Calls, ParameterFact};
use super::graph::NodeId;
use super::{Attribution, Context, Draft};

/// Confidence of a node that reads a parameter which one call reads, and of one whose parameter several read.
const ONE_READER: f32 = 0.95;
const SEVERAL_READERS: f32 = 0.6;

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let mut draft = match context.evidence.ops.is_empty() {
        false => timeline::draft(context),
        true => context.graph.node_ids().map(|id| reader(context, id)).collect(),
    };
    keep_boundaries(context, &mut draft);
    draft
}

/// The call of a node that reads parameters.
pub(super) fn reader(context: &Context<'_>, id: NodeId) -> Option<Attribution> {
    let fact = |value| context.evidence.parameters.get(context.anchors.parameter(value)?);
    // A node that makes a parameter from another is there for the one that it makes.
    let mut facts: Vec<&ParameterFact> = context.graph.outputs(id).iter().copied().filter_map(fact).collect();
    if facts.is_empty() {
        facts = context.graph.inputs(id).filter_map(fact).collect();
    }
    // What reads parameters of several calls was fused into the last of them.
    let call = facts.iter().map(|fact| call_of(context, fact)).max()?;
    let is_sure = facts.iter().all(|fact| fact.readers.len() <= 1);
    let confidence = if is_sure { ONE_READER } else { SEVERAL_READERS };
    Some(Attribution::new(call, Method::Parameter, confidence))
}

fn call_of(context: &Context<'_>, fact: &ParameterFact) -> ScopeId {
    let read = context.evidence.calls().common_of(fact.readers.iter().copied());
    read.unwrap_or_else(|| context.evidence.call_of(fact.owner))
}

/// Takes a tag inside a boundary module from nodes that have nothing to do with it: none of their known neighbours
/// lies in it. A module without parameters may consist of one node, so that this tells nothing of it.
fn keep_boundaries(context: &Context<'_>, draft: &mut Draft) {
    let calls = context.evidence.calls();
    let boundary_of = |call: ScopeId| boundary(calls, context.boundaries, call);
    let mut has_parameters = vec![false; context.evidence.modules.len()];
    for (_, fact) in context.evidence.parameters.iter() {
        let boundary = boundary_of(context.evidence.call_of(fact.owner));
        if let Some(place) = boundary.and_then(|module| has_parameters.get_mut(module.0 as usize)) {
            *place = true;
        }
    }
    let call_at = |draft: &Draft, id: NodeId| Some(draft.get(id.0 as usize)?.as_ref()?.call);
    let mut strays = Vec::new();
    for id in context.graph.node_ids() {
        let Some(found) = draft.get(id.0 as usize).and_then(Option::as_ref) else { continue };
        let inside = boundary_of(found.call).filter(|_| found.method != Method::Parameter);
        let Some(inside) = inside.filter(|module| has_parameters.get(module.0 as usize) == Some(&true))
        else {
            continue;
        };
        let neighbours = context.graph.producers(id).chain(context.graph.consumers(id));
        let mut known = neighbours.filter_map(|other| call_at(draft, other)).peekable();
        if known.peek().is_some() && known.all(|call| boundary_of(call) != Some(inside)) {
            strays.push(id);
        }
    }
    for id in strays {
        if let Some(place) = draft.get_mut(id.0 as usize) {
            *place = None;
        }
    }
}

/// The innermost boundary module around a call.
fn boundary(calls: &Calls, boundaries: &[ModuleId], call: ScopeId) -> Option<ModuleId> {
    let mut at = call;
    loop {
        let module = calls.module(at);
        if boundaries.binary_search(&module).is_ok() {
            return Some(module);
        }
        if calls.depth(at) == 0 {
            return None;
        }
        at = calls.parent(at);
    }
}

#[cfg(test)]
mod tests;

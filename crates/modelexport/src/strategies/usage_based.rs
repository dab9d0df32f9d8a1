//! `usage_based`: the readers of parameters, then what they read.
//!
//! A node that reads a parameter belongs to the module that read it in PyTorch, or, where the evidence does not say
//! who read it, to the module that holds it.

use modelexport_graph::{Method, ScopeId};

use super::evidence::ParameterFact;
use super::graph::NodeId;
use super::{Attribution, Context, Draft};

/// Confidence of a node that reads a parameter which one call reads, and of one whose parameter several read.
const ONE_READER: f32 = 0.95;
const SEVERAL_READERS: f32 = 0.6;

pub(super) fn draft(context: &Context<'_>) -> Draft {
    context.graph.node_ids().map(|id| reader(context, id)).collect()
}

/// The call of a node that reads parameters.
pub(super) fn reader(context: &Context<'_>, id: NodeId) -> Option<Attribution> {
    let calls = context.evidence.calls();
    let facts: Vec<&ParameterFact> = context
        .graph
        .inputs(id)
        .filter_map(|value| context.evidence.parameters.get(context.anchors.parameter(value)?))
        .collect();
    let call = calls.common_of(facts.iter().map(|fact| call_of(context, fact)))?;
    let is_sure = facts.iter().all(|fact| fact.readers.len() <= 1);
    let confidence = if is_sure { ONE_READER } else { SEVERAL_READERS };
    Some(Attribution::new(call, Method::Parameter, confidence))
}

fn call_of(context: &Context<'_>, fact: &ParameterFact) -> ScopeId {
    let calls = context.evidence.calls();
    let read = calls.common_of(fact.readers.iter().copied());
    read.unwrap_or_else(|| context.evidence.call_of(fact.owner))
}

//! `htp`: the operators of one forward pass, projected onto the nodes of the file.
//!
//! The records are those of a trace. A captured program lists the operators of a forward pass, too, and serves where
//! there is no trace.

use modelexport_graph::{Method, Name};

use super::align::from_trace::from_trace;
use super::align::weights::Classes;
use super::{Context, Draft, align, fx_graph};

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let evidence = context.evidence;
    let Some(trace) = &evidence.trace else { return fx_graph::draft_as(context, Method::Order) };
    let classes = Classes::new(evidence);
    let class = |name: &Name| evidence.parameters.find(name).and_then(|id| classes.of(id));
    let reference = from_trace(trace, &evidence.call_scopes, &class);
    align::draft(context, &reference, &classes, Method::Order)
}

//! `htp`: the operators of one forward pass, projected onto the nodes of the file.

use modelexport_graph::{Method, Name};

use super::align::from_trace::from_trace;
use super::align::weights::Classes;
use super::{Context, Draft, align};

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let evidence = context.evidence;
    let Some(trace) = &evidence.trace else { return Draft::new() };
    let classes = Classes::new(evidence);
    let class = |name: &Name| evidence.parameters.find(name).and_then(|id| classes.of(id));
    let reference = from_trace(trace, &evidence.call_scopes, &class);
    align::draft(context, &reference, &classes, Method::Order)
}

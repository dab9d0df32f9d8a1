//! `htp`: aligns the operators of one forward pass with the nodes of the file.
//!
//! The operators come from a trace. Without a trace, a captured program is used, which also lists the operators of a forward
//! pass.

use modelexport_graph::Method;

use super::align::weights::Classes;
use super::{Context, Draft, align};

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let evidence = context.evidence;
    let Some(run) = &evidence.run else { return Draft::new() };
    align::draft(context, run, &Classes::new(evidence, evidence.program.as_ref()), Method::Order)
}

//! `htp`: the operators of one forward pass, projected onto the nodes of the file.
//!
//! The records are those of a trace. A captured program lists the operators of a forward pass, too, and serves where
//! there is no trace.

use modelexport_graph::Method;

use super::align::weights::Classes;
use super::{Context, Draft, align};

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let evidence = context.evidence;
    let Some(run) = &evidence.run else { return Draft::new() };
    align::draft(context, run, &Classes::new(evidence, evidence.program.as_ref()), Method::Order)
}

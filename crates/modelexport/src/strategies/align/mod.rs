//! Aligns what ran (ATen operators in order, each in a module call) with the nodes of a foreign graph.
//!
//! ```text
//! captured program ─┐
//!                   ├─► reference ─► forms of the steps ─┐
//! trace ────────────┘                                    ├─► search ─► settle ─► a step for each node
//! model.onnx ─► nodes with what they read ───────────────┘
//! ```

mod contest;
pub(super) mod foreign;
pub(super) mod from_program;
pub(super) mod from_trace;
mod left_out;
pub(super) mod prepared;
pub(super) mod reference;
mod rows;
mod runs;
pub(super) mod search;
pub(super) mod settle;
pub(super) mod tokens;
pub(super) mod weights;

use modelexport_graph::Method;

use super::evidence::Calls;
use super::{Attribution, Context, Draft, StepNumber};
use foreign::{Foreign, Operand};
use prepared::Prepared;
use reference::{Reference, Source};
use search::{Placed, Search};
use tokens::Tokens;
use weights::Classes;

/// Confidence of a node that stands for a step and reads its weight, of one that fits what the step reads, of one
/// that does not quite, and of one that the form of the step does not tell.
const READS_WEIGHT: f32 = 0.98;
const FITS: f32 = 0.95;
const FITS_PARTLY: f32 = 0.7;
const BESIDE: f32 = 0.8;

/// Where the nodes of the graph come from, as far as an alignment with `reference` tells. `method` is that of nodes
/// that stand for a step without reading a weight of it.
pub(super) fn draft(
    context: &Context<'_>,
    reference: &Reference,
    classes: &Classes,
    method: Method,
) -> Draft {
    let foreign = Foreign::new(context.graph, &reference.inputs, &|value| classes.of_value(context, value));
    let prepared = Prepared::new(reference);
    let placed = align(&prepared, &foreign, context.evidence.calls());
    let mut draft: Draft = vec![None; context.graph.len()];
    for ((node, place), i) in foreign.nodes.iter().zip(&placed).zip(0..) {
        let Some(place) = place else { continue };
        let Some(step) = reference.step(place.step) else { continue };
        let reads = |operand: &Operand| match operand {
            Operand::Weight(weight) => reference.sources(place.step).contains(&Source::Weight(*weight)),
            _ => false,
        };
        let (method, confidence) = match place.is_match {
            true if foreign.operands(i).iter().any(reads) => (Method::Parameter, READS_WEIGHT),
            true if place.gain > 0.0 => (method, FITS),
            true => (method, FITS_PARTLY),
            // What contradicts its surroundings is left to the vote of its neighbours.
            false if place.gain < 0.0 => continue,
            false => (Method::Propagated, BESIDE),
        };
        let mut found = Attribution::new(step.call, method, confidence);
        found.step = step.name.as_ref().and_then(|_| StepNumber::new(place.step));
        if let Some(slot) = draft.get_mut(node.id.0 as usize) {
            *slot = Some(found);
        }
    }
    left_out::fill(&prepared, &foreign, &placed, context.evidence.calls(), &mut draft);
    draft
}

/// The step of each node of `foreign`. `calls` are those that the steps ran in.
pub(super) fn align(prepared: &Prepared<'_>, foreign: &Foreign<'_>, calls: &Calls) -> Vec<Option<Placed>> {
    let tokens = Tokens::new(prepared, foreign);
    let mut placed = Search::new(prepared, foreign, &tokens).run();
    settle::settle(prepared, foreign, calls, &mut placed);
    placed
}

#[cfg(test)]
mod tests;

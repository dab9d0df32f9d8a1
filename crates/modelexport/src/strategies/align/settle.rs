//! Turns the alignment into one step per node.
//!
//! A node belongs to the step whose result it produces. A fused node (a convolution that contains the norm after it) belongs
//! to the last of its steps, as in torch's own metadata. A node that no form contains (a cast, a reshape between two matches)
//! belongs to the step that reads it, if that is the previous or the next one in the order.

use modelexport_graph::ScopeId;
use modelexport_lower::foreign_forms::Trace;

use super::super::evidence::Calls;
use super::foreign::{Foreign, Operand};
use super::prepared::Prepared;
use super::reference::Source;
use super::search::Placed;

/// Moves the placed nodes to where they belong.
pub(crate) fn settle(
    prepared: &Prepared<'_>,
    foreign: &Foreign<'_>,
    calls: &Calls,
    placed: &mut [Option<Placed>],
) {
    settle_extras(prepared, foreign, calls, placed);
    // TorchScript's exporter fuses before it makes nodes, so that a fused node counts as the first of what it holds.
    if !foreign.is_of_torchscript {
        settle_fused(prepared, foreign, placed);
    }
}

/// A node without a token goes to the step that its readers belong to, if that step is a neighbour in the order. Of
/// several the first counts, if all are in one call, or none in the call that the node was put into.
fn settle_extras(
    prepared: &Prepared<'_>,
    foreign: &Foreign<'_>,
    calls: &Calls,
    placed: &mut [Option<Placed>],
) {
    let mut next_match: Option<u32> = None;
    for i in (0..placed.len()).rev() {
        let Some(Some(place)) = placed.get(i).copied() else { continue };
        if place.is_match {
            next_match = Some(place.step);
            continue;
        }
        let Some(node) = foreign.nodes.get(i) else { continue };
        let mut readers = foreign.view.consumers(node.id).filter_map(|reader| {
            let place = foreign.place.get(reader.0 as usize).copied().flatten()?;
            placed.get(place as usize).copied().flatten().map(|placed| placed.step)
        });
        let Some(mut first) = readers.next() else { continue };
        // What no node of the call around it reads was made for those that do.
        let (own, call) = (call_of(prepared, place.step), call_of(prepared, first));
        let is_here = |call: Option<ScopeId>| match (own, call) {
            (Some(own), Some(call)) => calls.is_inside(call, own),
            _ => true,
        };
        let (mut is_one_call, mut is_read_here) = (true, is_here(call));
        for step in readers {
            let other = call_of(prepared, step);
            is_one_call &= step == first || other == call;
            is_read_here |= is_here(other);
            first = first.min(step);
        }
        let agree = is_one_call || !is_read_here;
        let is_neighbour = first == place.step || Some(first) == next_match;
        let reads_it = foreign.operands(i as u32).iter().all(|operand| match operand {
            Operand::Node(operand) => placed
                .get(*operand as usize)
                .copied()
                .flatten()
                .is_some_and(|placed| placed.step == first || reads(prepared, first, placed.step)),
            _ => true,
        });
        if agree
            && is_neighbour
            && reads_it
            && let Some(slot) = placed.get_mut(i)
        {
            *slot = Some(Placed { step: first, ..place });
        }
    }
}

fn call_of(prepared: &Prepared<'_>, step: u32) -> Option<ScopeId> {
    prepared.reference.step(step).map(|step| step.call)
}

fn reads(prepared: &Prepared<'_>, step: u32, source: u32) -> bool {
    let first = prepared.first(source);
    [&prepared.near, &prepared.far].iter().any(|lists| lists.get(step).contains(&Source::Step(first)))
}

/// The last node of a step whose only reader has no node goes to that reader.
fn settle_fused(prepared: &Prepared<'_>, foreign: &Foreign<'_>, placed: &mut [Option<Placed>]) {
    let steps = prepared.reference.len();
    let mut last: Vec<Option<u32>> = vec![None; steps];
    for (i, place) in placed.iter().enumerate() {
        if let Some(slot) = place.and_then(|place| last.get_mut(place.step as usize)) {
            *slot = Some(i as u32);
        }
    }
    for step in 0..steps as u32 {
        let Some(node) = last.get(step as usize).copied().flatten() else { continue };
        let mut at = step;
        while let Some(reader) = absorbed_reader(prepared, foreign, &last, at, node) {
            at = reader;
        }
        if at == step {
            continue;
        }
        if let Some(Some(place)) = placed.get_mut(node as usize) {
            place.step = at;
        }
        if let Some(slot) = last.get_mut(at as usize) {
            *slot = Some(node);
        }
    }
}

/// The only reader of a step, if nothing stands for it and the node of the step can have taken it in.
fn absorbed_reader(
    prepared: &Prepared<'_>,
    foreign: &Foreign<'_>,
    last: &[Option<u32>],
    step: u32,
    node: u32,
) -> Option<u32> {
    let &[reader] = prepared.readers.get(step) else { return None };
    let i = reader as usize;
    let is_missing = last.get(i).copied().flatten().is_none();
    let is_own = prepared.first_equal.get(i) == Some(&reader);
    let is_foldable = prepared.is_foldable.get(i).copied().unwrap_or(false);
    if !is_missing || !is_own || is_foldable || prepared.forms(reader).is_none() {
        return None;
    }
    let results = |step: u32| prepared.reference.results(step);
    let has_result_of = |step: u32| {
        let result = foreign.result(foreign.nodes.get(node as usize)?)?;
        let known = results(step).iter().filter_map(|id| prepared.reference.fact(*id));
        Some(known.into_iter().any(|known| known.agrees(result)))
    };
    let fits = match (prepared.trace(step), prepared.trace(reader)) {
        (Trace::Compute, Trace::Compute) => {
            // The scale is a weight, or follows from weights. Without one the step scales by nothing, and is gone.
            let is_scale = |source: &Source| match source {
                Source::Weight(_) => true,
                Source::Step(s) => prepared.is_foldable.get(*s as usize).copied().unwrap_or(false),
                Source::Input(_) => false,
            };
            prepared.near.get(reader).iter().any(is_scale)
                && prepared.is_merged(step, reader)
                && has_result_of(reader) != Some(false)
        }
        // Moves that follow each other become one.
        (Trace::Move, Trace::Move) => {
            let is_no_op = results(step).iter().zip(results(reader)).all(|(a, b)| a == b);
            !is_no_op && has_result_of(reader).unwrap_or(true) && has_result_of(step) != Some(true)
        }
        _ => false,
    };
    fits.then_some(reader)
}

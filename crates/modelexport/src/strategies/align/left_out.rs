//! Constants and sizes that an alignment left out.
//!
//! * A constant that replaces something that the exporter computed belongs to the step that was computed.
//! * Every other one belongs to its first reader, because exporters create it where it is first needed.
//! * The TorchScript exporter writes in execution order and merges equal constants. A constant far before its first reader was
//!   created for another reader that no longer exists, and belongs there. A list of numbers does not: the exporter creates
//!   one per operator that reads it, and moves all of them to the position of the first equal list.

use modelexport_graph::{DType, Method, ScopeId};
use modelexport_lower::foreign_forms::Trace;

use super::super::evidence::Calls;
use super::super::graph::NodeId;
use super::super::{Attribution, Draft};
use super::BESIDE;
use super::foreign::{Foreign, Operand};
use super::prepared::Prepared;
use super::reference::Source;
use super::search::Placed;

/// Gives nodes that have no place the call of what they belong to, as far as that is known.
pub(super) fn fill(
    prepared: &Prepared<'_>,
    foreign: &Foreign<'_>,
    placed: &[Option<Placed>],
    calls: &Calls,
    draft: &mut Draft,
) {
    let steps = Steps { prepared, foreign, placed, nodes: nodes_by_step(prepared, placed) };
    steps.fill_folded(draft);
    if foreign.is_of_torchscript {
        steps.fill_left_behind(calls, draft);
    }
    fill_by_readers(foreign, draft);
}

fn fill_by_readers(foreign: &Foreign<'_>, draft: &mut Draft) {
    for id in foreign.view.node_ids().rev() {
        let known = |id: NodeId| draft.get(id.0 as usize).and_then(Option::as_ref);
        if known(id).is_some() {
            continue;
        }
        let Some(reader) = foreign.view.consumers(id).min().and_then(known) else { continue };
        let (call, confidence) = (reader.call, reader.confidence.min(BESIDE));
        set(draft, id, call, confidence);
    }
}

fn set(draft: &mut Draft, id: NodeId, call: ScopeId, confidence: f32) {
    if let Some(slot @ None) = draft.get_mut(id.0 as usize) {
        *slot = Some(Attribution::new(call, Method::Propagated, confidence));
    }
}

/// By step: how many nodes stand for it. The first of equal steps also counts those of the others.
fn nodes_by_step(prepared: &Prepared<'_>, placed: &[Option<Placed>]) -> Vec<u32> {
    let mut nodes = vec![0; prepared.reference.len()];
    let mut add = |step: u32| {
        if let Some(count) = nodes.get_mut(step as usize) {
            *count += 1;
        }
    };
    for place in placed.iter().flatten() {
        add(place.step);
        let first = prepared.first(place.step);
        if first != place.step {
            add(first);
        }
    }
    nodes
}

struct Steps<'a> {
    prepared: &'a Prepared<'a>,
    foreign: &'a Foreign<'a>,
    /// By node of `foreign`.
    placed: &'a [Option<Placed>],
    /// By step.
    nodes: Vec<u32>,
}

impl Steps<'_> {
    fn call(&self, step: u32) -> Option<ScopeId> {
        self.prepared.reference.step(step).map(|step| step.call)
    }

    fn has_no_node(&self, step: u32) -> bool {
        self.nodes.get(step as usize) == Some(&0)
    }

    /// Nothing stands for the step, and an exporter can have computed it.
    fn is_folded(&self, step: u32) -> bool {
        let is_foldable = self.prepared.is_foldable.get(step as usize).copied().unwrap_or(false);
        is_foldable && self.has_no_node(step) && self.has_no_node(self.prepared.first(step))
    }

    /// Where one node stands for a step and reads as many constants as the step reads results that were computed
    /// beforehand, they are these.
    fn fill_folded(&self, draft: &mut Draft) {
        for ((node, place), i) in self.foreign.nodes.iter().zip(self.placed).zip(0..) {
            let Some(place) = place.filter(|place| place.is_match) else { continue };
            if self.nodes.get(place.step as usize) != Some(&1) {
                continue;
            }
            let sources = self.prepared.reference.sources(place.step);
            let folded: Vec<u32> = sources
                .iter()
                .filter_map(|source| match source {
                    Source::Step(step) if self.is_folded(*step) => Some(*step),
                    _ => None,
                })
                .collect();
            if folded.is_empty() {
                continue;
            }
            let constants: Vec<Option<NodeId>> = self
                .foreign
                .view
                .inputs(node.id)
                .zip(self.foreign.operands(i))
                .filter(|(_, operand)| **operand == Operand::Constant)
                .map(|(value, _)| self.foreign.view.producer(value))
                .collect();
            if folded.len() != constants.len() {
                continue;
            }
            for (step, constant) in folded.iter().zip(constants) {
                if let (Some(call), Some(constant)) = (self.call(*step), constant) {
                    set(draft, constant, call, BESIDE);
                }
            }
        }
    }

    /// Nodes whose results reach no further than past the next placed node: they belong where the nodes around them
    /// are, and at the very beginning to the first step for which nothing stands, or constants to the first node.
    fn fill_left_behind(&self, calls: &Calls, draft: &mut Draft) {
        let readers = self.placed_readers();
        let mut before: Option<(u32, ScopeId)> = None;
        let mut waiting: Vec<NodeId> = Vec::new();
        for (id, entry) in self.foreign.view.nodes() {
            if entry.function().is_some() || entry.holder().is_some() {
                continue;
            }
            let Some(next) = self.place_of(id) else {
                waiting.push(id);
                continue;
            };
            let Some(call) = self.call(next.step) else { continue };
            let from = before.map_or(0, |(step, _)| step + 1);
            let vanished = (from..next.step)
                .find(|step| self.prepared.trace(*step) != Trace::None && self.has_no_node(*step))
                .and_then(|step| self.call(step));
            let around = before.and_then(|(_, before)| calls.common_of([before, call]));
            for left in waiting.drain(..) {
                let reader = readers.get(left.0 as usize).copied().flatten().filter(|reader| *reader > id);
                let Some(reader) = reader.filter(|_| !self.is_list_for_later(left, id)) else { continue };
                let Some(read) = self.place_of(reader).and_then(|place| self.call(place.step)) else {
                    continue;
                };
                let with_reader = calls.common_of([call, read]);
                // What begins inside a module that the reader is in, too, may have been made for the reader.
                let is_inside = |outer: ScopeId| {
                    with_reader.is_some_and(|inner| inner != outer && calls.is_inside(inner, outer))
                };
                let is_either_inside =
                    |one, other| calls.is_inside(one, other) || calls.is_inside(other, one);
                let is_constant = self.foreign.view.inputs(left).next().is_none();
                let place = match around {
                    Some(around) => Some(around).filter(|around| !is_inside(*around)),
                    None => {
                        vanished.or(Some(call).filter(|call| is_constant && !is_either_inside(*call, read)))
                    }
                };
                if let Some(place) = place {
                    set(draft, left, place, BESIDE);
                }
            }
            let step = before.map_or(next.step, |(step, _)| step.max(next.step));
            before = Some((step, call));
        }
    }

    /// Whether a node is a list of numbers that was made for the one node that reads it, which comes after `next`.
    fn is_list_for_later(&self, id: NodeId, next: NodeId) -> bool {
        let view = self.foreign.view;
        let mut readers = view.consumers(id);
        if readers.next().is_none_or(|reader| reader <= next) || readers.next().is_some() {
            return false;
        }
        let folded = view.outputs(id).first().and_then(|value| view.constant(*value));
        match folded {
            Some(folded) => {
                let has_several = matches!(folded.dims, [count] if *count > 1);
                has_several && folded.dtype.is_some_and(DType::is_integer)
            }
            None => view.operator(id) == "Concat",
        }
    }

    fn place_of(&self, id: NodeId) -> Option<Placed> {
        let place = self.foreign.place.get(id.0 as usize).copied().flatten()?;
        self.placed.get(place as usize).copied().flatten()
    }

    /// By node: the first placed node that its results reach, through nodes that have no place.
    fn placed_readers(&self) -> Vec<Option<NodeId>> {
        let view = self.foreign.view;
        let mut readers: Vec<Option<NodeId>> = vec![None; view.len()];
        for id in view.node_ids().rev() {
            let reached = |reader: NodeId| match self.place_of(reader) {
                Some(_) => Some(reader),
                None => readers.get(reader.0 as usize).copied().flatten(),
            };
            let first = view.consumers(id).filter_map(reached).min();
            if let Some(slot) = readers.get_mut(id.0 as usize) {
                *slot = first;
            }
        }
        readers
    }
}

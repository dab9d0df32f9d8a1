//! Nodes that read parameters, and the operators that they represent.
//!
//! A parameter that only one operator reads identifies the operator of a node. If several operators read it (tied parameters,
//! or untrained ones that an exporter merged), the order narrows the candidates to those between the first and the last
//! possible operator.

use modelexport_graph::ScopeId;

use super::candidates::{Candidates, Readers};
use super::steps::Step;
use super::timeline::op_call;
use super::{Context, ONE_READER, SEVERAL_READERS};
use crate::strategies::graph::NodeId;

/// A node that stands for an operator.
#[derive(Clone, Copy, Debug)]
pub(super) struct ReadAnchor {
    /// Index into the computing nodes.
    pub place: usize,
    pub node: NodeId,
    /// The first of the operators that were merged into the node, and the last, which it is named after.
    pub first_op: usize,
    pub op: usize,
    pub confidence: f32,
}

/// What the reads of parameters tell.
pub(super) struct ReadAnchors {
    /// In the order of the file and of the operators at once.
    pub in_order: Vec<ReadAnchor>,
    /// Nodes that are no marks, but that are known to lie in a call.
    pub others: Vec<(NodeId, ScopeId, f32)>,
}

pub(super) fn marks(context: &Context<'_>, nodes: &[NodeId]) -> ReadAnchors {
    let mut readers = Readers::new(context);
    let candidates: Vec<Candidates> = nodes.iter().map(|&node| readers.candidates(node)).collect();
    let mark = |place: usize, first_op: usize, op: usize, confidence: f32| {
        nodes.get(place).map(|&node| ReadAnchor { place, node, first_op, op, confidence })
    };
    let sure = candidates.iter().enumerate().filter_map(|(place, found)| match found.ops.as_slice() {
        [op] => mark(place, *op, found.settle(context, *op), ONE_READER),
        _ => None,
    });
    let sure = longest_in_order(&sure.collect::<Vec<ReadAnchor>>());
    let first = earliest(context, nodes, &candidates, &sure);
    let mut last = latest(context, nodes, &candidates, &sure).into_iter().rev().peekable();
    let (mut sure, mut first) = (sure.into_iter().peekable(), first.into_iter().peekable());
    let mut marks = ReadAnchors { in_order: Vec::new(), others: Vec::new() };
    let calls = context.evidence.calls();
    for (place, (&node, found)) in nodes.iter().zip(&candidates).enumerate() {
        if let Some(mark) = sure.next_if(|mark| mark.place == place) {
            marks.in_order.push(mark);
            continue;
        }
        let bound = sure.peek().map_or(usize::MAX, |mark| mark.op);
        let first = first.next_if(|turn| turn.place == place);
        let last = last.next_if(|turn| turn.place == place);
        match (first.or(last), last.or(first), found.ops.as_slice()) {
            (Some(first), Some(last), _) => {
                let [early, late] = [first.op, last.op].map(|op| op_call(context, op));
                if calls.is_other_instance(early, late) {
                    marks.others.push((node, calls.common(early, late), SEVERAL_READERS));
                } else {
                    let op = found.settle(context, first.op).min(bound);
                    marks.in_order.extend(mark(place, first.op, op, SEVERAL_READERS));
                }
            }
            // The node stands out of order; whose parameter it reads is known all the same.
            (_, _, [op]) if found.is_sure => {
                let call = op_call(context, found.settle(context, *op));
                marks.others.push((node, call, ONE_READER));
            }
            _ => {}
        }
    }
    marks
}

/// The operator of a node whose parameter several operators read.
#[derive(Clone, Copy, Debug)]
struct Turn {
    place: usize,
    op: usize,
}

/// A node whose operator is known, before or behind another.
#[derive(Clone, Copy, Debug)]
struct AnchoredNode<'a> {
    op: usize,
    operator: &'a str,
}

/// Whether a node of `operator` may stand for operator number `op` between two others.
fn fits(
    context: &Context<'_>,
    before: Option<AnchoredNode<'_>>,
    (op, operator): (usize, &str),
    after: Option<AnchoredNode<'_>>,
) -> bool {
    let step = context.evidence.ops.get(op).map(Step::new);
    let both = |earlier: &str, later: &str| step.is_some_and(|step| step.may_become_both(earlier, later));
    let is_behind =
        before.is_none_or(|known| known.op < op || (known.op == op && both(known.operator, operator)));
    let is_ahead =
        after.is_none_or(|known| op < known.op || (known.op == op && both(operator, known.operator)));
    is_behind && is_ahead
}

/// The first operators that nodes may stand for whose parameters several operators read: each takes the first that is
/// left to it between the sure ones.
fn earliest(
    context: &Context<'_>,
    nodes: &[NodeId],
    candidates: &[Candidates],
    sure: &[ReadAnchor],
) -> Vec<Turn> {
    let operator = |node: NodeId| context.graph.operator(node);
    let mut turns = Vec::new();
    let mut sure = sure.iter().peekable();
    let mut before: Option<AnchoredNode<'_>> = None;
    for (place, (&node, found)) in nodes.iter().zip(candidates).enumerate() {
        let operator_here = operator(node);
        if let Some(mark) = sure.next_if(|mark| mark.place == place) {
            before = Some(AnchoredNode { op: mark.op, operator: operator_here });
            continue;
        }
        let after = sure.peek().map(|mark| AnchoredNode { op: mark.first_op, operator: operator(mark.node) });
        let start = found.ops.partition_point(|&op| before.is_some_and(|known| op < known.op));
        let mut rest = found.ops.get(start..).unwrap_or_default().iter().copied().take(2);
        if let Some(op) = rest.find(|&op| fits(context, before, (op, operator_here), after)) {
            before = Some(AnchoredNode { op, operator: operator_here });
            turns.push(Turn { place, op });
        }
    }
    turns
}

/// The same from the end, with the last that is left to each.
fn latest(
    context: &Context<'_>,
    nodes: &[NodeId],
    candidates: &[Candidates],
    sure: &[ReadAnchor],
) -> Vec<Turn> {
    let operator = |node: NodeId| context.graph.operator(node);
    let mut turns = Vec::new();
    let mut sure = sure.iter().rev().peekable();
    let mut after: Option<AnchoredNode<'_>> = None;
    for (place, (&node, found)) in nodes.iter().zip(candidates).enumerate().rev() {
        let operator_here = operator(node);
        if let Some(mark) = sure.next_if(|mark| mark.place == place) {
            after = Some(AnchoredNode { op: mark.first_op, operator: operator_here });
            continue;
        }
        let before = sure.peek().map(|mark| AnchoredNode { op: mark.op, operator: operator(mark.node) });
        let end = found.ops.partition_point(|&op| after.is_none_or(|known| op <= known.op));
        let mut rest = found.ops.get(..end).unwrap_or_default().iter().rev().copied().take(2);
        if let Some(op) = rest.find(|&op| fits(context, before, (op, operator_here), after)) {
            after = Some(AnchoredNode { op, operator: operator_here });
            turns.push(Turn { place, op });
        }
    }
    turns
}

/// The longest run of marks whose operators do not go back.
fn longest_in_order(marks: &[ReadAnchor]) -> Vec<ReadAnchor> {
    // By length: the mark that ends the run of that length with the earliest operator.
    let mut ends: Vec<usize> = Vec::new();
    let mut before: Vec<Option<usize>> = Vec::with_capacity(marks.len());
    let op_of = |i: usize| marks.get(i).map_or(0, |mark| mark.op);
    for (i, mark) in marks.iter().enumerate() {
        let length = ends.partition_point(|&end| op_of(end) <= mark.op);
        before.push(length.checked_sub(1).and_then(|shorter| ends.get(shorter)).copied());
        match ends.get_mut(length) {
            Some(end) => *end = i,
            None => ends.push(i),
        }
    }
    let mut run = Vec::with_capacity(ends.len());
    let mut at = ends.last().copied();
    while let Some(i) = at {
        run.extend(marks.get(i).copied());
        at = before.get(i).copied().flatten();
    }
    run.reverse();
    run
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_go_back_are_left_out() {
        let ops = [3, 5, 1, 6, 6, 2];
        let mark = |(place, &op): (usize, &usize)| ReadAnchor {
            place,
            node: NodeId(place as u32),
            first_op: op,
            op,
            confidence: 1.0,
        };
        let marks: Vec<ReadAnchor> = ops.iter().enumerate().map(mark).collect();
        let kept: Vec<usize> = longest_in_order(&marks).iter().map(|mark| mark.op).collect();
        assert_eq!(kept, [3, 5, 6, 6]);
    }
}

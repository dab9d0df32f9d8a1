//! Reads of parameters as marks on a timeline.
//!
//! Exporters keep the order of execution. A node that reads a parameter stands where PyTorch read it; between two such
//! marks the nodes of the file and the operators of the model follow in the same order, so that each node gets the
//! call of the first operator from there on that may have become it.

use std::collections::{HashMap, HashSet};

use modelexport_graph::{Method, ScopeId};

use super::{Attribution, Context, Draft, ONE_READER, SEVERAL_READERS};
use modelexport_lower::foreign_forms;

use crate::strategies::evidence::{OpFact, ParameterId};
use crate::strategies::graph::NodeId;

/// Confidence of a node between two marks.
const BETWEEN: f32 = 0.6;

/// Operators ahead of the expected one among which the one that a node stands for is looked for.
const AHEAD: usize = 4;

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let mut draft: Draft = vec![None; context.graph.len()];
    let nodes = computing_nodes(context);
    let marks = marks(context, &nodes);
    for mark in &marks {
        set(&mut draft, mark.node, op_call(context, mark.op), Method::Parameter, mark.confidence);
    }
    let mut before: Option<&Mark> = None;
    for after in marks.iter().map(Some).chain([None]) {
        fill(context, &nodes, before, after, &mut draft);
        before = after;
    }
    draft
}

fn set(draft: &mut Draft, node: NodeId, call: ScopeId, method: Method, confidence: f32) {
    if let Some(place) = draft.get_mut(node.0 as usize) {
        *place = Some(Attribution::new(call, method, confidence));
    }
}

fn op_call(context: &Context<'_>, op: usize) -> ScopeId {
    context.evidence.ops.get(op).map_or(modelexport_graph::Scopes::ROOT, |op| op.call)
}

/// Nodes of the main graph that compute something from data, in order. Constants stand anywhere in a file.
fn computing_nodes(context: &Context<'_>) -> Vec<NodeId> {
    let graph = context.graph;
    let mut is_constant = vec![false; graph.len()];
    let mut nodes = Vec::new();
    for (id, entry) in graph.nodes() {
        if entry.holder().is_some() || entry.function().is_some() {
            continue;
        }
        let is_known = |value| !context.anchors.candidates(value).is_empty();
        let reads_parameter =
            graph.inputs(id).any(is_known) && !graph.outputs(id).iter().copied().any(is_known);
        let constant = !reads_parameter
            && graph.inputs(id).all(|value| match graph.producer(value) {
                Some(producer) => is_constant.get(producer.0 as usize).copied().unwrap_or(false),
                None => graph.constant(value).is_some(),
            });
        if let Some(place) = is_constant.get_mut(id.0 as usize) {
            *place = constant;
        }
        if !constant {
            nodes.push(id);
        }
    }
    nodes
}

/// A node that stands for an operator.
#[derive(Clone, Copy, Debug)]
struct Mark {
    /// Index into the computing nodes.
    place: usize,
    node: NodeId,
    op: usize,
    confidence: f32,
}

/// Marks in the order of the file and of the operators at once.
fn marks(context: &Context<'_>, nodes: &[NodeId]) -> Vec<Mark> {
    let mut reads: HashMap<ParameterId, Vec<usize>> = HashMap::new();
    for (i, op) in context.evidence.ops.iter().enumerate() {
        for &parameter in &op.parameters {
            reads.entry(parameter).or_default().push(i);
        }
    }
    let candidates: Vec<Candidates> = nodes.iter().map(|&node| candidates(context, &reads, node)).collect();
    let sure: Vec<Mark> = nodes
        .iter()
        .zip(&candidates)
        .enumerate()
        .filter_map(|(place, (&node, found))| match found.ops.as_slice() {
            [op] => Some(Mark { place, node, op: found.settle(context, *op), confidence: ONE_READER }),
            _ => None,
        })
        .collect();
    let sure = longest_in_order(&sure);
    let mut taken: HashSet<(usize, &str)> = HashSet::new();
    let mut marks: Vec<Mark> = Vec::new();
    let mut next_sure = sure.into_iter().peekable();
    let mut earliest = 0;
    for (place, (&node, found)) in nodes.iter().zip(&candidates).enumerate() {
        if let Some(mark) = next_sure.next_if(|mark| mark.place == place) {
            earliest = mark.op;
            marks.push(mark);
            continue;
        }
        let latest = next_sure.peek().map_or(usize::MAX, |mark| mark.op);
        let operator = context.graph.operator(node);
        // Several operators read what the node reads: the first that no node of its kind stands for yet.
        let first = found.ops.partition_point(|&op| op < earliest);
        let mut rest = found.ops.get(first..).unwrap_or_default().iter().take_while(|&&op| op <= latest);
        if let Some(&op) = rest.find(|&&op| !taken.contains(&(op, operator))) {
            taken.insert((op, operator));
            earliest = op;
            let op = found.settle(context, op).min(latest);
            marks.push(Mark { place, node, op, confidence: SEVERAL_READERS });
        }
    }
    marks
}

/// The operators that a node may stand for, in order.
struct Candidates {
    ops: Vec<usize>,
    /// The node reads a parameter under its own name.
    is_named: bool,
}

impl Candidates {
    /// The operator that a node stands for which began as `op`. Where a parameter kept its name, but the operators
    /// right behind read parameters that are gone, these were merged into the node, and it is named after the last.
    fn settle(&self, context: &Context<'_>, op: usize) -> usize {
        let is_merged = |op: usize| {
            let parameters =
                context.evidence.ops.get(op).map(|op| op.parameters.as_slice()).unwrap_or_default();
            let is_gone = |parameter: &ParameterId| context.anchors.is_gone(*parameter, context.evidence);
            !parameters.is_empty() && parameters.iter().all(is_gone)
        };
        let mut op = op;
        while self.is_named && may_merge(context, op) && is_merged(op + 1) {
            op += 1;
        }
        op
    }
}

/// Whether exporters may write one node for operator number `op` and the one after it. Where the evidence has no ATen
/// operators, nothing speaks against it.
fn may_merge(context: &Context<'_>, op: usize) -> bool {
    let target = |op: usize| context.evidence.ops.get(op).map_or("", |op| &op.target);
    let [first, then] = [op, op + 1].map(target);
    let are_known = [first, then].iter().all(|target| foreign_forms::find(target).is_some());
    !are_known || foreign_forms::is_merged(first, then)
}

/// The operators that a node may stand for by the parameters that it reads.
fn candidates(context: &Context<'_>, reads: &HashMap<ParameterId, Vec<usize>>, node: NodeId) -> Candidates {
    let name_of = |value| context.graph.value_name(value);
    let is_named =
        context.graph.inputs(node).any(|value| context.evidence.parameters.find(name_of(value)).is_some());
    let ops_of = |value| {
        let known = context.anchors.candidates(value);
        let changed = context.anchors.changed_from(context.graph, value);
        let parameters = if known.is_empty() { changed } else { known };
        let mut ops: Vec<usize> =
            parameters.iter().filter_map(|parameter| reads.get(parameter)).flatten().copied().collect();
        ops.sort_unstable();
        ops.dedup();
        ops
    };
    let mut all: Vec<Vec<usize>> =
        context.graph.inputs(node).map(ops_of).filter(|ops| !ops.is_empty()).collect();
    // What reads parameters of several operators was fused into the last of them.
    let last_sure = all.iter().filter(|ops| ops.len() == 1).flatten().max().copied();
    if let Some(op) = last_sure {
        return Candidates { ops: vec![op], is_named };
    }
    all.sort_by_key(Vec::len);
    let mut lists = all.into_iter();
    let mut common = lists.next().unwrap_or_default();
    for list in lists {
        let both: Vec<usize> = common.iter().copied().filter(|op| list.binary_search(op).is_ok()).collect();
        if !both.is_empty() {
            common = both;
        }
    }
    Candidates { ops: common, is_named }
}

/// The longest run of marks whose operators do not go back.
fn longest_in_order(marks: &[Mark]) -> Vec<Mark> {
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

/// Gives the nodes between two marks the calls of the operators between them, in order.
fn fill(
    context: &Context<'_>,
    nodes: &[NodeId],
    before: Option<&Mark>,
    after: Option<&Mark>,
    draft: &mut Draft,
) {
    let first_node = before.map_or(0, |mark| mark.place + 1);
    let last_node = after.map_or(nodes.len(), |mark| mark.place);
    let between = nodes.get(first_node..last_node).unwrap_or_default();
    let first_op = before.map_or(0, |mark| mark.op + 1);
    let last_op = after.map_or(context.evidence.ops.len(), |mark| mark.op);
    let ops = context.evidence.ops.get(first_op..last_op.max(first_op)).unwrap_or_default();
    // Operators that read parameters have nodes of their own.
    let free: Vec<&OpFact> =
        ops.iter().filter(|op| op.parameters.is_empty() && leaves_nodes(&op.target)).collect();
    let mut at = 0;
    for (i, &node) in between.iter().enumerate() {
        let expected = ((i + 1) * free.len()).saturating_sub(1) / between.len();
        let operator = context.graph.operator(node);
        let nearest = free.iter().enumerate().take(expected + AHEAD).skip(at).take(2 * AHEAD);
        let fitting = nearest.into_iter().find(|(_, op)| may_become(&op.target, operator));
        // A node that fits no operator belongs to the one that is at work.
        at = fitting.map_or(at, |(place, _)| place);
        if let Some(op) = free.get(at) {
            set(draft, node, op.call, Method::Order, BETWEEN);
        }
    }
}

/// Whether exporters write nodes for an operator.
fn leaves_nodes(target: &str) -> bool {
    foreign_forms::find(target).is_none_or(|forms| forms.trace != foreign_forms::Trace::None)
}

/// Whether the ONNX operator may stand for the ATen operator, or for a part of it.
fn may_become(target: &str, operator: &str) -> bool {
    let has_form = foreign_forms::find(target)
        .is_some_and(|forms| forms.forms.iter().flatten().any(|token| token.operators.contains(&operator)));
    has_form || target == operator || foreign_forms::is_namesake(target, operator)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn marks_that_go_back_are_left_out() {
        let ops = [3, 5, 1, 6, 6, 2];
        let marks: Vec<Mark> = ops
            .iter()
            .enumerate()
            .map(|(place, &op)| Mark { place, node: NodeId(place as u32), op, confidence: 1.0 })
            .collect();
        let kept: Vec<usize> = longest_in_order(&marks).iter().map(|mark| mark.op).collect();
        assert_eq!(kept, [3, 5, 6, 6]);
    }

    #[test]
    fn operators_become_what_their_forms_say() {
        assert!(may_become("aten.permute.default", "Transpose"));
        assert!(may_become("aten.cumsum.default", "CumSum"));
        assert!(!may_become("aten.permute.default", "MatMul"));
        assert!(!leaves_nodes("aten.dropout.default"));
    }
}

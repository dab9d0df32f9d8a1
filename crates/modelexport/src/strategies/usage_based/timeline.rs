//! Reads of parameters as marks on a timeline.
//!
//! Exporters keep the execution order. A node that reads a parameter marks the position where PyTorch read it. Between two
//! marks, the nodes of the file and the operators of the model follow in the same order, so each node gets the call of the
//! next operator that it may represent. If it may also come from another instance of the same class (the end of one layer, or
//! the start of the next), it gets the lowest common ancestor of both.

use modelexport_graph::{Method, ScopeId};

use super::marks::{ReadAnchor, marks};
use super::steps::Step;
use super::{Attribution, Context, Draft, helpers};
use crate::strategies::align::foreign::is_size_operator;
use crate::strategies::graph::NodeId;

/// Confidence of a node between two marks, and of one between two instances.
const BETWEEN: f32 = 0.6;
const UNCERTAIN: f32 = 0.4;

/// Operators ahead of the expected one among which the one that a node stands for is looked for.
const AHEAD: usize = 4;

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let mut draft: Draft = vec![None; context.graph.len()];
    let (nodes, made) = computing_nodes(context);
    let marks = marks(context, &nodes);
    for mark in &marks.in_order {
        set(&mut draft, mark.node, op_call(context, mark.op), Method::Parameter, mark.confidence);
    }
    for &(node, call, confidence) in &marks.others {
        set(&mut draft, node, call, Method::Parameter, confidence);
    }
    let mut before: Option<&ReadAnchor> = None;
    for after in marks.in_order.iter().map(Some).chain([None]) {
        fill(context, &nodes, before, after, &mut draft);
        before = after;
    }
    helpers::fill(context, &made, &mut draft);
    draft
}

fn set(draft: &mut Draft, node: NodeId, call: ScopeId, method: Method, confidence: f32) {
    if let Some(place) = draft.get_mut(node.0 as usize) {
        *place = Some(Attribution::new(call, method, confidence));
    }
}

pub(super) fn op_call(context: &Context<'_>, op: usize) -> ScopeId {
    context.evidence.ops.get(op).map_or(modelexport_graph::Scopes::ROOT, |op| op.call)
}

/// What a node makes: what it reads decides, the last of these first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum ValueOrigin {
    Constant,
    /// A number for which PyTorch has no operator.
    Size,
    /// Something that could have been computed beforehand, by an operator of the model as likely as not.
    Foldable,
    Data,
}

/// Nodes of the main graph that compute something from data, in order, and what each node makes.
fn computing_nodes(context: &Context<'_>) -> (Vec<NodeId>, Vec<ValueOrigin>) {
    let graph = context.graph;
    let mut made = vec![ValueOrigin::Data; graph.len()];
    let mut nodes = Vec::new();
    for (id, entry) in graph.nodes() {
        if entry.holder().is_some() || entry.function().is_some() {
            continue;
        }
        let is_known = |value| !context.anchors.candidates(value).is_empty();
        let reads_parameter =
            graph.inputs(id).any(is_known) && !graph.outputs(id).iter().copied().any(is_known);
        let made_by = |value| match graph.producer(value) {
            Some(producer) => made.get(producer.0 as usize).copied().unwrap_or(ValueOrigin::Data),
            None if graph.constant(value).is_some() => ValueOrigin::Constant,
            None => ValueOrigin::Data,
        };
        let most = graph.inputs(id).map(made_by).max().unwrap_or(ValueOrigin::Constant);
        let operator = graph.operator(id);
        let makes = match most {
            _ if reads_parameter => ValueOrigin::Data,
            _ if matches!(operator, "Shape" | "Size") => ValueOrigin::Size,
            ValueOrigin::Size if !is_size_operator(operator) => ValueOrigin::Data,
            ValueOrigin::Constant if operator != "Constant" && !is_size_operator(operator) => {
                ValueOrigin::Foldable
            }
            most => most,
        };
        if let Some(place) = made.get_mut(id.0 as usize) {
            *place = makes;
        }
        if makes == ValueOrigin::Data {
            nodes.push(id);
        }
    }
    (nodes, made)
}

/// Gives the nodes between two marks the calls of the operators between them, in order.
fn fill(
    context: &Context<'_>,
    nodes: &[NodeId],
    before: Option<&ReadAnchor>,
    after: Option<&ReadAnchor>,
    draft: &mut Draft,
) {
    let first_node = before.map_or(0, |mark| mark.place + 1);
    let last_node = after.map_or(nodes.len(), |mark| mark.place);
    let between = nodes.get(first_node..last_node).unwrap_or_default();
    if between.is_empty() {
        return;
    }
    let stretch = Stretch::new(context, before, after);
    let is_open = |node: &&NodeId| draft.get(node.0 as usize).is_some_and(Option::is_none);
    let open: Vec<NodeId> = between.iter().filter(is_open).copied().collect();
    for (&node, place) in open.iter().zip(stretch.places(context, &open)) {
        if let Some((call, confidence)) = place {
            set(draft, node, call, Method::Order, confidence);
        }
    }
}

/// The operators between two marks.
struct Stretch<'a> {
    /// Those that read no parameters, as those that do have nodes of their own. The operators of the two marks stand
    /// at both ends: other parts of these may lie here.
    steps: Vec<Step<'a>>,
    /// The ONNX operator of the node that is the mark at that end; `None` if there is no mark.
    ends: [Option<&'a str>; 2],
}

impl<'a> Stretch<'a> {
    fn new(context: &Context<'a>, before: Option<&ReadAnchor>, after: Option<&ReadAnchor>) -> Self {
        let ops = &context.evidence.ops;
        let first_op = before.map_or(0, |mark| mark.op + 1);
        let last_op = after.map_or(ops.len(), |mark| mark.first_op).max(first_op);
        let end = |mark: Option<&ReadAnchor>, op: Option<usize>| {
            op.and_then(|op| ops.get(op))
                .zip(mark)
                .map(|(op, mark)| (Step::new(op), context.graph.operator(mark.node)))
        };
        let first = end(before, before.map(|mark| mark.op));
        let last = end(after, after.map(|mark| mark.first_op));
        let free = ops.get(first_op..last_op).unwrap_or_default().iter();
        let free = free.filter(|op| op.parameters.is_empty()).map(Step::new).filter(Step::leaves_nodes);
        let ends = [first, last].map(|end| end.map(|(_, operator)| operator));
        let steps = first.map(|(step, _)| step).into_iter().chain(free).chain(last.map(|(step, _)| step));
        Stretch { steps: steps.collect(), ends }
    }

    /// The steps that belong to no mark.
    fn free(&self) -> std::ops::Range<usize> {
        let [first, last] = self.ends.map(|end| usize::from(end.is_some()));
        first..(self.steps.len() - last).max(first)
    }

    fn fits(&self, step: usize, operator: &str) -> bool {
        self.steps.get(step).is_some_and(|step| step.may_become(operator))
    }

    fn fits_both(&self, step: usize, earlier: &str, later: &str) -> bool {
        self.steps.get(step).is_some_and(|step| step.may_become_both(earlier, later))
    }

    fn call(&self, step: usize) -> Option<ScopeId> {
        self.steps.get(step).map(|step| step.call)
    }

    /// Call and confidence of each of `nodes`, which lie in the stretch; `None` where no operator lies here that the
    /// node could belong to.
    fn places(&self, context: &Context<'_>, nodes: &[NodeId]) -> Vec<Option<(ScopeId, f32)>> {
        let operators: Vec<&str> = nodes.iter().map(|&node| context.graph.operator(node)).collect();
        let bounds = self.earliest(&operators).into_iter().zip(self.latest(&operators));
        let chosen = self.likeliest(&operators).into_iter().zip(bounds);
        chosen.map(|(step, (first, last))| self.place(context, step, first, last)).collect()
    }

    /// Call and confidence of a node that most likely stands for `step`, at the first for `first`, at the last for
    /// `last`. These two contradict each other where exporters wrote something that no form tells.
    fn place(&self, context: &Context<'_>, step: usize, first: usize, last: usize) -> Option<(ScopeId, f32)> {
        if self.free().is_empty() && first != last {
            return None;
        }
        let step = if first <= last { step.clamp(first, last) } else { step };
        let (call, first, last) = (self.call(step)?, self.call(first)?, self.call(last)?);
        let calls = context.evidence.calls();
        let is_uncertain = [(call, first), (call, last), (first, last)]
            .into_iter()
            .any(|(one, other)| calls.is_other_instance(one, other));
        match is_uncertain {
            true => Some((calls.common(call, calls.common(first, last)), UNCERTAIN)),
            false => Some((call, BETWEEN)),
        }
    }

    /// By node: the first step that it may stand for. A node that fits no step near by may be a part of the one before.
    fn earliest(&self, operators: &[&str]) -> Vec<usize> {
        let (mut at, mut part) = (0, self.ends[0]);
        let found = operators.iter().map(|&operator| {
            let is_open = |step: usize| match part.filter(|_| step == at) {
                Some(earlier) => self.fits_both(step, earlier, operator),
                None => self.fits(step, operator),
            };
            if let Some(step) = (at..self.steps.len()).take(2 * AHEAD).find(|&step| is_open(step)) {
                (at, part) = (step, Some(operator));
            }
            at
        });
        found.collect()
    }

    /// By node: the last step that it may stand for.
    fn latest(&self, operators: &[&str]) -> Vec<usize> {
        let (mut at, mut part) = (self.steps.len().saturating_sub(1), self.ends[1]);
        let mut found: Vec<usize> = Vec::with_capacity(operators.len());
        for &operator in operators.iter().rev() {
            let is_open = |step: usize| match part.filter(|_| step == at) {
                Some(later) => self.fits_both(step, operator, later),
                None => self.fits(step, operator),
            };
            if let Some(step) = (0..=at).rev().take(2 * AHEAD).find(|&step| is_open(step)) {
                (at, part) = (step, Some(operator));
            }
            found.push(at);
        }
        found.reverse();
        found
    }

    /// By node: the step that it stands for, if nodes are shared out evenly.
    fn likeliest(&self, operators: &[&str]) -> Vec<usize> {
        let free = self.free();
        let mut at = free.start;
        let found = operators.iter().zip(1..).map(|(&operator, seen)| {
            let expected = free.start + (seen * free.len()).saturating_sub(1) / operators.len();
            let end = free.end.min(expected + AHEAD);
            // The next ones first, then those around the expected one: many that were folded may lie between.
            let near = (at..end).take(2 * AHEAD).chain(at.max(expected.saturating_sub(AHEAD))..end);
            // A node that fits no operator belongs to the one that is at work.
            at = near.into_iter().find(|&step| self.fits(step, operator)).unwrap_or(at);
            at.min(self.steps.len().saturating_sub(1))
        });
        found.collect()
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::Scopes;

    use super::*;
    use crate::strategies::evidence::OpFact;

    /// The steps that nodes most likely stand for, in a stretch of these operators without marks.
    fn likeliest(targets: &[&str], nodes: &[&str]) -> Vec<usize> {
        let op = |target: &&str| OpFact {
            target: format!("aten.{target}.default").into(),
            call: Scopes::ROOT,
            parameters: Vec::new(),
        };
        let ops: Vec<OpFact> = targets.iter().map(op).collect();
        Stretch { steps: ops.iter().map(Step::new).collect(), ends: [None, None] }.likeliest(nodes)
    }

    #[test]
    fn a_node_stands_for_the_next_operator_that_may_become_it() {
        assert_eq!(likeliest(&["relu", "sigmoid", "tanh"], &["Relu", "Tanh"]), [0, 2]);
        assert_eq!(likeliest(&["relu", "relu", "relu"], &["Relu", "Relu", "Relu"]), [0, 0, 0]);
        assert_eq!(likeliest(&["relu", "tanh"], &["Relu", "Gelu", "Tanh"]), [0, 0, 1], "one that fits none");
    }

    #[test]
    fn an_operator_behind_many_that_left_no_node_is_found_where_it_is_expected() {
        let mut targets = vec!["relu"; 20];
        targets.push("tanh");
        assert_eq!(likeliest(&targets, &["Tanh"]), [20]);
    }

    #[test]
    fn an_operator_far_ahead_of_the_expected_one_is_left_to_other_nodes() {
        let mut targets = vec!["relu"; 12];
        targets[AHEAD] = "tanh";
        let mut nodes = vec!["Relu"; 12];
        nodes[0] = "Tanh";
        assert_eq!(likeliest(&targets, &nodes)[0], 0);
        targets.swap(AHEAD, AHEAD - 1);
        assert_eq!(likeliest(&targets, &nodes)[0], AHEAD - 1);
    }
}

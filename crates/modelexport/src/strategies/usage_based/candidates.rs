//! The operators that a node may represent, by the parameters that it reads.

use std::collections::HashMap;

use modelexport_lower::foreign_forms;

use super::Context;
use super::steps::Step;
use crate::strategies::evidence::ParameterId;
use crate::strategies::graph::{NodeId, ValueId};
use crate::strategies::parameters::LEAST_ELEMENTS;

/// The operators that a node may stand for, in order.
pub(super) struct Candidates {
    pub ops: Vec<usize>,
    /// The node reads a parameter under its own name.
    is_named: bool,
    /// It is a parameter that no other was merged into.
    pub is_sure: bool,
}

impl Candidates {
    /// The operator that a node stands for which began as `op`. Where a parameter kept its name, but the operators
    /// right behind read parameters that are gone, these were merged into the node, and it is named after the last.
    pub(super) fn settle(&self, context: &Context<'_>, op: usize) -> usize {
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

/// Which operator an ONNX operator shows.
#[derive(Clone, Copy)]
enum Shown {
    Unknown,
    Itself,
    /// The one before, that it was merged into.
    Before,
    None,
}

/// Who reads which parameter.
pub(super) struct Readers<'a> {
    context: &'a Context<'a>,
    ops: HashMap<ParameterId, Vec<usize>>,
    /// By ONNX operator and operator of the model. Nodes that read what was merged ask for the same ones again.
    shown: HashMap<&'a str, Vec<Shown>>,
}

impl<'a> Readers<'a> {
    pub(super) fn new(context: &'a Context<'a>) -> Self {
        let mut ops: HashMap<ParameterId, Vec<usize>> = HashMap::new();
        for (i, op) in context.evidence.ops.iter().enumerate() {
            for &parameter in &op.parameters {
                ops.entry(parameter).or_default().push(i);
            }
        }
        Readers { context, ops, shown: HashMap::new() }
    }

    pub(super) fn candidates(&mut self, node: NodeId) -> Candidates {
        let context = self.context;
        let named = |value| context.evidence.parameters.find(context.graph.value_name(value));
        let is_named = context.graph.inputs(node).any(|value| named(value).is_some());
        // The contents of smaller ones are not compared, so that one may stand for others that are equal.
        let is_large = |parameter: ParameterId| {
            context.evidence.parameters.get(parameter).is_some_and(|fact| fact.elements >= LEAST_ELEMENTS)
        };
        let is_sure = context.graph.inputs(node).filter_map(named).any(is_large);
        let operator = context.graph.operator(node);
        let mut all: Vec<Vec<usize>> = context
            .graph
            .inputs(node)
            .map(|value| self.ops_of(value, operator))
            .filter(|ops| !ops.is_empty())
            .collect();
        // What reads parameters of several operators was fused into the last of them.
        let last_sure = all.iter().filter(|ops| ops.len() == 1).flatten().max().copied();
        if let Some(op) = last_sure {
            return Candidates { ops: vec![op], is_named, is_sure };
        }
        all.sort_by_key(Vec::len);
        let mut lists = all.into_iter();
        let mut common = lists.next().unwrap_or_default();
        for list in lists {
            let both: Vec<usize> =
                common.iter().copied().filter(|op| list.binary_search(op).is_ok()).collect();
            if !both.is_empty() {
                common = both;
            }
        }
        Candidates { ops: common, is_named, is_sure }
    }

    /// The operators that read what `value` may be, in order; of several those that may become `operator`: parameters
    /// of equal content, or of equal size, are those of other kinds of operators, too.
    fn ops_of(&mut self, value: ValueId, operator: &'a str) -> Vec<usize> {
        let context = self.context;
        let known = context.anchors.candidates(value);
        let changed = context.anchors.changed_from(context.graph, value);
        let parameters = if known.is_empty() { changed } else { known };
        let ops = parameters.iter().filter_map(|parameter| self.ops.get(parameter)).flatten();
        let mut ops: Vec<usize> = ops.copied().collect();
        if ops.len() > 1 {
            let shown = |&op: &usize| match self.shown(op, operator) {
                Shown::Itself => Some(op),
                Shown::Before if !known.is_empty() => op.checked_sub(1),
                _ => None,
            };
            let fitting: Vec<usize> = ops.iter().filter_map(shown).collect();
            ops = if fitting.is_empty() { ops } else { fitting };
        }
        ops.sort_unstable();
        ops.dedup();
        ops
    }

    fn shown(&mut self, op: usize, operator: &'a str) -> Shown {
        let ops = &self.context.evidence.ops;
        let of_operator = self.shown.entry(operator).or_insert_with(|| vec![Shown::Unknown; ops.len()]);
        let Some(shown) = of_operator.get_mut(op) else { return Shown::None };
        if let Shown::Unknown = shown {
            let may_become = |op: usize| ops.get(op).is_some_and(|op| Step::new(op).may_become(operator));
            let before = op.checked_sub(1).filter(|&before| may_merge(self.context, before));
            *shown = match before {
                _ if may_become(op) => Shown::Itself,
                Some(before) if may_become(before) => Shown::Before,
                _ => Shown::None,
            };
        }
        *shown
    }
}

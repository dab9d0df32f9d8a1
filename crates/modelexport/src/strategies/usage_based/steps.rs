//! Operators of the model as candidates for nodes.

use modelexport_graph::ScopeId;
use modelexport_lower::foreign_forms::{self, Forms, Token, Trace};

use crate::strategies::evidence::OpFact;

/// An operator of the model, and what exporters make of it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Step<'a> {
    pub call: ScopeId,
    target: &'a str,
    forms: Option<&'static Forms>,
}

impl<'a> Step<'a> {
    pub(super) fn new(op: &'a OpFact) -> Self {
        Step { call: op.call, target: &op.target, forms: foreign_forms::find(&op.target) }
    }

    /// Whether exporters write nodes for it.
    pub(super) fn leaves_nodes(&self) -> bool {
        self.forms.is_none_or(|forms| forms.trace != Trace::None)
    }

    /// Whether the ONNX operator may stand for it, or for a part of it.
    pub(super) fn may_become(&self, operator: &str) -> bool {
        self.forms().any(|form| form.iter().any(|token| token.operators.contains(&operator)))
            || self.target == operator
            || foreign_forms::is_namesake(self.target, operator)
    }

    /// Whether a node of `earlier` and then one of `later` may be two parts of it. What only moves elements is
    /// written as any number of nodes.
    pub(super) fn may_become_both(&self, earlier: &str, later: &str) -> bool {
        let stands_after = |form: &[Token]| {
            let first = form.iter().position(|token| token.operators.contains(&earlier));
            let rest = first.and_then(|first| form.get(first + 1..)).unwrap_or_default();
            rest.iter().any(|token| token.operators.contains(&later))
        };
        match self.forms.map(|forms| forms.trace) {
            Some(Trace::Compute) => self.forms().any(stands_after),
            Some(_) => self.may_become(earlier) && self.may_become(later),
            None => earlier != later && self.may_become(earlier) && self.may_become(later),
        }
    }

    fn forms(&self) -> impl Iterator<Item = &'static [Token]> + use<> {
        self.forms.into_iter().flat_map(|forms| forms.forms.iter().map(Vec::as_slice))
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::Scopes;

    use super::*;

    fn op(target: &str) -> OpFact {
        OpFact { target: target.into(), call: Scopes::ROOT, parameters: Vec::new() }
    }

    #[test]
    fn operators_become_what_their_forms_say() {
        let may_become = |target: &str, operator: &str| Step::new(&op(target)).may_become(operator);
        assert!(may_become("aten.permute.default", "Transpose"));
        assert!(may_become("aten.cumsum.default", "CumSum"));
        assert!(!may_become("aten.permute.default", "MatMul"));
        assert!(!Step::new(&op("aten.dropout.default")).leaves_nodes());
    }

    #[test]
    fn parts_of_an_operator_come_in_the_order_of_its_form() {
        let both =
            |target: &str, earlier: &str, later: &str| Step::new(&op(target)).may_become_both(earlier, later);
        assert!(both("aten.linear.default", "MatMul", "Add"));
        assert!(!both("aten.linear.default", "Add", "MatMul"), "the bias comes last");
        assert!(!both("aten.relu.default", "Relu", "Relu"), "one node stands for it");
        assert!(both("aten.view.default", "Reshape", "Reshape"));
        assert!(!both("Gemm", "Gemm", "Gemm"), "an operator of an ONNX file is one node");
    }
}

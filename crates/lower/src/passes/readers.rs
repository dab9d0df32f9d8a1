//! Which modules read which weight in the program. A pass may let a node read a weight directly only if the node's
//! module did so in PyTorch; otherwise a copy stays in between, in the module that did.

use modelexport_graph::aten::{Arg, Graph, InputSpec, Program, ValueId};
use modelexport_graph::hash::HashSet;
use modelexport_graph::{ModuleId, ScopeId, Scopes};

use crate::ir::{self, Constant, Ir};

pub struct Readers<'p> {
    scopes: &'p Scopes,
    /// Weight and module.
    readers: HashSet<(u32, ModuleId)>,
}

impl<'p> Readers<'p> {
    pub fn new(program: &'p Program) -> Self {
        let graph = &program.graph;
        let mut weights = vec![None; graph.values.len()];
        for (arg, spec) in graph.inputs.iter().zip(&program.signature.inputs) {
            if let (
                Arg::Tensor(id),
                InputSpec::Parameter { weight }
                | InputSpec::Buffer { weight, .. }
                | InputSpec::TensorConstant { weight },
            ) = (arg, spec)
                && let Some(slot) = weights.get_mut(id.0 as usize)
            {
                *slot = Some(*weight);
            }
        }
        let mut readers = HashSet::default();
        collect(graph, &weights, Scopes::ROOT, &program.scopes, &mut readers);
        Readers { scopes: &program.scopes, readers }
    }

    /// Whether a node of `scope` may read `value`: it is no weight, or one that the scope's module reads.
    pub fn may_read(&self, ir: &Ir, value: ir::ValueId, scope: ScopeId) -> bool {
        match ir.value(value).and_then(|value| value.constant.as_deref()) {
            Some(Constant::Weight { weight, .. }) => {
                self.readers.contains(&(*weight, self.scopes.module(scope)))
            }
            _ => true,
        }
    }
}

/// `weights`: by value of `graph`, those that it is given by the node that holds it included.
fn collect(
    graph: &Graph,
    weights: &[Option<u32>],
    holder: ScopeId,
    scopes: &Scopes,
    readers: &mut HashSet<(u32, ModuleId)>,
) {
    let weight_of = |id: ValueId| weights.get(id.0 as usize).copied().flatten();
    for node in &graph.nodes {
        let scope = node.scope.unwrap_or(holder);
        let module = scopes.module(scope);
        for arg in &node.args {
            arg.arg.for_each_tensor(&mut |id| readers.extend(weight_of(id).map(|weight| (weight, module))));
        }
        for subgraph in node.subgraphs() {
            let mut inner = vec![None; subgraph.values.len()];
            for (input, operand) in subgraph.given(&node.operands()) {
                if let Some(slot) = inner.get_mut(input.0 as usize) {
                    *slot = weight_of(operand);
                }
            }
            collect(subgraph, &inner, scope, scopes, readers);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_program::{TestProgram, tensor};

    /// A weight that a module reads in a branch is its own there, and nobody else's.
    #[test]
    fn a_weight_is_read_inside_a_branch() {
        let mut branch = TestProgram::new();
        let given = branch.input("given", tensor(&[3]));
        let y = branch.node("aten.sin.default", &[("self", Arg::Tensor(given))], tensor(&[3]));
        let branch = branch.into_subgraph("branch", &[y]);
        let mut program = TestProgram::new();
        let weight = program.parameter("block.weight", tensor(&[3]));
        let arguments =
            [("", Arg::Bool(true)), ("", branch.clone()), ("", branch), ("", Arg::Tensors(vec![weight]))];
        let y = program.node("higher_order.cond", &arguments, tensor(&[3]));
        let mut program = program.outputs(&[y]);
        let (block, other) = (program.modules.insert("block"), program.modules.insert("other"));
        let scope = program.scopes.child(Scopes::ROOT, block, 0);
        program.graph.nodes[0].subgraphs_mut().for_each(|branch| branch.nodes[0].scope = Some(scope));
        let readers = Readers::new(&program).readers;
        assert!(readers.contains(&(0, block)) && readers.contains(&(0, ModuleId::ROOT)));
        assert!(!readers.contains(&(0, other)));
    }
}

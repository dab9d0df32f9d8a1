//! `cond`: `If`, whose branches read what they need from outside. A condition that is known when exporting leaves its
//! branch only.
//!
//! `cond(condition, true_graph, false_graph, operands)`.

use modelexport_graph::SymExpr;
use modelexport_graph::aten::Arg;

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new("higher_order.cond", lower)];

enum Condition {
    Known(bool),
    Computed(ValueId),
}

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let condition = condition(cx)?;
    let (when_true, when_false) = (cx.graph(0)?, cx.graph(1)?);
    let operands = match cx.args().nth(3) {
        Some(operands) => cx.operands(operands)?,
        None => Vec::new(),
    };
    let condition = match condition {
        Condition::Known(known) => {
            let branch = if known { when_true } else { when_false };
            return Ok(cx.inline(branch, &operands)?.into());
        }
        Condition::Computed(value) => value,
    };
    let then_branch = cx.subgraph(Vec::new(), |lowering| lowering.inline(when_true, &operands))?;
    let else_branch = cx.subgraph(Vec::new(), |lowering| lowering.inline(when_false, &operands))?;
    let (count, other) = (then_branch.outputs.len(), else_branch.outputs.len());
    if count != other {
        return cx.refuse(format!("has branches with {count} and {other} results"));
    }
    let looks = then_branch.outputs.clone();
    let attributes = attrs![then_branch = then_branch, else_branch = else_branch];
    let outputs = cx.emit_many("If", &[Some(condition)], attributes, count);
    // Tensors get theirs from the program; numbers have it from inside.
    for (&output, inside) in outputs.iter().zip(looks) {
        let dtype = cx.dtype(inside);
        cx.set_dtype(output, dtype);
    }
    Ok(outputs.into())
}

fn condition(cx: &mut Context<'_, '_>) -> Result<Condition> {
    Ok(match cx.args().next() {
        Some(Arg::Bool(known)) => Condition::Known(*known),
        Some(Arg::Tensor(id)) => Condition::Computed(cx.value(*id)?),
        Some(Arg::SymBool(id)) => match cx.symbolic(*id) {
            Some(SymExpr::Bool(known)) => Condition::Known(*known),
            Some(expr) => Condition::Computed(cx.compute(&expr.clone())?),
            None => return cx.wrong("condition", "a truth value", "another kind of value"),
        },
        other => return cx.wrong_kind("condition", "a tensor or a truth value", other),
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use modelexport_graph::aten::Program;
    use modelexport_graph::{DType, Method, ScopeId, Scopes, onnx};

    use super::*;
    use crate::test_calls::lowered_program;
    use crate::test_program::{TestProgram, contiguous, tensor};

    /// One operator on a tensor of three elements.
    fn branch(target: &str) -> Arg {
        let mut graph = TestProgram::new();
        let x = graph.input("x", tensor(&[3]));
        let y = graph.node(target, &[("self", Arg::Tensor(x))], tensor(&[3]));
        graph.into_subgraph("branch", &[y])
    }

    fn program(condition: impl FnOnce(&mut TestProgram) -> Arg) -> Program {
        let mut program = TestProgram::new();
        let condition = condition(&mut program);
        let x = program.input("x", tensor(&[3]));
        let arguments = [
            ("", condition),
            ("", branch("aten.sin.default")),
            ("", branch("aten.cos.default")),
            ("", Arg::Tensors(vec![x])),
        ];
        let y = program.node("higher_order.cond", &arguments, tensor(&[3]));
        program.outputs(&[y])
    }

    #[test]
    fn rows_as_onnx() {
        let computed = program(|p| Arg::Tensor(p.input("flag", contiguous(DType::Bool, vec![]))));
        assert_snapshot!(lowered_program(computed), @r"
        If(flag, then_branch=() {
            Sin(x)
        }, else_branch=() {
            Cos(x)
        })
        ");
        assert_snapshot!(lowered_program(program(|_| Arg::Bool(false))), @"Cos(x)");
    }

    /// The operator and the origin of each node inside the `If`.
    fn origins(model: &onnx::Model) -> Vec<(String, ScopeId, Method, f32)> {
        let mut found = Vec::new();
        for graph in model.graph.nodes.iter().flat_map(|node| node.subgraphs()) {
            graph.for_each_node(&mut |node| {
                let origin = node.origin.as_ref().unwrap();
                found.push((node.op_type.to_string(), origin.scope, origin.method, origin.confidence));
            });
        }
        found
    }

    #[test]
    fn nodes_of_a_branch_have_their_own_origin() {
        let mut program = program(|p| Arg::Tensor(p.input("flag", contiguous(DType::Bool, vec![]))));
        let module = program.modules.insert("block");
        let scope = program.scopes.child(Scopes::ROOT, module, 0);
        let methods = [(scope, Method::Parameter), (Scopes::ROOT, Method::Propagated)];
        let branches = program.graph.nodes[0].subgraphs_mut();
        for (branch, (scope, method)) in branches.zip(methods) {
            (branch.nodes[0].scope, branch.nodes[0].method) = (Some(scope), method);
        }
        let (model, _) = crate::lower(program, &crate::Options::default(), &|_| None).unwrap();
        assert_eq!(
            origins(&model),
            [
                ("Sin".to_owned(), scope, Method::Parameter, 0.9),
                ("Cos".to_owned(), Scopes::ROOT, Method::Propagated, 0.5)
            ]
        );
        let outer = model.graph.nodes[0].origin.as_ref().unwrap();
        assert_eq!((outer.scope, outer.method), (Scopes::ROOT, Method::Direct));
    }
}

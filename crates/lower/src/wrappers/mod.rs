//! Graphs inside nodes that run once, as part of the graph around them: regions without gradients, under autocast,
//! with hints for a compiler, or called by name. Their nodes take the place of the node that holds them, ATen to
//! ATen, so that mutation inside them is seen outside.
//!
//! Inlined nodes keep their module call; one that names none gets that of the node that held it.

mod autocast;

use modelexport_graph::aten::{Arg, Graph, Node, Program, Subgraph, SymOr, ValueId};
use modelexport_graph::{ModuleTree, Scopes};

use crate::error::{Error, Location, Result};
use crate::unique_names::UniqueNames;

/// What is replaced by the graph inside it.
pub const WRAPPERS: [&str; 8] = [
    "higher_order.hints_wrapper",
    "higher_order.invoke_subgraph",
    "higher_order.strict_mode",
    "higher_order.tag_activation_checkpoint",
    "higher_order.wrap",
    "higher_order.wrap_activation_checkpoint",
    "higher_order.wrap_with_autocast",
    "higher_order.wrap_with_set_grad_enabled",
];

pub fn is_wrapper(target: &str) -> bool {
    WRAPPERS.contains(&target)
}

/// Replaces every wrapper of the program by its contents.
pub fn inline(program: &mut Program) -> Result<()> {
    let Program { graph, modules, scopes, .. } = program;
    inline_graph(graph, &Locate { modules, scopes })
}

struct Locate<'a> {
    modules: &'a ModuleTree,
    scopes: &'a Scopes,
}

impl Locate<'_> {
    fn refuse<T>(&self, node: &Node, reason: &str) -> Result<T> {
        let module = self.modules.get(self.scopes.module(node.scope.unwrap_or(Scopes::ROOT)));
        let place = Location {
            node: node.name.to_string(),
            target: node.target.to_string(),
            module: module.map_or_else(String::new, |module| module.path.to_string()),
        };
        Err(Error::Node { place: Box::new(place), reason: reason.to_owned() })
    }
}

fn inline_graph(graph: &mut Graph, locate: &Locate<'_>) -> Result<()> {
    let mut has_wrapper = false;
    for node in &mut graph.nodes {
        for arg in &mut node.args {
            if let Arg::Graph(subgraph) = &mut arg.arg {
                inline_graph(&mut subgraph.graph, locate)?;
            }
        }
        has_wrapper |= is_wrapper(&node.target);
    }
    if !has_wrapper {
        return Ok(());
    }
    let names = UniqueNames::of(graph);
    let mut inliner = Inliner { graph, names, nodes: Vec::new(), same: Vec::new() };
    for node in std::mem::take(&mut inliner.graph.nodes) {
        inliner.node(node, locate)?;
    }
    let mut outputs = std::mem::take(&mut inliner.graph.outputs);
    for output in &mut outputs {
        inliner.resolve(output);
    }
    let nodes = inliner.nodes;
    graph.nodes = nodes;
    graph.outputs = outputs;
    Ok(())
}

struct Inliner<'a> {
    graph: &'a mut Graph,
    names: UniqueNames,
    nodes: Vec<Node>,
    /// For each value the one that is read instead of it, if there is one.
    same: Vec<Option<ValueId>>,
}

impl Inliner<'_> {
    fn node(&mut self, mut node: Node, locate: &Locate<'_>) -> Result<()> {
        for arg in &mut node.args {
            self.resolve(&mut arg.arg);
        }
        if !is_wrapper(&node.target) {
            self.nodes.push(node);
            return Ok(());
        }
        let Some(at) = node.args.iter().position(|arg| matches!(arg.arg, Arg::Graph(_))) else {
            return locate.refuse(&node, "has no graph among its arguments");
        };
        let is_autocast = autocast::is_on(&node);
        let behind = node.args.split_off(at + 1);
        let Some(Arg::Graph(subgraph)) = node.args.pop().map(|arg| arg.arg) else {
            return locate.refuse(&node, "has no graph among its arguments");
        };
        let Subgraph { graph: mut inner, .. } = *subgraph;
        if is_autocast {
            autocast::cast(&mut inner);
        }
        let mut operands = Vec::new();
        for arg in behind.into_iter().filter(|arg| !arg.is_keyword) {
            flatten(arg.arg, &mut operands);
        }
        if operands.len() != inner.inputs.len() {
            return locate.refuse(&node, "calls a graph with another number of inputs than it has");
        }
        if !self.splice(&node, inner, &operands) {
            return locate.refuse(&node, "has other results than the graph inside it");
        }
        Ok(())
    }

    /// Puts the nodes of `inner` here. `false` if its outputs are not those of `node`.
    fn splice(&mut self, node: &Node, inner: Graph, operands: &[Arg]) -> bool {
        let mut moved: Vec<Option<ValueId>> = vec![None; inner.values.len()];
        let set = |moved: &mut Vec<Option<ValueId>>, from: ValueId, to: ValueId| {
            if let Some(slot) = moved.get_mut(from.0 as usize) {
                *slot = Some(to);
            }
        };
        for (input, operand) in inner.inputs.iter().zip(operands) {
            if let (Some(from), Some(to)) = (value_of(input), value_of(operand)) {
                set(&mut moved, from, to);
            }
        }
        let mut results = Vec::new();
        for output in &node.outputs {
            flatten(output.clone(), &mut results);
        }
        let mut outputs = Vec::new();
        for output in inner.outputs {
            flatten(output, &mut outputs);
        }
        if results.len() != outputs.len() {
            return false;
        }
        // A result keeps its value; the value inside becomes it, unless that is an input or two results at once.
        let mut again = Vec::new();
        for (result, output) in results.iter().zip(&outputs) {
            let (Some(result), Some(output)) = (value_of(result), value_of(output)) else { continue };
            match moved.get(output.0 as usize).copied().flatten() {
                Some(known) => again.push((result, known)),
                None => set(&mut moved, output, result),
            }
        }
        for (i, value) in inner.values.into_iter().enumerate() {
            let id = ValueId(i as u32);
            if moved.get(i).copied().flatten().is_none() {
                let name = self.names.take(&value.name);
                let new = self.graph.add_value(name, value.kind);
                set(&mut moved, id, new);
            }
        }
        for mut inner in inner.nodes {
            inner.name = self.names.take(&inner.name);
            inner.scope = inner.scope.or(node.scope);
            inner.trace = inner.trace.or(node.trace);
            let replace = &mut |id: &mut ValueId| {
                if let Some(new) = moved.get(id.0 as usize).copied().flatten() {
                    *id = new;
                }
            };
            inner.args.iter_mut().for_each(|arg| for_each_value(&mut arg.arg, replace));
            inner.outputs.iter_mut().for_each(|output| for_each_value(output, replace));
            self.nodes.push(inner);
        }
        for (result, known) in again {
            let index = result.0 as usize;
            if index >= self.same.len() {
                self.same.resize(index + 1, None);
            }
            if let Some(slot) = self.same.get_mut(index) {
                *slot = Some(known);
            }
        }
        true
    }

    fn resolve(&self, arg: &mut Arg) {
        for_each_value(arg, &mut |id| {
            while let Some(known) = self.same.get(id.0 as usize).copied().flatten() {
                *id = known;
            }
        });
    }
}

/// The single arguments of a list, or the argument itself.
fn flatten(arg: Arg, into: &mut Vec<Arg>) {
    match arg {
        Arg::Tensors(ids) => into.extend(ids.into_iter().map(Arg::Tensor)),
        Arg::SymInts(values) => into.extend(values.into_iter().map(|value| match value {
            SymOr::Value(id) => Arg::SymInt(id),
            SymOr::Const(value) => Arg::Int(value),
        })),
        Arg::Ints(values) => into.extend(values.into_iter().map(Arg::Int)),
        // Keyword operands; compilers' hints are keywords of the node itself.
        Arg::Dict(entries) => entries.into_iter().for_each(|(_, arg)| flatten(arg, into)),
        // The name of a graph that is called by name.
        Arg::Str(_) => {}
        other => into.push(other),
    }
}

fn value_of(arg: &Arg) -> Option<ValueId> {
    match arg {
        Arg::Tensor(id) | Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id) | Arg::CustomObject(id) => {
            Some(*id)
        }
        _ => None,
    }
}

/// Visits the values of an argument; graphs among arguments have values of their own and are passed over.
fn for_each_value(arg: &mut Arg, visit: &mut dyn FnMut(&mut ValueId)) {
    fn symbolic<T>(values: &mut [SymOr<T>], visit: &mut dyn FnMut(&mut ValueId)) {
        for value in values {
            if let SymOr::Value(id) = value {
                visit(id);
            }
        }
    }
    match arg {
        Arg::Tensor(id) | Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id) | Arg::CustomObject(id) => {
            visit(id);
        }
        Arg::Tensors(ids) => ids.iter_mut().for_each(visit),
        Arg::OptionalTensors(ids) => ids.iter_mut().flatten().for_each(visit),
        Arg::NestedTensors(lists) => lists.iter_mut().flatten().for_each(visit),
        Arg::SymInts(values) => symbolic(values, visit),
        Arg::SymFloats(values) => symbolic(values, visit),
        Arg::SymBools(values) => symbolic(values, visit),
        Arg::Dict(entries) => entries.iter_mut().for_each(|(_, arg)| for_each_value(arg, visit)),
        _ => {}
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;
    use modelexport_graph::DType;
    use modelexport_graph::aten::TensorMeta;

    use super::*;
    use crate::test_program::{TestProgram, tensor, text};

    fn of(value: ValueId) -> (&'static str, Arg) {
        ("self", Arg::Tensor(value))
    }

    #[test]
    fn a_region_without_gradients_is_part_of_the_graph() {
        let mut inner = TestProgram::new();
        let a = inner.input("add", tensor(&[3]));
        let b = inner.node("aten.add_.Tensor", &[of(a), ("other", Arg::Int(2))], tensor(&[3]));
        let c = inner.node("aten.neg.default", &[of(b)], tensor(&[3]));
        let region = inner.into_subgraph("submod_1", &[c, a]);
        let mut p = TestProgram::new();
        let x = p.input("x", tensor(&[3]));
        let y = p.node("aten.add.Tensor", &[of(x), ("other", Arg::Int(1))], tensor(&[3]));
        let operands = [("", Arg::Bool(false)), ("", region), ("", Arg::Tensor(y))];
        let results =
            p.nodes("higher_order.wrap_with_set_grad_enabled", &operands, &[tensor(&[3]), tensor(&[3])]);
        let neg = p.node("aten.neg.default", &[of(results[1])], tensor(&[3]));
        let mut program = p.outputs(&[results[0], neg]);
        assert!(inline(&mut program).is_ok());
        assert_snapshot!(text(&program.graph), @r"
        add = aten.add.Tensor(x, 1)
        add_ = aten.add_.Tensor(add, 2)
        wrap_with_set_grad_enabled_0 = aten.neg.default(add_)
        neg = aten.neg.default(add)
        return wrap_with_set_grad_enabled_0, neg
        ");
    }

    #[test]
    fn autocast_shows_what_it_casts() {
        let half = |sizes: &[i64]| TensorMeta { dtype: DType::BF16, ..tensor(sizes) };
        let mut inner = TestProgram::new();
        let a = inner.input("a", tensor(&[3, 3]));
        let product = inner.node("aten.matmul.default", &[of(a), ("other", Arg::Tensor(a))], half(&[3, 3]));
        let sum = inner.node("aten.add.Tensor", &[of(product), ("other", Arg::Tensor(a))], tensor(&[3, 3]));
        let region = inner.into_subgraph("submod_1", &[sum]);
        let mut p = TestProgram::new();
        let x = p.input("x", tensor(&[3, 3]));
        let operands = [
            ("", Arg::Str("cpu".into())),
            ("", Arg::DType(DType::BF16)),
            ("", Arg::Bool(true)),
            ("", Arg::Bool(false)),
            ("", region),
            ("", Arg::Tensor(x)),
        ];
        let y = p.node("higher_order.wrap_with_autocast", &operands, tensor(&[3, 3]));
        let mut program = p.outputs(&[y]);
        assert!(inline(&mut program).is_ok());
        assert_snapshot!(text(&program.graph), @r"
        matmul.cast.3 = aten._to_copy.default(x, bfloat16)
        matmul.cast.4 = aten._to_copy.default(x, bfloat16)
        matmul = aten.matmul.default(matmul.cast.3, matmul.cast.4)
        wrap_with_autocast = aten.add.Tensor(matmul, x)
        return wrap_with_autocast
        ");
    }

    #[test]
    fn a_wrapper_with_another_number_of_operands_is_refused() {
        let mut inner = TestProgram::new();
        let a = inner.input("a", tensor(&[3]));
        let region = inner.into_subgraph("submod_1", &[a]);
        let mut p = TestProgram::new();
        p.input("x", tensor(&[3]));
        let y = p.node("higher_order.wrap", &[("", region)], tensor(&[3]));
        let mut program = p.outputs(&[y]);
        assert!(matches!(inline(&mut program), Err(Error::Node { place, .. }) if place.node == "wrap"));
    }
}

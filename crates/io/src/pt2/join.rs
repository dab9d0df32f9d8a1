//! Two halves of a program become one graph: nodes get the ids of their values, their scopes and their traces.

use std::sync::Arc;

use modelexport_graph::aten::{self, Arg, SymOr, ValueId, ValueKind};
use modelexport_graph::{ScopeId, Scopes, SymExpr};

use super::args::{Frame, plain_or};
use super::error::Place;
use super::graph::{self, Origins};
use super::halves::{Halves, Kept, Nodes};
use super::json;
use super::module_stack::ModuleStacks;
use super::schema::{self, Outside, SymbolTables};
use super::values::{Shared, Sort, Values, tensor_meta};

/// The program of two halves but for what its signature says; `None` if anything is wrong.
pub(super) fn join<'a>(
    kept: [&'a Kept; 2],
    nodes: [Nodes; 2],
    entry: &'a str,
    shared: &mut Shared,
) -> Option<(Outside<'a>, aten::Graph, Origins<'a>)> {
    let outside = outside(kept)?;
    let stacks = ModuleStacks::new(outside.module_call_graph.iter().map(|call| &*call.fqn));
    let mut origins = Origins::new(stacks, entry);
    let graph = join_graph(kept, nodes, shared, &mut origins)?;
    Some((outside, graph, origins))
}

fn outside(kept: [&Kept; 2]) -> Option<Outside<'_>> {
    let fields = Halves::member(kept, "treespec_namedtuple_fields")?;
    Some(Outside {
        signature: Halves::member(kept, "signature")??,
        module_call_graph: Halves::member(kept, "module_call_graph")??,
        treespec_namedtuple_fields: fields.unwrap_or_default(),
        range_constraints: Halves::member(kept, "range_constraints")??,
        schema_version: Halves::member(kept, "schema_version")??,
        torch_version: Halves::member(kept, "torch_version")?.unwrap_or_default(),
    })
}

fn symbols(kept: [&Kept; 2]) -> Option<SymbolTables<'_>> {
    Some(SymbolTables {
        sym_int_values: Halves::member(kept, "sym_int_values")??,
        sym_bool_values: Halves::member(kept, "sym_bool_values")??,
        custom_obj_values: Halves::member(kept, "custom_obj_values")?.unwrap_or_default(),
        sym_float_values: Halves::member(kept, "sym_float_values")?.unwrap_or_default(),
    })
}

fn join_graph<'a>(
    kept: [&'a Kept; 2],
    nodes: [Nodes; 2],
    shared: &mut Shared,
    origins: &mut Origins<'a>,
) -> Option<aten::Graph> {
    let [mut before, behind] = nodes;
    let mut names = before.names;
    // The first half keeps its numbers.
    let numbers: Vec<u32> = behind.names.into_names().into_iter().map(|name| names.adopt(name)).collect();
    let [of_first, of_second] = [Numbers(None), Numbers(Some(&numbers))];
    let mut is_node = vec![false; names.len()];
    let mut values = Values::new(names);
    announce_tensors(&mut values, kept[0], &before.tensors, of_first, shared)?;
    announce_tensors(&mut values, kept[1], &behind.tensors, of_second, shared)?;
    values.announce_symbols(symbols(kept)?, shared).ok()?;
    let is_single_tensor_return = Halves::member(kept, "is_single_tensor_return")?.unwrap_or_default();
    let graph = aten::Graph { is_single_tensor_return, ..aten::Graph::default() };
    let mut frame = Frame { graph, values, shared };
    graph::convert_inputs(Halves::member(kept, "inputs")??, &mut frame).ok()?;

    let first = before.list.len();
    let mut list = before.list;
    list.extend(behind.list);
    before.node_names.extend(behind.node_names);
    let (in_first, in_second) = list.split_at_mut_checked(first)?;
    let (names_in_first, names_in_second) = before.node_names.split_at_checked(first)?;
    let halves =
        [(in_first, names_in_first, of_first, kept[0]), (in_second, names_in_second, of_second, kept[1])];
    for (nodes, node_names, numbers, kept) in halves {
        let mut settled = Settled::new(kept);
        let mut later = kept.later.iter().peekable();
        for (index, (node, name)) in nodes.iter_mut().zip(node_names).enumerate() {
            let name = numbers.of(*name)?;
            if std::mem::replace(is_node.get_mut(name as usize)?, true) {
                return None;
            }
            match later.next_if(|(at, _)| *at == index) {
                None => settled.settle(node, &mut frame, origins, numbers)?,
                Some((_, text)) => {
                    let raw: schema::Node<'a> = serde_json::from_str(text).ok()?;
                    let name = frame.values.name(name)?.clone();
                    *node = graph::convert_node(raw, name, &mut frame, origins, None).ok()?;
                }
            }
        }
    }
    frame.graph.nodes = list;
    graph::convert_outputs(Halves::member(kept, "outputs")??, &mut frame).ok()?;
    Some(frame.graph)
}

/// From the numbers that names have in a half to those that they have in the program.
#[derive(Clone, Copy)]
struct Numbers<'n>(Option<&'n [u32]>);

impl Numbers<'_> {
    fn of(self, number: u32) -> Option<u32> {
        match self.0 {
            None => Some(number),
            Some(numbers) => numbers.get(number as usize).copied(),
        }
    }
}

fn announce_tensors(
    values: &mut Values,
    kept: &Kept,
    tensors: &[(u32, u32)],
    numbers: Numbers<'_>,
    shared: &mut Shared,
) -> Option<()> {
    let mut metas = Vec::with_capacity(kept.metas.list().len());
    for text in kept.metas.list() {
        let meta = json::parse_part("", text, String::new).ok()?;
        let place = || Place::Value { name: String::new() };
        metas.push(ValueKind::Tensor(Arc::new(tensor_meta(meta, shared, place).ok()?)));
    }
    for (name, meta) in tensors {
        values.announce_known(numbers.of(*name)?, metas.get(*meta as usize)?.clone())?;
    }
    Some(())
}

/// What nodes of one half say in numbers, looked up once.
struct Settled<'a> {
    kept: &'a Kept,
    scopes: Vec<Option<ScopeId>>,
    traces: Vec<Option<Option<u32>>>,
}

impl<'a> Settled<'a> {
    fn new(kept: &'a Kept) -> Self {
        let scopes = vec![None; kept.stacks.list().len()];
        let traces = vec![None; kept.traces.list().len()];
        Settled { kept, scopes, traces }
    }

    /// Puts the numbers of the program in place of those of the half.
    fn settle(
        &mut self,
        node: &mut aten::Node,
        frame: &mut Frame<'_>,
        origins: &mut Origins<'a>,
        numbers: Numbers<'_>,
    ) -> Option<()> {
        node.scope = Some(match node.scope {
            Some(stack) => self.scope(stack.0 as usize, origins)?,
            None => Scopes::ROOT,
        });
        node.trace = match node.trace {
            Some(trace) => self.trace(trace as usize, origins)?,
            None => None,
        };
        for argument in &mut node.args {
            resolve(&mut argument.arg, frame, numbers)?;
        }
        for output in &mut node.outputs {
            define(output, frame, numbers)?;
        }
        Some(())
    }

    fn scope(&mut self, stack: usize, origins: &mut Origins<'a>) -> Option<ScopeId> {
        let known = self.scopes.get_mut(stack)?;
        if known.is_none() {
            let scope = origins.stacks.scope(self.kept.stacks.list().get(stack)?).ok()?;
            *known = Some(scope.unwrap_or(Scopes::ROOT));
        }
        *known
    }

    fn trace(&mut self, trace: usize, origins: &mut Origins<'a>) -> Option<Option<u32>> {
        let known = self.traces.get_mut(trace)?;
        if known.is_none() {
            *known = Some(origins.trace(self.kept.traces.list().get(trace)?).ok()?);
        }
        *known
    }
}

/// The values in an argument, which were defined before.
fn resolve(arg: &mut Arg, frame: &Frame<'_>, numbers: Numbers<'_>) -> Option<()> {
    let settled = |id: &mut ValueId, sort| {
        *id = frame.values.resolve_known(&frame.graph, numbers.of(id.0)?, sort)?;
        Some(())
    };
    let number = |id: ValueId| match frame.graph.value(id).map(|value| &value.kind) {
        Some(ValueKind::SymInt(SymExpr::Int(value))) => SymOr::Const(*value),
        _ => SymOr::Value(id),
    };
    match arg {
        Arg::Tensor(id) => settled(id, Sort::Tensor)?,
        Arg::Tensors(ids) => ids.iter_mut().try_for_each(|id| settled(id, Sort::Tensor))?,
        Arg::OptionalTensors(ids) => {
            ids.iter_mut().flatten().try_for_each(|id| settled(id, Sort::Tensor))?;
        }
        Arg::SymInt(id) => {
            settled(id, Sort::SymInt)?;
            if let SymOr::Const(value) = number(*id) {
                *arg = Arg::Int(value);
            }
        }
        Arg::SymInts(values) => {
            for value in values.iter_mut() {
                if let SymOr::Value(id) = value {
                    settled(id, Sort::SymInt)?;
                    *value = number(*id);
                }
            }
            *arg = plain_or(std::mem::take(values), Arg::Ints, Arg::SymInts);
        }
        _ => {}
    }
    Some(())
}

/// The values in a result, which are defined here.
fn define(arg: &mut Arg, frame: &mut Frame<'_>, numbers: Numbers<'_>) -> Option<()> {
    let mut settle = |id: &mut ValueId, sort| {
        *id = frame.values.define_known(&mut frame.graph, numbers.of(id.0)?, sort)?;
        Some(())
    };
    match arg {
        Arg::Tensor(id) => settle(id, Sort::Tensor),
        Arg::Tensors(ids) => ids.iter_mut().try_for_each(|id| settle(id, Sort::Tensor)),
        Arg::SymInt(id) => settle(id, Sort::SymInt),
        _ => Some(()),
    }
}

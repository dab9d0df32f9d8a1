//! Converts graphs: nodes in order, with resolved arguments and their origin.

use modelexport_graph::aten::{self, Arg, NamedArg, Subgraph};
use modelexport_graph::hash::HashMap;
use modelexport_graph::{Method, Name, ScopeId, Scopes};

use super::args::{Frame, plain_target};
use super::argument::{Argument, OptionalTensor, SymBoolArgument, SymFloatArgument, SymIntArgument};
use super::error::{NodePlace, Problem, ProgramLocation};
use super::json::{self, Pieces};
use super::module_stack::ModuleStacks;
use super::node_name::node_names;
use super::schema::{self, KEYWORD};
use super::values::{Interner, Values};

/// Where nodes come from: module calls and lines of Python.
pub(super) struct Origins<'a> {
    pub stacks: ModuleStacks,
    pub traces: Vec<Box<str>>,
    trace_ids: HashMap<&'a str, u32>,
    entry: &'a str,
}

impl<'a> Origins<'a> {
    /// `entry`: the zip entry that is read, for messages.
    pub fn new(stacks: ModuleStacks, entry: &'a str) -> Self {
        Origins { stacks, traces: Vec::new(), trace_ids: HashMap::default(), entry }
    }

    /// The id of a stack trace, which is unescaped only once.
    ///
    /// `raw`: the JSON of the text.
    pub fn trace(&mut self, raw: &'a str) -> Result<Option<u32>, Problem> {
        if let Some(id) = self.trace_ids.get(raw) {
            return Ok(Some(*id));
        }
        let text: Option<Box<str>> = json::parse_part(self.entry, raw, || "a stack_trace".to_owned())?;
        let Some(text) = text else { return Ok(None) };
        let id = self.traces.len() as u32;
        self.traces.push(text);
        self.trace_ids.insert(raw, id);
        Ok(Some(id))
    }
}

/// `holder`: the node whose argument the graph is; `None` for the outermost graph, whose nodes belong to the root where
/// nothing else is known.
pub(super) fn convert<'a>(
    mut raw: schema::Graph<'a>,
    shared: &mut Interner,
    origins: &mut Origins<'a>,
    holder: Option<&NodePlace>,
) -> Result<aten::Graph, Problem> {
    let values = match Values::announce(&mut raw, origins.entry, shared) {
        Ok(values) => values,
        Err(problem) => return Err(at_maker(problem, &raw.nodes, shared, origins, holder)),
    };
    let graph =
        aten::Graph { is_single_tensor_return: raw.is_single_tensor_return, ..aten::Graph::default() };
    let mut frame = Frame { graph, values, shared };
    convert_inputs(raw.inputs, &mut frame)?;
    let names = node_names(&raw.nodes, &frame.values, frame.shared)?;
    frame.graph.nodes.reserve_exact(raw.nodes.len());
    for (node, name) in raw.nodes.into_items().zip(names) {
        let node = convert_node(node, name, &mut frame, origins, holder)?;
        frame.graph.nodes.push(node);
    }
    convert_outputs(raw.outputs, &mut frame)?;
    Ok(frame.graph)
}

pub(super) fn convert_inputs(inputs: Vec<Argument<'_>>, frame: &mut Frame<'_>) -> Result<(), Problem> {
    frame.graph.values.reserve_exact(frame.values.len());
    for (index, input) in inputs.into_iter().enumerate() {
        let input = frame.result(input, || ProgramLocation::GraphInput { index })?;
        frame.graph.inputs.push(input);
    }
    Ok(())
}

pub(super) fn convert_outputs(outputs: Vec<Argument<'_>>, frame: &mut Frame<'_>) -> Result<(), Problem> {
    for (index, output) in outputs.into_iter().enumerate() {
        let place = || ProgramLocation::GraphOutput { index };
        let output = frame.argument(output, &place, &mut |_, graph| {
            Err(Problem::DanglingValue { place: place(), name: graph.name.to_string() })
        })?;
        frame.graph.outputs.push(output);
    }
    Ok(())
}

pub(super) fn convert_node<'a>(
    raw: schema::Node<'a>,
    name: Name,
    frame: &mut Frame<'_>,
    origins: &mut Origins<'a>,
    holder: Option<&NodePlace>,
) -> Result<aten::Node, Problem> {
    let unknown = holder.is_none().then_some(Scopes::ROOT);
    let (scope, here) = locate(&raw, name, frame.shared, origins, holder)?;
    frame.shared.expect(&here.name);
    let trace = raw.metadata.stack_trace.map_or(Ok(None), |trace| origins.trace(trace.get()))?;
    let mut args = Vec::with_capacity(raw.inputs.len());
    for input in raw.inputs {
        let place =
            || ProgramLocation::Argument { node: Box::new(here.clone()), argument: input.name.to_string() };
        let arg = frame.argument(input.arg, &place, &mut |shared, subgraph| {
            let name = shared.name(&subgraph.name);
            let graph = convert(subgraph.graph, shared, origins, Some(&here))?;
            Ok(Arg::Graph(Box::new(Subgraph { name, graph })))
        })?;
        let is_keyword = input.kind == Some(KEYWORD);
        args.push(NamedArg { name: frame.shared.name(&input.name), arg, is_keyword });
    }
    let mut outputs = Vec::with_capacity(raw.outputs.len());
    for (index, output) in raw.outputs.into_iter().enumerate() {
        outputs
            .push(frame.result(output, || ProgramLocation::Result { node: Box::new(here.clone()), index })?);
    }
    let NodePlace { name, target, .. } = here;
    Ok(aten::Node { name, target, args, outputs, scope: scope.or(unknown), method: Method::Direct, trace })
}

/// The call that a node ran in, if the archive says so, and its place for messages.
fn locate(
    raw: &schema::Node<'_>,
    name: Name,
    shared: &mut Interner,
    origins: &mut Origins<'_>,
    holder: Option<&NodePlace>,
) -> Result<(Option<ScopeId>, NodePlace), Problem> {
    let scope = match &raw.metadata.nn_module_stack {
        Some(text) => match holder {
            None => origins.stacks.scope(text),
            Some(_) => origins.stacks.scope_in_branch(text),
        }
        .map_err(|_| Problem::ModuleStack { node: name.to_string(), text: text.to_string() })?,
        None => None,
    };
    let module = match (scope, holder) {
        (Some(scope), _) => origins.stacks.path(scope),
        (None, Some(holder)) => holder.module.clone(),
        (None, None) => shared.name(""),
    };
    Ok((scope, NodePlace { name, target: plain_target(&raw.target, shared), module }))
}

/// What is wrong with the metadata of a value is wrong with the result of the node that makes it.
fn at_maker(
    mut problem: Problem,
    nodes: &Pieces<schema::Node<'_>>,
    shared: &mut Interner,
    origins: &mut Origins<'_>,
    holder: Option<&NodePlace>,
) -> Problem {
    if let Some(place) = problem.place_mut()
        && let ProgramLocation::Value { name } = &*place
        && let Some((node, index)) = nodes.iter().find_map(|node| {
            let index = node.outputs.iter().position(|output| holds(output, name))?;
            Some((node, index))
        })
    {
        let node_name = shared.name(node.name.as_deref().unwrap_or(name));
        if let Ok((_, here)) = locate(node, node_name, shared, origins, holder) {
            *place = ProgramLocation::Result { node: Box::new(here), index };
        }
    }
    problem
}

/// Whether a value called `name` is in a result.
fn holds(result: &Argument<'_>, name: &str) -> bool {
    let is = |tensor: &schema::Named<'_>| *tensor.name == *name;
    match result {
        Argument::Tensor(tensor) | Argument::OptionalTensor(OptionalTensor::Tensor(tensor)) => is(tensor),
        Argument::Tensors(tensors) => tensors.iter().any(is),
        Argument::SymInt(SymIntArgument::Name(text))
        | Argument::SymFloat(SymFloatArgument::Name(text))
        | Argument::SymBool(SymBoolArgument::Name(text)) => **text == *name,
        _ => false,
    }
}

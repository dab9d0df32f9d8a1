//! A captured program as a reference: its nodes are the steps.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use modelexport_graph::aten::{Arg, Graph, InputSpec, Node, OutputSpec, Program, SymOr, TensorMeta, ValueId};
use modelexport_graph::{Dim, Name, ScopeId, Scopes};

use super::super::facts::Fact;
use super::reference::{Reference, Source, Step};

/// Where a value comes from, and which result of a step it is.
type Origin = (Source, u32);

/// The steps of `program`. `classes` gives the class of each of its weights.
pub(crate) fn from_program(program: &Program, classes: &[Option<u32>]) -> Reference {
    let mut reference = Reference::default();
    let mut known: HashMap<ValueId, Origin> = HashMap::new();
    for (input, spec) in program.graph.inputs.iter().zip(&program.signature.inputs) {
        let source = match spec {
            InputSpec::Parameter { weight }
            | InputSpec::Buffer { weight, .. }
            | InputSpec::TensorConstant { weight } => {
                classes.get(*weight as usize).copied().flatten().map(Source::Weight)
            }
            InputSpec::User { name } => {
                reference.inputs.push(name.clone());
                Some(Source::Input(reference.inputs.len() as u32 - 1))
            }
            _ => None,
        };
        if let (Arg::Tensor(value) | Arg::SymInt(value), Some(source)) = (input, source) {
            known.insert(*value, (source, 0));
        }
    }
    add_graph(&program.graph, &mut known, Scopes::ROOT, &mut reference);
    for (output, spec) in program.graph.outputs.iter().zip(&program.signature.outputs) {
        if let (OutputSpec::User { .. }, Arg::Tensor(value)) = (spec, output) {
            reference.outputs.push(known.get(value).map(|(source, _)| *source));
        }
    }
    reference
}

fn add_graph(
    graph: &Graph,
    known: &mut HashMap<ValueId, Origin>,
    holder: ScopeId,
    reference: &mut Reference,
) {
    let (mut read, mut results): (Vec<ValueId>, Vec<ValueId>) = Default::default();
    for node in &graph.nodes {
        let call = node.scope.unwrap_or(holder);
        read.clear();
        node.args.iter().for_each(|argument| values_of(&argument.arg, &mut read));
        let origins: Vec<Origin> = read.iter().filter_map(|value| known.get(value).copied()).collect();
        let number = reference.len() as u32;
        results.clear();
        node.outputs.iter().for_each(|output| values_of(output, &mut results));
        let target = reference.target_id(&node.target);
        let step = Step { target, call, name: Some(node.name.clone()), arguments: hash_arguments(node) };
        reference.push(step, &origins, results.iter().filter_map(|value| graph.tensor(*value)).map(fact));
        for (port, value) in results.iter().enumerate() {
            known.insert(*value, (Source::Step(number), port as u32));
        }
        for argument in &node.args {
            let Arg::Graph(subgraph) = &argument.arg else { continue };
            let mut inputs: Vec<ValueId> = Vec::new();
            subgraph.graph.inputs.iter().for_each(|input| values_of(input, &mut inputs));
            // The operands come last, in the order of the subgraph's inputs.
            let operands = read.iter().skip(read.len().saturating_sub(inputs.len()));
            let inner = inputs.iter().zip(operands);
            let mut inner: HashMap<ValueId, Origin> =
                inner.filter_map(|(input, operand)| Some((*input, *known.get(operand)?))).collect();
            add_graph(&subgraph.graph, &mut inner, call, reference);
        }
    }
}

fn fact(meta: &TensorMeta) -> Fact {
    let mut sizes: Vec<Option<i64>> = meta.sizes.iter().map(Dim::as_static).collect();
    if meta.dtype.is_complex() {
        sizes.push(Some(2));
    }
    Fact { dtype: meta.dtype.real(), sizes }
}

fn values_of(argument: &Arg, into: &mut Vec<ValueId>) {
    match argument {
        Arg::Tensor(value) | Arg::SymInt(value) | Arg::SymFloat(value) | Arg::SymBool(value) => {
            into.push(*value)
        }
        Arg::Tensors(values) => into.extend(values),
        Arg::OptionalTensors(values) => into.extend(values.iter().flatten()),
        Arg::NestedTensors(lists) => lists.iter().for_each(|values| into.extend(values)),
        Arg::SymInts(items) => into.extend(items.iter().filter_map(|item| match item {
            SymOr::Value(value) => Some(*value),
            SymOr::Const(_) => None,
        })),
        _ => {}
    }
}

fn hash_arguments(node: &Node) -> u64 {
    let mut hasher = DefaultHasher::new();
    for argument in &node.args {
        let name: &Name = &argument.name;
        match &argument.arg {
            Arg::Tensor(_) | Arg::Tensors(_) | Arg::NestedTensors(_) | Arg::Graph(_) => {
                name.hash(&mut hasher)
            }
            Arg::OptionalTensors(values) => {
                let given: Vec<bool> = values.iter().map(Option::is_some).collect();
                (name, given).hash(&mut hasher);
            }
            other => (name, format!("{other:?}")).hash(&mut hasher),
        }
    }
    hasher.finish()
}

//! Mutation becomes values: in-place operators and writes through views are rewritten, ATen to ATen, into operators
//! that only make new tensors.
//!
//! Afterwards no node changes a tensor, and every node computes the same numbers as before. What is left out is what
//! nobody sees in an inference model: the new contents of buffers, parameters and inputs are seen by the nodes that
//! read them later in the graph, but are not outputs of it.
//!
//! A graph without in-place operators is left as it is. Else the graph is walked once ([`rewriter`]), with a record
//! of which tensors share memory ([`aliases`], filled from [`storage`], [`view`] and [`strides`]). An in-place operator becomes
//! its functional variant ([`mutation`], [`functional_variant`]), whose result is noted as the contents of the tensor; it is carried to the tensors
//! that share its memory when one of them is read ([`carry`]), so that nothing is made that is not read.

mod aliases;
mod arguments;
mod carry;
mod dtype;
mod functional_variant;
mod inputs;
mod mutation;
mod rewriter;
mod statistics;
mod storage;
#[cfg(test)]
mod storage_tests;
mod strides;
#[cfg(test)]
mod tests;
mod untold;
mod view;

use modelexport_graph::aten::{Arg, Graph, InputSpec, Node, OutputSpec, Program, Signature};
use modelexport_graph::{ModuleTree, Name, ScopeId, Scopes};

use crate::error::{Error, Location, Result};
use rewriter::Rewriter;
use storage::Storages;

pub use functional_variant::functional_variant;
pub use untold::refuse_untold_sharing;

/// A weight that a program changes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Written {
    /// Index of the graph's input.
    pub input: usize,
    /// The first node that changes its memory.
    pub place: Location,
}

/// Rewrites `program` so that no node changes a tensor in place. Returns the weights whose contents were changed.
pub fn functionalize(program: &mut Program) -> Result<Vec<Written>> {
    let Program { graph, signature, weights, modules, scopes, .. } = program;
    let locate = Locate { modules, scopes, outer: Scopes::ROOT };
    if !changes_tensors(graph) {
        graph.nodes.iter_mut().try_for_each(|node| subgraphs(node, &locate))?;
        return Ok(Vec::new());
    }
    let before: Vec<Option<Name>> = graph.outputs.iter().map(|output| output_name(graph, output)).collect();
    let storages = Storages::of(graph, signature, weights);
    let mut rewriter = Rewriter::new(graph, locate);
    rewriter.add_inputs(storages);
    rewriter.run()?;
    let written = rewriter.written_inputs();
    let added = rewriter.added_weights();
    for (value, weight) in added {
        graph.inputs.push(Arg::Tensor(value));
        signature.inputs.push(InputSpec::Buffer { weight: weights.len() as u32, persistent: false });
        weights.push(weight);
    }
    keep_output_names(graph, signature, before);
    Ok(written)
}

/// Rewrites the graphs among the arguments of `node`, each on its own.
fn subgraphs(node: &mut Node, locate: &Locate<'_>) -> Result<()> {
    if !node.args.iter().any(|arg| matches!(arg.arg, Arg::Graph(_))) {
        return Ok(());
    }
    let locate = Locate { outer: node.scope.unwrap_or(locate.outer), ..*locate };
    let holder = locate.place(node);
    for arg in &mut node.args {
        let Arg::Graph(subgraph) = &mut arg.arg else { continue };
        let graph = &mut subgraph.graph;
        if !changes_tensors(graph) {
            graph.nodes.iter_mut().try_for_each(|node| subgraphs(node, &locate))?;
            continue;
        }
        let mut rewriter = Rewriter::new(graph, locate);
        rewriter.add_inputs(Storages::default());
        rewriter.run()?;
        if rewriter.writes_an_input() {
            let reason = "changes an input of the graph inside it: return the new value instead".to_owned();
            return Err(Error::Node { place: Box::new(holder), reason });
        }
    }
    Ok(())
}

fn changes_tensors(graph: &Graph) -> bool {
    graph.nodes.iter().any(|node| {
        functional_variant::effect(&node.target).is_some() || statistics::updated_by(node).is_some()
    })
}

fn output_name(graph: &Graph, output: &Arg) -> Option<Name> {
    match output {
        Arg::Tensor(id) => graph.value(*id).map(|value| value.name.clone()),
        _ => None,
    }
}

/// An output keeps the name that it had, though another value holds its contents now.
fn keep_output_names(graph: &Graph, signature: &mut Signature, before: Vec<Option<Name>>) {
    let now = graph.outputs.iter().map(|output| output_name(graph, output));
    for ((spec, before), now) in signature.outputs.iter_mut().zip(before).zip(now) {
        if let OutputSpec::User { name: name @ None } = spec
            && before != now
        {
            *name = before;
        }
    }
}

/// Where a node stands, for errors.
#[derive(Clone, Copy)]
struct Locate<'a> {
    modules: &'a ModuleTree,
    scopes: &'a Scopes,
    /// The module call of nodes that name none.
    outer: ScopeId,
}

impl Locate<'_> {
    fn place(&self, node: &Node) -> Location {
        let scope = node.scope.unwrap_or(self.outer);
        let module = self.modules.get(self.scopes.module(scope));
        Location {
            node: node.name.to_string(),
            target: node.target.to_string(),
            module: module.map_or_else(String::new, |module| module.path.to_string()),
        }
    }
}

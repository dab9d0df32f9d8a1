//! Walks a graph and rewrites it so that every tensor keeps the contents that it was made with.
//!
//! A value of the program names a tensor; several names can be one tensor (an in-place operator returns the tensor
//! that it changed), and a tensor shows a place of [`Aliases`]. A read of a value becomes a read of the value that
//! holds the contents of its place now.

use std::collections::HashMap;
use std::sync::Arc;

use modelexport_graph::Method;
use modelexport_graph::aten::{Arg, Graph, NamedArg, Node, TensorMeta, ValueId, ValueKind, Weight};

use super::aliases::{AliasId, Aliases, Step, Writer};
use super::functional_variant::{aten_name, effect};
use super::view::{self, How, Kind, View, shown_by, source_of};
use super::{Locate, statistics};
use crate::error::{Error, Location, Result};
use crate::unique_names::UniqueNames;

/// A tensor of the program, which keeps its identity when it is changed.
#[derive(Clone, Copy, Debug)]
pub(super) struct TensorId(pub(super) usize);

pub(super) struct Rewriter<'a> {
    pub(super) graph: &'a mut Graph,
    pub(super) locate: Locate<'a>,
    /// The rewritten nodes.
    pub(super) nodes: Vec<Node>,
    pub(super) aliases: Aliases,
    /// What each tensor shows.
    pub(super) tensors: Vec<AliasId>,
    /// The tensor that each value names.
    named: Vec<Option<TensorId>>,
    pub(super) names: UniqueNames,
    /// The node in work.
    pub(super) at: Node,
    /// Weights that the program does not have, and the values that stand for them.
    pub(super) added: Vec<(ValueId, Weight)>,
    /// The first node that wrote, by the place of the memory.
    pub(super) first_writers: HashMap<AliasId, Location>,
}

impl<'a> Rewriter<'a> {
    pub(super) fn new(graph: &'a mut Graph, locate: Locate<'a>) -> Self {
        let names = UniqueNames::of(graph);
        let named = vec![None; graph.values.len()];
        let at = Node {
            name: "".into(),
            target: "".into(),
            args: Vec::new(),
            outputs: Vec::new(),
            scope: None,
            method: Method::Direct,
            trace: None,
        };
        Rewriter {
            graph,
            locate,
            nodes: Vec::new(),
            aliases: Aliases::default(),
            tensors: Vec::new(),
            named,
            names,
            at,
            added: Vec::new(),
            first_writers: HashMap::new(),
        }
    }

    /// Rewrites all nodes and the outputs.
    pub(super) fn run(&mut self) -> Result<()> {
        for node in std::mem::take(&mut self.graph.nodes) {
            self.node(node)?;
        }
        let mut outputs = std::mem::take(&mut self.graph.outputs);
        for output in &mut outputs {
            self.read_arg(output)?;
        }
        self.graph.outputs = outputs;
        self.graph.nodes = std::mem::take(&mut self.nodes);
        Ok(())
    }

    /// Whether the contents of an input were changed.
    pub(super) fn writes_an_input(&self) -> bool {
        let mut inputs = self.graph.inputs.iter().filter_map(|arg| match arg {
            Arg::Tensor(id) => self.place(*id),
            _ => None,
        });
        inputs.any(|place| self.aliases.is_written(place))
    }

    // ---- tensors and places

    pub(super) fn name_tensor(&mut self, value: ValueId, tensor: TensorId) {
        let index = value.0 as usize;
        if index >= self.named.len() {
            self.named.resize(index + 1, None);
        }
        if let Some(slot) = self.named.get_mut(index) {
            *slot = Some(tensor);
        }
    }

    pub(super) fn show(&mut self, value: ValueId, place: AliasId) {
        let tensor = TensorId(self.tensors.len());
        self.tensors.push(place);
        self.name_tensor(value, tensor);
    }

    /// A tensor with memory of its own.
    pub(super) fn add_tensor(&mut self, value: ValueId) -> Option<TensorId> {
        let meta = self.graph.tensor(value)?.clone();
        let place = self.aliases.add_root(value, meta);
        self.show(value, place);
        self.named.get(value.0 as usize).copied().flatten()
    }

    pub(super) fn tensor(&self, value: ValueId) -> Option<TensorId> {
        self.named.get(value.0 as usize).copied().flatten()
    }

    pub(super) fn place(&self, value: ValueId) -> Option<AliasId> {
        self.tensors.get(self.tensor(value)?.0).copied()
    }

    // ---- errors

    pub(super) fn refuse<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Error::Node { place: Box::new(self.locate.place(&self.at)), reason: reason.into() })
    }

    pub(super) fn value_name(&self, value: ValueId) -> String {
        self.graph.value(value).map_or_else(|| "?".into(), |value| value.name.to_string())
    }

    // ---- nodes

    fn node(&mut self, mut node: Node) -> Result<()> {
        self.at = Node { args: Vec::new(), outputs: Vec::new(), ..node.clone() };
        super::subgraphs(&mut node, &self.locate)?;
        if let Some(effect) = effect(&node.target) {
            return self.in_place(node, effect);
        }
        if let Some(running) = statistics::updated_by(&node) {
            return self.updates_statistics(node, &running);
        }
        let shown = shown_by(self.graph, &node);
        if !shown.is_empty() {
            return self.view(node, shown);
        }
        if reads_only_metadata(&node.target) {
            for arg in &mut node.args {
                self.look_at_arg(&mut arg.arg)?;
            }
        } else {
            self.read_args(&mut node.args)?;
        }
        for result in view::results_of(&node) {
            self.add_tensor(result);
        }
        self.nodes.push(node);
        Ok(())
    }

    fn read_args(&mut self, args: &mut [NamedArg]) -> Result<()> {
        for arg in args {
            self.read_arg(&mut arg.arg)?;
        }
        Ok(())
    }

    pub(super) fn read_arg(&mut self, arg: &mut Arg) -> Result<()> {
        for_each_tensor(arg, &mut |id| {
            *id = self.read(*id)?;
            Ok(())
        })
    }

    pub(super) fn look_at_arg(&mut self, arg: &mut Arg) -> Result<()> {
        for_each_tensor(arg, &mut |id| {
            *id = self.look_at(*id)?;
            Ok(())
        })
    }

    /// The value that holds what `value` shows now.
    pub(super) fn read(&mut self, value: ValueId) -> Result<ValueId> {
        let Some(place) = self.place(value) else { return Ok(value) };
        if let Some(spoiled) = self.aliases.spoiled(place) {
            let reason = format!("reads `{}`, {spoiled}", self.value_name(value));
            return self.refuse(reason);
        }
        self.contents(place)
    }

    /// A value of the shape and type of `value`, whatever its contents are.
    pub(super) fn look_at(&mut self, value: ValueId) -> Result<ValueId> {
        let Some(place) = self.place(value) else { return Ok(value) };
        match self.aliases.get(place).and_then(|place| place.value) {
            Some(value) => Ok(value),
            None => self.take(place),
        }
    }

    /// The value that holds the contents of `place` now.
    pub(super) fn contents(&mut self, place: AliasId) -> Result<ValueId> {
        if let Some((target, writes)) = self.aliases.take_writes_for(place) {
            self.carry_all(target, &writes)?;
        }
        self.take(place)
    }

    /// The contents of `place`, taken anew from the places above where these have changed.
    pub(super) fn take(&mut self, place: AliasId) -> Result<ValueId> {
        for outdated in self.aliases.outdated_on_the_way(place) {
            let value = self.take_view(outdated)?;
            self.aliases.set_taken(outdated, value);
        }
        match self.aliases.get(place).and_then(|place| place.value) {
            Some(value) => Ok(value),
            None => self.refuse("reads a tensor that no node before it makes"),
        }
    }

    // ---- views

    pub(super) fn view(&mut self, mut node: Node, shown: Vec<view::AliasedResult>) -> Result<()> {
        let mut sources: Vec<AliasId> = shown.iter().filter_map(|shown| self.place(shown.source)).collect();
        sources.dedup();
        // What can only be made here, from the contents of now, is made here.
        let cannot_wait = |how: &How| match how {
            How::Same => false,
            How::View(view) => !view.certain || matches!(view.kind, Kind::Opaque),
        };
        let is_current = shown.iter().any(|shown| cannot_wait(&shown.how))
            || sources.iter().all(|&source| self.aliases.is_current(source));
        let source = source_of(&node);
        for arg in &mut node.args {
            let is_source = matches!(arg.arg, Arg::Tensor(id) if Some(id) == source);
            // Contents that are outdated are not wanted yet, and may never be.
            if is_current || !is_source {
                self.read_arg(&mut arg.arg)?;
            }
        }
        let node = Arc::new(node);
        let mut is_needed = shown.len() < view::results_of(&node).len();
        for shown in &shown {
            let Some(parent) = self.place(shown.source) else {
                self.add_tensor(shown.result);
                is_needed = true;
                continue;
            };
            let place = match &shown.how {
                How::Same => parent,
                How::View(view) => self.add_view(&node, parent, shown.result, view, is_current),
            };
            self.show(shown.result, place);
            let holds_it = |place: &super::aliases::Alias| place.value == Some(shown.result);
            is_needed |= self.aliases.get(place).is_some_and(holds_it);
        }
        for result in view::results_of(&node) {
            if self.tensor(result).is_none() {
                self.add_tensor(result);
            }
        }
        if is_needed {
            self.nodes.push(Arc::unwrap_or_clone(node));
        }
        Ok(())
    }

    pub(super) fn add_view(
        &mut self,
        node: &Arc<Node>,
        parent: AliasId,
        result: ValueId,
        view: &View,
        is_current: bool,
    ) -> AliasId {
        let Some(meta) = self.graph.tensor(result).cloned() else { return parent };
        let step = Step { parent, view: view.clone(), node: node.clone() };
        self.aliases.add_view(step, result, meta, is_current.then_some(result))
    }

    // ---- new values and nodes

    pub(super) fn new_value(&mut self, wanted: &str, meta: TensorMeta) -> ValueId {
        let name = self.names.take(wanted);
        self.graph.add_value(name, ValueKind::Tensor(meta.into()))
    }

    /// Emits a node with one result that looks like `meta`.
    pub(super) fn emit(
        &mut self,
        target: &str,
        args: Vec<NamedArg>,
        meta: TensorMeta,
        wanted: &str,
        writer: &Writer,
    ) -> ValueId {
        let result = self.new_value(wanted, meta);
        let name = self.graph.value(result).map_or_else(|| wanted.into(), |value| value.name.clone());
        self.nodes.push(Node {
            name,
            target: target.into(),
            args,
            outputs: vec![Arg::Tensor(result)],
            scope: writer.scope,
            method: writer.method,
            trace: writer.trace,
        });
        result
    }
}

/// Operators that look at sizes and types only, so that a write need not be carried out for them.
fn reads_only_metadata(target: &str) -> bool {
    let name = aten_name(target);
    name.starts_with("sym_")
        || name.starts_with("new_")
        || matches!(
            name,
            "_assert_tensor_metadata"
                | "zeros_like"
                | "ones_like"
                | "empty_like"
                | "full_like"
                | "rand_like"
                | "randn_like"
        )
}

fn for_each_tensor(arg: &mut Arg, visit: &mut dyn FnMut(&mut ValueId) -> Result<()>) -> Result<()> {
    match arg {
        Arg::Tensor(id) => visit(id),
        Arg::Tensors(ids) => ids.iter_mut().try_for_each(visit),
        Arg::OptionalTensors(ids) => ids.iter_mut().flatten().try_for_each(visit),
        Arg::NestedTensors(lists) => lists.iter_mut().flatten().try_for_each(visit),
        Arg::Dict(entries) => entries.iter_mut().try_for_each(|(_, arg)| for_each_tensor(arg, visit)),
        _ => Ok(()),
    }
}

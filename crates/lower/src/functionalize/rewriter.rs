//! Walks a graph and rewrites it so that every tensor keeps the contents that it was made with.
//!
//! A value of the program names a tensor; several names can be one tensor (an in-place operator returns the tensor
//! that it changed), and a tensor shows a place of [`Aliases`]. A read of a value becomes a read of the value that
//! holds the contents of its place now.

use std::collections::HashMap;
use std::sync::Arc;

use modelexport_graph::DType;
use modelexport_graph::aten::{Arg, Graph, NamedArg, Node, TensorMeta, ValueId, ValueKind};

use super::aliases::{Aliases, MAX_DEPTH, PlaceId, Step, Writer};
use super::dtype::computed_dtype;
use super::twin::{self, Effect, aten_name, effect, functional_twin};
use super::view::{self, How, Kind, View, named, shown_by, source_of};
use super::{Locate, statistics};
use crate::error::{Error, Result};
use crate::unique_names::UniqueNames;

/// Pending writes of one memory before they are carried to its root whether read or not: what a read looks through
/// stays short.
const MAX_PENDING: usize = 64;

/// A tensor of the program, which keeps its identity when it is changed.
#[derive(Clone, Copy, Debug)]
struct TensorId(usize);

pub(super) struct Rewriter<'a> {
    pub(super) graph: &'a mut Graph,
    locate: Locate<'a>,
    /// The rewritten nodes.
    nodes: Vec<Node>,
    pub(super) aliases: Aliases,
    /// What each tensor shows.
    tensors: Vec<PlaceId>,
    /// The tensor that each value names.
    named: Vec<Option<TensorId>>,
    names: UniqueNames,
    /// The node in work.
    at: Node,
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
        }
    }

    /// Makes the inputs known. Inputs with one key are one tensor: a weight that has two names.
    pub(super) fn add_inputs(&mut self, keys: &[Option<u32>]) {
        let mut by_key: HashMap<u32, TensorId> = HashMap::new();
        for (i, arg) in self.graph.inputs.clone().into_iter().enumerate() {
            let Arg::Tensor(id) = arg else { continue };
            let key = keys.get(i).copied().flatten();
            if let Some(&known) = key.and_then(|key| by_key.get(&key)) {
                self.name_tensor(id, known);
                continue;
            }
            let tensor = self.add_tensor(id);
            if let (Some(key), Some(tensor)) = (key, tensor) {
                by_key.insert(key, tensor);
            }
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

    fn name_tensor(&mut self, value: ValueId, tensor: TensorId) {
        let index = value.0 as usize;
        if index >= self.named.len() {
            self.named.resize(index + 1, None);
        }
        if let Some(slot) = self.named.get_mut(index) {
            *slot = Some(tensor);
        }
    }

    fn show(&mut self, value: ValueId, place: PlaceId) {
        let tensor = TensorId(self.tensors.len());
        self.tensors.push(place);
        self.name_tensor(value, tensor);
    }

    /// A tensor with memory of its own.
    fn add_tensor(&mut self, value: ValueId) -> Option<TensorId> {
        let meta = self.graph.tensor(value)?.clone();
        let place = self.aliases.add_root(value, meta);
        self.show(value, place);
        self.named.get(value.0 as usize).copied().flatten()
    }

    fn tensor(&self, value: ValueId) -> Option<TensorId> {
        self.named.get(value.0 as usize).copied().flatten()
    }

    fn place(&self, value: ValueId) -> Option<PlaceId> {
        self.tensors.get(self.tensor(value)?.0).copied()
    }

    // ---- errors

    pub(super) fn refuse<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Error::Node { place: Box::new(self.locate.place(&self.at)), reason: reason.into() })
    }

    fn value_name(&self, value: ValueId) -> String {
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

    fn read_arg(&mut self, arg: &mut Arg) -> Result<()> {
        for_each_tensor(arg, &mut |id| {
            *id = self.read(*id)?;
            Ok(())
        })
    }

    fn look_at_arg(&mut self, arg: &mut Arg) -> Result<()> {
        for_each_tensor(arg, &mut |id| {
            *id = self.look_at(*id)?;
            Ok(())
        })
    }

    /// The value that holds what `value` shows now.
    fn read(&mut self, value: ValueId) -> Result<ValueId> {
        let Some(place) = self.place(value) else { return Ok(value) };
        if let Some(by) = self.aliases.spoiled_by(place) {
            let reason = format!("reads `{}`, which `{by}` updates while training", self.value_name(value));
            return self.refuse(reason);
        }
        self.contents(place)
    }

    /// A value of the shape and type of `value`, whatever its contents are.
    fn look_at(&mut self, value: ValueId) -> Result<ValueId> {
        let Some(place) = self.place(value) else { return Ok(value) };
        match self.aliases.get(place).and_then(|place| place.value) {
            Some(value) => Ok(value),
            None => self.take(place),
        }
    }

    /// The value that holds the contents of `place` now.
    fn contents(&mut self, place: PlaceId) -> Result<ValueId> {
        if let Some((target, writes)) = self.aliases.take_writes_for(place) {
            self.carry_all(target, &writes)?;
        }
        self.take(place)
    }

    /// The contents of `place`, taken anew from the places above where these have changed.
    pub(super) fn take(&mut self, place: PlaceId) -> Result<ValueId> {
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

    fn view(&mut self, mut node: Node, shown: Vec<view::Shown>) -> Result<()> {
        let mut sources: Vec<PlaceId> = shown.iter().filter_map(|shown| self.place(shown.source)).collect();
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
            let holds_it = |place: &super::aliases::Place| place.value == Some(shown.result);
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

    fn add_view(
        &mut self,
        node: &Arc<Node>,
        parent: PlaceId,
        result: ValueId,
        view: &View,
        is_current: bool,
    ) -> PlaceId {
        let Some(meta) = self.graph.tensor(result).cloned() else { return parent };
        let step = Step { parent, view: view.clone(), node: node.clone() };
        self.aliases.add_view(step, result, meta, is_current.then_some(result))
    }

    // ---- mutation

    fn in_place(&mut self, mut node: Node, effect: Effect) -> Result<()> {
        let Some(value) = source_of(&node) else {
            return self.refuse("changes something that is not one tensor");
        };
        let (Some(tensor), Some(place)) = (self.tensor(value), self.place(value)) else {
            return self
                .refuse(format!("changes `{}`, which no node before it makes", self.value_name(value)));
        };
        let results = view::results_of(&node);
        let is_dropout = aten_name(&node.target).ends_with("dropout_");
        let written = match effect {
            Effect::Nothing => None,
            // Without training nothing is dropped.
            Effect::Update if is_dropout && matches!(node.arg("train"), Some(Arg::Bool(false))) => None,
            Effect::Storage => {
                return self.refuse("gives a tensor other memory or another size, which cannot be followed");
            }
            Effect::Reshape => return self.reshape_in_place(node, tensor, place),
            Effect::FillDiagonal => return self.fill_diagonal(node, tensor, place),
            Effect::Copy => Some(self.copy(&mut node, value)?),
            Effect::Update | Effect::Overwrite => Some(self.compute(&mut node, effect)?),
        };
        if let Some(written) = written {
            self.write(place, written)?;
        }
        for result in results {
            self.name_tensor(result, tensor);
        }
        Ok(())
    }

    /// Emits the functional twin of an in-place node; the value that holds what is written.
    fn compute(&mut self, node: &mut Node, effect: Effect) -> Result<ValueId> {
        let name = aten_name(&node.target).to_owned();
        let Some(target) = functional_twin(&node.target) else {
            return self.refuse("changes a tensor in a way that is not known");
        };
        let own = self.own_meta(node)?;
        let computed = computed_dtype(self.graph, node, own.dtype);
        for (i, arg) in node.args.iter_mut().enumerate() {
            arg.name = twin::twin_argument(&name, &arg.name).into();
            match effect == Effect::Overwrite && i == 0 {
                true => self.look_at_arg(&mut arg.arg)?,
                false => self.read_arg(&mut arg.arg)?,
            }
        }
        node.target = target.into();
        if name == "zero_" {
            node.args.push(named("value", Arg::Int(0)));
        }
        let result = self.result_of(node, &own);
        if computed == own.dtype {
            node.outputs = vec![Arg::Tensor(result)];
            self.nodes.push(node.clone());
            return Ok(result);
        }
        // An in-place operator computes in the promoted type and keeps the type of its tensor.
        let wide = self.new_value(&node.name.clone(), TensorMeta { dtype: computed, ..own.clone() });
        node.outputs = vec![Arg::Tensor(wide)];
        self.nodes.push(node.clone());
        self.convert(wide, own.dtype, result);
        Ok(result)
    }

    /// `copy_`: the other tensor itself if it looks alike, else broadcast and converted.
    fn copy(&mut self, node: &mut Node, own: ValueId) -> Result<ValueId> {
        let Some(Arg::Tensor(source)) = node.arg("src").cloned() else {
            return self.refuse("copies from something that is not a tensor");
        };
        let meta = self.own_meta(node)?;
        let looks_alike = self
            .graph
            .tensor(source)
            .is_some_and(|source| source.sizes == meta.sizes && source.dtype == meta.dtype);
        let source = self.read(source)?;
        if looks_alike {
            return Ok(source);
        }
        let own = self.look_at(own)?;
        let result = self.result_of(node, &meta);
        self.nodes.push(Node {
            target: "aten.copy.default".into(),
            args: vec![named("self", Arg::Tensor(own)), named("src", Arg::Tensor(source))],
            outputs: vec![Arg::Tensor(result)],
            ..node.clone()
        });
        Ok(result)
    }

    /// The tensor shows another view of its memory from now on; all its names see that.
    fn reshape_in_place(&mut self, mut node: Node, tensor: TensorId, place: PlaceId) -> Result<()> {
        let Some(target) = functional_twin(&node.target) else {
            return self.refuse("changes a tensor in a way that is not known");
        };
        node.target = target.into();
        let results = view::results_of(&node);
        let Some(&result) = results.first() else {
            return self.refuse("returns no tensor");
        };
        let recorded = source_of(&node).and_then(|value| self.graph.tensor(value));
        if self.aliases.get(place).map(|place| &place.meta) != recorded {
            return self.refuse("changes a tensor that does not look as it was recorded");
        }
        let shown = shown_by(self.graph, &node);
        self.view(node, shown)?;
        let Some(new) = self.place(result) else { return self.refuse("returns an unknown tensor") };
        if let Some(slot) = self.tensors.get_mut(tensor.0) {
            *slot = new;
        }
        for result in results {
            self.name_tensor(result, tensor);
        }
        Ok(())
    }

    /// `fill_diagonal_` of a matrix is `fill_` of its diagonal.
    fn fill_diagonal(&mut self, node: Node, tensor: TensorId, place: PlaceId) -> Result<()> {
        let meta = self.own_meta(&node)?;
        let (Some([rows, columns]), Some(fill)) = (static_matrix(&meta), node.arg("fill_value").cloned())
        else {
            return self.refuse("fills the diagonal of a tensor that is not a matrix of known size");
        };
        if matches!(node.arg("wrap"), Some(Arg::Bool(true))) && rows > columns {
            return self.refuse("fills a diagonal that wraps around, which is not supported");
        }
        let diagonal =
            TensorMeta { sizes: vec![rows.min(columns).into()], strides: vec![0.into()], ..meta.clone() };
        let strides: Option<i64> = meta.strides.iter().map(|stride| stride.as_static()).sum();
        let Some(stride) = strides else { return self.refuse("fills a diagonal of unknown stride") };
        let diagonal = TensorMeta { strides: vec![stride.into()], ..diagonal };
        let shown = self.new_value(&node.name, diagonal.clone());
        let kind = Kind::Part {
            view: "aten.diagonal.default",
            scatter: "aten.diagonal_scatter.default",
            rest: vec![named("offset", Arg::Int(0)), named("dim1", Arg::Int(0)), named("dim2", Arg::Int(1))],
        };
        let view = View { kind, interval: None, certain: true };
        let node = Arc::new(node);
        let target = self.add_view(&node, place, shown, &view, false);
        let own = match self.aliases.get(target).and_then(|place| place.value) {
            Some(value) => value,
            None => self.take(target)?,
        };
        let filled = self.new_value(&node.name, diagonal);
        self.nodes.push(Node {
            target: "aten.fill.Scalar".into(),
            args: vec![named("self", Arg::Tensor(own)), named("value", fill)],
            outputs: vec![Arg::Tensor(filled)],
            ..Node::clone(&node)
        });
        self.write(target, filled)?;
        for result in view::results_of(&node) {
            self.name_tensor(result, tensor);
        }
        Ok(())
    }

    /// A norm in training mode: its result is kept, the statistics that it updates cannot be read afterwards.
    fn updates_statistics(&mut self, mut node: Node, running: &[ValueId]) -> Result<()> {
        for arg in &mut node.args {
            match arg.arg {
                Arg::Tensor(id) if running.contains(&id) => self.look_at_arg(&mut arg.arg)?,
                _ => self.read_arg(&mut arg.arg)?,
            }
        }
        for place in running.iter().filter_map(|&id| self.place(id)).collect::<Vec<_>>() {
            self.aliases.spoil(place, node.name.clone());
        }
        for result in view::results_of(&node) {
            self.add_tensor(result);
        }
        self.nodes.push(node);
        Ok(())
    }

    fn write(&mut self, place: PlaceId, value: ValueId) -> Result<()> {
        let Some(found) = self.aliases.get(place) else { return Ok(()) };
        if found.overlaps {
            return self.refuse(
                "writes to a tensor whose elements share memory (an expanded tensor, or overlapping windows): \
                 clone it first",
            );
        }
        if found.depth > MAX_DEPTH {
            return self.refuse(format!("writes through more than {MAX_DEPTH} views of views"));
        }
        let writer = Writer { name: self.at.name.clone(), scope: self.at.scope, trace: self.at.trace };
        let root = found.root;
        if self.aliases.write(place, value, writer) > MAX_PENDING {
            self.contents(root)?;
        }
        Ok(())
    }

    // ---- new values and nodes

    /// What the tensor that an in-place node changes looks like.
    fn own_meta(&self, node: &Node) -> Result<TensorMeta> {
        let place = source_of(node).and_then(|value| self.place(value));
        match place.and_then(|place| self.aliases.get(place)) {
            Some(place) => Ok(place.meta.clone()),
            None => self.refuse("changes an unknown tensor"),
        }
    }

    /// The value that an in-place node returns, or a new one if it returns nothing.
    fn result_of(&mut self, node: &Node, meta: &TensorMeta) -> ValueId {
        match view::results_of(node).first() {
            Some(&result) => {
                if let Some(value) = self.graph.values.get_mut(result.0 as usize) {
                    value.kind = ValueKind::Tensor(meta.clone());
                }
                result
            }
            None => self.new_value(&node.name.clone(), meta.clone()),
        }
    }

    fn convert(&mut self, value: ValueId, dtype: DType, result: ValueId) {
        let name = self.names.take(&format!("{}_to", self.at.name.trim_end_matches('_')));
        self.nodes.push(Node {
            name,
            target: "aten._to_copy.default".into(),
            args: vec![named("self", Arg::Tensor(value)), keyword("dtype", Arg::DType(dtype))],
            outputs: vec![Arg::Tensor(result)],
            scope: self.at.scope,
            trace: self.at.trace,
        });
    }

    pub(super) fn new_value(&mut self, wanted: &str, meta: TensorMeta) -> ValueId {
        let name = self.names.take(wanted);
        self.graph.add_value(name, ValueKind::Tensor(meta))
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
            trace: writer.trace,
        });
        result
    }
}

/// The two sizes of a matrix.
fn static_matrix(meta: &TensorMeta) -> Option<[i64; 2]> {
    match meta.sizes.as_slice() {
        [rows, columns] => Some([rows.as_static()?, columns.as_static()?]),
        _ => None,
    }
}

fn keyword(name: &str, arg: Arg) -> NamedArg {
    NamedArg { is_keyword: true, ..named(name, arg) }
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

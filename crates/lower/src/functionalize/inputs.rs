//! The inputs of a graph: how they lie in memory, and which of them the graph changes.

use std::collections::HashSet;
use std::sync::Arc;

use modelexport_graph::Method;
use modelexport_graph::aten::{Arg, Node, TensorMeta, ValueId, Weight};
use modelexport_graph::shape::static_shape;

use super::Written;
use super::aliases::AliasId;
use super::arguments::named;
use super::rewriter::Rewriter;
use super::storage::{Base, Sharing, Storages};
use super::view::{AS_STRIDED, Kind, View};

impl Rewriter<'_> {
    /// Makes the inputs known, and how they lie in memory.
    pub(super) fn add_inputs(&mut self, storages: Storages) {
        let inputs: Vec<Option<ValueId>> = self
            .graph
            .inputs
            .iter()
            .map(|arg| match arg {
                Arg::Tensor(id) => Some(*id),
                _ => None,
            })
            .collect();
        for (input, id) in inputs.iter().enumerate() {
            if let (Some(id), Sharing::Alone) = (id, storages.sharing(input)) {
                self.add_tensor(*id);
            }
        }
        let value_of = |input: usize| inputs.get(input).copied().flatten();
        let bases: Vec<Option<ValueId>> = storages
            .bases
            .iter()
            .map(|base| match base {
                Base::Input(input) => value_of(*input),
                Base::Added(added) => Some(self.add_base(&added.0, &added.1)),
            })
            .collect();
        for (input, id) in inputs.iter().enumerate() {
            match (id, storages.sharing(input)) {
                (Some(id), Sharing::In(base)) => self.add_window(*id, bases.get(base).copied().flatten()),
                (Some(id), Sharing::As(first)) => {
                    if let Some(known) = value_of(first).and_then(|first| self.tensor(first)) {
                        self.name_tensor(*id, known);
                    }
                }
                _ => {}
            }
        }
        for group in storages.unrelated {
            let members =
                group.into_iter().filter_map(|(input, name)| Some((self.place(value_of(input)?)?, name)));
            let members = members.collect();
            self.aliases.add_strangers(members);
        }
    }

    fn add_base(&mut self, weight: &Weight, meta: &TensorMeta) -> ValueId {
        let value = self.new_value(&weight.name.replace('.', "_"), meta.clone());
        self.add_tensor(value);
        self.added.push((value, weight.clone()));
        value
    }

    /// A weight that shows a window of `base`.
    fn add_window(&mut self, value: ValueId, base: Option<ValueId>) {
        let name = self.value_name(value);
        let node = base.zip(self.graph.tensor(value)).and_then(|(base, meta)| window(&name, base, meta));
        let Some((parent, node)) = base.and_then(|base| self.place(base)).zip(node) else {
            self.add_tensor(value);
            return;
        };
        let kind = Kind::strided(&node);
        let view = View { kind, interval: None, certain: true };
        let place = self.add_view(&Arc::new(node), parent, value, &view, true);
        self.show(value, place);
    }

    /// The weights that were added and are read, with the values that stand for them.
    pub(super) fn added_weights(mut self) -> Vec<(ValueId, Weight)> {
        let mut read = HashSet::new();
        if !self.added.is_empty() {
            let outputs = self.graph.outputs.iter();
            let args = self.graph.nodes.iter().flat_map(|node| node.args.iter().map(|arg| &arg.arg));
            args.chain(outputs).for_each(|arg| {
                arg.for_each_tensor(&mut |id| {
                    read.insert(id);
                });
            });
        }
        self.added.retain(|(value, _)| read.contains(value));
        self.added
    }

    /// Notes that the node in work changes `place`.
    pub(super) fn note_writer(&mut self, place: AliasId) {
        let writer = self.locate.place(&self.at);
        self.aliases.spoil_strangers(place, &writer.node);
        self.first_writers.entry(self.aliases.root(place)).or_insert(writer);
    }

    /// The inputs whose contents were changed.
    pub(super) fn written_inputs(&self) -> Vec<Written> {
        let inputs = self.graph.inputs.iter().enumerate();
        let written = inputs.filter_map(|(input, arg)| {
            let Arg::Tensor(id) = arg else { return None };
            let place = self.first_writers.get(&self.aliases.root(self.place(*id)?))?.clone();
            Some(Written { input, place })
        });
        written.collect()
    }
}

/// What shows of `base`, which holds its elements in order, a weight that looks like `meta`.
fn window(name: &str, base: ValueId, meta: &TensorMeta) -> Option<Node> {
    let args = vec![
        named("self", Arg::Tensor(base)),
        named("size", Arg::Ints(static_shape(&meta.sizes)?)),
        named("stride", Arg::Ints(static_shape(&meta.strides)?)),
        named("storage_offset", Arg::Int(meta.storage_offset.as_static()?)),
    ];
    Some(Node {
        name: name.into(),
        target: AS_STRIDED.into(),
        args,
        outputs: Vec::new(),
        scope: None,
        method: Method::Direct,
        trace: None,
    })
}

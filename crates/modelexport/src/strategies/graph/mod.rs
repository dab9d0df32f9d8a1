//! The ONNX graph as strategies use it: every node and value has a number, and edges go both ways.
//!
//! Nodes are numbered as [`Model::for_each_node`] visits them: the main graph, with the nodes of subgraphs after the node that
//! contains them, then the functions. A name is looked up in the subgraph first and then in the graphs around it, so an edge
//! may leave a subgraph. Functions have no access to outer values.
//!
//! Only the data that strategies use is kept, in a few lists of numbers. The graph is built while its file is read
//! ([`GraphBuilder`]), so the nodes themselves are not in memory.

mod build;
mod constants;
mod texts;

use std::collections::HashSet;

use modelexport_graph::onnx::Model;
use modelexport_io::onnx::NodeKey;

use super::facts::{Fact, FactId, Facts};
pub use build::GraphBuilder;
use constants::Constants;
pub(crate) use constants::{Constant, ConstantId, Content};
pub(crate) use texts::{TextId, Texts};

/// Index into the nodes of a [`GraphView`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index into the values of a [`GraphView`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// Stands for no node, no value and no function.
const NONE: u32 = u32::MAX;

/// A node with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct NodeEntry {
    pub name: TextId,
    pub op_type: TextId,
    pub domain: TextId,
    overload: TextId,
    function: u32,
    holder: u32,
    /// Where its inputs and outputs end in the lists of all; they begin where those of the node before end.
    inputs_end: u32,
    outputs_end: u32,
}

impl NodeEntry {
    /// The function of the model that it lies in.
    pub(crate) fn function(&self) -> Option<usize> {
        (self.function != NONE).then_some(self.function as usize)
    }

    /// The node in whose subgraph this one lies.
    pub(crate) fn holder(&self) -> Option<NodeId> {
        (self.holder != NONE).then_some(NodeId(self.holder))
    }
}

/// A value with its place.
#[derive(Clone, Copy, Debug)]
pub(crate) struct ValueEntry {
    pub name: TextId,
    pub kind: ValueKind,
    info: Info,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum ValueKind {
    /// An input of the main graph, of a subgraph or of a function.
    Input,
    Initializer(ConstantId),
    Result(NodeId),
    /// Read, but made by nobody.
    Unknown,
}

/// What the file tells of the type of a value.
#[derive(Clone, Copy, Debug)]
enum Info {
    Nothing,
    /// Something that is no tensor of known rank and type.
    Other,
    Tensor(FactId),
}

/// What the metadata of a node says about its module.
#[derive(Clone, Copy, Debug)]
pub struct NodeMark {
    pub path: Option<TextId>,
    pub tag: Option<TextId>,
}

/// Each pair of a path and a class once, in the order in which they came.
#[derive(Debug, Default)]
struct ClaimedClasses {
    list: Vec<(TextId, TextId)>,
    known: HashSet<(TextId, TextId)>,
}

/// Numbers for all nodes and values of a model.
#[derive(Debug, Default)]
pub struct GraphView {
    texts: Texts,
    nodes: Vec<NodeEntry>,
    /// Where the main graph and each function begin, then the end.
    starts: Vec<u32>,
    values: Vec<ValueEntry>,
    inputs: Vec<u32>,
    outputs: Vec<ValueId>,
    /// Readers of all values, one value after the other.
    readers: Vec<NodeId>,
    /// By value: where its readers end.
    readers_end: Vec<u32>,
    /// By text: the value of that name in the main graph.
    main_names: Vec<u32>,
    main_inputs: Vec<TextId>,
    main_outputs: Vec<TextId>,
    /// Values of the main graph's initializers are the first ones.
    main_initializers: u32,
    /// Nodes that call a function, by its place among the functions of the model.
    callers: Vec<Vec<NodeId>>,
    constants: Constants,
    /// Tensors of `Constant` nodes, in the order of these.
    constant_nodes: Vec<(NodeId, ConstantId)>,
    facts: Facts,
    marks: Vec<(NodeId, NodeMark)>,
    /// Modules with their classes, as metadata tell them.
    classes: ClaimedClasses,
}

impl GraphView {
    /// The graph of `model`, prepared for lookups.
    pub fn new(model: &Model) -> Self {
        GraphBuilder::of_model(model)
    }

    pub(crate) fn len(&self) -> usize {
        self.nodes.len()
    }

    pub(crate) fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    pub(crate) fn nodes(&self) -> impl DoubleEndedIterator<Item = (NodeId, &NodeEntry)> + '_ {
        self.nodes.iter().enumerate().map(|(i, entry)| (NodeId(i as u32), entry))
    }

    pub(crate) fn values(&self) -> impl DoubleEndedIterator<Item = (ValueId, &ValueEntry)> + '_ {
        self.values.iter().enumerate().map(|(i, entry)| (ValueId(i as u32), entry))
    }

    pub(crate) fn value_count(&self) -> usize {
        self.values.len()
    }

    pub(crate) fn entry(&self, id: NodeId) -> Option<&NodeEntry> {
        self.nodes.get(id.0 as usize)
    }

    /// The node that a file has at this place.
    pub fn node_at(&self, key: NodeKey) -> Option<NodeId> {
        let body = key.function.map_or(0, |function| function + 1);
        let (start, end) = (*self.starts.get(body)?, *self.starts.get(body + 1)?);
        let id = start.checked_add(u32::try_from(key.index).ok()?)?;
        (id < end).then_some(NodeId(id))
    }

    /// The nodes of the main graph, those of its subgraphs included.
    pub fn main_nodes(&self) -> std::ops::Range<u32> {
        self.body(0)
    }

    /// The nodes of a function.
    pub fn function_nodes(&self, function: usize) -> std::ops::Range<u32> {
        self.body(function + 1)
    }

    fn body(&self, body: usize) -> std::ops::Range<u32> {
        let bound = |i: usize| self.starts.get(i).copied().unwrap_or(0);
        bound(body)..bound(body + 1)
    }

    /// How many functions the model has.
    pub fn functions(&self) -> usize {
        self.callers.len()
    }

    pub(crate) fn text(&self, id: TextId) -> &str {
        self.texts.get(id)
    }

    pub(crate) fn find_text(&self, text: &str) -> Option<TextId> {
        self.texts.find(text)
    }

    pub(crate) fn text_count(&self) -> usize {
        self.texts.count()
    }

    /// What a node computes: `MatMul`.
    pub fn operator(&self, id: NodeId) -> &str {
        self.entry(id).map_or("", |entry| self.text(entry.op_type))
    }

    pub(crate) fn domain(&self, id: NodeId) -> &str {
        self.entry(id).map_or("", |entry| self.text(entry.domain))
    }

    /// The name of a node.
    pub fn name(&self, id: NodeId) -> &str {
        self.entry(id).map_or("", |entry| self.text(entry.name))
    }

    /// What the metadata of a node says, if they were kept.
    pub fn mark(&self, id: NodeId) -> Option<NodeMark> {
        find(&self.marks, id)
    }

    /// Paths of modules that metadata name, each with its class where they tell it, if metadata were kept.
    pub fn claimed_classes(&self) -> impl Iterator<Item = (&str, &str)> + '_ {
        self.classes.list.iter().map(|(path, class)| (self.text(*path), self.text(*class)))
    }

    pub(crate) fn value(&self, id: ValueId) -> Option<&ValueEntry> {
        self.values.get(id.0 as usize)
    }

    pub(crate) fn value_name(&self, id: ValueId) -> &str {
        self.value(id).map_or("", |value| self.text(value.name))
    }

    /// Type and sizes of a value, where the file tells them.
    pub fn fact(&self, id: ValueId) -> Option<&Fact> {
        match self.value(id)?.info {
            Info::Tensor(fact) => self.facts.get(fact),
            Info::Nothing | Info::Other => None,
        }
    }

    /// The value of this name in the main graph.
    pub fn find_value(&self, name: &str) -> Option<ValueId> {
        self.main_value(self.texts.find(name)?)
    }

    fn main_value(&self, name: TextId) -> Option<ValueId> {
        self.main_names.get(name.0 as usize).filter(|id| **id != NONE).map(|id| ValueId(*id))
    }

    /// The inputs of the main graph in their order.
    pub fn main_inputs(&self) -> impl Iterator<Item = ValueId> + '_ {
        self.main_inputs.iter().filter_map(|name| self.main_value(*name))
    }

    /// The outputs of the main graph in their order; `None` for one that nothing makes.
    pub fn main_outputs(&self) -> impl Iterator<Item = Option<ValueId>> + '_ {
        self.main_outputs.iter().map(|name| self.main_value(*name))
    }

    /// The initializers of the main graph in their order.
    pub fn main_initializers(&self) -> impl Iterator<Item = ValueId> + use<> {
        (0..self.main_initializers).map(ValueId)
    }

    /// The inputs of a node in their places; `None` for one that was left out.
    pub fn input_slots(&self, id: NodeId) -> impl DoubleEndedIterator<Item = Option<ValueId>> + '_ {
        let slots = slice(&self.inputs, self.range(id, |entry| entry.inputs_end));
        slots.iter().map(|&value| (value != NONE).then_some(ValueId(value)))
    }

    /// The inputs of a node that are there.
    pub fn inputs(&self, id: NodeId) -> impl DoubleEndedIterator<Item = ValueId> + '_ {
        self.input_slots(id).flatten()
    }

    pub(crate) fn outputs(&self, id: NodeId) -> &[ValueId] {
        slice(&self.outputs, self.range(id, |entry| entry.outputs_end))
    }

    fn range(&self, id: NodeId, end: impl Fn(&NodeEntry) -> u32) -> std::ops::Range<u32> {
        let end_of = |i: usize| self.nodes.get(i).map_or(0, &end);
        let start = (id.0 as usize).checked_sub(1).map_or(0, end_of);
        start..end_of(id.0 as usize)
    }

    /// The nodes that read a value, in their order; one that reads it twice is there twice.
    pub fn readers(&self, id: ValueId) -> &[NodeId] {
        let end_of = |i: usize| self.readers_end.get(i).copied().unwrap_or(0);
        let start = (id.0 as usize).checked_sub(1).map_or(0, end_of);
        slice(&self.readers, start..end_of(id.0 as usize))
    }

    pub(crate) fn producer(&self, id: ValueId) -> Option<NodeId> {
        match self.value(id)?.kind {
            ValueKind::Result(node) => Some(node),
            _ => None,
        }
    }

    /// The nodes whose results a node reads.
    pub fn producers(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.inputs(id).filter_map(|value| self.producer(value))
    }

    /// The nodes that read a node's results.
    pub fn consumers(&self, id: NodeId) -> impl DoubleEndedIterator<Item = NodeId> + '_ {
        self.outputs(id).iter().flat_map(|value| self.readers(*value)).copied()
    }

    /// The tensor that a value stands for: an initializer, or the value of a `Constant` node.
    pub fn constant(&self, id: ValueId) -> Option<Constant<'_>> {
        match self.value(id)?.kind {
            ValueKind::Initializer(tensor) => self.constants.get(tensor),
            ValueKind::Result(node) => self.constants.get(find(&self.constant_nodes, node)?),
            _ => None,
        }
    }

    /// The nodes that call function number `function` of the model.
    pub fn callers(&self, function: usize) -> &[NodeId] {
        self.callers.get(function).map(Vec::as_slice).unwrap_or_default()
    }

    /// Lets go of all but the nodes and their names.
    pub fn keep_nodes(&mut self) {
        let GraphView { texts, nodes, starts, .. } = std::mem::take(self);
        *self = GraphView { texts, nodes, starts, ..GraphView::default() };
    }
}

fn slice<T>(items: &[T], range: std::ops::Range<u32>) -> &[T] {
    items.get(range.start as usize..range.end as usize).unwrap_or_default()
}

/// What belongs to a node in a list that is in the order of nodes.
fn find<T: Copy>(list: &[(NodeId, T)], id: NodeId) -> Option<T> {
    let at = list.binary_search_by_key(&id, |(node, _)| *node).ok()?;
    list.get(at).map(|(_, found)| *found)
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::{Attribute, AttributeValue, Function, Graph, Node, Tensor, ValueInfo};

    use super::*;

    fn node(op_type: &str, inputs: &[&str], outputs: &[&str]) -> Node {
        let names = |names: &[&str]| names.iter().map(|name| (*name).into()).collect();
        Node { op_type: op_type.into(), inputs: names(inputs), outputs: names(outputs), ..Node::default() }
    }

    fn info(name: &str) -> ValueInfo {
        ValueInfo { name: name.into(), ..ValueInfo::default() }
    }

    /// `y = If(x) { w = Add(x, weight) }; z = Twice(y)`, and a function `Twice`.
    fn sample() -> Model {
        let branch = Graph {
            nodes: vec![node("Add", &["x", "", "weight"], &["w"])],
            outputs: vec![info("w")],
            ..Graph::default()
        };
        let mut holder = node("If", &["x"], &["y"]);
        let value = AttributeValue::Graph(Box::new(branch));
        holder.attributes.push(Attribute { name: "then_branch".into(), value, ..Attribute::default() });
        let tensor = Tensor { name: "weight".into(), ..Tensor::default() };
        let graph = Graph {
            nodes: vec![holder, Node { domain: "f".into(), ..node("Twice", &["y", "nowhere"], &["z"]) }],
            initializers: vec![tensor],
            inputs: vec![info("x"), info("weight")],
            outputs: vec![info("z")],
            ..Graph::default()
        };
        let function = Function {
            name: "Twice".into(),
            domain: "f".into(),
            inputs: vec!["x".into()],
            nodes: vec![node("Add", &["x", "x"], &["y"])],
            ..Function::default()
        };
        Model { graph, functions: vec![function], ..Model::default() }
    }

    #[test]
    fn edges_go_both_ways_and_out_of_subgraphs() {
        let model = sample();
        let view = GraphView::new(&model);
        let [holder, inner, call, body] = [0, 1, 2, 3].map(NodeId);
        assert_eq!(view.len(), 4);
        assert_eq!(view.entry(inner).unwrap().holder(), Some(holder));
        let x = view.find_value("x").unwrap();
        assert_eq!(view.readers(x), [holder, inner]);
        assert!(matches!(view.value(x).unwrap().kind, ValueKind::Input));
        let weight = view.find_value("weight").unwrap();
        assert!(matches!(view.value(weight).unwrap().kind, ValueKind::Initializer(_)));
        assert_eq!(view.input_slots(inner).collect::<Vec<_>>(), [Some(x), None, Some(weight)]);
        assert_eq!(view.producers(call).collect::<Vec<_>>(), [holder]);
        assert_eq!(view.consumers(holder).collect::<Vec<_>>(), [call]);
        assert_eq!(view.main_outputs().collect::<Vec<_>>(), [view.find_value("z")]);
        assert_eq!(view.find_value("w"), None, "a name of the branch");
        assert_eq!(view.callers(0), [call]);
        let own_x = view.inputs(body).next().unwrap();
        assert_ne!(own_x, x, "a function sees nothing from outside");
        assert_eq!(view.readers(own_x), [body, body]);
        assert_eq!(view.node_at(NodeKey { function: Some(0), index: 0 }), Some(body));
        assert_eq!(view.node_at(NodeKey { function: None, index: 2 }), Some(call));
        assert_eq!(view.node_at(NodeKey { function: None, index: 3 }), None);
    }
}

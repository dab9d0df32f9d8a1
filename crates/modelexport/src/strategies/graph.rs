//! The ONNX graph as strategies see it: every node and value has a number, and edges go both ways.
//!
//! Nodes are numbered as [`Model::for_each_node`] visits them: the main graph with the nodes of subgraphs after the
//! node that holds them, then the functions. A name is looked up in the subgraph first and then in the graphs around
//! it, so that an edge may lead out of a subgraph. Functions see nothing from outside.

use std::collections::HashMap;

use modelexport_graph::onnx::{Function, Graph, Model, Node, Tensor, ValueInfo};
use modelexport_io::onnx::NodeKey;

/// Index into the nodes of a [`GraphView`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct NodeId(pub u32);

/// Index into the values of a [`GraphView`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// A node with its place.
#[derive(Clone, Copy, Debug)]
pub struct NodeEntry<'m> {
    pub node: &'m Node,
    pub key: NodeKey,
    /// The node in whose subgraph this one lies.
    pub holder: Option<NodeId>,
    inputs: Range,
    outputs: Range,
}

/// A value with its place.
#[derive(Clone, Copy, Debug)]
pub struct ValueEntry<'m> {
    pub name: &'m str,
    pub kind: ValueKind<'m>,
    /// An output of the main graph.
    pub is_output: bool,
    /// Type and shape, where the file tells them.
    pub info: Option<&'m ValueInfo>,
}

/// Where a value comes from.
#[derive(Clone, Copy, Debug)]
pub enum ValueKind<'m> {
    /// An input of the main graph, of a subgraph or of a function.
    Input,
    Initializer(&'m Tensor),
    Result(NodeId),
    /// Read, but made by nobody.
    Unknown,
}

#[derive(Clone, Copy, Debug, Default)]
struct Range {
    start: u32,
    end: u32,
}

/// Numbers for all nodes and values of a model.
#[derive(Debug)]
pub struct GraphView<'m> {
    pub model: &'m Model,
    nodes: Vec<NodeEntry<'m>>,
    values: Vec<ValueEntry<'m>>,
    inputs: Vec<Option<ValueId>>,
    outputs: Vec<ValueId>,
    /// Readers of all values, one value after the other.
    readers: Vec<NodeId>,
    readers_of: Vec<Range>,
    main_names: HashMap<&'m str, ValueId>,
    /// Nodes that call a function, by its place among the functions of the model.
    callers: Vec<Vec<NodeId>>,
}

impl<'m> GraphView<'m> {
    pub fn new(model: &'m Model) -> Self {
        // What a graph without subgraphs and functions needs.
        let nodes = &model.graph.nodes;
        let outputs = nodes.iter().map(|node| node.outputs.len()).sum();
        let values = outputs + model.graph.initializers.len() + model.graph.inputs.len();
        let mut view = GraphView {
            model,
            nodes: Vec::with_capacity(nodes.len()),
            values: Vec::with_capacity(values),
            inputs: Vec::with_capacity(nodes.iter().map(|node| node.inputs.len()).sum()),
            outputs: Vec::with_capacity(outputs),
            readers: Vec::new(),
            readers_of: Vec::new(),
            main_names: HashMap::new(),
            callers: vec![Vec::new(); model.functions.len()],
        };
        let mut names = Names::default();
        names.expect(values);
        let mut place = Place { function: None, holder: None, next: 0 };
        view.add_graph(&model.graph, &mut place, &mut names);
        view.main_names = names.into_outermost();
        for output in &model.graph.outputs {
            if let Some(&id) = view.main_names.get(&*output.name) {
                view.value_mut(id, |value| value.is_output = true);
            }
        }
        for (index, function) in model.functions.iter().enumerate() {
            view.add_function(function, index);
        }
        view.find_readers();
        view.find_callers();
        view
    }

    pub fn len(&self) -> usize {
        self.nodes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn node_ids(&self) -> impl DoubleEndedIterator<Item = NodeId> + use<> {
        (0..self.nodes.len() as u32).map(NodeId)
    }

    pub fn nodes(&self) -> impl DoubleEndedIterator<Item = (NodeId, &NodeEntry<'m>)> + '_ {
        self.nodes.iter().enumerate().map(|(i, entry)| (NodeId(i as u32), entry))
    }

    pub fn values(&self) -> impl DoubleEndedIterator<Item = (ValueId, &ValueEntry<'m>)> + '_ {
        self.values.iter().enumerate().map(|(i, entry)| (ValueId(i as u32), entry))
    }

    pub fn value_count(&self) -> usize {
        self.values.len()
    }

    pub fn entry(&self, id: NodeId) -> Option<&NodeEntry<'m>> {
        self.nodes.get(id.0 as usize)
    }

    pub fn node(&self, id: NodeId) -> Option<&'m Node> {
        self.entry(id).map(|entry| entry.node)
    }

    pub fn value(&self, id: ValueId) -> Option<&ValueEntry<'m>> {
        self.values.get(id.0 as usize)
    }

    /// The value of this name in the main graph.
    pub fn find_value(&self, name: &str) -> Option<ValueId> {
        self.main_names.get(name).copied()
    }

    /// The inputs of a node in their places; `None` for one that was left out.
    pub fn input_slots(&self, id: NodeId) -> &[Option<ValueId>] {
        self.entry(id).and_then(|entry| slice(&self.inputs, entry.inputs)).unwrap_or_default()
    }

    /// The inputs of a node that are there.
    pub fn inputs(&self, id: NodeId) -> impl DoubleEndedIterator<Item = ValueId> + '_ {
        self.input_slots(id).iter().flatten().copied()
    }

    pub fn outputs(&self, id: NodeId) -> &[ValueId] {
        self.entry(id).and_then(|entry| slice(&self.outputs, entry.outputs)).unwrap_or_default()
    }

    /// The nodes that read a value, in their order; one that reads it twice is there twice.
    pub fn readers(&self, id: ValueId) -> &[NodeId] {
        self.readers_of.get(id.0 as usize).and_then(|range| slice(&self.readers, *range)).unwrap_or_default()
    }

    pub fn producer(&self, id: ValueId) -> Option<NodeId> {
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
    pub fn constant(&self, id: ValueId) -> Option<&'m Tensor> {
        match self.value(id)?.kind {
            ValueKind::Initializer(tensor) => Some(tensor),
            ValueKind::Result(node) => {
                let node = self.node(node).filter(|node| &*node.op_type == "Constant")?;
                match node.attribute("value")? {
                    modelexport_graph::onnx::AttributeValue::Tensor(tensor) => Some(tensor),
                    _ => None,
                }
            }
            _ => None,
        }
    }

    /// The nodes that call function number `function` of the model.
    pub fn callers(&self, function: usize) -> &[NodeId] {
        self.callers.get(function).map(Vec::as_slice).unwrap_or_default()
    }

    fn value_mut(&mut self, id: ValueId, change: impl FnOnce(&mut ValueEntry<'m>)) {
        if let Some(value) = self.values.get_mut(id.0 as usize) {
            change(value);
        }
    }

    fn add_value(&mut self, name: &'m str, kind: ValueKind<'m>, info: Option<&'m ValueInfo>) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(ValueEntry { name, kind, is_output: false, info });
        id
    }

    fn add_graph(&mut self, graph: &'m Graph, place: &mut Place, names: &mut Names<'m>) {
        names.enter();
        for tensor in &graph.initializers {
            let id = self.add_value(&tensor.name, ValueKind::Initializer(tensor), None);
            names.define(&tensor.name, id);
        }
        for input in &graph.inputs {
            // Old files list initializers among the inputs, too.
            if let Some(id) = names.find_here(&input.name) {
                self.value_mut(id, |value| value.info = Some(input));
                continue;
            }
            let id = self.add_value(&input.name, ValueKind::Input, Some(input));
            names.define(&input.name, id);
        }
        self.add_nodes(&graph.nodes, place, names);
        for info in graph.value_infos.iter().chain(&graph.outputs) {
            if let Some(id) = names.find_here(&info.name) {
                self.value_mut(id, |value| {
                    value.info.get_or_insert(info);
                });
            }
        }
        if place.holder.is_some() {
            names.leave();
        }
    }

    fn add_function(&mut self, function: &'m Function, index: usize) {
        let mut names = Names::default();
        names.enter();
        for input in &function.inputs {
            let id = self.add_value(input, ValueKind::Input, None);
            names.define(input, id);
        }
        let mut place = Place { function: Some(index), holder: None, next: 0 };
        self.add_nodes(&function.nodes, &mut place, &mut names);
        for info in &function.value_infos {
            if let Some(id) = names.find_here(&info.name) {
                self.value_mut(id, |value| value.info = Some(info));
            }
        }
    }

    fn add_nodes(&mut self, nodes: &'m [Node], place: &mut Place, names: &mut Names<'m>) {
        for node in nodes {
            let id = NodeId(self.nodes.len() as u32);
            let inputs = self.inputs.len() as u32;
            for input in &node.inputs {
                let value = match &**input {
                    "" => None,
                    name => Some(names.find(name).unwrap_or_else(|| {
                        let unknown = self.add_value(name, ValueKind::Unknown, None);
                        names.define(name, unknown);
                        unknown
                    })),
                };
                self.inputs.push(value);
            }
            let outputs = self.outputs.len() as u32;
            for output in node.outputs.iter().filter(|name| !name.is_empty()) {
                let value = self.add_value(output, ValueKind::Result(id), None);
                names.define(output, value);
                self.outputs.push(value);
            }
            self.nodes.push(NodeEntry {
                node,
                key: NodeKey { function: place.function, index: place.next },
                holder: place.holder,
                inputs: Range { start: inputs, end: self.inputs.len() as u32 },
                outputs: Range { start: outputs, end: self.outputs.len() as u32 },
            });
            place.next += 1;
            let around = place.holder.replace(id);
            for graph in node.subgraphs() {
                self.add_graph(graph, place, names);
            }
            place.holder = around;
        }
    }

    fn find_readers(&mut self) {
        let mut counts = vec![0u32; self.values.len()];
        for value in self.inputs.iter().flatten() {
            if let Some(count) = counts.get_mut(value.0 as usize) {
                *count += 1;
            }
        }
        let mut start = 0;
        self.readers_of.reserve_exact(counts.len());
        for count in counts {
            self.readers_of.push(Range { start, end: start });
            start += count;
        }
        self.readers = vec![NodeId(0); start as usize];
        for (i, entry) in self.nodes.iter().enumerate() {
            for value in slice(&self.inputs, entry.inputs).unwrap_or_default().iter().flatten() {
                let Some(range) = self.readers_of.get_mut(value.0 as usize) else { continue };
                if let Some(reader) = self.readers.get_mut(range.end as usize) {
                    *reader = NodeId(i as u32);
                }
                range.end += 1;
            }
        }
    }

    fn find_callers(&mut self) {
        let keys: HashMap<(&str, &str, &str), usize> = self
            .model
            .functions
            .iter()
            .enumerate()
            .map(|(i, function)| ((&*function.domain, &*function.name, &*function.overload), i))
            .collect();
        if keys.is_empty() {
            return;
        }
        for (i, entry) in self.nodes.iter().enumerate() {
            let key = (&*entry.node.domain, &*entry.node.op_type, &*entry.node.overload);
            if let Some(callers) = keys.get(&key).and_then(|&function| self.callers.get_mut(function)) {
                callers.push(NodeId(i as u32));
            }
        }
    }
}

fn slice<T>(items: &[T], range: Range) -> Option<&[T]> {
    items.get(range.start as usize..range.end as usize)
}

/// Where the nodes that are added next lie.
struct Place {
    function: Option<usize>,
    holder: Option<NodeId>,
    next: usize,
}

/// What names mean, from the outermost graph to the innermost.
#[derive(Default)]
struct Names<'m> {
    levels: Vec<HashMap<&'m str, ValueId>>,
    /// How many names the next level will have.
    expected: usize,
}

impl<'m> Names<'m> {
    fn expect(&mut self, names: usize) {
        self.expected = names;
    }

    fn enter(&mut self) {
        self.levels.push(HashMap::with_capacity(std::mem::take(&mut self.expected)));
    }

    fn leave(&mut self) {
        self.levels.pop();
    }

    fn define(&mut self, name: &'m str, id: ValueId) {
        if let Some(level) = self.levels.last_mut() {
            level.insert(name, id);
        }
    }

    fn find(&self, name: &str) -> Option<ValueId> {
        self.levels.iter().rev().find_map(|level| level.get(name)).copied()
    }

    fn find_here(&self, name: &str) -> Option<ValueId> {
        self.levels.last()?.get(name).copied()
    }

    fn into_outermost(self) -> HashMap<&'m str, ValueId> {
        self.levels.into_iter().next().unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::{Attribute, AttributeValue};

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
        assert_eq!(view.entry(inner).unwrap().holder, Some(holder));
        let x = view.find_value("x").unwrap();
        assert_eq!(view.readers(x), [holder, inner]);
        assert!(matches!(view.value(x).unwrap().kind, ValueKind::Input));
        let weight = view.find_value("weight").unwrap();
        assert!(matches!(view.value(weight).unwrap().kind, ValueKind::Initializer(_)));
        assert_eq!(view.input_slots(inner), [Some(x), None, Some(weight)]);
        assert_eq!(view.producers(call).collect::<Vec<_>>(), [holder]);
        assert_eq!(view.consumers(holder).collect::<Vec<_>>(), [call]);
        let z = view.find_value("z").unwrap();
        assert!(view.value(z).unwrap().is_output);
        assert_eq!(view.find_value("w"), None, "a name of the branch");
        assert_eq!(view.callers(0), [call]);
        let own_x = view.inputs(body).next().unwrap();
        assert_ne!(own_x, x, "a function sees nothing from outside");
        assert_eq!(view.readers(own_x), [body, body]);
        assert_eq!(view.entry(body).unwrap().key, NodeKey { function: Some(0), index: 0 });
        assert_eq!(view.entry(call).unwrap().key, NodeKey { function: None, index: 2 });
    }
}

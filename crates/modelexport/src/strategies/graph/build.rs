//! Builds a graph while the parts of a file are read.

use std::collections::HashMap;
use std::iter::Peekable;

use modelexport_graph::DType;
use modelexport_graph::onnx::{
    AttributeValue, DimensionValue, Function, Graph, Model, Node, Tensor, TensorData, TypeKind, ValueInfo,
};
use modelexport_io::onnx::GraphVisitor;

use super::super::facts::{Fact, Facts};
use super::super::lists::Lists;
use super::{
    ConstantId, GraphView, Info, NONE, NodeEntry, NodeId, NodeMark, TextId, ValueEntry, ValueId, ValueKind,
};
use crate::hierarchy::node_claim::Claim;

/// Takes nodes and types of the main graph as they are read, and what is left of the model in the end.
///
/// A node may be forgotten then, unless it holds subgraphs or external tensors: these are looked at in the end.
#[derive(Debug, Default)]
pub struct GraphBuilder {
    view: GraphView,
    reads_marks: bool,
    nodes: Vec<Texts>,
    inputs: Lists<TextId>,
    outputs: Lists<TextId>,
    /// By number of the node.
    constants: Vec<(u32, ConstantId)>,
    marks: Vec<(u32, NodeMark)>,
    /// Numbers of the nodes that the model keeps.
    kept: Vec<u32>,
    infos: Vec<(TextId, Info)>,
}

/// The names of a node.
#[derive(Clone, Copy, Debug)]
struct Texts {
    name: TextId,
    op_type: TextId,
    domain: TextId,
    overload: TextId,
}

impl GraphVisitor for GraphBuilder {
    fn node(&mut self, node: &mut Node) -> bool {
        let claim = self.reads_marks.then(|| claim_of(node)).flatten();
        self.node_with(node, claim.as_ref())
    }

    fn value_info(&mut self, info: &ValueInfo) -> bool {
        self.add_info(info);
        false
    }
}

impl GraphBuilder {
    /// Takes a node that says `claim` of itself. Whether the model has to keep it.
    pub(crate) fn node_with(&mut self, node: &Node, claim: Option<&Claim>) -> bool {
        let number = self.nodes.len() as u32;
        self.add(node, claim);
        let is_kept = is_kept(node);
        if is_kept {
            self.kept.push(number);
        }
        is_kept
    }
}

/// Whether there is more to a node than what is noted when it is read.
fn is_kept(node: &Node) -> bool {
    node.attributes.iter().any(|attribute| match &attribute.value {
        AttributeValue::Tensor(tensor) => is_external(tensor),
        AttributeValue::Tensors(tensors) => tensors.iter().any(is_external),
        AttributeValue::SparseTensor(_) | AttributeValue::SparseTensors(_) => true,
        AttributeValue::Graph(_) | AttributeValue::Graphs(_) => true,
        _ => false,
    })
}

fn is_external(tensor: &Tensor) -> bool {
    matches!(tensor.data, TensorData::External(_))
}

impl GraphBuilder {
    /// `reads_marks`: what metadata say about modules is kept.
    pub fn new(reads_marks: bool) -> Self {
        GraphBuilder { reads_marks, ..GraphBuilder::default() }
    }

    /// The graph of a model that is in memory.
    pub fn of_model(model: &Model) -> GraphView {
        let mut builder = GraphBuilder::new(true);
        model.graph.nodes.iter().for_each(|node| builder.add(node, claim_of(node).as_ref()));
        model.graph.value_infos.iter().for_each(|info| builder.add_info(info));
        let nodes = (0..).zip(&model.graph.nodes);
        builder.link(model, nodes.filter(|(_, node)| is_kept(node)))
    }

    /// The graph of a model whose main graph was read through this builder.
    pub fn finish(mut self, model: &Model) -> GraphView {
        let kept = std::mem::take(&mut self.kept);
        self.link(model, kept.into_iter().zip(&model.graph.nodes))
    }

    fn add(&mut self, node: &Node, claim: Option<&Claim>) {
        let number = self.nodes.len() as u32;
        let view = &mut self.view;
        self.nodes.push(texts_of(view, node));
        self.inputs.push(node.inputs.iter().map(|name| view.texts.add(name)));
        self.outputs.push(node.outputs.iter().map(|name| view.texts.add(name)));
        if let Some(tensor) = tensor_of(node).filter(|tensor| !is_external(tensor)) {
            self.constants.push((number, view.constants.add(tensor)));
        }
        let claim = claim.filter(|_| self.reads_marks);
        claim.into_iter().for_each(|claim| note_classes(view, claim));
        let mark = claim.map(|claim| mark_of(view, claim));
        if let Some(mark) = mark.filter(|mark| mark.path.is_some() || mark.tag.is_some()) {
            self.marks.push((number, mark));
        }
    }

    fn add_info(&mut self, info: &ValueInfo) {
        let name = self.view.texts.add(&info.name);
        self.infos.push((name, info_of(&mut self.view.facts, info)));
    }

    /// Gives numbers to all values. `kept` are nodes of the main graph that may hold more than was noted.
    fn link<'m>(self, model: &'m Model, kept: impl Iterator<Item = (u32, &'m Node)>) -> GraphView {
        let GraphBuilder { view, reads_marks, nodes, inputs, outputs, constants, marks, infos, .. } = self;
        let mut linker = Linker { view, reads_marks, function: NONE, holder: NONE };
        let mut names = Names { main: Some(Vec::new()), levels: Vec::new() };
        linker.view.nodes.reserve_exact(nodes.len());
        linker.add_borders(&model.graph, &mut names);
        linker.view.main_initializers = model.graph.initializers.len() as u32;
        let mut kept = kept.peekable();
        let (mut constants, mut marks) = (constants.into_iter().peekable(), marks.into_iter().peekable());
        for ((number, texts), (inputs, outputs)) in (0..).zip(nodes).zip(inputs.iter().zip(outputs.iter())) {
            let id = linker.add_node(texts, inputs.iter().copied(), outputs.iter().copied(), &mut names);
            let known = next_of(&mut constants, number);
            let node = next_of(&mut kept, number);
            match (known, node.and_then(tensor_of)) {
                (Some(known), _) => linker.view.constant_nodes.push((id, known)),
                (None, Some(external)) => linker.add_constant(id, external),
                (None, None) => {}
            }
            linker.view.marks.extend(next_of(&mut marks, number).map(|found| (id, found)));
            if let Some(node) = node {
                linker.add_subgraphs(id, node, &mut names);
            }
        }
        for (name, info) in infos {
            linker.note_info(name, info, &names);
        }
        linker.note_outputs(&model.graph, &names);
        linker.finish(model, names)
    }
}

/// What a list in the order of nodes has for number `number`.
fn next_of<T>(list: &mut Peekable<impl Iterator<Item = (u32, T)>>, number: u32) -> Option<T> {
    list.next_if(|(at, _)| *at == number).map(|(_, found)| found)
}

fn texts_of(view: &mut GraphView, node: &Node) -> Texts {
    let [name, op_type, domain, overload] =
        [&node.name, &node.op_type, &node.domain, &node.overload].map(|text| view.texts.add(text));
    Texts { name, op_type, domain, overload }
}

/// The tensor that a `Constant` node stands for.
fn tensor_of(node: &Node) -> Option<&Tensor> {
    match node.attribute("value").filter(|_| &*node.op_type == "Constant")? {
        AttributeValue::Tensor(tensor) => Some(tensor),
        _ => None,
    }
}

/// What a node says of itself; `None` if it has nothing to say it with.
fn claim_of(node: &Node) -> Option<Claim> {
    let is_bare = node.metadata.is_empty() && node.doc_string.is_empty();
    (!is_bare).then(|| Claim::of(node))
}

fn mark_of(view: &mut GraphView, claim: &Claim) -> NodeMark {
    let deepest = claim.stack.as_ref().and_then(|(_, frames)| frames.last()).map(|frame| &frame.path);
    let mut add = |text: Option<&String>| text.map(|text| view.texts.add(text));
    NodeMark { path: add(claim.module.as_ref().or(deepest)), tag: add(claim.tag.as_ref()) }
}

fn note_classes(view: &mut GraphView, claim: &Claim) {
    let frames = claim.stack.iter().flat_map(|(_, frames)| frames);
    let stack = frames.map(|frame| (frame.path.as_str(), frame.class.as_str()));
    for (path, class) in stack.chain(claim.module.iter().map(|module| (module.as_str(), ""))) {
        let pair = (view.texts.add(path), view.texts.add(class));
        if view.classes.known.insert(pair) {
            view.classes.list.push(pair);
        }
    }
}

fn info_of(facts: &mut Facts, info: &ValueInfo) -> Info {
    let kind = info.value_type.as_ref().map(|value_type| &value_type.kind);
    let Some(TypeKind::Tensor { elem_type, shape: Some(shape) }) = kind else { return Info::Other };
    let Some(dtype) = DType::from_onnx_code(*elem_type) else { return Info::Other };
    let size = |value: &DimensionValue| match value {
        DimensionValue::Static(size) => Some(*size),
        _ => None,
    };
    let sizes = shape.iter().map(|dimension| size(&dimension.value)).collect();
    Info::Tensor(facts.add(Fact { dtype, sizes }))
}

/// What names mean, from the outermost graph to the innermost.
struct Names {
    /// Of the main graph, by text.
    main: Option<Vec<u32>>,
    levels: Vec<HashMap<TextId, ValueId>>,
}

impl Names {
    fn define(&mut self, name: TextId, id: ValueId) {
        if let Some(level) = self.levels.last_mut() {
            level.insert(name, id);
        } else if let Some(main) = &mut self.main {
            let at = name.0 as usize;
            if main.len() <= at {
                main.resize(at + 1, NONE);
            }
            if let Some(slot) = main.get_mut(at) {
                *slot = id.0;
            }
        }
    }

    fn find(&self, name: TextId) -> Option<ValueId> {
        let inner = self.levels.iter().rev().find_map(|level| level.get(&name)).copied();
        inner.or_else(|| self.find_main(name))
    }

    /// In the innermost graph alone.
    fn find_here(&self, name: TextId) -> Option<ValueId> {
        match self.levels.last() {
            Some(level) => level.get(&name).copied(),
            None => self.find_main(name),
        }
    }

    fn find_main(&self, name: TextId) -> Option<ValueId> {
        let id = *self.main.as_ref()?.get(name.0 as usize)?;
        (id != NONE).then_some(ValueId(id))
    }
}

struct Linker {
    view: GraphView,
    reads_marks: bool,
    /// Where the nodes that are added next lie.
    function: u32,
    holder: u32,
}

impl Linker {
    fn add_value(&mut self, name: TextId, kind: ValueKind, info: Info) -> ValueId {
        let id = ValueId(self.view.values.len() as u32);
        self.view.values.push(ValueEntry { name, kind, info });
        id
    }

    /// The initializers and inputs of a graph.
    fn add_borders(&mut self, graph: &Graph, names: &mut Names) {
        for tensor in &graph.initializers {
            let name = self.view.texts.add(&tensor.name);
            let kind = ValueKind::Initializer(self.view.constants.add(tensor));
            let id = self.add_value(name, kind, Info::Nothing);
            names.define(name, id);
        }
        for input in &graph.inputs {
            let name = self.view.texts.add(&input.name);
            let info = info_of(&mut self.view.facts, input);
            // Old files list initializers among the inputs, too.
            if let Some(known) = names.find_here(name) {
                if let Some(value) = self.view.values.get_mut(known.0 as usize) {
                    value.info = info;
                }
                continue;
            }
            let id = self.add_value(name, ValueKind::Input, info);
            names.define(name, id);
        }
    }

    fn add_node(
        &mut self,
        texts: Texts,
        inputs: impl Iterator<Item = TextId>,
        outputs: impl Iterator<Item = TextId>,
        names: &mut Names,
    ) -> NodeId {
        let id = NodeId(self.view.nodes.len() as u32);
        for name in inputs {
            let value = match name {
                TextId::EMPTY => NONE,
                name => {
                    let known = names.find(name).unwrap_or_else(|| {
                        let unknown = self.add_value(name, ValueKind::Unknown, Info::Nothing);
                        names.define(name, unknown);
                        unknown
                    });
                    known.0
                }
            };
            self.view.inputs.push(value);
        }
        for name in outputs.filter(|name| *name != TextId::EMPTY) {
            let value = self.add_value(name, ValueKind::Result(id), Info::Nothing);
            names.define(name, value);
            self.view.outputs.push(value);
        }
        let Texts { name, op_type, domain, overload } = texts;
        let (inputs_end, outputs_end) = (self.view.inputs.len() as u32, self.view.outputs.len() as u32);
        let (function, holder) = (self.function, self.holder);
        let entry = NodeEntry { name, op_type, domain, overload, function, holder, inputs_end, outputs_end };
        self.view.nodes.push(entry);
        id
    }

    fn add_constant(&mut self, id: NodeId, tensor: &Tensor) {
        let constant = self.view.constants.add(tensor);
        self.view.constant_nodes.push((id, constant));
    }

    /// The graphs that the attributes of a node hold.
    fn add_subgraphs(&mut self, id: NodeId, node: &Node, names: &mut Names) {
        let around = std::mem::replace(&mut self.holder, id.0);
        for graph in node.subgraphs() {
            names.levels.push(HashMap::new());
            self.add_borders(graph, names);
            self.add_nodes(&graph.nodes, names);
            for info in &graph.value_infos {
                let name = self.view.texts.add(&info.name);
                let info = info_of(&mut self.view.facts, info);
                self.note_info(name, info, names);
            }
            self.note_outputs(graph, names);
            names.levels.pop();
        }
        self.holder = around;
    }

    fn add_nodes(&mut self, nodes: &[Node], names: &mut Names) {
        for node in nodes {
            let texts = texts_of(&mut self.view, node);
            let mut ids = |list: &[modelexport_graph::Name]| -> Vec<TextId> {
                list.iter().map(|name| self.view.texts.add(name)).collect()
            };
            let (inputs, outputs) = (ids(&node.inputs), ids(&node.outputs));
            let id = self.add_node(texts, inputs.into_iter(), outputs.into_iter(), names);
            if let Some(tensor) = tensor_of(node) {
                self.add_constant(id, tensor);
            }
            if let Some(claim) = claim_of(node).filter(|_| self.reads_marks) {
                note_classes(&mut self.view, &claim);
                let mark = mark_of(&mut self.view, &claim);
                self.view.marks.push((id, mark));
            }
            self.add_subgraphs(id, node, names);
        }
    }

    /// The first that tells the type of a value counts.
    fn note_info(&mut self, name: TextId, info: Info, names: &Names) {
        let value = names.find_here(name).and_then(|id| self.view.values.get_mut(id.0 as usize));
        if let Some(value) = value.filter(|value| matches!(value.info, Info::Nothing)) {
            value.info = info;
        }
    }

    fn note_outputs(&mut self, graph: &Graph, names: &Names) {
        for output in &graph.outputs {
            let name = self.view.texts.add(&output.name);
            let info = info_of(&mut self.view.facts, output);
            self.note_info(name, info, names);
        }
    }

    fn add_function(&mut self, function: &Function) {
        let mut names = Names { main: None, levels: vec![HashMap::new()] };
        for input in &function.inputs {
            let name = self.view.texts.add(input);
            let id = self.add_value(name, ValueKind::Input, Info::Nothing);
            names.define(name, id);
        }
        self.add_nodes(&function.nodes, &mut names);
        for info in &function.value_infos {
            let name = self.view.texts.add(&info.name);
            let found = info_of(&mut self.view.facts, info);
            let value = names.find_here(name).and_then(|id| self.view.values.get_mut(id.0 as usize));
            if let Some(value) = value {
                value.info = found;
            }
        }
    }

    fn finish(mut self, model: &Model, names: Names) -> GraphView {
        self.view.starts = vec![0, self.view.nodes.len() as u32];
        for (function, number) in model.functions.iter().zip(0..) {
            self.function = number;
            self.add_function(function);
            self.view.starts.push(self.view.nodes.len() as u32);
        }
        let mut view = self.view;
        view.main_names = names.main.unwrap_or_default();
        view.main_inputs = model.graph.inputs.iter().map(|input| view.texts.add(&input.name)).collect();
        view.main_outputs = model.graph.outputs.iter().map(|output| view.texts.add(&output.name)).collect();
        view.callers = callers(&mut view, &model.functions);
        (view.readers, view.readers_end) = readers(&view);
        view.texts.shrink();
        view
    }
}

/// The readers of all values, and where those of each end.
fn readers(view: &GraphView) -> (Vec<NodeId>, Vec<u32>) {
    let readers = Lists::grouped(view.values.len(), || {
        view.node_ids().flat_map(|id| view.inputs(id).map(move |value| (value.0, id)))
    });
    readers.into_parts()
}

/// By function: the nodes that call it.
fn callers(view: &mut GraphView, functions: &[Function]) -> Vec<Vec<NodeId>> {
    let mut callers = vec![Vec::new(); functions.len()];
    if functions.is_empty() {
        return callers;
    }
    let keys = functions.iter().enumerate().map(|(i, function)| {
        let key = [&function.domain, &function.name, &function.overload].map(|text| view.texts.add(text));
        (key, i)
    });
    let keys: HashMap<[TextId; 3], usize> = keys.collect();
    for (id, entry) in view.nodes() {
        let function = keys.get(&[entry.domain, entry.op_type, entry.overload]);
        if let Some(callers) = function.and_then(|&function| callers.get_mut(function)) {
            callers.push(id);
        }
    }
    callers
}

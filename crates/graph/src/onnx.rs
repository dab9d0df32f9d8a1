//! The ONNX model: what the format can say, by names, without protobuf.
//!
//! Every message keeps the fields that this version does not know (`unknown`), so that a model which is read,
//! changed and written again loses nothing.

use std::sync::Arc;

use crate::{DType, Method, ModuleId, Name, ScopeId, Span, StridedView};

/// `key`, `value` of a `StringStringEntryProto` list.
pub type Metadata = Vec<(String, String)>;

/// Fields of a message that are not known here, as they stood in the file (tag and payload).
pub type Unknown = Vec<u8>;

#[derive(Clone, Debug, Default)]
pub struct Model {
    pub ir_version: i64,
    pub opset_imports: Vec<OpsetImport>,
    pub producer_name: String,
    pub producer_version: String,
    pub domain: String,
    pub model_version: i64,
    pub doc_string: String,
    pub graph: Graph,
    pub metadata: Metadata,
    pub functions: Vec<Function>,
    /// Training information, device configurations and fields of later versions.
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct OpsetImport {
    pub domain: String,
    pub version: i64,
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub name: String,
    pub nodes: Vec<Node>,
    pub initializers: Vec<Tensor>,
    pub sparse_initializers: Vec<SparseTensor>,
    pub inputs: Vec<ValueInfo>,
    pub outputs: Vec<ValueInfo>,
    pub value_infos: Vec<ValueInfo>,
    pub doc_string: String,
    pub metadata: Metadata,
    /// Quantisation annotations and fields of later versions.
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default)]
pub struct Node {
    pub name: Name,
    pub op_type: Name,
    pub domain: Name,
    pub overload: Name,
    /// An empty name is an input that was left out.
    pub inputs: Vec<Name>,
    pub outputs: Vec<Name>,
    pub attributes: Vec<Attribute>,
    pub doc_string: String,
    pub metadata: Metadata,
    pub unknown: Unknown,
    /// Where the node comes from. Not part of the format: the tagger writes it as text.
    pub origin: Option<Origin>,
    /// The calls whose equal nodes became this one, if there are several. Not part of the format either.
    pub shared_by: Vec<ScopeId>,
}

impl Node {
    pub fn attribute(&self, name: &str) -> Option<&AttributeValue> {
        self.attributes.iter().find(|attribute| &*attribute.name == name).map(|attribute| &attribute.value)
    }
}

/// Where a node comes from, and how that is known.
#[derive(Clone, Debug, PartialEq)]
pub struct Origin {
    pub scope: ScopeId,
    /// The ATen node that it was made for; `None` for nodes that stand for several or none.
    pub source: Option<AtenSource>,
    pub method: Method,
    /// From 0 (a guess) to 1 (certain).
    pub confidence: f32,
    /// The modules of the nodes that a fused node stands for; empty for all others.
    pub fused: Vec<ModuleId>,
}

impl Origin {
    /// The origin of a node that we build: known, not inferred.
    pub fn direct(scope: ScopeId, source: Option<AtenSource>) -> Self {
        Origin { scope, source, method: Method::Direct, confidence: 1.0, fused: Vec::new() }
    }

    /// Notes that a node of the module `own` also does the work of `other`.
    pub fn stands_for(&mut self, own: ModuleId, other: ModuleId) {
        if own == other {
            return;
        }
        if self.fused.is_empty() {
            self.fused.push(own);
        }
        if !self.fused.contains(&other) {
            self.fused.push(other);
        }
    }
}

/// An ATen node by name (`linear_1`) and what it calls (`aten.linear.default`).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AtenSource {
    pub name: Name,
    pub target: Name,
}

#[derive(Clone, Debug, Default)]
pub struct Attribute {
    pub name: Name,
    pub value: AttributeValue,
    /// Inside a function: the function's attribute that this one stands for.
    pub ref_attr_name: String,
    pub doc_string: String,
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default)]
pub enum AttributeValue {
    #[default]
    Undefined,
    Float(f32),
    Int(i64),
    /// Bytes: ONNX does not promise UTF-8 here.
    String(Vec<u8>),
    Tensor(Box<Tensor>),
    Graph(Box<Graph>),
    SparseTensor(Box<SparseTensor>),
    Type(Box<Type>),
    Floats(Vec<f32>),
    Ints(Vec<i64>),
    Strings(Vec<Vec<u8>>),
    Tensors(Vec<Tensor>),
    Graphs(Vec<Graph>),
    SparseTensors(Vec<SparseTensor>),
    Types(Vec<Type>),
}

#[derive(Clone, Debug, Default)]
pub struct ValueInfo {
    pub name: Name,
    /// Shared: values of one type are many.
    pub value_type: Option<Arc<Type>>,
    pub doc_string: String,
    pub metadata: Metadata,
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Type {
    pub kind: TypeKind,
    pub denotation: String,
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq)]
pub enum TypeKind {
    /// `shape` is `None` if not even the rank is known. `elem_type` is the code, so that unknown ones survive.
    Tensor {
        elem_type: i32,
        shape: Option<Vec<Dimension>>,
    },
    SparseTensor {
        elem_type: i32,
        shape: Option<Vec<Dimension>>,
    },
    Sequence(Option<Box<Type>>),
    Optional(Option<Box<Type>>),
    Map {
        key_type: i32,
        value: Option<Box<Type>>,
    },
    Opaque {
        domain: String,
        name: String,
    },
    /// No kind was set.
    #[default]
    Missing,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Dimension {
    pub value: DimensionValue,
    pub denotation: String,
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum DimensionValue {
    #[default]
    Unknown,
    Static(i64),
    Named(String),
}

#[derive(Clone, Debug, Default)]
pub struct Tensor {
    pub name: Name,
    /// `TensorProto.DataType` as a number, so that unknown ones survive. See [`Tensor::dtype`].
    pub data_type: i32,
    pub dims: Vec<i64>,
    pub data: TensorData,
    pub doc_string: String,
    pub metadata: Metadata,
    pub unknown: Unknown,
}

impl Tensor {
    pub fn dtype(&self) -> Option<DType> {
        DType::from_onnx_code(self.data_type)
    }

    /// It should have elements but has none, as a weight of the meta device.
    pub fn lacks_data(&self) -> bool {
        matches!(&self.data, TensorData::Typed(bytes) if bytes.is_empty()) && !self.dims.contains(&0)
    }
}

/// The elements of a tensor, or where they are.
#[derive(Clone, Debug)]
pub enum TensorData {
    /// `raw_data`, little-endian, in memory: small constants.
    Raw(Vec<u8>),
    /// Elements that lie in a file or in the memory of a caller, and are streamed when the model is written.
    Stored(StridedView),
    /// Stored elements of a floating-point type, each to be multiplied by the factor of its index along the first
    /// axis when it is written.
    Scaled { view: StridedView, factors: Vec<f64> },
    /// `data_location = EXTERNAL` with its `external_data` entries, as in the file.
    External(Vec<(String, String)>),
    /// One of the typed lists (`float_data`, `int32_data`, …, `string_data`), as it stood in the file:
    /// tag and payload of each field. Empty: the tensor has no data at all.
    Typed(Vec<u8>),
    /// The same, but left in the file because it is large.
    TypedStored(Span),
}

impl Default for TensorData {
    fn default() -> Self {
        TensorData::Raw(Vec::new())
    }
}

#[derive(Clone, Debug, Default)]
pub struct SparseTensor {
    pub values: Option<Tensor>,
    pub indices: Option<Tensor>,
    pub dims: Vec<i64>,
    pub unknown: Unknown,
}

#[derive(Clone, Debug, Default)]
pub struct Function {
    pub name: Name,
    pub domain: Name,
    pub overload: Name,
    pub inputs: Vec<Name>,
    pub outputs: Vec<Name>,
    pub attributes: Vec<String>,
    pub attribute_defaults: Vec<Attribute>,
    pub nodes: Vec<Node>,
    pub opset_imports: Vec<OpsetImport>,
    pub value_infos: Vec<ValueInfo>,
    pub doc_string: String,
    pub metadata: Metadata,
    pub unknown: Unknown,
}

impl Model {
    /// Calls `visit` for every node: the graph, the graphs inside its nodes, then the functions.
    pub fn for_each_node<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        self.graph.for_each_node(visit);
        self.functions.iter().for_each(|function| for_each_node(&function.nodes, visit));
    }

    /// The same with mutable nodes.
    pub fn for_each_node_mut(&mut self, visit: &mut dyn FnMut(&mut Node)) {
        self.graph.for_each_node_mut(visit);
        self.functions.iter_mut().for_each(|function| for_each_node_mut(&mut function.nodes, visit));
    }
}

impl Function {
    /// Calls `visit` for every node of the function and of all graphs inside its nodes, outer nodes first.
    pub fn for_each_node<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        for_each_node(&self.nodes, visit);
    }

    /// The same with mutable nodes.
    pub fn for_each_node_mut(&mut self, visit: &mut dyn FnMut(&mut Node)) {
        for_each_node_mut(&mut self.nodes, visit);
    }
}

impl Graph {
    /// Calls `visit` for every node of the graph and of all graphs inside its nodes, outer nodes first.
    pub fn for_each_node<'a>(&'a self, visit: &mut dyn FnMut(&'a Node)) {
        for_each_node(&self.nodes, visit);
    }

    /// The same with mutable nodes.
    pub fn for_each_node_mut(&mut self, visit: &mut dyn FnMut(&mut Node)) {
        for_each_node_mut(&mut self.nodes, visit);
    }
}

fn for_each_node<'a>(nodes: &'a [Node], visit: &mut dyn FnMut(&'a Node)) {
    for node in nodes {
        visit(node);
        node.subgraphs().for_each(|graph| for_each_node(&graph.nodes, visit));
    }
}

fn for_each_node_mut(nodes: &mut [Node], visit: &mut dyn FnMut(&mut Node)) {
    for node in nodes {
        visit(node);
        node.subgraphs_mut().for_each(|graph| for_each_node_mut(&mut graph.nodes, visit));
    }
}

impl Attribute {
    /// The graphs that the attribute holds.
    pub fn subgraphs(&self) -> &[Graph] {
        match &self.value {
            AttributeValue::Graph(graph) => std::slice::from_ref(&**graph),
            AttributeValue::Graphs(graphs) => graphs.as_slice(),
            _ => &[],
        }
    }
}

impl Node {
    /// Graphs in the node's attributes, such as the branches of an `If`.
    pub fn subgraphs(&self) -> impl Iterator<Item = &Graph> {
        self.attributes.iter().flat_map(Attribute::subgraphs)
    }

    /// The same to change them.
    pub fn subgraphs_mut(&mut self) -> impl Iterator<Item = &mut Graph> {
        self.attributes.iter_mut().flat_map(|attribute| match &mut attribute.value {
            AttributeValue::Graph(graph) => std::slice::from_mut(&mut **graph),
            AttributeValue::Graphs(graphs) => graphs.as_mut_slice(),
            _ => &mut [],
        })
    }
}

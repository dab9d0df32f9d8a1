//! The graph while it is built and cleaned: values are ids, constants are values, nothing has a name yet.
//!
//! All values of a model live in one table, also those of subgraphs, so that a subgraph reads a value of an outer
//! graph by its id.

use std::borrow::Cow;
use std::sync::Arc;

use modelexport_graph::aten::TensorMeta;
use modelexport_graph::hash::HashMap;
use modelexport_graph::onnx::Origin;
use modelexport_graph::{DType, Dim, Name, ScopeId};

use crate::literal::Literal;
use crate::shapes;

/// Index into [`Ir::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

#[derive(Clone, Debug, Default)]
pub struct Value {
    /// The name that the value had in the program, wanted again in the model.
    pub name: Option<Name>,
    pub dtype: Option<DType>,
    /// `None`: not known. Complex tensors have a last dimension of 2 here.
    pub shape: Option<Arc<[Dim]>>,
    pub constant: Option<Box<Constant>>,
}

/// A value that is known before the model runs: an initialiser.
#[derive(Clone, Debug)]
pub enum Constant {
    Literal(Literal),
    /// A weight of the program, with its axes in another order if it is written transposed, or with other axes if it
    /// is written reshaped; not both.
    Weight {
        weight: u32,
        permutation: Option<Vec<usize>>,
        sizes: Option<Vec<u64>>,
    },
    /// A weight that is written with each slice along its first axis multiplied by a factor, because the module at
    /// the path `folded` was folded into the one that reads it.
    ScaledWeight {
        weight: u32,
        factors: Vec<f64>,
        folded: Name,
    },
}

#[derive(Clone, Debug, PartialEq)]
pub struct Node {
    pub op: Cow<'static, str>,
    pub domain: Cow<'static, str>,
    /// `None`: an optional input that is left out.
    pub inputs: Vec<Option<ValueId>>,
    pub outputs: Vec<ValueId>,
    pub attributes: Vec<(Cow<'static, str>, Attr)>,
    pub origin: Origin,
    /// The calls whose equal nodes became this one, if there are several.
    pub shared_by: Vec<ScopeId>,
}

impl Node {
    pub fn attribute(&self, name: &str) -> Option<&Attr> {
        self.attributes.iter().find(|(key, _)| key == name).map(|(_, value)| value)
    }

    /// Graphs inside the node.
    pub fn subgraphs(&self) -> impl Iterator<Item = &Graph> {
        self.attributes.iter().filter_map(|(_, value)| match value {
            Attr::Graph(graph) => Some(graph),
            _ => None,
        })
    }

    pub fn subgraphs_mut(&mut self) -> impl Iterator<Item = &mut Graph> {
        self.attributes.iter_mut().filter_map(|(_, value)| match value {
            Attr::Graph(graph) => Some(graph),
            _ => None,
        })
    }
}

#[derive(Clone, Debug, PartialEq)]
pub enum Attr {
    Int(i64),
    Ints(Vec<i64>),
    Float(f32),
    Floats(Vec<f32>),
    Str(Cow<'static, str>),
    Strs(Vec<Cow<'static, str>>),
    Tensor(Literal),
    Graph(Graph),
}

impl From<i64> for Attr {
    fn from(value: i64) -> Self {
        Attr::Int(value)
    }
}

impl From<bool> for Attr {
    fn from(value: bool) -> Self {
        Attr::Int(value.into())
    }
}

impl From<f64> for Attr {
    fn from(value: f64) -> Self {
        Attr::Float(value as f32)
    }
}

impl From<Vec<i64>> for Attr {
    fn from(value: Vec<i64>) -> Self {
        Attr::Ints(value)
    }
}

impl From<&[i64]> for Attr {
    fn from(value: &[i64]) -> Self {
        Attr::Ints(value.to_vec())
    }
}

impl From<&'static str> for Attr {
    fn from(value: &'static str) -> Self {
        Attr::Str(value.into())
    }
}

impl From<Vec<&'static str>> for Attr {
    fn from(value: Vec<&'static str>) -> Self {
        Attr::Strs(value.into_iter().map(Cow::Borrowed).collect())
    }
}

/// As a number of `TensorProto.DataType`, for attributes such as `to`.
impl From<DType> for Attr {
    fn from(value: DType) -> Self {
        Attr::Int(value.onnx_code().unwrap_or(0).into())
    }
}

impl From<Literal> for Attr {
    fn from(value: Literal) -> Self {
        Attr::Tensor(value)
    }
}

impl From<Graph> for Attr {
    fn from(value: Graph) -> Self {
        Attr::Graph(value)
    }
}

/// The attribute list of a node: `attrs![axis = -1, keepdims = true]`.
#[macro_export]
macro_rules! attrs {
    ($($key:ident = $value:expr),* $(,)?) => {
        vec![$((std::borrow::Cow::Borrowed(stringify!($key)), $crate::ir::Attr::from($value))),*]
    };
}

pub type Attrs = Vec<(Cow<'static, str>, Attr)>;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Graph {
    pub inputs: Vec<ValueId>,
    pub outputs: Vec<ValueId>,
    /// In an order in which each value is made before it is read.
    pub nodes: Vec<Node>,
}

/// A model under construction.
#[derive(Clone, Debug, Default)]
pub struct Ir {
    pub values: Vec<Value>,
    pub graph: Graph,
    /// Literals that exist already, so that equal constants are one value.
    literals: HashMap<Literal, ValueId>,
}

/// Literals larger than this are not looked up among the existing ones.
const SHARED_LITERAL_BYTES: usize = 4096;

impl Ir {
    pub fn add_value(&mut self, value: Value) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(value);
        id
    }

    pub fn value(&self, id: ValueId) -> Option<&Value> {
        self.values.get(id.0 as usize)
    }

    pub fn value_mut(&mut self, id: ValueId) -> Option<&mut Value> {
        self.values.get_mut(id.0 as usize)
    }

    pub fn dtype(&self, id: ValueId) -> Option<DType> {
        self.value(id)?.dtype
    }

    pub fn shape(&self, id: ValueId) -> Option<&[Dim]> {
        self.value(id)?.shape.as_deref()
    }

    /// The shape, to be given to another value.
    pub fn shared_shape(&self, id: ValueId) -> Option<Arc<[Dim]>> {
        self.value(id)?.shape.clone()
    }

    pub fn literal(&self, id: ValueId) -> Option<&Literal> {
        match self.value(id)?.constant.as_deref()? {
            Constant::Literal(literal) => Some(literal),
            Constant::Weight { .. } | Constant::ScaledWeight { .. } => None,
        }
    }

    pub fn is_constant(&self, id: ValueId) -> bool {
        self.value(id).is_some_and(|value| value.constant.is_some())
    }

    /// The value that holds `literal`: an existing one where possible.
    pub fn add_literal(&mut self, literal: Literal) -> ValueId {
        let shared = literal.bytes.len() <= SHARED_LITERAL_BYTES;
        if shared && let Some(&found) = self.literals.get(&literal) {
            return found;
        }
        let id = self.add_value(Value {
            name: None,
            dtype: Some(literal.dtype),
            shape: Some(literal.dims.iter().map(|&dim| Dim::Static(dim)).collect()),
            constant: Some(Box::new(Constant::Literal(literal.clone()))),
        });
        if shared {
            self.literals.insert(literal, id);
        }
        id
    }
}

/// Shape of a tensor in the model: complex tensors are pairs of real numbers in a last dimension of 2.
pub fn model_shape(meta: &TensorMeta) -> Vec<Dim> {
    let mut shape = meta.sizes.clone();
    if meta.dtype.is_complex() {
        shape.push(Dim::Static(2));
    }
    shape
}

/// Notes types of the outputs of `node`, and the shapes of the most frequent operators: those with symbolic sizes as
/// expressions, which values share. The shapes that are known here are those that the model declares.
pub fn infer(ir: &mut Ir, opset: i64, node: &Node) {
    let Some(&output) = node.outputs.first() else { return };
    let input = |i: usize| node.inputs.get(i).copied().flatten();
    let shape = match &*node.op {
        "Cast" | "Neg" | "Abs" | "Exp" | "Log" | "Sqrt" | "Relu" | "Sigmoid" | "Tanh" | "Not"
        | "Identity" | "Softmax" | "LogSoftmax" | "Erf" | "Floor" | "Ceil" | "Round" | "Sin" | "Cos"
        | "Reciprocal" | "IsNaN" | "Clip" | "Sign" | "Gelu" => {
            input(0).and_then(|value| ir.shared_shape(value))
        }
        "Transpose" => permuted_shape(ir, node).map(Arc::from),
        "Reshape" => reshaped_shape(ir, node).map(Arc::from),
        "Shape" => match (node.attribute("start"), node.attribute("end")) {
            (Some(Attr::Int(start)), Some(Attr::Int(end))) => Some(Arc::from([Dim::Static(end - start)])),
            _ => input(0)
                .and_then(|value| ir.shape(value))
                .map(|shape| Arc::from([Dim::Static(shape.len() as i64)])),
        },
        "Unsqueeze" => unsqueezed_shape(ir, node).map(Arc::from),
        "Squeeze" => squeezed_shape(ir, node).map(Arc::from),
        "Add" | "Sub" | "Mul" | "Div" | "Pow" | "And" | "Or" | "Xor" => with_scalar_shape(ir, node),
        _ => None,
    };
    for (&id, dtype) in node.outputs.iter().zip(shapes::element_types(ir, opset, node)) {
        if let Some(value) = ir.value_mut(id) {
            value.dtype = value.dtype.or(dtype);
        }
    }
    if let Some(value) = ir.value_mut(output)
        && value.shape.is_none()
    {
        value.shape = shape;
    }
}

fn permuted_shape(ir: &Ir, node: &Node) -> Option<Vec<Dim>> {
    let shape = ir.shape(node.inputs.first().copied().flatten()?)?;
    let Some(Attr::Ints(permutation)) = node.attribute("perm") else {
        return Some(shape.iter().rev().cloned().collect());
    };
    permutation.iter().map(|&axis| shape.get(usize::try_from(axis).ok()?).cloned()).collect()
}

fn reshaped_shape(ir: &Ir, node: &Node) -> Option<Vec<Dim>> {
    let target = ir.literal(node.inputs.get(1).copied().flatten()?)?.as_ints()?;
    target.iter().all(|&dim| dim > 0).then(|| target.into_iter().map(Dim::Static).collect())
}

/// The shape of the other operand where one is a single number.
fn with_scalar_shape(ir: &Ir, node: &Node) -> Option<Arc<[Dim]>> {
    let [Some(a), Some(b)] = node.inputs.as_slice() else { return None };
    match (ir.shape(*a)?, ir.shape(*b)?) {
        (_, []) => ir.shared_shape(*a),
        ([], _) => ir.shared_shape(*b),
        (left, right) if left == right => ir.shared_shape(*a),
        _ => None,
    }
}

fn squeezed_shape(ir: &Ir, node: &Node) -> Option<Vec<Dim>> {
    let shape = ir.shape(node.inputs.first().copied().flatten()?)?;
    let axes = ir.literal(node.inputs.get(1).copied().flatten()?)?.as_ints()?;
    let rank = shape.len() as i64;
    let axes: Vec<i64> = axes.into_iter().map(|axis| if axis < 0 { axis + rank } else { axis }).collect();
    Some((0i64..).zip(shape).filter(|(axis, _)| !axes.contains(axis)).map(|(_, dim)| dim.clone()).collect())
}

fn unsqueezed_shape(ir: &Ir, node: &Node) -> Option<Vec<Dim>> {
    let shape = ir.shape(node.inputs.first().copied().flatten()?)?;
    let axes = ir.literal(node.inputs.get(1).copied().flatten()?)?.as_ints()?;
    let rank = (shape.len() + axes.len()) as i64;
    let axes: Vec<i64> = axes.into_iter().map(|axis| if axis < 0 { axis + rank } else { axis }).collect();
    let mut old = shape.iter();
    (0..rank)
        .map(|axis| if axes.contains(&axis) { Some(Dim::Static(1)) } else { old.next().cloned() })
        .collect()
}

//! The captured program: what `torch.export` recorded, with names resolved to ids.

use std::sync::Arc;

use crate::{DType, Dim, Method, ModuleTree, Name, ScopeId, Scopes, StridedView, SymExpr};

/// A captured model.
#[derive(Clone, Debug)]
pub struct Program {
    pub graph: Graph,
    pub signature: Signature,
    /// Dynamic dimensions and their bounds, in the order of the archive.
    pub ranges: Vec<(Name, Range)>,
    /// Parameters, buffers and constants with the place of their bytes.
    pub weights: Vec<Weight>,
    pub modules: ModuleTree,
    /// Module stacks of the nodes.
    pub scopes: Scopes,
    /// Python stack traces, kept apart from the nodes: most users never look at them.
    pub traces: Vec<Box<str>>,
    pub torch_version: String,
    /// Major and minor version of the archive's schema.
    pub schema_version: (u32, u32),
}

/// Inclusive bounds of a symbol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Range {
    pub min: Option<i64>,
    pub max: Option<i64>,
}

/// Index into [`Graph::values`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ValueId(pub u32);

/// A graph; subgraphs (`torch.cond`) have value tables of their own and see nothing from outside but their inputs.
#[derive(Clone, Debug, Default)]
pub struct Graph {
    pub values: Vec<Value>,
    /// `Arg::Tensor`, `Arg::SymInt`, … or a constant, in the order of the signature.
    pub inputs: Vec<Arg>,
    pub outputs: Vec<Arg>,
    pub nodes: Vec<Node>,
    /// The Python function returned one tensor, not a tuple of one.
    pub is_single_tensor_return: bool,
}

impl Graph {
    pub fn value(&self, id: ValueId) -> Option<&Value> {
        self.values.get(id.0 as usize)
    }

    /// Metadata of a tensor value.
    pub fn tensor(&self, id: ValueId) -> Option<&TensorMeta> {
        match &self.value(id)?.kind {
            ValueKind::Tensor(meta) => Some(meta),
            _ => None,
        }
    }

    /// The tensors among the inputs of a graph inside a node, each with the value outside that it stands for. The graph is
    /// called with the last of the node's `operands`, one for each input.
    pub fn given<'a>(
        &'a self,
        operands: &'a [Option<ValueId>],
    ) -> impl Iterator<Item = (ValueId, ValueId)> + 'a {
        let given = operands.iter().skip(operands.len().saturating_sub(self.inputs.len()));
        self.inputs.iter().zip(given).filter_map(|(input, operand)| match input {
            Arg::Tensor(value) => Some((*value, (*operand)?)),
            _ => None,
        })
    }

    pub fn add_value(&mut self, name: Name, kind: ValueKind) -> ValueId {
        let id = ValueId(self.values.len() as u32);
        self.values.push(Value { name, kind });
        id
    }
}

/// A named value of a graph.
#[derive(Clone, Debug)]
pub struct Value {
    pub name: Name,
    pub kind: ValueKind,
}

#[derive(Clone, Debug)]
pub enum ValueKind {
    /// Shared: tensors of one shape are many.
    Tensor(Arc<TensorMeta>),
    SymInt(SymExpr),
    SymFloat(SymExpr),
    SymBool(SymExpr),
    CustomObject {
        class: Name,
    },
    Token,
}

/// What is known of a tensor without its data.
#[derive(Clone, Debug, PartialEq)]
pub struct TensorMeta {
    pub dtype: DType,
    pub sizes: Vec<Dim>,
    pub strides: Vec<Dim>,
    pub storage_offset: Dim,
    pub layout: Layout,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Layout {
    Unknown,
    SparseCoo,
    SparseCsr,
    SparseCsc,
    SparseBsr,
    SparseBsc,
    Mkldnn,
    Strided,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MemoryFormat {
    Unknown,
    Contiguous,
    ChannelsLast,
    ChannelsLast3d,
    Preserve,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Device {
    pub kind: Name,
    pub index: Option<i64>,
}

/// One call of an operator.
#[derive(Clone, Debug)]
pub struct Node {
    /// The FX name, unique within its graph, such as `linear_1`.
    pub name: Name,
    /// `aten.linear.default`, `_operator.mul`, `higher_order.cond`, `math.floor`: without a `torch.ops.` before it.
    pub target: Name,
    pub args: Vec<NamedArg>,
    pub outputs: Vec<Arg>,
    /// The module call that the node ran in; `None` inside a subgraph means that of the node that holds it.
    pub scope: Option<ScopeId>,
    /// How the scope is known: [`Method::Direct`] where the program says it, another where it was found by inference.
    pub method: Method,
    /// Index into [`Program::traces`].
    pub trace: Option<u32>,
}

impl Node {
    /// The argument that the operator's schema calls `name`, if it was given.
    pub fn arg(&self, name: &str) -> Option<&Arg> {
        self.args.iter().find(|arg| &*arg.name == name).map(|arg| &arg.arg)
    }

    pub fn subgraphs(&self) -> impl Iterator<Item = &Graph> {
        self.args.iter().filter_map(|arg| match &arg.arg {
            Arg::Graph(subgraph) => Some(&subgraph.graph),
            _ => None,
        })
    }

    pub fn subgraphs_mut(&mut self) -> impl Iterator<Item = &mut Graph> {
        self.args.iter_mut().filter_map(|arg| match &mut arg.arg {
            Arg::Graph(subgraph) => Some(&mut subgraph.graph),
            _ => None,
        })
    }

    /// The values among the arguments in their order, `None` for plain numbers. Keywords of an operator that takes graphs
    /// are for the operator itself and no operands.
    pub fn operands(&self) -> Vec<Option<ValueId>> {
        let takes_graphs = self.subgraphs().next().is_some();
        let mut operands = Vec::new();
        for arg in self.args.iter().filter(|arg| !(takes_graphs && arg.is_keyword)) {
            arg.arg.for_each_operand(&mut |operand| operands.push(operand));
        }
        operands
    }
}

#[derive(Clone, Debug)]
pub struct NamedArg {
    /// As in the operator's schema; empty for operators without one (higher-order operators).
    pub name: Name,
    pub arg: Arg,
    pub is_keyword: bool,
}

/// An argument or a result. Symbolic kinds that hold only numbers are read as the plain kind.
#[derive(Clone, Debug)]
pub enum Arg {
    None,
    Tensor(ValueId),
    Tensors(Vec<ValueId>),
    OptionalTensors(Vec<Option<ValueId>>),
    NestedTensors(Vec<Vec<ValueId>>),
    Int(i64),
    Ints(Vec<i64>),
    IntLists(Vec<Vec<i64>>),
    SymInt(ValueId),
    SymInts(Vec<SymOr<i64>>),
    Float(f64),
    Floats(Vec<f64>),
    FloatLists(Vec<Vec<f64>>),
    SymFloat(ValueId),
    SymFloats(Vec<SymOr<f64>>),
    Bool(bool),
    Bools(Vec<bool>),
    SymBool(ValueId),
    SymBools(Vec<SymOr<bool>>),
    Complex {
        real: f64,
        imag: f64,
    },
    Str(Name),
    Strs(Vec<Name>),
    DType(DType),
    MemoryFormat(MemoryFormat),
    Layout(Layout),
    /// Apart: it is the largest of all, and arguments are many.
    Device(Box<Device>),
    Graph(Box<Subgraph>),
    CustomObject(ValueId),
    Operator(Name),
    Dict(Vec<(Name, Arg)>),
}

impl Arg {
    /// Calls `visit` with each tensor among it; those inside a subgraph are values of that graph and none of these.
    pub fn for_each_tensor(&self, visit: &mut dyn FnMut(ValueId)) {
        match self {
            Arg::Tensor(id) => visit(*id),
            Arg::Tensors(ids) => ids.iter().copied().for_each(visit),
            Arg::OptionalTensors(ids) => ids.iter().flatten().copied().for_each(visit),
            Arg::NestedTensors(lists) => lists.iter().flatten().copied().for_each(visit),
            Arg::Dict(entries) => entries.iter().for_each(|(_, arg)| arg.for_each_tensor(visit)),
            _ => {}
        }
    }

    /// Calls `visit` with each tensor and symbolic number among it, and with `None` for each plain number.
    pub fn for_each_operand(&self, visit: &mut dyn FnMut(Option<ValueId>)) {
        fn symbolic<T>(values: &[SymOr<T>], visit: &mut dyn FnMut(Option<ValueId>)) {
            for value in values {
                visit(match value {
                    SymOr::Value(id) => Some(*id),
                    SymOr::Const(_) => None,
                });
            }
        }
        match self {
            Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id) | Arg::CustomObject(id) => {
                visit(Some(*id))
            }
            Arg::SymInts(values) => symbolic(values, visit),
            Arg::SymFloats(values) => symbolic(values, visit),
            Arg::SymBools(values) => symbolic(values, visit),
            Arg::Int(_) | Arg::Float(_) | Arg::Bool(_) => visit(None),
            Arg::Ints(values) => values.iter().for_each(|_| visit(None)),
            Arg::Floats(values) => values.iter().for_each(|_| visit(None)),
            Arg::Bools(values) => values.iter().for_each(|_| visit(None)),
            Arg::Dict(entries) => entries.iter().for_each(|(_, arg)| arg.for_each_operand(visit)),
            tensors => tensors.for_each_tensor(&mut |id| visit(Some(id))),
        }
    }
}

/// A number, or a symbolic value that is computed in the graph.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum SymOr<T> {
    Value(ValueId),
    Const(T),
}

#[derive(Clone, Debug)]
pub struct Subgraph {
    pub name: Name,
    pub graph: Graph,
}

/// What the graph's inputs and outputs stand for.
#[derive(Clone, Debug, Default)]
pub struct Signature {
    /// One for each of [`Graph::inputs`].
    pub inputs: Vec<InputSpec>,
    /// One for each of [`Graph::outputs`].
    pub outputs: Vec<OutputSpec>,
}

#[derive(Clone, Debug)]
pub enum InputSpec {
    /// `name`: as the model's forward calls it, with the path inside nested inputs (`past_key_values_0_1`).
    User {
        name: Name,
    },
    /// A Python constant among the inputs; the graph does not read it.
    Constant {
        name: Name,
    },
    /// `weight`: index into [`Program::weights`].
    Parameter {
        weight: u32,
    },
    Buffer {
        weight: u32,
        persistent: bool,
    },
    TensorConstant {
        weight: u32,
    },
    CustomObject {
        name: Name,
    },
    Token,
}

#[derive(Clone, Debug)]
pub enum OutputSpec {
    /// `name`: from the tree of outputs (`last_hidden_state`), if it has names.
    User {
        name: Option<Name>,
    },
    Loss,
    BufferMutation {
        weight: u32,
    },
    ParameterMutation {
        weight: u32,
    },
    UserInputMutation {
        name: Name,
    },
    GradientToParameter {
        weight: u32,
    },
    GradientToUserInput {
        name: Name,
    },
    Token,
}

/// A parameter, buffer or constant tensor.
#[derive(Clone, Debug)]
pub struct Weight {
    /// PyTorch's name, such as `encoder.layer.0.attention.self.query.weight`.
    pub name: Name,
    pub kind: WeightKind,
    pub dtype: DType,
    pub sizes: Vec<u64>,
    /// `None`: the archive has no bytes for it (captured on the meta device).
    pub data: Option<StridedView>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum WeightKind {
    Parameter,
    Buffer,
    Constant,
}

#[cfg(test)]
mod tests {
    use super::*;

    fn named(arg: Arg, is_keyword: bool) -> NamedArg {
        NamedArg { name: "".into(), arg, is_keyword }
    }

    #[test]
    fn a_graph_is_called_with_the_last_operands() {
        let mut graph = Graph::default();
        for name in ["a", "n", "b"] {
            graph.add_value(name.into(), ValueKind::Token);
        }
        graph.inputs = vec![Arg::Tensor(ValueId(0)), Arg::SymInt(ValueId(1)), Arg::Tensor(ValueId(2))];
        let subgraph = Arg::Graph(Box::new(Subgraph { name: "branch".into(), graph: graph.clone() }));
        let node = Node {
            name: "cond".into(),
            target: "higher_order.cond".into(),
            args: vec![
                named(Arg::Tensor(ValueId(7)), false),
                named(subgraph, false),
                named(Arg::Tensors(vec![ValueId(8)]), false),
                named(Arg::SymInts(vec![SymOr::Const(4)]), false),
                named(Arg::Tensor(ValueId(9)), false),
                named(Arg::Tensor(ValueId(10)), true),
            ],
            outputs: Vec::new(),
            scope: None,
            method: Method::Direct,
            trace: None,
        };
        let operands = node.operands();
        assert_eq!(operands, [Some(ValueId(7)), Some(ValueId(8)), None, Some(ValueId(9))]);
        let given: Vec<_> = graph.given(&operands).collect();
        assert_eq!(given, [(ValueId(0), ValueId(8)), (ValueId(2), ValueId(9))]);
    }
}

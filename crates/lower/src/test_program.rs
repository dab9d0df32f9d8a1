//! Small programs for tests, built by hand, and their nodes as text.

use std::collections::HashMap;

use modelexport_graph::aten::{
    Arg, Graph, InputSpec, Layout, NamedArg, Node, OutputSpec, Program, Signature, Subgraph, SymOr,
    TensorMeta, ValueId, ValueKind, Weight, WeightKind,
};
use modelexport_graph::{
    DType, Dim, Method, ModuleTree, Scopes, SourceId, Span, StridedView, SymExpr, SymOp,
};

/// A program under construction. Nodes are named after their operator, as FX does it.
pub(crate) struct TestProgram {
    program: Program,
    /// How many nodes an operator has.
    count: HashMap<String, usize>,
}

/// `float32`, row-major.
pub(crate) fn tensor(sizes: &[i64]) -> TensorMeta {
    contiguous(DType::F32, sizes.iter().map(|&size| Dim::Static(size)).collect())
}

/// Row-major.
pub(crate) fn contiguous(dtype: DType, sizes: Vec<Dim>) -> TensorMeta {
    let mut strides = vec![Dim::Static(1); sizes.len()];
    for i in (1..sizes.len()).rev() {
        strides[i - 1] = match (&strides[i], &sizes[i]) {
            (Dim::Static(stride), Dim::Static(size)) => Dim::Static(stride * size.max(&1)),
            (stride, size) => {
                Dim::Symbolic(SymExpr::Call(SymOp::Mul, vec![stride.to_expr(), size.to_expr()]))
            }
        };
    }
    TensorMeta { dtype, sizes, strides, storage_offset: 0.into(), layout: Layout::Strided }
}

/// `float32` with any strides and storage offset.
pub(crate) fn strided(sizes: &[i64], strides: &[i64], offset: i64) -> TensorMeta {
    let dims = |values: &[i64]| values.iter().map(|&value| Dim::Static(value)).collect();
    TensorMeta {
        dtype: DType::F32,
        sizes: dims(sizes),
        strides: dims(strides),
        storage_offset: offset.into(),
        layout: Layout::Strided,
    }
}

impl TestProgram {
    pub(crate) fn new() -> Self {
        let program = Program {
            graph: Graph::default(),
            signature: Signature::default(),
            ranges: Vec::new(),
            weights: Vec::new(),
            modules: ModuleTree::new(),
            scopes: Scopes::new(),
            traces: Vec::new(),
            torch_version: "2.15.0".into(),
            schema_version: (8, 20),
        };
        TestProgram { program, count: HashMap::new() }
    }

    pub(crate) fn input(&mut self, name: &str, meta: TensorMeta) -> ValueId {
        let id = self.program.graph.add_value(name.into(), ValueKind::Tensor(meta.into()));
        self.program.graph.inputs.push(Arg::Tensor(id));
        self.program.signature.inputs.push(InputSpec::User { name: name.into() });
        id
    }

    /// A symbol whose number the user gives.
    pub(crate) fn number_input(&mut self, symbol: &str) {
        let kind = ValueKind::SymInt(SymExpr::Symbol(symbol.into()));
        let id = self.program.graph.add_value(symbol.into(), kind);
        self.program.graph.inputs.push(Arg::SymInt(id));
        self.program.signature.inputs.push(InputSpec::User { name: symbol.into() });
    }

    pub(crate) fn buffer(&mut self, name: &str, meta: TensorMeta) -> ValueId {
        let weight = self.weight(name, WeightKind::Buffer, &meta);
        self.weight_input(name, meta, InputSpec::Buffer { weight, persistent: true })
    }

    pub(crate) fn parameter(&mut self, name: &str, meta: TensorMeta) -> ValueId {
        let weight = self.weight(name, WeightKind::Parameter, &meta);
        self.weight_input(name, meta, InputSpec::Parameter { weight })
    }

    /// A buffer in a storage of `length` bytes, where `meta` says.
    pub(crate) fn buffer_in(&mut self, storage: u32, length: u64, name: &str, meta: TensorMeta) -> ValueId {
        let dims = |dims: &[Dim]| dims.iter().map(|dim| dim.as_static().unwrap() as u64).collect();
        let data = StridedView {
            span: Span { source: SourceId(storage), offset: 0, length },
            offset: meta.storage_offset.as_static().unwrap() as u64,
            sizes: dims(&meta.sizes),
            strides: dims(&meta.strides),
        };
        let id = self.buffer(name, meta);
        self.program.weights.last_mut().unwrap().data = Some(data);
        id
    }

    fn weight(&mut self, name: &str, kind: WeightKind, meta: &TensorMeta) -> u32 {
        let sizes = meta.sizes.iter().map(|size| size.as_static().unwrap_or_default() as u64).collect();
        self.program.weights.push(Weight { name: name.into(), kind, dtype: meta.dtype, sizes, data: None });
        self.program.weights.len() as u32 - 1
    }

    fn weight_input(&mut self, name: &str, meta: TensorMeta, spec: InputSpec) -> ValueId {
        let id = self.program.graph.add_value(name.into(), ValueKind::Tensor(meta.into()));
        self.program.graph.inputs.push(Arg::Tensor(id));
        self.program.signature.inputs.push(spec);
        id
    }

    /// A symbolic number.
    pub(crate) fn symbolic(&mut self, kind: ValueKind) -> ValueId {
        self.program.graph.add_value("number".into(), kind)
    }

    /// A tensor that a node is about to make.
    pub(crate) fn result(&mut self, meta: TensorMeta) -> ValueId {
        self.program.graph.add_value("result".into(), ValueKind::Tensor(meta.into()))
    }

    /// A node with one result.
    pub(crate) fn node(&mut self, target: &str, args: &[(&str, Arg)], meta: TensorMeta) -> ValueId {
        self.nodes(target, args, &[meta])[0]
    }

    /// A node with several results.
    pub(crate) fn nodes(&mut self, target: &str, args: &[(&str, Arg)], metas: &[TensorMeta]) -> Vec<ValueId> {
        let stem = target.split('.').nth(1).unwrap_or(target);
        let name = self.fresh(stem);
        let ids: Vec<ValueId> = (metas.iter().enumerate())
            .map(|(i, meta)| {
                let value = if metas.len() == 1 { name.clone() } else { format!("{name}_{i}") };
                self.program.graph.add_value(value.into(), ValueKind::Tensor(meta.clone().into()))
            })
            .collect();
        let outputs = ids.iter().map(|&id| Arg::Tensor(id)).collect();
        self.push(name, target, args, outputs);
        ids
    }

    /// A node with results of any kind.
    pub(crate) fn call(&mut self, target: &str, args: &[(&str, Arg)], outputs: Vec<Arg>) {
        let name = self.fresh(target.split('.').nth(1).unwrap_or(target));
        self.push(name, target, args, outputs);
    }

    fn push(&mut self, name: String, target: &str, args: &[(&str, Arg)], outputs: Vec<Arg>) {
        let args = args.iter().map(|(name, arg)| NamedArg {
            name: (*name).into(),
            arg: arg.clone(),
            is_keyword: false,
        });
        self.program.graph.nodes.push(Node {
            name: name.into(),
            target: target.into(),
            args: args.collect(),
            outputs,
            scope: Some(Scopes::ROOT),
            method: Method::Direct,
            trace: None,
        });
    }

    /// `relu`, `relu_1`, `relu_2`, …
    fn fresh(&mut self, stem: &str) -> String {
        let count = self.count.entry(stem.to_owned()).or_insert(0);
        *count += 1;
        if *count == 1 { stem.to_owned() } else { format!("{stem}_{}", *count - 1) }
    }

    pub(crate) fn meta(&self, id: ValueId) -> &TensorMeta {
        self.program.graph.tensor(id).unwrap()
    }

    /// The program with these outputs.
    pub(crate) fn outputs(self, outputs: &[ValueId]) -> Program {
        self.returning(outputs.iter().map(|&id| Arg::Tensor(id)).collect())
    }

    /// The program with outputs of any kind.
    pub(crate) fn returning(mut self, outputs: Vec<Arg>) -> Program {
        self.program.signature.outputs = outputs.iter().map(|_| OutputSpec::User { name: None }).collect();
        self.program.graph.outputs = outputs;
        self.program
    }

    /// The graph with these outputs, as an argument of a higher-order operator.
    pub(crate) fn into_subgraph(self, name: &str, outputs: &[ValueId]) -> Arg {
        let graph = self.outputs(outputs).graph;
        Arg::Graph(Box::new(Subgraph { name: name.into(), graph }))
    }
}

/// The nodes and the outputs of a graph, a line each.
pub(crate) fn text(graph: &Graph) -> String {
    let mut lines: Vec<String> = graph.nodes.iter().map(|node| node_text(graph, node)).collect();
    let outputs: Vec<String> = graph.outputs.iter().map(|output| arg_text(graph, output)).collect();
    lines.push(format!("return {}", outputs.join(", ")));
    lines.join("\n")
}

fn node_text(graph: &Graph, node: &Node) -> String {
    let results: Vec<String> = node.outputs.iter().map(|output| arg_text(graph, output)).collect();
    let args: Vec<String> = node.args.iter().map(|arg| arg_text(graph, &arg.arg)).collect();
    format!("{} = {}({})", results.join(", "), node.target, args.join(", "))
}

fn arg_text(graph: &Graph, arg: &Arg) -> String {
    let name = |id: &ValueId| graph.value(*id).map_or_else(|| "?".to_owned(), |value| value.name.to_string());
    let list = |items: Vec<String>| format!("[{}]", items.join(", "));
    match arg {
        Arg::Tensor(id) => name(id),
        Arg::Tensors(ids) => list(ids.iter().map(name).collect()),
        Arg::SymInt(id) => match graph.value(*id).map(|value| &value.kind) {
            Some(ValueKind::SymInt(expr)) => expr.to_string(),
            _ => name(id),
        },
        Arg::SymInts(values) => list(
            (values.iter())
                .map(|value| match value {
                    SymOr::Const(value) => value.to_string(),
                    SymOr::Value(id) => arg_text(graph, &Arg::SymInt(*id)),
                })
                .collect(),
        ),
        Arg::Int(value) => value.to_string(),
        Arg::Ints(values) => format!("{values:?}"),
        Arg::Float(value) => format!("{value:?}"),
        Arg::Bool(value) => value.to_string(),
        Arg::DType(dtype) => dtype.to_string(),
        Arg::Graph(subgraph) => format!("{{ {} }}", text(&subgraph.graph).replace('\n', "; ")),
        other => format!("{other:?}"),
    }
}

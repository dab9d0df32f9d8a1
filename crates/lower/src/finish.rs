//! Names, and the ONNX model.

use std::fmt::Write;
use std::sync::Arc;

use modelexport_graph::aten::Program;
use modelexport_graph::hash::{HashMap, HashSet};
use modelexport_graph::onnx::{
    self, Dimension, DimensionValue, OpsetImport, Tensor, TensorData, Type, TypeKind, ValueInfo,
};
use modelexport_graph::{Dim, Name, ScopeId, row_major_strides};

use crate::Options;
use crate::assemble::{Assembly, NamedNode, assemble, tensor};
use crate::error::{Error, Result};
use crate::ir::{Constant, Graph, Ir, Node, ValueId};

/// The metadata key of a weight that is written with other axes; its value is its sizes in PyTorch.
const RESHAPED_KEY: &str = "modelexport.reshaped_from";

/// The metadata key of a weight that another module was folded into; its value is that module's path.
const FOLDED_KEY: &str = "modelexport.folded";

/// The ONNX model of `ir`, everything named.
pub fn finish(mut ir: Ir, program: &Program, options: &Options) -> Result<onnx::Model> {
    let graph = std::mem::take(&mut ir.graph);
    let mut finisher = Finisher {
        names: vec![None; ir.values.len()],
        ir,
        program,
        options,
        taken: HashSet::with_capacity_and_hasher(2 * graph.nodes.len(), Default::default()),
        next: HashMap::default(),
        scope_names: HashMap::default(),
        types: HashMap::default(),
        draft: String::new(),
        wanted: String::new(),
        domains: Vec::new(),
        constants: Vec::new(),
    };
    finisher.reserve_names(&graph);
    let mut graph = finisher.graph(graph, true)?;
    graph.name = finisher.graph_name();
    graph.initializers = finisher.initializers()?;
    let mut opset_imports =
        vec![OpsetImport { domain: String::new(), version: options.opset, unknown: Vec::new() }];
    opset_imports.extend(finisher.domains.iter().map(|(domain, version)| OpsetImport {
        domain: domain.clone(),
        version: *version,
        unknown: Vec::new(),
    }));
    Ok(onnx::Model {
        ir_version: ir_version(options.opset),
        opset_imports,
        producer_name: "modelexport".into(),
        producer_version: env!("CARGO_PKG_VERSION").into(),
        graph,
        ..onnx::Model::default()
    })
}

/// The IR version that came with an opset, but at least 10: node metadata exists since then.
fn ir_version(opset: i64) -> i64 {
    match opset {
        ..=22 => 10,
        23 => 11,
        _ => 12,
    }
}

struct Finisher<'a> {
    /// Without its graph.
    ir: Ir,
    program: &'a Program,
    options: &'a Options,
    names: Vec<Option<Name>>,
    taken: HashSet<Name>,
    /// The next number to try for a name that is taken.
    next: HashMap<Name, u32>,
    scope_names: HashMap<ScopeId, Name>,
    /// Types of values by their element type and the address of their shape.
    types: HashMap<(i32, Option<usize>), Arc<Type>>,
    /// Room for a name that may be taken.
    draft: String,
    /// Room for the name that a node should have.
    wanted: String,
    /// Domains besides ONNX's own, with their versions, in order of first use.
    domains: Vec<(String, i64)>,
    /// Constants that some node reads, in order of first use.
    constants: Vec<ValueId>,
}

impl Finisher<'_> {
    /// Inputs, outputs and weights have the first claim on their names, in this order.
    fn reserve_names(&mut self, graph: &Graph) {
        let weights = self.ir.values.iter().enumerate().filter_map(|(i, value)| {
            let is_weight = matches!(
                value.constant.as_deref(),
                Some(Constant::Weight { .. } | Constant::ScaledWeight { .. })
            );
            is_weight.then_some(ValueId(i as u32))
        });
        let mut first: Vec<ValueId> = graph.inputs.clone();
        first.extend(&graph.outputs);
        first.extend(weights);
        for id in first {
            self.value_name(id, "value");
        }
    }

    fn graph_name(&self) -> String {
        self.program
            .modules
            .get(modelexport_graph::ModuleId::ROOT)
            .map(|root| root.class_name())
            .filter(|name| !name.is_empty())
            .unwrap_or("main")
            .to_owned()
    }

    /// A name that nothing else has: `wanted`, or `wanted_1`, `wanted_2`, …
    fn unique(&mut self, wanted: impl AsRef<str> + Into<Name>) -> Name {
        if !self.next.contains_key(wanted.as_ref()) {
            let wanted: Name = wanted.into();
            if self.taken.insert(wanted.clone()) {
                return wanted;
            }
            self.next.insert(wanted.clone(), 1);
            return self.numbered(&wanted);
        }
        self.numbered(wanted.as_ref())
    }

    /// The next free of `wanted_1`, `wanted_2`, …, for a name that is taken.
    fn numbered(&mut self, wanted: &str) -> Name {
        let mut first = 1;
        let number = self.next.get_mut(wanted).unwrap_or(&mut first);
        loop {
            self.draft.clear();
            // Writing to a string cannot fail.
            let _ = write!(self.draft, "{wanted}_{number}");
            *number += 1;
            let candidate: Name = self.draft.as_str().into();
            if self.taken.insert(candidate.clone()) {
                return candidate;
            }
        }
    }

    fn value_name(&mut self, id: ValueId, otherwise: &str) -> Name {
        if let Some(Some(name)) = self.names.get(id.0 as usize) {
            return name.clone();
        }
        let name = match self.ir.value(id).and_then(|value| value.name.clone()) {
            Some(wanted) => self.unique(wanted),
            None => self.unique(otherwise),
        };
        if let Some(slot) = self.names.get_mut(id.0 as usize) {
            *slot = Some(name.clone());
        }
        name
    }

    /// `/encoder/layer.0/attention` for the call of `encoder.layer.0.attention`: each part is the way from one call
    /// to the next.
    fn scope_name(&mut self, scope: ScopeId) -> Name {
        if let Some(name) = self.scope_names.get(&scope) {
            return name.clone();
        }
        let path =
            |id: ScopeId| self.program.modules.get(self.program.scopes.module(id)).map_or("", |m| &*m.path);
        let mut name = String::new();
        let mut outer = "";
        for id in self.program.scopes.chain(scope).into_iter().skip(1) {
            let inner = path(id);
            let part = inner
                .strip_prefix(outer)
                .map(|rest| if outer.is_empty() { rest } else { rest.strip_prefix('.').unwrap_or(inner) })
                .filter(|rest| !rest.is_empty())
                .unwrap_or(inner);
            name.push('/');
            name.push_str(part);
            outer = inner;
        }
        let name: Name = name.into();
        self.scope_names.insert(scope, name.clone());
        name
    }

    fn graph(&mut self, graph: Graph, is_main: bool) -> Result<onnx::Graph> {
        let inputs: Vec<ValueInfo> = graph.inputs.iter().map(|&id| self.value_info(id, "input")).collect();
        let is_output: HashSet<ValueId> = graph.outputs.iter().copied().collect();
        let ir_nodes = graph.nodes;
        let Assembly { nodes, value_infos, .. } = assemble(ir_nodes.len(), |intake| {
            for mut node in ir_nodes {
                let outputs = std::mem::take(&mut node.outputs);
                intake.node(self.named(node, &outputs)?);
                for output in outputs {
                    let known = self.ir.value(output).is_some_and(|v| v.dtype.is_some() && v.shape.is_some());
                    if known && !is_output.contains(&output) {
                        intake.value(self.value_name(output, "value"), self.value_type(output));
                    }
                }
            }
            Ok(())
        })?;
        let outputs = graph.outputs.iter().map(|&id| self.value_info(id, "output")).collect();
        let name = if is_main { String::new() } else { self.unique("graph").to_string() };
        Ok(onnx::Graph { name, nodes, inputs, outputs, value_infos, ..onnx::Graph::default() })
    }

    /// Names a node, what it reads and makes, and everything in the graphs inside it.
    fn named(&mut self, mut node: Node, outputs: &[ValueId]) -> Result<NamedNode> {
        let name = self.node_name(node.origin.scope, &node.op);
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            inputs.push(match input {
                None => Name::default(),
                Some(id) => {
                    if self.ir.is_constant(*id) && self.names.get(id.0 as usize).is_some_and(Option::is_none)
                    {
                        self.value_name(*id, "constant")
                    } else {
                        self.value_name(*id, "value")
                    }
                }
            });
            if let Some(id) = input
                && self.ir.is_constant(*id)
            {
                self.constants.push(*id);
            }
        }
        let outputs = outputs.iter().enumerate().map(|(i, &id)| {
            let has_name = self.ir.value(id).is_some_and(|value| value.name.is_some());
            let otherwise = if has_name { String::new() } else { format!("{name}_output_{i}") };
            self.value_name(id, &otherwise)
        });
        let outputs = outputs.collect();
        let mut subgraphs = Vec::new();
        for subgraph in node.subgraphs_mut() {
            subgraphs.push(self.graph(std::mem::take(subgraph), false)?);
        }
        if !node.domain.is_empty() && !self.domains.iter().any(|(domain, _)| *domain == node.domain) {
            let custom = self.options.custom_operators.iter().find(|custom| custom.domain == node.domain);
            self.domains.push((node.domain.to_string(), custom.map_or(1, |custom| custom.version)));
        }
        Ok(NamedNode { node, name, inputs, outputs, subgraphs })
    }

    /// `/encoder/layer.0/MatMul`, with a number where that is taken.
    fn node_name(&mut self, scope: ScopeId, op: &str) -> Name {
        let scope = self.scope_name(scope);
        let mut wanted = std::mem::take(&mut self.wanted);
        wanted.clear();
        wanted.extend([&*scope, "/", op]);
        let name = self.unique(wanted.as_str());
        self.wanted = wanted;
        name
    }

    fn value_info(&mut self, id: ValueId, otherwise: &str) -> ValueInfo {
        let name = self.value_name(id, otherwise);
        ValueInfo { name, value_type: self.value_type(id), ..ValueInfo::default() }
    }

    /// The type of a value, made once for all values that share their shape.
    fn value_type(&mut self, id: ValueId) -> Option<Arc<Type>> {
        let value = self.ir.value(id)?;
        let elem_type = value.dtype?.onnx_code()?;
        let place = value.shape.as_ref().map(|shape| shape.as_ptr().addr());
        if let Some(known) = self.types.get(&(elem_type, place)) {
            return Some(known.clone());
        }
        let shape = value.shape.as_ref().map(|shape| shape.iter().map(|dim| self.dimension(dim)).collect());
        let kind = TypeKind::Tensor { elem_type, shape };
        let new = Arc::new(Type { kind, ..Type::default() });
        self.types.insert((elem_type, place), new.clone());
        Some(new)
    }

    fn dimension(&self, dim: &Dim) -> Dimension {
        let value = match dim {
            Dim::Static(size) => DimensionValue::Static(*size),
            Dim::Symbolic(expr) => DimensionValue::Named(self.dimension_name(expr)),
        };
        Dimension { value, ..Dimension::default() }
    }

    /// The expression with the user's names for its symbols.
    fn dimension_name(&self, expr: &modelexport_graph::SymExpr) -> String {
        use modelexport_graph::SymExpr;
        fn rename(expr: &SymExpr, names: &[(String, String)]) -> SymExpr {
            match expr {
                SymExpr::Symbol(symbol) => {
                    let name =
                        names.iter().find(|(known, _)| **known == **symbol).map(|(_, name)| name.as_str());
                    SymExpr::Symbol(name.unwrap_or(symbol).into())
                }
                SymExpr::Call(op, arguments) => {
                    SymExpr::Call(*op, arguments.iter().map(|argument| rename(argument, names)).collect())
                }
                other => other.clone(),
            }
        }
        rename(expr, &self.options.dimension_names).to_string()
    }

    /// Each constant that is read, once, in the order of the program's weights, then literals by first use.
    fn initializers(&mut self) -> Result<Vec<Tensor>> {
        let mut seen = HashSet::default();
        let mut used: Vec<ValueId> = self.constants.iter().copied().filter(|id| seen.insert(*id)).collect();
        used.sort_by_key(|id| match self.ir.value(*id).and_then(|value| value.constant.as_deref()) {
            Some(Constant::Weight { weight, .. } | Constant::ScaledWeight { weight, .. }) => (0, *weight),
            _ => (1, 0),
        });
        let mut initializers = Vec::with_capacity(used.len());
        for id in used {
            let name = self.value_name(id, "constant");
            match self.ir.value(id).and_then(|value| value.constant.as_deref()) {
                Some(Constant::Literal(literal)) => initializers.push(tensor(name, literal)),
                Some(Constant::Weight { weight, permutation, sizes }) => {
                    let mut tensor = self.weight(name, *weight, permutation.as_deref())?;
                    if let Some(sizes) = sizes {
                        reshape(&mut tensor, sizes);
                    }
                    initializers.push(tensor);
                }
                Some(Constant::ScaledWeight { weight, factors, folded }) => {
                    let mut tensor = self.weight(name, *weight, None)?;
                    if let TensorData::Stored(view) = tensor.data {
                        tensor.data = TensorData::Scaled { view, factors: factors.clone() };
                    }
                    tensor.metadata.push((FOLDED_KEY.to_owned(), folded.to_string()));
                    initializers.push(tensor);
                }
                None => {}
            }
        }
        Ok(initializers)
    }

    fn weight(&self, name: Name, weight: u32, permutation: Option<&[usize]>) -> Result<Tensor> {
        let Some(weight) = self.program.weights.get(weight as usize) else {
            return Err(Error::Program(format!("weight {weight} is not in the program")));
        };
        let Some(data_type) = weight.dtype.real().onnx_code() else {
            return Err(Error::Program(format!(
                "weight `{}`: ONNX has no type {}",
                weight.name, weight.dtype
            )));
        };
        let mut metadata = Vec::new();
        if let Some(permutation) = permutation {
            let order: Vec<String> = permutation.iter().map(usize::to_string).collect();
            metadata.push(("modelexport.permutation".to_owned(), order.join(",")));
        }
        let Some(mut data) = weight.data.clone() else {
            let mut dims: Vec<i64> = weight.sizes.iter().map(|&size| size as i64).collect();
            if let Some(permutation) = permutation {
                dims = permutation.iter().filter_map(|&axis| dims.get(axis).copied()).collect();
            }
            let data = TensorData::Typed(Vec::new());
            return Ok(Tensor { name, data_type, dims, data, metadata, ..Tensor::default() });
        };
        if weight.dtype.is_complex() {
            // Pairs of real numbers.
            data.offset *= 2;
            data.strides.iter_mut().for_each(|stride| *stride *= 2);
            data.sizes.push(2);
            data.strides.push(1);
        }
        if let Some(permutation) = permutation {
            data = data.permuted(permutation).ok_or_else(|| {
                Error::Program(format!("weight `{}` cannot be permuted by {permutation:?}", weight.name))
            })?;
        }
        Ok(Tensor {
            name,
            data_type,
            dims: data.sizes.iter().map(|&size| size as i64).collect(),
            data: TensorData::Stored(data),
            metadata,
            ..Tensor::default()
        })
    }
}

/// Gives a weight, stored in one run, other axes.
fn reshape(tensor: &mut Tensor, sizes: &[u64]) {
    let before: Vec<String> = tensor.dims.iter().map(i64::to_string).collect();
    tensor.metadata.push((RESHAPED_KEY.to_owned(), before.join(",")));
    tensor.dims = sizes.iter().map(|&size| size as i64).collect();
    if let TensorData::Stored(view) = &mut tensor.data {
        view.strides = row_major_strides(sizes);
        view.sizes = sizes.to_vec();
    }
}

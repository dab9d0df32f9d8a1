//! Walks the program and lowers node after node. The origin of what a row emits is set here, so that the author of
//! a lowering cannot forget it.

use std::sync::Arc;

use modelexport_graph::aten::{self, Arg, InputSpec, OutputSpec, Program, ValueKind};
use modelexport_graph::hash::HashMap;
use modelexport_graph::onnx::{self, AtenSource, Origin};
use modelexport_graph::{Dim, Method, Name, ScopeId, Scopes, SymExpr, SymOp};

use crate::builder::Builder;
use crate::context::Context;
use crate::error::{Error, Location, Result};
use crate::ir::{self, Constant, Value, ValueId};
use crate::ops::support::fill::empty_results;
use crate::registry::{self, Outputs};
use crate::schema::Defaults;
use crate::symbols::Symbols;
use crate::{Options, argument_text, finish, functionalize, passes, report, shapes, wrappers};

/// How sure the origin of a node is that the program does not tell: found by the weights that the node reads, and by
/// the nodes around it.
const READS_WEIGHT: f32 = 0.9;
const BETWEEN: f32 = 0.5;

/// Lowers `program` to an ONNX model whose nodes all have an origin, and returns it with the program, whose module
/// tree the origins refer to. Weights stay where they are; `load` reads small ones for constant folding.
pub fn lower(
    mut program: Program,
    options: &Options,
    load: passes::Load<'_>,
) -> Result<(onnx::Model, Program)> {
    if !crate::OPSETS.contains(&options.opset) {
        return Err(Error::Opset(options.opset));
    }
    wrappers::inline(&mut program)?;
    if let Some(missing) = report::unsupported(&program, options) {
        return Err(Error::Unsupported(missing));
    }
    let written = functionalize::functionalize(&mut program)?;
    functionalize::refuse_untold_sharing(&program, &written, load)?;
    let mut ir = Lowering::new(&program, options).run()?;
    passes::run(&mut ir, &program, options, load);
    let graph = if options.keep_graph { aten::Graph::default() } else { std::mem::take(&mut program.graph) };
    // What a graph of many nodes holds is given back piece by piece, which takes as long as to name the nodes.
    let model = std::thread::scope(|threads| {
        threads.spawn(move || drop(graph));
        finish::finish(ir, &program, options)
    })?;
    Ok((model, program))
}

/// The state of a lowering.
pub struct Lowering<'p> {
    pub(crate) program: &'p Program,
    pub(crate) options: &'p Options,
    pub(crate) builder: Builder,
    pub(crate) symbols: Symbols,
    /// The ATen graphs that are open, innermost last: for each of their values what stands for it.
    frames: Vec<Vec<Option<ValueId>>>,
    /// The call that the node in work belongs to.
    scope: ScopeId,
    /// Shapes by the address of the metadata in the program.
    shapes: HashMap<usize, Arc<[Dim]>>,
    pub(crate) defaults: Defaults,
}

impl<'p> Lowering<'p> {
    fn new(program: &'p Program, options: &'p Options) -> Self {
        Lowering {
            program,
            options,
            builder: Builder::new(options.opset),
            symbols: Symbols::default(),
            frames: Vec::new(),
            scope: Scopes::ROOT,
            shapes: HashMap::default(),
            defaults: Defaults::default(),
        }
    }

    fn run(mut self) -> Result<ir::Ir> {
        let graph = &self.program.graph;
        self.frames.push(vec![None; graph.values.len()]);
        self.builder.reserve(graph.nodes.len());
        let mut inputs = Vec::new();
        for (arg, spec) in graph.inputs.iter().zip(&self.program.signature.inputs) {
            inputs.extend(self.graph_input(graph, arg, spec)?);
        }
        self.nodes(graph)?;
        let mut outputs = Vec::new();
        let users = || {
            let all = graph.outputs.iter().zip(&self.program.signature.outputs);
            all.filter(|(_, spec)| matches!(spec, OutputSpec::User { .. }))
        };
        if users().all(|(arg, _)| is_fixed(arg)) {
            let outputs: Vec<String> = users().map(|(arg, _)| argument_text::describe(graph, arg)).collect();
            return Err(Error::Program(match outputs.as_slice() {
                [] => "it has no outputs, and an ONNX model must have one".to_owned(),
                all => format!(
                    "its outputs are the same in every run ({}), and an ONNX model must have one that is not",
                    all.join(", ")
                ),
            }));
        }
        for (arg, spec) in users() {
            if let OutputSpec::User { name } = spec
                && !is_fixed(arg)
            {
                outputs.push(self.graph_output(graph, arg, name.as_ref())?);
            }
        }
        Ok(self.builder.into_ir(inputs, outputs))
    }

    /// Makes the value of one input of the program; `Some` if it is an input of the model too.
    fn graph_input(&mut self, graph: &aten::Graph, arg: &Arg, spec: &InputSpec) -> Result<Option<ValueId>> {
        match (arg, spec) {
            (
                Arg::Tensor(id),
                InputSpec::Parameter { weight }
                | InputSpec::Buffer { weight, .. }
                | InputSpec::TensorConstant { weight },
            ) => {
                let Some(found) = self.program.weights.get(*weight as usize) else {
                    return Err(Error::Program(format!(
                        "the signature names weight {weight}, which is not there"
                    )));
                };
                let constant = Constant::Weight { weight: *weight, permutation: None, sizes: None };
                let value = self.new_value(graph, *id, Some(found.name.clone()));
                if let Some(value) = self.builder.ir.value_mut(value) {
                    value.constant = Some(Box::new(constant));
                }
                Ok(None)
            }
            (Arg::Tensor(id), InputSpec::User { name }) => {
                let value = self.new_value(graph, *id, Some(name.clone()));
                if let Some(meta) = graph.tensor(*id) {
                    self.symbols.bind_sizes(value, &meta.sizes);
                }
                Ok(Some(value))
            }
            (Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id), InputSpec::User { name }) => {
                let (expr, dtype) = match graph.value(*id).map(|value| &value.kind) {
                    Some(ValueKind::SymInt(expr)) => (expr, modelexport_graph::DType::I64),
                    Some(ValueKind::SymFloat(expr)) => (expr, modelexport_graph::DType::F64),
                    Some(ValueKind::SymBool(expr)) => (expr, modelexport_graph::DType::Bool),
                    _ => return Ok(None),
                };
                let value = self.builder.ir.add_value(Value {
                    name: Some(name.clone()),
                    dtype: Some(dtype),
                    shape: Some(Arc::from([])),
                    constant: None,
                });
                if let Some(symbol) = expr.as_symbol() {
                    let one = self.builder.unsqueeze(value, &[0]);
                    self.symbols.bind_value(symbol, one);
                }
                Ok(Some(value))
            }
            _ => Ok(None),
        }
    }

    /// A value for a tensor of `graph`, with the name and metadata that it has there.
    fn new_value(&mut self, graph: &aten::Graph, id: aten::ValueId, name: Option<Name>) -> ValueId {
        let meta = graph.tensor(id);
        let value = self.builder.ir.add_value(Value {
            name,
            dtype: meta.map(|meta| meta.dtype.real()),
            shape: meta.map(|meta| ir::model_shape(meta).into()),
            constant: None,
        });
        self.set_tensor(id, value);
        value
    }

    /// The shape of a tensor of the program in the model, made once for all tensors that share their metadata.
    fn shape_of(&mut self, meta: &'p aten::TensorMeta) -> Arc<[Dim]> {
        let place = std::ptr::from_ref(meta).addr();
        self.shapes.entry(place).or_insert_with(|| ir::model_shape(meta).into()).clone()
    }

    fn graph_output(&mut self, graph: &aten::Graph, arg: &Arg, name: Option<&Name>) -> Result<ValueId> {
        let value = match arg {
            Arg::Tensor(id) => match self.tensor(*id) {
                Some(value) => value,
                None => {
                    let name = graph.value(*id).map_or("?", |value| &*value.name);
                    return Err(Error::Program(format!("output `{name}` is made by no node")));
                }
            },
            other => {
                let number = self.number_output(graph, other)?;
                self.builder.origin = Origin::direct(Scopes::ROOT, None);
                let scalar = self.builder.squeeze(number, &[0]);
                self.builder.set_shape(scalar, Vec::new());
                scalar
            }
        };
        self.builder.origin = Origin::direct(Scopes::ROOT, None);
        let own = self.builder.emit("Identity", &[value], vec![]);
        let shape = self.builder.ir.shared_shape(value);
        let fx_name = match arg {
            Arg::Tensor(id) => graph.value(*id).map(|value| value.name.clone()),
            _ => None,
        };
        if let Some(own) = self.builder.ir.value_mut(own) {
            own.name = name.cloned().or(fx_name);
            own.shape = shape;
        }
        Ok(own)
    }

    /// A number among the outputs of a graph, as a 1-D tensor of one element.
    fn number_output(&mut self, graph: &aten::Graph, arg: &Arg) -> Result<ValueId> {
        let expr = match arg {
            Arg::Int(value) => SymExpr::Int(*value),
            Arg::Float(value) => SymExpr::float(*value),
            Arg::Bool(value) => SymExpr::Bool(*value),
            Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id) => match symbolic(graph, *id) {
                Some(expr) => expr.clone(),
                None => return Err(Error::Program("an output is a symbol without an expression".into())),
            },
            other => return Err(Error::Program(format!("an output is not a tensor or a number: {other:?}"))),
        };
        self.symbols.compute(&mut self.builder, &expr).map_err(|symbol| {
            Error::Program(format!("an output needs the size `{symbol}`, which nothing tells"))
        })
    }

    // ---- nodes

    fn nodes(&mut self, graph: &'p aten::Graph) -> Result<()> {
        for node in &graph.nodes {
            self.node(graph, node)?;
        }
        Ok(())
    }

    fn node(&mut self, graph: &'p aten::Graph, node: &'p aten::Node) -> Result<()> {
        let outer = self.scope;
        self.scope = node.scope.unwrap_or(outer);
        self.builder.origin = self.origin_of(node);
        let custom = self.options.custom_operators.iter().find(|custom| custom.target == *node.target);
        let row = registry::find(&node.target, self.options.opset);
        let schema = row.map_or("", |row| row.schema());
        let first = self.builder.node_count();
        let mut context = Context { lowering: self, graph, node, schema };
        let outputs = match (custom, row) {
            (Some(custom), _) => crate::ops::custom::lower(&mut context, custom)?,
            (None, Some(row)) => match empty_results(&mut context)? {
                Some(outputs) => outputs,
                None => (row.lower)(&mut context)?,
            },
            (None, None) => return context.refuse("has no row in the operator registry"),
        };
        self.builder.origin = self.origin_of(node);
        self.bind_outputs(graph, node, outputs)?;
        let (ir, opset) = (&self.builder.ir, self.options.opset);
        if self.builder.nodes_from(first).iter().any(|node| shapes::contradict(ir, opset, node)) {
            let reason = format!("shapes that contradict each other: {}", argument_text::shapes(graph, node));
            return Err(Error::Node { place: Box::new(self.place(node)), reason });
        }
        self.scope = outer;
        Ok(())
    }

    fn bind_outputs(&mut self, graph: &'p aten::Graph, node: &'p aten::Node, outputs: Outputs) -> Result<()> {
        let mut values = outputs.0.into_iter();
        for output in &node.outputs {
            match output {
                Arg::Tensor(id) => self.bind_tensor(graph, node, *id, values.next())?,
                Arg::Tensors(ids) => {
                    for id in ids {
                        self.bind_tensor(graph, node, *id, values.next())?;
                    }
                }
                Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id) => {
                    let Some(expr) = symbolic(graph, *id) else { continue };
                    if let (Some(value), Some(symbol)) = (values.next(), bound_symbol(expr))
                        && !self.symbols.can_compute(expr)
                    {
                        self.symbols.bind_value(symbol, value);
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn bind_tensor(
        &mut self,
        graph: &'p aten::Graph,
        node: &'p aten::Node,
        id: aten::ValueId,
        value: Option<ValueId>,
    ) -> Result<()> {
        let Some(value) = value else {
            // Results that nothing reads may be left out (running statistics of a norm, for instance).
            return Ok(());
        };
        // A node that gives a weight as it is still read it, in its module.
        let value = match self.builder.ir.value(value).and_then(|value| value.constant.as_deref()) {
            Some(Constant::Weight { .. }) => self.builder.emit("Identity", &[value], vec![]),
            _ => value,
        };
        self.set_tensor(id, value);
        let Some(meta) = graph.tensor(id) else { return Ok(()) };
        if let Some(found) = self.builder.ir.dtype(value)
            && found != meta.dtype.real()
        {
            let reason = format!("was lowered to {found}, but the program says {}", meta.dtype);
            return Err(Error::Node { place: Box::new(self.place(node)), reason });
        }
        let name = graph.value(id).map(|value| value.name.clone());
        let shape = self.shape_of(meta);
        if let Some(value) = self.builder.ir.value_mut(value) {
            value.dtype = Some(meta.dtype.real());
            if value.constant.is_none() {
                value.shape = Some(shape);
                value.name = value.name.take().or(name);
            }
        }
        self.symbols.bind_sizes(value, &meta.sizes);
        Ok(())
    }

    fn origin_of(&self, node: &aten::Node) -> Origin {
        let source = AtenSource { name: node.name.clone(), target: node.target.clone() };
        let confidence = match node.method {
            Method::Direct => 1.0,
            Method::Parameter => READS_WEIGHT,
            _ => BETWEEN,
        };
        Origin { method: node.method, confidence, ..Origin::direct(self.scope, Some(source)) }
    }

    pub(crate) fn tensor(&self, id: aten::ValueId) -> Option<ValueId> {
        self.frames.last()?.get(id.0 as usize).copied().flatten()
    }

    fn set_tensor(&mut self, id: aten::ValueId, value: ValueId) {
        if let Some(slot) = self.frames.last_mut().and_then(|frame| frame.get_mut(id.0 as usize)) {
            *slot = Some(value);
        }
    }

    pub(crate) fn place(&self, node: &aten::Node) -> Location {
        let scope = node.scope.unwrap_or(self.scope);
        let module = self.program.modules.get(self.program.scopes.module(scope));
        Location {
            node: node.name.to_string(),
            target: node.target.to_string(),
            module: module.map_or_else(String::new, |module| module.path.to_string()),
        }
    }

    // ---- subgraphs

    /// Lowers `graph` into the graph that is open, with its inputs bound to `inputs`: tensors, and symbolic numbers
    /// as tensors of one element. Symbols that are bound inside are not known afterwards: the next use of the graph
    /// may give them other numbers.
    pub(crate) fn inline(&mut self, graph: &'p aten::Graph, inputs: &[ValueId]) -> Result<Vec<ValueId>> {
        if graph.inputs.len() != inputs.len() {
            let (has, given) = (graph.inputs.len(), inputs.len());
            return Err(Error::Program(format!("a subgraph with {has} inputs is given {given}")));
        }
        let symbols = self.symbols.clone();
        let origin = self.builder.origin.clone();
        self.frames.push(vec![None; graph.values.len()]);
        let result = self.inline_frame(graph, inputs);
        self.frames.pop();
        self.builder.origin = origin;
        self.symbols = symbols;
        result
    }

    fn inline_frame(&mut self, graph: &'p aten::Graph, inputs: &[ValueId]) -> Result<Vec<ValueId>> {
        for (arg, &value) in graph.inputs.iter().zip(inputs) {
            match arg {
                Arg::Tensor(id) => {
                    self.set_tensor(*id, value);
                    if let Some(meta) = graph.tensor(*id) {
                        self.symbols.bind_sizes(value, &meta.sizes);
                    }
                }
                Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id) => {
                    if let Some(expr) = symbolic(graph, *id)
                        && let Some(symbol) = bound_symbol(expr)
                        && !self.symbols.can_compute(expr)
                    {
                        self.symbols.bind_value(symbol, value);
                    }
                }
                _ => {}
            }
        }
        self.nodes(graph)?;
        let mut outputs = Vec::new();
        for arg in &graph.outputs {
            match arg {
                Arg::None => {}
                Arg::Tensor(id) => match self.tensor(*id) {
                    Some(value) => outputs.push(value),
                    None => {
                        let name = graph.value(*id).map_or("?", |value| &*value.name);
                        return Err(Error::Program(format!(
                            "output `{name}` of a subgraph is made by no node"
                        )));
                    }
                },
                other => outputs.push(self.number_output(graph, other)?),
            }
        }
        Ok(outputs)
    }

    /// An ONNX subgraph with the formal inputs `inputs`, filled by `fill`, which returns its outputs. They become
    /// values of the subgraph's own: ONNX wants no outer value there.
    pub(crate) fn subgraph(
        &mut self,
        inputs: Vec<ValueId>,
        fill: impl FnOnce(&mut Self) -> Result<Vec<ValueId>>,
    ) -> Result<ir::Graph> {
        let symbols = self.symbols.clone();
        self.builder.open();
        let filled = fill(self);
        self.symbols = symbols;
        let outputs = filled?.into_iter().map(|value| self.builder.emit("Identity", &[value], vec![]));
        let outputs = outputs.collect();
        Ok(self.builder.close(inputs, outputs))
    }
}

/// Whether the capture fixed an output: it is the same in every run, and no tensor.
fn is_fixed(arg: &Arg) -> bool {
    matches!(arg, Arg::None | Arg::Int(_) | Arg::Float(_) | Arg::Bool(_) | Arg::Str(_))
}

/// The expression of a symbolic value.
fn symbolic(graph: &aten::Graph, id: aten::ValueId) -> Option<&SymExpr> {
    match &graph.value(id)?.kind {
        ValueKind::SymInt(expr) | ValueKind::SymFloat(expr) | ValueKind::SymBool(expr) => Some(expr),
        _ => None,
    }
}

/// The symbol that a number computed in the graph stands for. A truth value is the comparison of a symbol with 1.
fn bound_symbol(expr: &SymExpr) -> Option<&Name> {
    match expr {
        SymExpr::Symbol(name) => Some(name),
        SymExpr::Call(SymOp::Eq, sides) => match sides.as_slice() {
            [SymExpr::Symbol(name), SymExpr::Int(1)] | [SymExpr::Int(1), SymExpr::Symbol(name)] => Some(name),
            _ => None,
        },
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::Arg;

    use crate::Options;
    use crate::lower;
    use crate::test_program::{TestProgram, tensor};

    #[test]
    fn what_is_the_same_in_every_run_is_no_output() {
        let lowered = |program| lower(program, &Options::default(), &|_| None);
        let mut program = TestProgram::new();
        let x = program.input("x", tensor(&[2]));
        let (model, _) = lowered(program.returning(vec![Arg::Tensor(x), Arg::Int(7), Arg::None])).unwrap();
        assert_eq!(model.graph.outputs.len(), 1);
        let refused = |outputs| lowered(TestProgram::new().returning(outputs)).unwrap_err().to_string();
        assert_eq!(
            refused(vec![Arg::Int(5), Arg::None]),
            "its outputs are the same in every run (the integer 5, None), and an ONNX model must have one that is not"
        );
        assert_eq!(refused(Vec::new()), "it has no outputs, and an ONNX model must have one");
    }
}

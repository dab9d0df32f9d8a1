//! What a lowering sees of one ATen node: its arguments by their names in the schema, with defaults and typed
//! errors; metadata; and the [`Builder`], to which it dereferences.

use std::ops::{Deref, DerefMut};

use modelexport_graph::aten::{self, Arg, SymOr, TensorMeta, ValueKind};
use modelexport_graph::{DType, Dim, SymExpr};

use crate::argument_text;
use crate::builder::Builder;
use crate::driver::Lowering;
use crate::error::{Error, Place, Result};
use crate::ir::ValueId;
use crate::literal::Number;
use crate::schema::{self, Default};

/// One ATen node under translation.
pub struct Context<'l, 'p> {
    pub(crate) lowering: &'l mut Lowering<'p>,
    pub(crate) graph: &'p aten::Graph,
    pub(crate) node: &'p aten::Node,
    pub(crate) schema: &'static str,
}

impl Deref for Context<'_, '_> {
    type Target = Builder;

    fn deref(&self) -> &Builder {
        &self.lowering.builder
    }
}

impl DerefMut for Context<'_, '_> {
    fn deref_mut(&mut self) -> &mut Builder {
        &mut self.lowering.builder
    }
}

/// A Python number among the arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Computed in the graph: a tensor of one element, `int64`, `float64` or `bool`.
    Value(ValueId),
}

impl Scalar {
    /// The number, if it is known now.
    pub fn number(self) -> Option<Number> {
        match self {
            Scalar::Bool(value) => Some(value.into()),
            Scalar::Int(value) => Some(value.into()),
            Scalar::Float(value) => Some(value.into()),
            Scalar::Value(_) => None,
        }
    }

    pub fn is(self, value: f64) -> bool {
        self.number().is_some_and(|number| number.as_f64() == value)
    }
}

impl<'p> Context<'_, 'p> {
    // ---- errors

    pub fn place(&self) -> Place {
        self.lowering.place(self.node)
    }

    /// The node asks for something that cannot be expressed.
    pub fn refuse<T>(&self, reason: impl Into<String>) -> Result<T> {
        Err(Error::Node { place: Box::new(self.place()), reason: reason.into() })
    }

    /// The argument is of the right kind, but has a value that cannot be expressed.
    pub fn wrong<T>(&self, argument: &str, expected: &str, found: impl std::fmt::Debug) -> Result<T> {
        Err(Error::Argument {
            place: Box::new(self.place()),
            argument: argument.to_owned(),
            expected: expected.to_owned(),
            found: format!("{found:?}"),
        })
    }

    /// The argument is something else than `expected`, or is not there at all.
    pub fn wrong_kind<T>(&self, argument: &str, expected: &str, found: Option<&Arg>) -> Result<T> {
        Err(Error::Argument {
            place: Box::new(self.place()),
            argument: argument.to_owned(),
            expected: expected.to_owned(),
            found: found.map_or_else(|| "nothing".to_owned(), |arg| argument_text::describe(self.graph, arg)),
        })
    }

    // ---- raw access

    pub fn target(&self) -> &'p str {
        &self.node.target
    }

    /// The argument as it stands in the program; `None` if the call left it out or gave Python's `None`.
    pub fn arg(&self, name: &str) -> Option<&'p Arg> {
        self.node.arg(name).filter(|arg| !matches!(arg, Arg::None))
    }

    /// All arguments in order, for operators without a schema.
    pub fn args(&self) -> impl Iterator<Item = &'p Arg> + use<'p> {
        let node = self.node;
        node.args.iter().map(|arg| &arg.arg)
    }

    /// The results as they stand in the program.
    pub fn results(&self) -> &'p [Arg] {
        &self.node.outputs
    }

    fn default_of(&self, name: &str) -> Option<Default> {
        let default = schema::find(self.schema, name)?.default?;
        match schema::parse_default(default) {
            Default::None => None,
            other => Some(other),
        }
    }

    // ---- tensors

    /// The value that stands for a tensor of the program.
    pub fn value(&self, id: aten::ValueId) -> Result<ValueId> {
        match self.lowering.tensor(id) {
            Some(value) => Ok(value),
            None => {
                let name = self.graph.value(id).map_or("?", |value| &*value.name);
                let holder = self.node.args.iter().find(|argument| argument_text::holds(&argument.arg, id));
                let argument = holder.map_or("?", |argument| &*argument.name);
                self.refuse(format!("argument `{argument}` reads `{name}`, which no node before it makes"))
            }
        }
    }

    pub fn tensor(&self, name: &str) -> Result<ValueId> {
        match self.tensor_opt(name)? {
            Some(value) => Ok(value),
            None => self.wrong_kind(name, "a tensor", None),
        }
    }

    pub fn tensor_opt(&self, name: &str) -> Result<Option<ValueId>> {
        match self.arg(name) {
            None => Ok(None),
            Some(Arg::Tensor(id)) => self.value(*id).map(Some),
            Some(other) => self.wrong_kind(name, "a tensor", Some(other)),
        }
    }

    pub fn tensors(&self, name: &str) -> Result<Vec<ValueId>> {
        match self.arg(name) {
            None => Ok(Vec::new()),
            Some(Arg::Tensors(ids)) => ids.iter().map(|&id| self.value(id)).collect(),
            Some(Arg::OptionalTensors(ids)) if ids.iter().all(Option::is_some) => {
                ids.iter().flatten().map(|&id| self.value(id)).collect()
            }
            Some(other) => self.wrong_kind(name, "a list of tensors", Some(other)),
        }
    }

    /// A list with holes, such as the indices of `x[:, i]`.
    pub fn optional_tensors(&self, name: &str) -> Result<Vec<Option<ValueId>>> {
        match self.arg(name) {
            None => Ok(Vec::new()),
            Some(Arg::OptionalTensors(ids)) => {
                ids.iter().map(|id| id.map(|id| self.value(id)).transpose()).collect()
            }
            Some(Arg::Tensors(ids)) => ids.iter().map(|&id| self.value(id).map(Some)).collect(),
            Some(other) => self.wrong_kind(name, "a list of optional tensors", Some(other)),
        }
    }

    /// Metadata of a tensor argument, as the program has it.
    pub fn meta(&self, name: &str) -> Result<&'p TensorMeta> {
        match self.meta_opt(name) {
            Some(meta) => Ok(meta),
            None => self.wrong_kind(name, "a tensor", self.arg(name)),
        }
    }

    pub fn meta_opt(&self, name: &str) -> Option<&'p TensorMeta> {
        match self.arg(name)? {
            Arg::Tensor(id) => self.graph.tensor(*id),
            _ => None,
        }
    }

    /// Metadata of each tensor of a list argument.
    pub fn metas(&self, name: &str) -> Vec<&'p TensorMeta> {
        match self.arg(name) {
            Some(Arg::Tensors(ids)) => ids.iter().filter_map(|&id| self.graph.tensor(id)).collect(),
            Some(Arg::OptionalTensors(ids)) => {
                ids.iter().flatten().filter_map(|&id| self.graph.tensor(id)).collect()
            }
            _ => Vec::new(),
        }
    }

    /// Metadata of the node's results, lists flattened.
    pub fn out_metas(&self) -> Vec<&'p TensorMeta> {
        let mut metas = Vec::new();
        for output in &self.node.outputs {
            match output {
                Arg::Tensor(id) => metas.extend(self.graph.tensor(*id)),
                Arg::Tensors(ids) => metas.extend(ids.iter().filter_map(|&id| self.graph.tensor(id))),
                _ => {}
            }
        }
        metas
    }

    /// Metadata of the first result.
    pub fn out(&self) -> Result<&'p TensorMeta> {
        match self.out_metas().first() {
            Some(meta) => Ok(meta),
            None => self.refuse("has no tensor among its results"),
        }
    }

    /// How many tensors the node gives, lists flattened.
    pub fn out_count(&self) -> usize {
        self.node
            .outputs
            .iter()
            .map(|output| match output {
                Arg::Tensors(ids) => ids.len(),
                Arg::None => 0,
                _ => 1,
            })
            .sum()
    }

    // ---- plain arguments

    pub fn int(&self, name: &str) -> Result<i64> {
        match self.int_opt(name)? {
            Some(value) => Ok(value),
            None => self.wrong_kind(name, "an integer", None),
        }
    }

    pub fn int_opt(&self, name: &str) -> Result<Option<i64>> {
        match self.arg(name) {
            Some(Arg::Int(value)) => Ok(Some(*value)),
            Some(Arg::Bool(value)) => Ok(Some(i64::from(*value))),
            Some(Arg::SymInt(id)) => match self.symbolic(*id).and_then(|expr| expr.as_int()) {
                Some(value) => Ok(Some(value)),
                None => self.wrong(name, "an integer that is known when exporting", "a symbolic size"),
            },
            None => match self.default_of(name) {
                Some(Default::Int(value)) => Ok(Some(value)),
                _ => Ok(None),
            },
            Some(other) => self.wrong_kind(name, "an integer", Some(other)),
        }
    }

    pub fn bool(&self, name: &str) -> Result<bool> {
        match self.arg(name) {
            Some(Arg::Bool(value)) => Ok(*value),
            Some(Arg::Int(value)) => Ok(*value != 0),
            None => match self.default_of(name) {
                Some(Default::Bool(value)) => Ok(value),
                _ => Ok(false),
            },
            Some(other) => self.wrong_kind(name, "true or false", Some(other)),
        }
    }

    pub fn float(&self, name: &str) -> Result<f64> {
        match self.float_opt(name)? {
            Some(value) => Ok(value),
            None => self.wrong_kind(name, "a number", None),
        }
    }

    pub fn float_opt(&self, name: &str) -> Result<Option<f64>> {
        match self.arg(name) {
            Some(Arg::Float(value)) => Ok(Some(*value)),
            Some(Arg::Int(value)) => Ok(Some(*value as f64)),
            Some(Arg::Bool(value)) => Ok(Some(f64::from(u8::from(*value)))),
            None => match self.default_of(name) {
                Some(Default::Float(value)) => Ok(Some(value)),
                Some(Default::Int(value)) => Ok(Some(value as f64)),
                _ => Ok(None),
            },
            Some(other) => self.wrong_kind(name, "a number", Some(other)),
        }
    }

    /// A list of numbers.
    pub fn floats_opt(&self, name: &str) -> Result<Option<Vec<f64>>> {
        match self.arg(name) {
            Some(Arg::Floats(values)) => Ok(Some(values.clone())),
            Some(Arg::Ints(values)) => Ok(Some(values.iter().map(|&value| value as f64).collect())),
            // An empty list has no kind of its own.
            Some(Arg::Tensors(values)) if values.is_empty() => Ok(Some(Vec::new())),
            None => Ok(None),
            Some(other) => self.wrong_kind(name, "a list of numbers", Some(other)),
        }
    }

    pub fn str_opt(&self, name: &str) -> Result<Option<String>> {
        match self.arg(name) {
            Some(Arg::Str(value)) => Ok(Some(value.to_string())),
            None => match self.default_of(name) {
                Some(Default::Text(value)) => Ok(Some(value)),
                _ => Ok(None),
            },
            Some(other) => self.wrong_kind(name, "a string", Some(other)),
        }
    }

    pub fn dtype_opt(&self, name: &str) -> Result<Option<DType>> {
        match self.arg(name) {
            Some(Arg::DType(dtype)) => Ok(Some(*dtype)),
            None => Ok(None),
            Some(other) => self.wrong_kind(name, "an element type", Some(other)),
        }
    }

    /// A list of numbers that are known when exporting; one number counts as a list of one.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>> {
        match self.ints_opt(name)? {
            Some(values) => Ok(values),
            None => self.wrong_kind(name, "a list of integers", None),
        }
    }

    pub fn ints_opt(&self, name: &str) -> Result<Option<Vec<i64>>> {
        match self.dims_opt(name)? {
            None => Ok(None),
            Some(dims) => match dims.iter().map(Dim::as_static).collect() {
                Some(values) => Ok(Some(values)),
                None => self.wrong_kind(name, "integers that are known when exporting", self.arg(name)),
            },
        }
    }

    /// `ints` stretched to `count` values: PyTorch takes one number for all spatial axes.
    pub fn ints_for(&self, name: &str, count: usize) -> Result<Vec<i64>> {
        let values = self.ints_opt(name)?.unwrap_or_default();
        match values.as_slice() {
            [one] => Ok(vec![*one; count]),
            all if all.len() == count => Ok(values),
            _ => self.wrong(name, &format!("one or {count} integers"), values),
        }
    }

    // ---- sizes

    /// The expression of a symbolic value.
    pub fn symbolic(&self, id: aten::ValueId) -> Option<&'p SymExpr> {
        match &self.graph.value(id)?.kind {
            ValueKind::SymInt(expr) | ValueKind::SymFloat(expr) | ValueKind::SymBool(expr) => Some(expr),
            _ => None,
        }
    }

    fn sym_dim(&self, name: &str, id: aten::ValueId) -> Result<Dim> {
        match self.symbolic(id) {
            Some(SymExpr::Int(value)) => Ok(Dim::Static(*value)),
            Some(expr) => Ok(Dim::Symbolic(expr.clone())),
            None => self.wrong(name, "a symbolic size", "another kind of value"),
        }
    }

    /// A size or index that may be symbolic.
    pub fn dim(&self, name: &str) -> Result<Dim> {
        match self.dim_opt(name)? {
            Some(dim) => Ok(dim),
            None => self.wrong_kind(name, "an integer", None),
        }
    }

    pub fn dim_opt(&self, name: &str) -> Result<Option<Dim>> {
        match self.arg(name) {
            Some(Arg::SymInt(id)) => self.sym_dim(name, *id).map(Some),
            _ => Ok(self.int_opt(name)?.map(Dim::Static)),
        }
    }

    /// Sizes that may be symbolic.
    pub fn dims(&self, name: &str) -> Result<Vec<Dim>> {
        match self.dims_opt(name)? {
            Some(dims) => Ok(dims),
            None => self.wrong_kind(name, "a list of sizes", None),
        }
    }

    pub fn dims_opt(&self, name: &str) -> Result<Option<Vec<Dim>>> {
        match self.arg(name) {
            Some(Arg::Ints(values)) => Ok(Some(values.iter().map(|&value| Dim::Static(value)).collect())),
            Some(Arg::Int(value)) => Ok(Some(vec![Dim::Static(*value)])),
            Some(Arg::SymInt(id)) => Ok(Some(vec![self.sym_dim(name, *id)?])),
            Some(Arg::SymInts(values)) => {
                let dims = values.iter().map(|value| match value {
                    SymOr::Const(value) => Ok(Dim::Static(*value)),
                    SymOr::Value(id) => self.sym_dim(name, *id),
                });
                dims.collect::<Result<Vec<Dim>>>().map(Some)
            }
            // An empty list has no kind of its own.
            Some(Arg::Tensors(values)) if values.is_empty() => Ok(Some(Vec::new())),
            None => match self.default_of(name) {
                Some(Default::Ints(values)) => Ok(Some(values.into_iter().map(Dim::Static).collect())),
                Some(Default::Int(value)) => Ok(Some(vec![Dim::Static(value)])),
                _ => Ok(None),
            },
            Some(other) => self.wrong_kind(name, "a list of sizes", Some(other)),
        }
    }

    /// An axis argument, counted from the front.
    pub fn axis(&self, name: &str, rank: usize) -> Result<i64> {
        let axis = self.int(name)?;
        self.normalize_axis(name, axis, rank)
    }

    /// Axis arguments, counted from the front. `None` or an empty list in the program: all axes.
    pub fn axes(&self, name: &str, rank: usize) -> Result<Vec<i64>> {
        let axes = self.ints_opt(name)?.unwrap_or_default();
        if axes.is_empty() {
            return Ok((0..rank as i64).collect());
        }
        axes.into_iter().map(|axis| self.normalize_axis(name, axis, rank)).collect()
    }

    /// PyTorch lets a 0-D tensor have axis 0 and -1.
    pub fn normalize_axis(&self, name: &str, axis: i64, rank: usize) -> Result<i64> {
        let size = (rank as i64).max(1);
        if (-size..size).contains(&axis) {
            return Ok(if axis < 0 { axis + size } else { axis });
        }
        self.wrong(name, &format!("an axis of a tensor with {rank} dimensions"), axis)
    }

    /// One size as a 1-D `int64` tensor of one element.
    pub fn dim_value(&mut self, dim: &Dim) -> Result<ValueId> {
        self.shape_value(std::slice::from_ref(dim))
    }

    /// Sizes as a 1-D `int64` tensor.
    pub fn shape_value(&mut self, dims: &[Dim]) -> Result<ValueId> {
        let Lowering { symbols, builder, .. } = &mut *self.lowering;
        match symbols.shape_tensor(builder, dims) {
            Ok(value) => Ok(value),
            Err(symbol) => self.refuse(format!("needs the size `{symbol}`, which nothing before it tells")),
        }
    }

    /// Reshapes to the sizes of a result of the program; symbolic sizes cost no node where ONNX can copy (0) or
    /// infer (-1) them.
    pub fn reshape(&mut self, value: ValueId, sizes: &[Dim]) -> Result<ValueId> {
        let old = self.shape(value).map(<[Dim]>::to_vec);
        if old.as_deref() == Some(sizes) {
            return Ok(value);
        }
        let has_empty = sizes.iter().any(|size| size.is(0));
        let mut inferred = false;
        let short: Option<Vec<i64>> = sizes
            .iter()
            .enumerate()
            .map(|(i, size)| match size {
                Dim::Static(size) => Some(*size),
                _ if has_empty => None,
                _ if old.as_ref().and_then(|old| old.get(i)) == Some(size) => Some(0),
                _ if !inferred => {
                    inferred = true;
                    Some(-1)
                }
                _ => None,
            })
            .collect();
        let reshaped = match short {
            Some(short) if has_empty => {
                let target = self.const_ints(&short);
                self.emit("Reshape", &[value, target], crate::attrs![allowzero = 1])
            }
            Some(short) => {
                let target = self.const_ints(&short);
                self.emit("Reshape", &[value, target], vec![])
            }
            None => {
                let target = self.shape_value(sizes)?;
                let attributes = if has_empty { crate::attrs![allowzero = 1] } else { vec![] };
                self.emit("Reshape", &[value, target], attributes)
            }
        };
        self.set_shape(reshaped, sizes.to_vec());
        Ok(reshaped)
    }

    /// Broadcasts to `sizes`; no node if the shape is that already.
    pub fn expand(&mut self, value: ValueId, sizes: &[Dim]) -> Result<ValueId> {
        if self.shape(value) == Some(sizes) {
            return Ok(value);
        }
        let target = self.shape_value(sizes)?;
        let expanded = self.emit("Expand", &[value, target], vec![]);
        self.set_shape(expanded, sizes.to_vec());
        Ok(expanded)
    }

    // ---- scalars

    pub fn scalar_arg(&mut self, name: &str) -> Result<Scalar> {
        match self.scalar_opt(name)? {
            Some(scalar) => Ok(scalar),
            None => self.wrong_kind(name, "a number", None),
        }
    }

    pub fn scalar_opt(&mut self, name: &str) -> Result<Option<Scalar>> {
        Ok(Some(match self.arg(name) {
            Some(Arg::Bool(value)) => Scalar::Bool(*value),
            Some(Arg::Int(value)) => Scalar::Int(*value),
            Some(Arg::Float(value)) => Scalar::Float(*value),
            Some(Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id)) => match self.symbolic(*id) {
                Some(SymExpr::Int(value)) => Scalar::Int(*value),
                Some(SymExpr::Float(bits)) => Scalar::Float(f64::from_bits(*bits)),
                Some(SymExpr::Bool(value)) => Scalar::Bool(*value),
                Some(expr) => {
                    let expr = expr.clone();
                    Scalar::Value(self.compute(&expr)?)
                }
                None => return self.wrong(name, "a number", "another kind of value"),
            },
            None => match self.default_of(name) {
                Some(Default::Bool(value)) => Scalar::Bool(value),
                Some(Default::Int(value)) => Scalar::Int(value),
                Some(Default::Float(value)) => Scalar::Float(value),
                _ => return Ok(None),
            },
            Some(other) => return self.wrong_kind(name, "a number", Some(other)),
        }))
    }

    /// A scalar as a 0-D tensor of `dtype`.
    pub fn scalar_value(&mut self, scalar: Scalar, dtype: DType) -> ValueId {
        match scalar {
            Scalar::Bool(value) => self.const_scalar(dtype, value),
            Scalar::Int(value) => self.const_scalar(dtype, value),
            Scalar::Float(value) => self.const_scalar(dtype, value),
            Scalar::Value(value) => {
                let cast = self.cast(value, dtype);
                self.squeeze(cast, &[0])
            }
        }
    }

    /// A symbolic expression as a 1-D tensor of one element.
    pub fn compute(&mut self, expr: &SymExpr) -> Result<ValueId> {
        let Lowering { symbols, builder, .. } = &mut *self.lowering;
        match symbols.compute(builder, expr) {
            Ok(value) => Ok(value),
            Err(symbol) => self.refuse(format!("needs the size `{symbol}`, which nothing before it tells")),
        }
    }

    // ---- subgraphs

    /// The graph argument number `index` among the graphs.
    pub fn graph(&self, index: usize) -> Result<&'p aten::Graph> {
        let graph = self.args().filter_map(|arg| match arg {
            Arg::Graph(subgraph) => Some(&subgraph.graph),
            _ => None,
        });
        match graph.into_iter().nth(index) {
            Some(graph) => Ok(graph),
            None => self.refuse(format!("has no graph number {index} among its arguments")),
        }
    }

    /// What a graph is called with: tensors, and numbers as tensors of one element.
    pub fn operands(&mut self, arg: &'p Arg) -> Result<Vec<ValueId>> {
        match arg {
            Arg::Tensors(ids) => ids.iter().map(|&id| self.operand(id)).collect(),
            Arg::Tensor(id) | Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id) => {
                Ok(vec![self.operand(*id)?])
            }
            Arg::SymInts(values) => {
                let values = values.iter().map(|value| match value {
                    SymOr::Value(id) => self.operand(*id),
                    SymOr::Const(value) => Ok(self.const_ints(&[*value])),
                });
                values.collect()
            }
            Arg::Int(value) => Ok(vec![self.const_ints(&[*value])]),
            Arg::Ints(values) => Ok(values.iter().map(|&value| self.const_ints(&[value])).collect()),
            other => self.wrong_kind("operands", "tensors and numbers", Some(other)),
        }
    }

    fn operand(&mut self, id: aten::ValueId) -> Result<ValueId> {
        match self.symbolic(id) {
            Some(expr) => self.compute(&expr.clone()),
            None => self.value(id),
        }
    }

    /// An ONNX subgraph with the formal inputs `inputs`, filled by `fill`, which returns its outputs.
    pub fn subgraph(
        &mut self,
        inputs: Vec<ValueId>,
        fill: impl FnOnce(&mut Lowering<'p>) -> Result<Vec<ValueId>>,
    ) -> Result<crate::ir::Graph> {
        self.lowering.subgraph(inputs, fill)
    }

    /// Lowers a graph argument into the graph that is open now, as if its nodes stood here.
    pub fn inline(&mut self, graph: &'p aten::Graph, inputs: &[ValueId]) -> Result<Vec<ValueId>> {
        self.lowering.inline(graph, inputs)
    }
}

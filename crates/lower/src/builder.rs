//! Emits ONNX nodes, each stamped with the origin that the driver has set; and the small sequences of nodes that
//! differ between opsets or that many lowerings share.

use std::borrow::Cow;

use modelexport_graph::onnx::Origin;
use modelexport_graph::{DType, Dim, Scopes};

use crate::attrs;
use crate::ir::{Attrs, Graph, Ir, Node, Value, ValueId};
use crate::literal::{Literal, Number};

/// Nodes beside those of the program for which there is room from the beginning: inputs and outputs of the model.
const SPARE_NODES: usize = 64;

/// The graph under construction and the place where nodes go.
pub struct Builder {
    pub ir: Ir,
    pub opset: i64,
    /// Stamped on every node that is emitted.
    pub origin: Origin,
    /// The graphs that are open, the main graph first; nodes go to the last.
    open: Vec<Graph>,
}

impl Builder {
    pub fn new(opset: i64) -> Builder {
        let origin = Origin::direct(Scopes::ROOT, None);
        Builder { ir: Ir::default(), opset, origin, open: vec![Graph::default()] }
    }

    /// Adds nodes to a graph that exists: they go to graphs that are opened, and their values to `ir`.
    pub fn within(ir: Ir, opset: i64) -> Builder {
        Builder { ir, ..Builder::new(opset) }
    }

    /// Makes room for a graph of about so many nodes with one result each. Half as much again costs nothing, as memory
    /// that is not used is never touched, and a long list that grows is copied as a whole.
    pub fn reserve(&mut self, nodes: usize) {
        let nodes = nodes + nodes / 2 + SPARE_NODES;
        self.ir.values.reserve(nodes);
        if let Some(graph) = self.open.last_mut() {
            graph.nodes.reserve(nodes);
        }
    }

    /// How many graphs are open: 1 in the main graph.
    pub fn depth(&self) -> usize {
        self.open.len()
    }

    /// Nodes go to a new subgraph until [`Builder::close`].
    pub fn open(&mut self) {
        self.open.push(Graph::default());
    }

    /// The subgraph that was opened last.
    pub fn close(&mut self, inputs: Vec<ValueId>, outputs: Vec<ValueId>) -> Graph {
        let graph = self.open.pop().unwrap_or_default();
        Graph { inputs, outputs, ..graph }
    }

    /// The model, with `inputs` and `outputs` of its main graph.
    pub fn into_ir(mut self, inputs: Vec<ValueId>, outputs: Vec<ValueId>) -> Ir {
        self.ir.graph = Graph { inputs, outputs, ..self.open.pop().unwrap_or_default() };
        self.ir
    }

    /// How many nodes the graph has that is open.
    pub fn node_count(&self) -> usize {
        self.open.last().map_or(0, |graph| graph.nodes.len())
    }

    /// The nodes of the open graph from number `first` on.
    pub fn nodes_from(&self, first: usize) -> &[Node] {
        self.open.last().and_then(|graph| graph.nodes.get(first..)).unwrap_or_default()
    }

    // ---- what is known of values

    /// The element type; `F32` if nothing is known.
    pub fn dtype(&self, value: ValueId) -> DType {
        self.ir.dtype(value).unwrap_or(DType::F32)
    }

    pub fn shape(&self, value: ValueId) -> Option<&[Dim]> {
        self.ir.shape(value)
    }

    pub fn rank(&self, value: ValueId) -> Option<usize> {
        self.shape(value).map(<[Dim]>::len)
    }

    /// Says what an emitted value looks like, where the caller knows and the builder does not.
    pub fn set_shape(&mut self, value: ValueId, shape: Vec<Dim>) {
        if let Some(value) = self.ir.value_mut(value) {
            value.shape = Some(shape.into());
        }
    }

    pub fn set_dtype(&mut self, value: ValueId, dtype: DType) {
        if let Some(value) = self.ir.value_mut(value) {
            value.dtype = Some(dtype);
        }
    }

    // ---- nodes

    /// A node with one output.
    pub fn emit(
        &mut self,
        op: impl Into<Cow<'static, str>>,
        inputs: &[ValueId],
        attributes: Attrs,
    ) -> ValueId {
        let inputs: Vec<Option<ValueId>> = inputs.iter().copied().map(Some).collect();
        self.emit_optional(op, &inputs, attributes)
    }

    /// A node with one output, some of whose inputs may be left out.
    pub fn emit_optional(
        &mut self,
        op: impl Into<Cow<'static, str>>,
        inputs: &[Option<ValueId>],
        attributes: Attrs,
    ) -> ValueId {
        let output = self.new_value();
        self.push(op.into(), "".into(), inputs, vec![output], attributes);
        output
    }

    /// A node with `count` outputs.
    pub fn emit_many(
        &mut self,
        op: impl Into<Cow<'static, str>>,
        inputs: &[Option<ValueId>],
        attributes: Attrs,
        count: usize,
    ) -> Vec<ValueId> {
        let outputs: Vec<ValueId> = (0..count).map(|_| self.new_value()).collect();
        self.push(op.into(), "".into(), inputs, outputs.clone(), attributes);
        outputs
    }

    /// A node that makes the values `outputs`.
    pub fn emit_into(
        &mut self,
        op: impl Into<Cow<'static, str>>,
        inputs: &[Option<ValueId>],
        attributes: Attrs,
        outputs: Vec<ValueId>,
    ) {
        self.push(op.into(), "".into(), inputs, outputs, attributes);
    }

    /// A node of another domain than ONNX's own.
    pub fn emit_custom(
        &mut self,
        domain: &str,
        op: &str,
        inputs: &[Option<ValueId>],
        attributes: Attrs,
        count: usize,
    ) -> Vec<ValueId> {
        let outputs: Vec<ValueId> = (0..count).map(|_| self.new_value()).collect();
        self.push(op.to_owned().into(), domain.to_owned().into(), inputs, outputs.clone(), attributes);
        outputs
    }

    /// The same as `node`, which has one output, of other inputs: its origin is that of `node`, not that of this builder.
    /// The result has the type that it has there.
    pub fn repeat(&mut self, node: &Node, inputs: Vec<Option<ValueId>>) -> ValueId {
        let output = self.new_value();
        if let Some(&old) = node.outputs.first()
            && let Some(dtype) = self.ir.dtype(old)
        {
            self.set_dtype(output, dtype);
        }
        let copy = Node { inputs, outputs: vec![output], ..node.clone() };
        crate::ir::infer(&mut self.ir, self.opset, &copy);
        if let Some(graph) = self.open.last_mut() {
            graph.nodes.push(copy);
        }
        output
    }

    /// A value that no node makes yet: inputs of subgraphs.
    pub fn new_value(&mut self) -> ValueId {
        self.ir.add_value(Value::default())
    }

    fn push(
        &mut self,
        op: Cow<'static, str>,
        domain: Cow<'static, str>,
        inputs: &[Option<ValueId>],
        outputs: Vec<ValueId>,
        attributes: Attrs,
    ) {
        let mut inputs = inputs.to_vec();
        while inputs.last() == Some(&None) {
            inputs.pop();
        }
        let origin = self.origin.clone();
        let node = Node { op, domain, inputs, outputs, attributes, origin, shared_by: Vec::new() };
        crate::ir::infer(&mut self.ir, self.opset, &node);
        if let Some(graph) = self.open.last_mut() {
            graph.nodes.push(node);
        }
    }

    // ---- constants

    /// A 1-D `int64` tensor: axes, shapes.
    pub fn const_ints(&mut self, values: &[i64]) -> ValueId {
        self.ir.add_literal(Literal::ints(values))
    }

    /// A 0-D `int64` tensor: indices that take a dimension away.
    pub fn const_int(&mut self, value: i64) -> ValueId {
        self.const_scalar(DType::I64, value)
    }

    /// A 0-D constant of `dtype`. Types without numbers (float8, complex) get a `float32` that is cast.
    pub fn const_scalar(&mut self, dtype: DType, value: impl Into<Number>) -> ValueId {
        let value = value.into();
        match Literal::scalar(dtype, value) {
            Some(literal) => self.ir.add_literal(literal),
            None => {
                let bytes = (value.as_f64() as f32).to_le_bytes().to_vec();
                let float = self.ir.add_literal(Literal { dtype: DType::F32, dims: Vec::new(), bytes });
                self.cast(float, dtype.real())
            }
        }
    }

    pub fn constant(&mut self, literal: Literal) -> ValueId {
        self.ir.add_literal(literal)
    }

    // ---- sequences that lowerings share

    /// `value` as `dtype`; no node if it is already.
    pub fn cast(&mut self, value: ValueId, dtype: DType) -> ValueId {
        if self.ir.dtype(value) == Some(dtype) {
            return value;
        }
        if let Some(literal) = self.ir.literal(value)
            && let Some(numbers) = literal.numbers()
            && numbers.len() <= 64
            && let Some(cast) = Literal::from_numbers(dtype, literal.dims.clone(), numbers)
        {
            return self.ir.add_literal(cast);
        }
        self.emit("Cast", &[value], attrs![to = dtype])
    }

    /// The axes in another order; no node if they are in order already.
    pub fn transpose(&mut self, value: ValueId, permutation: &[i64]) -> ValueId {
        if permutation.iter().enumerate().all(|(i, &axis)| i as i64 == axis) {
            return value;
        }
        self.emit("Transpose", &[value], attrs![perm = permutation])
    }

    /// Exchanges the last two axes of a tensor of `rank`.
    pub fn transpose_last(&mut self, value: ValueId, rank: usize) -> ValueId {
        let mut permutation: Vec<i64> = (0..rank as i64).collect();
        if let [.., a, b] = permutation.as_mut_slice() {
            std::mem::swap(a, b);
        }
        self.transpose(value, &permutation)
    }

    pub fn unsqueeze(&mut self, value: ValueId, axes: &[i64]) -> ValueId {
        if axes.is_empty() {
            return value;
        }
        let axes = self.const_ints(axes);
        self.emit("Unsqueeze", &[value, axes], vec![])
    }

    pub fn squeeze(&mut self, value: ValueId, axes: &[i64]) -> ValueId {
        if axes.is_empty() {
            return value;
        }
        let axes = self.const_ints(axes);
        self.emit("Squeeze", &[value, axes], vec![])
    }

    /// A shape that is known now. -1 is inferred, 0 is an empty dimension.
    pub fn reshape_static(&mut self, value: ValueId, shape: &[i64]) -> ValueId {
        let has_zero = shape.contains(&0);
        let target = self.const_ints(shape);
        let attributes = if has_zero { attrs![allowzero = 1] } else { vec![] };
        self.emit("Reshape", &[value, target], attributes)
    }

    pub fn concat(&mut self, values: &[ValueId], axis: i64) -> ValueId {
        match values {
            [only] => *only,
            _ => self.emit("Concat", values, attrs![axis = axis]),
        }
    }

    /// `value[starts:ends:steps]` along `axes`, all known now.
    pub fn slice(
        &mut self,
        value: ValueId,
        axes: &[i64],
        starts: &[i64],
        ends: &[i64],
        steps: &[i64],
    ) -> ValueId {
        let (starts, ends, axes) = (self.const_ints(starts), self.const_ints(ends), self.const_ints(axes));
        if steps.iter().all(|&step| step == 1) {
            return self.emit("Slice", &[value, starts, ends, axes], vec![]);
        }
        let steps = self.const_ints(steps);
        self.emit("Slice", &[value, starts, ends, axes, steps], vec![])
    }

    /// A `Reduce…` node over `axes` (all axes if empty). Axes became an input with opset 18 (13 for `ReduceSum`).
    pub fn reduce(&mut self, op: &'static str, value: ValueId, axes: &[i64], keepdims: bool) -> ValueId {
        let as_input = self.opset >= 18 || op == "ReduceSum";
        let keep = attrs![keepdims = keepdims];
        if axes.is_empty() {
            self.emit(op, &[value], keep)
        } else if as_input {
            let axes = self.const_ints(axes);
            self.emit(op, &[value, axes], keep)
        } else {
            self.emit(op, &[value], attrs![axes = axes, keepdims = keepdims])
        }
    }

    /// The parts of `value` along `axis` with the given sizes.
    pub fn split(&mut self, value: ValueId, sizes: &[i64], axis: i64) -> Vec<ValueId> {
        if sizes.len() == 1 {
            return vec![value];
        }
        let split = self.const_ints(sizes);
        self.emit_many("Split", &[Some(value), Some(split)], attrs![axis = axis], sizes.len())
    }

    /// `Shape` of `value` from axis `start` up to `end`, as a 1-D `int64` tensor.
    pub fn shape_slice(&mut self, value: ValueId, start: i64, end: i64) -> ValueId {
        if self.opset >= 15 {
            return self.emit("Shape", &[value], attrs![start = start, end = end]);
        }
        let shape = self.emit("Shape", &[value], vec![]);
        self.slice(shape, &[0], &[start], &[end], &[1])
    }
}

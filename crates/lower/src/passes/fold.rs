//! Computes nodes whose inputs are all constants: masks, index tables, shapes. Small buffers of the model count as
//! constants. So do small parameters (the exponential of a decay, the gates of a recurrent layer in another order), but
//! for two cases: a parameter in another layout may be written so, under its name (what is left of these is computed in
//! the end); and a module that does nothing else but multiply matrices keeps its nodes. Makes no nodes.
//!
//! A module that only rescales its parameters or takes rows of them (a weight divided by its norm, an embedding of
//! constant positions) may lose all its nodes. The nodes that read what it made keep their origin and name its module
//! among those that they stand for.

use modelexport_graph::aten::{Program, Weight, WeightKind};
use modelexport_graph::hash::{HashMap, HashSet};
use modelexport_graph::shape::static_shape;
use modelexport_graph::{DType, Dim, ModuleId, ScopeId};

use super::known_results::KnownResults;
use crate::Options;
use crate::evaluate::{evaluate, transposed};
use crate::ir::{Attr, Constant, Graph, Ir, Node, ValueId};
use crate::literal::Literal;

/// Reads the bytes of a weight; `None` if they cannot be had.
pub type Load<'a> = &'a dyn Fn(&Weight) -> Option<Vec<u8>>;

/// The elements of a weight, if they can be had.
pub fn loaded(weight: &Weight, load: Load<'_>) -> Option<Literal> {
    let dims = weight.sizes.iter().map(|&size| size as i64).collect();
    Some(Literal { dtype: weight.dtype, dims, bytes: load(weight)? })
}

/// Buffers above this size are not read.
const MOST_BUFFER_BYTES: u64 = 1 << 18;

/// Nor are parameters with more elements than this, which is the limit of torch's exporter.
const MOST_PARAMETER_ELEMENTS: u64 = 8192;

/// What gives a parameter another layout.
const LAYOUTS: [&str; 6] = ["Transpose", "Reshape", "Unsqueeze", "Squeeze", "Flatten", "Identity"];

/// What a module that does nothing else is looked for by: its work is worth a node.
const PRODUCT: &str = "MatMul";

/// Whether other layouts of parameters are computed.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Layouts {
    /// The parameter may still be written in that layout.
    Wait,
    /// The parameter has the layout that it is written in. What is made of it, and other layouts, become constants.
    Compute,
}

/// True if a node was computed.
pub fn run(ir: &mut Ir, program: &Program, options: &Options, load: Load<'_>, layouts: Layouts) -> bool {
    let mut graph = std::mem::take(&mut ir.graph);
    let mut busy = Busy::default();
    busy.collect(&graph, ir);
    let mut folder = Folder {
        ir,
        program,
        options,
        load,
        layouts,
        busy: busy.scopes,
        absorbed: HashMap::default(),
        loaded: HashMap::default(),
        known: KnownResults::default(),
    };
    let changed = folder.graph(&mut graph);
    ir.graph = graph;
    changed
}

/// The scopes with a node that depends on more than constants.
#[derive(Default)]
struct Busy {
    scopes: HashSet<ScopeId>,
    /// Made by nodes from nothing but constants.
    constants: HashSet<ValueId>,
}

impl Busy {
    fn collect(&mut self, graph: &Graph, ir: &Ir) {
        for node in &graph.nodes {
            let is_constant = |id: &ValueId| {
                self.constants.contains(id) || ir.value(*id).is_some_and(|value| value.constant.is_some())
            };
            if node.subgraphs().next().is_none() && node.inputs.iter().flatten().all(is_constant) {
                self.constants.extend(&node.outputs);
            } else {
                self.scopes.insert(node.origin.scope);
            }
            node.subgraphs().for_each(|subgraph| self.collect(subgraph, ir));
        }
    }
}

struct Folder<'a> {
    ir: &'a mut Ir,
    program: &'a Program,
    options: &'a Options,
    load: Load<'a>,
    layouts: Layouts,
    /// Where nodes stay whatever is folded.
    busy: HashSet<ScopeId>,
    /// The modules that constants were made by from their parameters, for modules that are not busy.
    absorbed: HashMap<ValueId, Vec<ModuleId>>,
    /// Weights that were read. Their values stay weights: a literal could be merged with equal ones, and nodes of
    /// other modules would read the weight.
    loaded: HashMap<ValueId, Literal>,
    known: KnownResults,
}

impl Folder<'_> {
    fn graph(&mut self, graph: &mut Graph) -> bool {
        let outputs: HashSet<ValueId> = graph.outputs.iter().copied().collect();
        let mut changed = false;
        graph.nodes.retain_mut(|node| {
            for subgraph in node.subgraphs_mut() {
                changed |= self.graph(subgraph);
            }
            // A graph output must be made by a node.
            let is_output = node.outputs.iter().any(|output| outputs.contains(output));
            let folded = if is_output { None } else { self.fold(node) };
            let Some(literals) = folded else {
                self.name_absorbed(node);
                return true;
            };
            changed = true;
            self.note_absorbed(node);
            for (&output, literal) in node.outputs.iter().zip(literals) {
                self.set_constant(output, literal);
            }
            false
        });
        changed
    }

    /// Remembers whose work the constants are that take the place of `node`.
    fn note_absorbed(&mut self, node: &Node) {
        let mut modules = node.origin.fused.clone();
        for input in node.inputs.iter().flatten() {
            modules.extend(self.absorbed.get(input).into_iter().flatten());
        }
        let reads_parameter = || node.inputs.iter().flatten().any(|&input| self.is_parameter(input));
        if !self.busy.contains(&node.origin.scope) && (!modules.is_empty() || reads_parameter()) {
            modules.push(self.program.scopes.module(node.origin.scope));
        }
        if !modules.is_empty() {
            modules.sort();
            modules.dedup();
            self.absorbed.extend(node.outputs.iter().map(|&output| (output, modules.clone())));
        }
    }

    /// Names the modules whose work `node` reads as constants.
    fn name_absorbed(&self, node: &mut Node) {
        let own = self.program.scopes.module(node.origin.scope);
        for input in node.inputs.iter().flatten() {
            for &module in self.absorbed.get(input).into_iter().flatten() {
                node.origin.stands_for(own, module);
            }
        }
    }

    fn is_parameter(&self, id: ValueId) -> bool {
        let constant = self.ir.value(id).and_then(|value| value.constant.as_deref());
        let Some(Constant::Weight { weight, .. }) = constant else { return false };
        self.program.weights.get(*weight as usize).is_some_and(|weight| weight.kind == WeightKind::Parameter)
    }

    fn set_constant(&mut self, output: ValueId, literal: Literal) {
        if let Some(value) = self.ir.value_mut(output) {
            value.dtype = Some(literal.dtype);
            value.shape = Some(literal.dims.iter().map(|&dim| Dim::Static(dim)).collect());
            value.constant = Some(Box::new(Constant::Literal(literal)));
        }
    }

    fn fold(&mut self, node: &Node) -> Option<Vec<Literal>> {
        if let Some(shape) = self.fold_shape(node) {
            return Some(vec![shape]);
        }
        let takes_parameters = (self.layouts == Layouts::Compute || !LAYOUTS.contains(&&*node.op))
            && (node.op != PRODUCT || self.busy.contains(&node.origin.scope));
        if node.inputs.is_empty()
            || node.inputs.iter().flatten().any(|&input| !self.is_foldable(input, takes_parameters))
        {
            return None;
        }
        if let Some(literals) = self.known.find(node, self.ir) {
            return Some(literals);
        }
        for &input in node.inputs.iter().flatten() {
            self.load_weight(input);
        }
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            inputs.push(match input {
                None => None,
                Some(input) => Some(self.ir.literal(*input).or_else(|| self.loaded.get(input))?),
            });
        }
        // Elements are at least one byte, so that no result within the limit is missed.
        let limit = self.options.fold_limit;
        let literals = evaluate(node, &inputs, limit)?;
        if literals.iter().any(|literal| literal.bytes.len() > limit) {
            return None;
        }
        self.known.note(node, &literals);
        Some(literals)
    }

    /// `Shape` of a value needs only its shape.
    fn fold_shape(&self, node: &Node) -> Option<Literal> {
        if node.op != "Shape" && node.op != "Size" {
            return None;
        }
        let shape = self.ir.shape(node.inputs.first().copied().flatten()?)?;
        let rank = shape.len() as i64;
        let bound = |name: &str, default: i64| match node.attribute(name) {
            Some(Attr::Int(value)) if *value < 0 => (value + rank).clamp(0, rank),
            Some(Attr::Int(value)) => (*value).clamp(0, rank),
            _ => default,
        };
        let (start, end) = (bound("start", 0), bound("end", rank));
        let dims = static_shape(shape.get(start as usize..end.max(start) as usize)?)?;
        if node.op == "Size" {
            return Literal::scalar(DType::I64, dims.iter().product::<i64>().into());
        }
        Some(Literal::ints(&dims))
    }

    fn is_foldable(&self, id: ValueId, takes_parameters: bool) -> bool {
        match self.ir.value(id).and_then(|value| value.constant.as_deref()) {
            Some(Constant::Literal(_)) => true,
            Some(Constant::Weight { weight, .. }) => self.small_weight(*weight, takes_parameters).is_some(),
            _ => false,
        }
    }

    fn small_weight(&self, weight: u32, takes_parameters: bool) -> Option<&Weight> {
        let weight = self.program.weights.get(weight as usize)?;
        let count = weight.sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size))?;
        let is_small = match weight.kind {
            WeightKind::Parameter => {
                takes_parameters && self.options.fold_parameters && count <= MOST_PARAMETER_ELEMENTS
            }
            _ => weight.dtype.byte_len(count)? <= MOST_BUFFER_BYTES,
        };
        (is_small && !weight.dtype.is_complex() && weight.data.is_some()).then_some(weight)
    }

    /// Reads the bytes of a small weight, once.
    fn load_weight(&mut self, id: ValueId) {
        if !self.loaded.contains_key(&id) {
            let literal = self.small_literal(id);
            self.loaded.extend(literal.map(|literal| (id, literal)));
        }
    }

    /// A small weight as it is written.
    fn small_literal(&self, id: ValueId) -> Option<Literal> {
        let Constant::Weight { weight, permutation, sizes } = self.ir.value(id)?.constant.as_deref()? else {
            return None;
        };
        let mut literal = loaded(self.small_weight(*weight, true)?, self.load)?;
        if let Some(axes) = permutation {
            return transposed(&literal, axes);
        }
        if let Some(sizes) = sizes {
            literal.dims = sizes.iter().map(|&size| size as i64).collect();
        }
        Some(literal)
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::{Arg, Program};
    use modelexport_graph::onnx::{Model, TensorData};
    use modelexport_graph::{ModuleId, Scopes, SourceId, Span, StridedView, row_major_strides};

    use crate::test_program::{TestProgram, tensor};
    use crate::{Options, lower};

    /// `x + op(table)`, or `x + op(table, table)` for two names, with a parameter `table`. `apart`: `op` is in a
    /// module of its own.
    fn lowered(sizes: &[i64], options: &Options, op: &str, names: &[&str], apart: bool) -> Model {
        let mut program = TestProgram::new();
        let x = program.input("x", tensor(sizes));
        let table = program.parameter("table", tensor(sizes));
        let args: Vec<_> = names.iter().map(|&name| (name, Arg::Tensor(table))).collect();
        let made = program.node(op, &args, tensor(sizes));
        let args = [("self", Arg::Tensor(x)), ("other", Arg::Tensor(made))];
        let sum = program.node("aten.add.Tensor", &args, tensor(sizes));
        let mut program = program.outputs(&[sum]);
        if apart {
            let module = program.modules.insert("inner");
            let scope = program.scopes.child(Scopes::ROOT, module, 0);
            program.graph.nodes[0].scope = Some(scope);
        }
        exported(program, options)
    }

    /// Lowers a program whose only weight has the place of each element as its value.
    fn exported(mut program: Program, options: &Options) -> Model {
        let sizes = program.weights[0].sizes.clone();
        let length = 4 * sizes.iter().product::<u64>();
        let span = Span { source: SourceId(0), offset: 0, length };
        let strides = row_major_strides(&sizes);
        program.weights[0].data = Some(StridedView { span, offset: 0, sizes, strides });
        let bytes: Vec<u8> = (0..length / 4).flat_map(|place| (place as f32).to_le_bytes()).collect();
        lower(program, options, &|_| Some(bytes.clone())).unwrap().0
    }

    fn exponential(count: i64, options: &Options, apart: bool) -> Model {
        lowered(&[count], options, "aten.exp.default", &["self"], apart)
    }

    fn operators(model: &Model) -> Vec<&str> {
        model.graph.nodes.iter().map(|node| &*node.op_type).collect()
    }

    #[test]
    fn what_is_calculated_from_a_small_parameter_is_a_constant() {
        let small = exponential(8192, &Options::default(), false);
        assert_eq!(operators(&small), ["Add"]);
        assert!(small.graph.nodes[0].origin.as_ref().unwrap().fused.is_empty());
        assert_eq!(operators(&exponential(8193, &Options::default(), false)), ["Exp", "Add"]);
    }

    #[test]
    fn who_reads_what_a_module_made_of_its_parameters_names_that_module() {
        let model = exponential(2, &Options::default(), true);
        assert_eq!(operators(&model), ["Add"]);
        assert_eq!(model.graph.nodes[0].origin.as_ref().unwrap().fused, [ModuleId::ROOT, ModuleId(1)]);
    }

    #[test]
    fn a_module_that_only_multiplies_matrices_keeps_its_node() {
        let product =
            |apart| lowered(&[2, 2], &Options::default(), "aten.mm.default", &["self", "mat2"], apart);
        assert_eq!(operators(&product(true)), ["MatMul", "Add"]);
        assert_eq!(operators(&product(false)), ["Add"]);
    }

    /// `(x + table) * table.t()`.
    #[test]
    fn a_small_parameter_that_is_read_in_two_layouts_is_written_in_both() {
        let two_layouts = |size| {
            let mut program = TestProgram::new();
            let x = program.input("x", tensor(&[size, size]));
            let table = program.parameter("table", tensor(&[size, size]));
            let turned =
                program.node("aten.t.default", &[("self", Arg::Tensor(table))], tensor(&[size, size]));
            let args = [("self", Arg::Tensor(x)), ("other", Arg::Tensor(table))];
            let sum = program.node("aten.add.Tensor", &args, tensor(&[size, size]));
            let args = [("self", Arg::Tensor(sum)), ("other", Arg::Tensor(turned))];
            let product = program.node("aten.mul.Tensor", &args, tensor(&[size, size]));
            exported(program.outputs(&[product]), &Options::default())
        };
        assert_eq!(operators(&two_layouts(90)), ["Add", "Mul"]);
        assert_eq!(operators(&two_layouts(91)), ["Transpose", "Add", "Mul"]);
    }

    /// `x + table.t()[1]` with a table of two rows.
    #[test]
    fn what_is_read_of_a_small_parameter_in_another_layout_is_a_constant() {
        let mut program = TestProgram::new();
        let x = program.input("x", tensor(&[2]));
        let table = program.parameter("table", tensor(&[2, 3]));
        let turned = program.node("aten.t.default", &[("self", Arg::Tensor(table))], tensor(&[3, 2]));
        let args = [("self", Arg::Tensor(turned)), ("dim", Arg::Int(0)), ("index", Arg::Int(1))];
        let row = program.node("aten.select.int", &args, tensor(&[2]));
        let args = [("self", Arg::Tensor(x)), ("other", Arg::Tensor(row))];
        let sum = program.node("aten.add.Tensor", &args, tensor(&[2]));
        let model = exported(program.outputs(&[sum]), &Options::default());
        assert_eq!(operators(&model), ["Add"]);
        let [constant] = &model.graph.initializers[..] else { panic!("{:?}", model.graph.initializers) };
        let TensorData::Raw(bytes) = &constant.data else { panic!("{:?}", constant.data) };
        assert_eq!(bytes[..], [1f32, 4.0].map(f32::to_le_bytes).concat());
    }

    #[test]
    fn parameters_that_are_not_copied_stay_as_they_are() {
        let options = Options { fold_parameters: false, ..Options::default() };
        assert_eq!(operators(&exponential(2, &options, false)), ["Exp", "Add"]);
    }
}

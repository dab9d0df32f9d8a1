//! Computes nodes whose inputs are all constants: masks, index tables, shapes. Small buffers of the model count as
//! constants; its parameters do not, so that each module keeps the nodes that read its weights. Makes no nodes.

use std::collections::HashMap;

use modelexport_graph::aten::{Program, Weight, WeightKind};
use modelexport_graph::shape::static_shape;
use modelexport_graph::{DType, Dim};

use crate::evaluate::evaluate;
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

/// True if a node was computed. Results have at most `limit` bytes.
pub fn run(ir: &mut Ir, program: &Program, limit: usize, load: Load<'_>) -> bool {
    let mut graph = std::mem::take(&mut ir.graph);
    let changed = Folder { ir, program, limit, load, loaded: HashMap::new() }.graph(&mut graph);
    ir.graph = graph;
    changed
}

struct Folder<'a> {
    ir: &'a mut Ir,
    program: &'a Program,
    limit: usize,
    load: Load<'a>,
    /// Buffers that were read. Their values stay weights: a literal could be merged with equal ones, and nodes of
    /// other modules would read the buffer.
    loaded: HashMap<ValueId, Literal>,
}

impl Folder<'_> {
    fn graph(&mut self, graph: &mut Graph) -> bool {
        let outputs: std::collections::HashSet<ValueId> = graph.outputs.iter().copied().collect();
        let mut changed = false;
        let mut kept = Vec::with_capacity(graph.nodes.len());
        for mut node in std::mem::take(&mut graph.nodes) {
            for subgraph in node.subgraphs_mut() {
                changed |= self.graph(subgraph);
            }
            // A graph output must be made by a node.
            let is_output = node.outputs.iter().any(|output| outputs.contains(output));
            match if is_output { None } else { self.fold(&node) } {
                Some(literals) => {
                    changed = true;
                    for (&output, literal) in node.outputs.iter().zip(literals) {
                        self.set_constant(output, literal);
                    }
                }
                None => kept.push(node),
            }
        }
        graph.nodes = kept;
        changed
    }

    fn set_constant(&mut self, output: ValueId, literal: Literal) {
        if let Some(value) = self.ir.value_mut(output) {
            value.dtype = Some(literal.dtype);
            value.shape = Some(literal.dims.iter().map(|&dim| Dim::Static(dim)).collect());
            value.constant = Some(Constant::Literal(literal));
        }
    }

    fn fold(&mut self, node: &Node) -> Option<Vec<Literal>> {
        if let Some(shape) = self.fold_shape(node) {
            return Some(vec![shape]);
        }
        if node.inputs.is_empty() || node.inputs.iter().flatten().any(|&input| !self.is_foldable(input)) {
            return None;
        }
        for &input in node.inputs.iter().flatten() {
            self.load_buffer(input);
        }
        let mut inputs = Vec::with_capacity(node.inputs.len());
        for input in &node.inputs {
            inputs.push(match input {
                None => None,
                Some(input) => Some(self.ir.literal(*input).or_else(|| self.loaded.get(input))?),
            });
        }
        // Elements are at least one byte, so that no result within the limit is missed.
        let literals = evaluate(node, &inputs, self.limit)?;
        literals.iter().all(|literal| literal.bytes.len() <= self.limit).then_some(literals)
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

    fn is_foldable(&self, id: ValueId) -> bool {
        match self.ir.value(id).and_then(|value| value.constant.as_ref()) {
            Some(Constant::Literal(_)) => true,
            Some(Constant::Weight { weight, permutation: None, sizes: None }) => {
                self.small_buffer(*weight).is_some()
            }
            _ => false,
        }
    }

    fn small_buffer(&self, weight: u32) -> Option<&Weight> {
        let weight = self.program.weights.get(weight as usize)?;
        let count = weight.sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size))?;
        let bytes = weight.dtype.byte_len(count)?;
        let is_plain = weight.kind != WeightKind::Parameter && !weight.dtype.is_complex();
        (is_plain && bytes <= MOST_BUFFER_BYTES && weight.data.is_some()).then_some(weight)
    }

    /// Reads the bytes of a buffer, once.
    fn load_buffer(&mut self, id: ValueId) {
        let Some(Constant::Weight { weight, .. }) =
            self.ir.value(id).and_then(|value| value.constant.as_ref())
        else {
            return;
        };
        if self.loaded.contains_key(&id) {
            return;
        }
        let Some(weight) = self.small_buffer(*weight) else { return };
        self.loaded.extend(loaded(weight, self.load).map(|literal| (id, literal)));
    }
}

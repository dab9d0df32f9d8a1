//! What the inference says about nodes of the graph under construction: element types, and shapes that contradict each
//! other, found where the nodes for one ATen node were emitted.
//!
//! Operands that do not broadcast, matrices that do not fit and results of another shape than the program says are
//! contradictions. Only numbers can contradict each other; a symbolic size fits everything.

use std::borrow::Cow;

use modelexport_graph::{DType, Dim};
use modelexport_inference::{Attributes, Operation, Size, ValueType, element_type, outputs};

use crate::ir::{Attr, Ir, Node, ValueId};
use crate::literal::Literal;

/// Longer lists of integers are no shapes.
const LONGEST: usize = 64;

/// The element types of the outputs.
pub fn element_types(ir: &Ir, opset: i64, node: &Node) -> Vec<Option<DType>> {
    let bare = |value: ValueId| ValueType::tensor(ir.dtype(value), None);
    let inputs: Vec<Option<ValueType>> = node.inputs.iter().map(|input| input.map(bare)).collect();
    let operation = Operation::new((&*node.domain, &*node.op, opset), node, &inputs, node.outputs.len());
    (0..node.outputs.len()).map(|i| element_type(&operation, i)).collect()
}

/// True if the known shapes of what `node` reads and gives cannot be.
pub fn contradict(ir: &Ir, opset: i64, node: &Node) -> bool {
    if have_one_shape(ir, node) {
        return false;
    }
    let inputs: Vec<Option<ValueType>> =
        node.inputs.iter().map(|input| input.map(|value| value_type(ir, value))).collect();
    let name = (&*node.domain, &*node.op, opset);
    let Ok(expected) = outputs(&Operation::new(name, node, &inputs, node.outputs.len())) else { return true };
    let shape = |dims| ValueType::tensor(None, dims);
    let mut pairs = expected.into_iter().zip(&node.outputs);
    pairs.any(|(expected, &output)| shape(dims(ir, output)).contradiction(&shape(expected.dims)).is_some())
}

/// Operands and result of one shape, which most operators on elements have. Only these operators: a product of matrices
/// of one shape may well be wrong.
fn have_one_shape(ir: &Ir, node: &Node) -> bool {
    let is_on_elements = matches!(&*node.op, "Add" | "Sub" | "Mul" | "Div");
    let shape = node.outputs.first().and_then(|&output| ir.shape(output));
    is_on_elements
        && shape.is_some()
        && node.inputs.iter().all(|input| input.and_then(|value| ir.shape(value)) == shape)
}

fn dims(ir: &Ir, value: ValueId) -> Option<Vec<Size>> {
    ir.shape(value).map(|shape| shape.iter().map(|dim| Dim::as_static(dim).into()).collect())
}

fn value_type(ir: &Ir, value: ValueId) -> ValueType {
    let content = ir.literal(value).and_then(content);
    ValueType { content, ..ValueType::tensor(ir.dtype(value), dims(ir, value)) }
}

fn content(literal: &Literal) -> Option<Vec<Size>> {
    let is_small = literal.element_count() <= LONGEST;
    Some(literal.as_ints().filter(|_| is_small)?.into_iter().map(Size::Known).collect())
}

impl Attributes for Node {
    fn int(&self, name: &str) -> Option<i64> {
        match self.attribute(name)? {
            Attr::Int(value) => Some(*value),
            _ => None,
        }
    }

    fn ints(&self, name: &str) -> Option<Cow<'_, [i64]>> {
        match self.attribute(name)? {
            Attr::Ints(values) => Some(Cow::Borrowed(values)),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.attribute(name)? {
            Attr::Str(text) => Some(text),
            _ => None,
        }
    }

    fn value_type(&self, name: &str) -> Option<ValueType> {
        let scalar = |dtype| ValueType::tensor(Some(dtype), Some(Vec::new()));
        match self.attribute(name)? {
            Attr::Tensor(literal) => {
                let dims = literal.dims.iter().map(|&dim| Size::Known(dim)).collect();
                Some(ValueType {
                    content: content(literal),
                    ..ValueType::tensor(Some(literal.dtype), Some(dims))
                })
            }
            Attr::Int(_) => Some(scalar(DType::I64)),
            Attr::Float(_) => Some(scalar(DType::F32)),
            _ => None,
        }
    }
}

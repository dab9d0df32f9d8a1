//! The nodes of a foreign graph, as an alignment sees them.

use modelexport_graph::DType;
use modelexport_graph::onnx::{DimensionValue, TypeKind};

use super::super::graph::{GraphView, NodeId, ValueId, ValueKind};
use super::reference::Fact;

/// What a node reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// The result of an earlier node; index into [`Foreign::nodes`].
    Node(u32),
    /// An input of the model, by its place.
    Input(u32),
    /// A weight of the reference.
    Weight(u32),
    /// A tensor that is no weight of the reference: folded values, numbers.
    Constant,
}

#[derive(Clone, Debug)]
pub struct ForeignNode {
    pub id: NodeId,
    pub operands: Vec<Operand>,
    /// Type and sizes of the first result, where the file tells them.
    pub result: Option<Fact>,
    /// The place among the model's outputs.
    pub output: Option<u32>,
}

/// Nodes in the order of the file, without constants and copies of constants.
#[derive(Debug)]
pub struct Foreign<'v, 'm> {
    pub view: &'v GraphView<'m>,
    pub nodes: Vec<ForeignNode>,
    /// By [`NodeId`]: index into `nodes`.
    pub place: Vec<Option<u32>>,
}

impl<'v, 'm> Foreign<'v, 'm> {
    /// `weight_of` says which weight of the reference a value is.
    pub fn new(view: &'v GraphView<'m>, weight_of: &dyn Fn(ValueId) -> Option<u32>) -> Self {
        let mut foreign = Foreign { view, nodes: Vec::new(), place: vec![None; view.len()] };
        let operands = foreign.main_inputs();
        // By value; a copy of a constant is that constant.
        let mut known: Vec<Option<Operand>> = operands;
        for (id, value) in view.values() {
            if let ValueKind::Initializer(_) = value.kind
                && let Some(slot) = known.get_mut(id.0 as usize)
            {
                *slot = Some(weight_of(id).map_or(Operand::Constant, Operand::Weight));
            }
        }
        let outputs = foreign.main_outputs();
        for (id, entry) in view.nodes() {
            if entry.key.function.is_some() {
                continue;
            }
            let operand = |value: ValueId| known.get(value.0 as usize).copied().flatten();
            let constant = match &*entry.node.op_type {
                "Constant" => Some(Operand::Constant),
                "Identity" => view
                    .inputs(id)
                    .next()
                    .and_then(operand)
                    .filter(|operand| matches!(operand, Operand::Weight(_) | Operand::Constant)),
                _ => None,
            };
            let operands = view.inputs(id).map(|value| operand(value).unwrap_or(Operand::Constant)).collect();
            let place = foreign.nodes.len() as u32;
            let result = constant.unwrap_or(Operand::Node(place));
            for output in view.outputs(id) {
                if let Some(slot) = known.get_mut(output.0 as usize) {
                    *slot = Some(result);
                }
            }
            if constant.is_some() {
                continue;
            }
            if let Some(slot) = foreign.place.get_mut(id.0 as usize) {
                *slot = Some(place);
            }
            let first = view.outputs(id).first().copied();
            let output =
                view.outputs(id).iter().find_map(|value| outputs.get(value.0 as usize).copied().flatten());
            let result = first.and_then(|value| fact(view, value));
            foreign.nodes.push(ForeignNode { id, operands, result, output });
        }
        foreign
    }

    pub fn operator(&self, node: &ForeignNode) -> &'m str {
        self.view.node(node.id).map_or("", |node| &*node.op_type)
    }

    fn main_inputs(&self) -> Vec<Option<Operand>> {
        let mut known = vec![None; self.view.value_count()];
        let mut place = 0;
        for input in &self.view.model.graph.inputs {
            let Some(id) = self.view.find_value(&input.name) else { continue };
            if let (Some(slot), Some(ValueKind::Input)) =
                (known.get_mut(id.0 as usize), self.view.value(id).map(|value| value.kind))
            {
                *slot = Some(Operand::Input(place));
                place += 1;
            }
        }
        known
    }

    fn main_outputs(&self) -> Vec<Option<u32>> {
        let mut places = vec![None; self.view.value_count()];
        for (i, output) in self.view.model.graph.outputs.iter().enumerate() {
            if let Some(slot) =
                self.view.find_value(&output.name).and_then(|id| places.get_mut(id.0 as usize))
            {
                *slot = Some(i as u32);
            }
        }
        places
    }
}

/// What the file says of a value.
fn fact(view: &GraphView<'_>, value: ValueId) -> Option<Fact> {
    let info = view.value(value)?.info?;
    let TypeKind::Tensor { elem_type, shape: Some(shape) } = &info.value_type.as_ref()?.kind else {
        return None;
    };
    let sizes = shape
        .iter()
        .map(|dimension| match &dimension.value {
            DimensionValue::Static(size) => Some(*size),
            _ => None,
        })
        .collect();
    Some(Fact { dtype: DType::from_onnx_code(*elem_type)?, sizes })
}

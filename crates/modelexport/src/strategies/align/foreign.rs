//! The nodes of a foreign graph, as an alignment sees them.

use std::collections::HashMap;

use modelexport_graph::Name;

use super::super::facts::Fact;
use super::super::graph::{GraphView, NodeId, ValueId, ValueKind};
use super::super::lists::Lists;

/// What a node reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Operand {
    /// The result of an earlier node; index into [`Foreign::nodes`].
    Node(u32),
    /// An input of the model, by its place in the reference.
    Input(u32),
    /// A weight of the reference.
    Weight(u32),
    /// A tensor that is no weight of the reference: folded values, numbers.
    Constant,
    /// A number that was computed from sizes of tensors.
    Size,
}

/// Operators that exporters use to compute sizes.
const SIZE_OPERATORS: &[&str] = &[
    "Add",
    "Cast",
    "Ceil",
    "Concat",
    "ConstantOfShape",
    "Div",
    "Equal",
    "Floor",
    "Gather",
    "Identity",
    "Max",
    "Min",
    "Mod",
    "Mul",
    "Neg",
    "ReduceProd",
    "Reshape",
    "Slice",
    "Squeeze",
    "Sub",
    "Transpose",
    "Unsqueeze",
    "Where",
];

/// Whether exporters use an operator to compute sizes from sizes.
pub(crate) fn is_size_operator(operator: &str) -> bool {
    SIZE_OPERATORS.contains(&operator)
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct ForeignNode {
    pub id: NodeId,
    /// The first result.
    pub result: Option<ValueId>,
    /// The place among the model's outputs.
    pub output: Option<u32>,
    /// Depends on no weight, and on no input of the model but by its sizes.
    pub is_fixed: bool,
}

/// Nodes in the order of the file, without constants, copies of constants and computations of sizes.
#[derive(Debug)]
pub(crate) struct Foreign<'v> {
    pub view: &'v GraphView,
    pub nodes: Vec<ForeignNode>,
    /// By node of `nodes`.
    operands: Lists<Operand>,
    /// By [`NodeId`]: index into `nodes`.
    pub place: Vec<Option<u32>>,
    /// TorchScript's exporter wrote the file: it is known by the names that it gives to weights it made.
    pub is_of_torchscript: bool,
}

impl<'v> Foreign<'v> {
    /// `inputs` are those of the reference, and `weight_of` says which weight of the reference a value is.
    pub(crate) fn new(
        view: &'v GraphView,
        inputs: &[Name],
        weight_of: &dyn Fn(ValueId) -> Option<u32>,
    ) -> Self {
        let is_of_torchscript =
            view.main_initializers().any(|weight| view.value_name(weight).starts_with("onnx::"));
        let mut foreign = Foreign {
            view,
            nodes: Vec::with_capacity(view.len()),
            operands: Lists::with_capacity(view.len()),
            place: vec![None; view.len()],
            is_of_torchscript,
        };
        let operands = foreign.main_inputs(inputs);
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
        let mut operands: Vec<Operand> = Vec::new();
        for (id, entry) in view.nodes() {
            if entry.function().is_some() {
                continue;
            }
            let operand = |value: ValueId| known.get(value.0 as usize).copied().flatten();
            operands.clear();
            operands.extend(view.inputs(id).map(|value| operand(value).unwrap_or(Operand::Constant)));
            let left_out = left_out(view.text(entry.op_type), &operands, foreign.is_of_torchscript);
            let place = foreign.nodes.len() as u32;
            let result = left_out.unwrap_or(Operand::Node(place));
            for output in view.outputs(id) {
                if let Some(slot) = known.get_mut(output.0 as usize) {
                    *slot = Some(result);
                }
            }
            if left_out.is_some() {
                continue;
            }
            if let Some(slot) = foreign.place.get_mut(id.0 as usize) {
                *slot = Some(place);
            }
            let first = view.outputs(id).first().copied();
            let output = view.outputs(id).iter().find_map(|value| outputs.get(value).copied());
            let is_fixed = operands.iter().all(|operand| match operand {
                Operand::Node(place) => foreign.nodes.get(*place as usize).is_some_and(|node| node.is_fixed),
                Operand::Input(_) | Operand::Weight(_) => false,
                Operand::Constant | Operand::Size => true,
            });
            foreign.nodes.push(ForeignNode { id, result: first, output, is_fixed });
            foreign.operands.push(operands.iter().copied());
        }
        foreign
    }

    /// What the node number `place` reads, in its order.
    pub(crate) fn operands(&self, place: u32) -> &[Operand] {
        self.operands.get(place)
    }

    /// Type and sizes of the first result of a node, where the file tells them.
    pub(crate) fn result(&self, node: &ForeignNode) -> Option<&Fact> {
        self.view.fact(node.result?)
    }

    pub(crate) fn operator(&self, node: &ForeignNode) -> &'v str {
        self.view.operator(node.id)
    }

    /// By value: the input of the reference that it is, by name, or by place if no input has a known name.
    fn main_inputs(&self, inputs: &[Name]) -> Vec<Option<Operand>> {
        let mut known = vec![None; self.view.value_count()];
        let given: Vec<ValueId> = self
            .view
            .main_inputs()
            .filter(|id| matches!(self.view.value(*id).map(|value| value.kind), Some(ValueKind::Input)))
            .collect();
        let named = |id: &ValueId| {
            let name = self.view.value_name(*id);
            inputs.iter().position(|input| **input == *name)
        };
        let by_name = given.iter().any(|id| named(id).is_some());
        for (place, id) in given.iter().enumerate() {
            let place = if by_name { named(id) } else { Some(place) };
            if let Some(slot) = known.get_mut(id.0 as usize) {
                *slot = Some(place.map_or(Operand::Constant, |place| Operand::Input(place as u32)));
            }
        }
        known
    }

    /// The values that are outputs of the model, with their places.
    fn main_outputs(&self) -> HashMap<ValueId, u32> {
        self.view.main_outputs().zip(0..).filter_map(|(output, place)| Some((output?, place))).collect()
    }
}

/// What a node gives that is no part of an alignment: constants, copies of constants, sizes.
/// TorchScript's exporter leaves computations with constants as they are; elsewhere they stand for steps.
fn left_out(operator: &str, operands: &[Operand], is_of_torchscript: bool) -> Option<Operand> {
    let is_number = |operand: &Operand| matches!(operand, Operand::Constant | Operand::Size);
    match (operator, operands) {
        ("Constant", _) => Some(Operand::Constant),
        ("Shape" | "Size", _) => Some(Operand::Size),
        ("Identity", [copied @ (Operand::Weight(_) | Operand::Constant)]) => Some(*copied),
        _ if is_size_operator(operator)
            && (is_of_torchscript || operands.contains(&Operand::Size))
            && operands.iter().all(is_number) =>
        {
            Some(Operand::Size)
        }
        _ => None,
    }
}

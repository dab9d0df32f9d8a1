//! Large constants that were computed from the same inputs before: each layer of a model asks for its mask.

use std::borrow::Cow;

use modelexport_graph::hash::HashMap;

use crate::ir::{Attrs, Ir, Node, ValueId};
use crate::literal::Literal;

/// Results below this size are computed as fast as they are found.
const LEAST_BYTES: usize = 1 << 10;

#[derive(Default)]
pub struct KnownResults {
    results: HashMap<Inputs, Vec<Computed>>,
    /// The first value with the same contents, for values that were found.
    first: HashMap<ValueId, ValueId>,
}

/// Operator and what it reads.
type Inputs = (Cow<'static, str>, Vec<Option<ValueId>>);

/// What a node with these attributes gave.
struct Computed {
    attributes: Attrs,
    outputs: Vec<ValueId>,
}

impl KnownResults {
    /// What `node` gives, if an equal node was computed.
    pub fn find(&mut self, node: &Node, ir: &Ir) -> Option<Vec<Literal>> {
        let known = self.results.get(&self.inputs(node))?;
        let equal = known
            .iter()
            .find(|known| known.outputs.len() == node.outputs.len() && known.attributes == node.attributes)?;
        let literals = equal
            .outputs
            .iter()
            .map(|&output| ir.literal(output).cloned())
            .collect::<Option<Vec<Literal>>>()?;
        self.first.extend(node.outputs.iter().copied().zip(equal.outputs.iter().copied()));
        Some(literals)
    }

    /// Remembers that `node` gave `literals`, which become the contents of its outputs.
    pub fn note(&mut self, node: &Node, literals: &[Literal]) {
        if literals.iter().map(|literal| literal.bytes.len()).sum::<usize>() >= LEAST_BYTES {
            let computed = Computed { attributes: node.attributes.clone(), outputs: node.outputs.clone() };
            self.results.entry(self.inputs(node)).or_default().push(computed);
        }
    }

    fn inputs(&self, node: &Node) -> Inputs {
        let first = |id: &ValueId| *self.first.get(id).unwrap_or(id);
        (node.op.clone(), node.inputs.iter().map(|input| input.as_ref().map(first)).collect())
    }
}

#[cfg(test)]
mod tests {
    use modelexport_graph::onnx::Origin;
    use modelexport_graph::{DType, Scopes};

    use super::*;
    use crate::attrs;
    use crate::ir::{Constant, Value};

    fn node(op: &'static str, inputs: &[u32], output: u32, attributes: Attrs) -> Node {
        Node {
            op: op.into(),
            domain: "".into(),
            inputs: inputs.iter().map(|&input| Some(ValueId(input))).collect(),
            outputs: vec![ValueId(output)],
            attributes,
            origin: Origin::direct(Scopes::ROOT, None),
            shared_by: Vec::new(),
        }
    }

    fn zeros(count: usize) -> Literal {
        Literal { dtype: DType::U8, dims: vec![count as i64], bytes: vec![0; count] }
    }

    /// Values 0 to 9, each of them large zeros.
    fn constants() -> Ir {
        let value =
            Value { constant: Some(Constant::Literal(zeros(LEAST_BYTES)).into()), ..Value::default() };
        let mut ir = Ir::default();
        ir.values = vec![value; 10];
        ir
    }

    #[test]
    fn equal_nodes_are_found_and_so_is_what_reads_them() {
        let (ir, mut known) = (constants(), KnownResults::default());
        known.note(&node("Cast", &[0], 1, attrs![to = 1]), &[zeros(LEAST_BYTES)]);
        known.note(&node("Neg", &[1], 2, vec![]), &[zeros(LEAST_BYTES)]);
        assert_eq!(known.find(&node("Cast", &[0], 3, attrs![to = 1]), &ir), Some(vec![zeros(LEAST_BYTES)]));
        assert_eq!(known.find(&node("Neg", &[3], 4, vec![]), &ir), Some(vec![zeros(LEAST_BYTES)]));
    }

    #[test]
    fn other_operators_inputs_and_attributes_are_not_found() {
        let (ir, mut known) = (constants(), KnownResults::default());
        known.note(&node("Cast", &[0], 1, attrs![to = 1]), &[zeros(LEAST_BYTES)]);
        assert_eq!(known.find(&node("Cast", &[0], 3, attrs![to = 7]), &ir), None);
        assert_eq!(known.find(&node("Cast", &[2], 3, attrs![to = 1]), &ir), None);
        assert_eq!(known.find(&node("Neg", &[0], 3, attrs![to = 1]), &ir), None);
    }

    #[test]
    fn small_results_are_not_kept() {
        let (ir, mut known) = (constants(), KnownResults::default());
        known.note(&node("Neg", &[0], 1, vec![]), &[zeros(LEAST_BYTES - 1)]);
        assert_eq!(known.find(&node("Neg", &[0], 2, vec![]), &ir), None);
    }
}

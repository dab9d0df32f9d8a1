//! Multiplies matrices in as many batch axes as they come in: `MatMul` takes any number, so that the reshapes of both
//! operands to three axes, and of the product back, are not needed. The product keeps its origin, and reads no further
//! up than the call that it is in. Makes no nodes.

use std::collections::HashMap;

use modelexport_graph::{Dim, ScopeId};

use super::uses::Uses;
use crate::ir::{Graph, Ir, Node, ValueId};

/// True if a product reads from further up.
pub fn run(ir: &mut Ir) -> bool {
    let uses = Uses::of(ir);
    let mut graph = std::mem::take(&mut ir.graph);
    let changed = widen(&mut graph, ir, &uses);
    ir.graph = graph;
    changed
}

/// What reshapes make, from what, and in which call.
type Reshaped = HashMap<ValueId, (ValueId, ScopeId)>;

fn widen(graph: &mut Graph, ir: &Ir, uses: &Uses) -> bool {
    let mut changed = false;
    let mut reshaped: Reshaped = HashMap::new();
    let mut products: HashMap<ValueId, usize> = HashMap::new();
    let mut kept: Vec<Node> = Vec::with_capacity(graph.nodes.len());
    for mut node in std::mem::take(&mut graph.nodes) {
        for subgraph in node.subgraphs_mut() {
            changed |= widen(subgraph, ir, uses);
        }
        let (from, to) = (node.inputs.first().copied().flatten(), node.outputs.first().copied());
        let (Some(from), Some(to), "") = (from, to, &*node.domain) else {
            kept.push(node);
            continue;
        };
        match &*node.op {
            "MatMul" => {
                products.insert(to, kept.len());
            }
            "Reshape" => {
                let product = products.get(&from).filter(|_| uses.count(from) == 1);
                let product = product.and_then(|&position| kept.get_mut(position));
                if let Some(product) = product.filter(|product| product.origin.scope == node.origin.scope)
                    && let Some(operands) = operands(product, to, ir, &reshaped)
                {
                    product.inputs = operands.map(Some).to_vec();
                    product.outputs = vec![to];
                    changed = true;
                    continue;
                }
                reshaped.insert(to, (from, node.origin.scope));
            }
            _ => {}
        }
        kept.push(node);
    }
    graph.nodes = kept;
    changed
}

/// What the operands of `product` were before they had three axes, if their product is then as `result` is.
fn operands(product: &Node, result: ValueId, ir: &Ir, reshaped: &Reshaped) -> Option<[ValueId; 2]> {
    let (batch, [rows, columns]) = matrices(ir.shape(result)?)?;
    let [Some(left), Some(right)] = *product.inputs.as_slice() else { return None };
    let before = |operand: ValueId| {
        let &(from, _) = reshaped.get(&operand).filter(|(_, scope)| *scope == product.origin.scope)?;
        let (outer, matrix) = matrices(ir.shape(from)?)?;
        let (flat, same) = matrices(ir.shape(operand)?)?;
        (outer == batch && flat.len() == 1 && matrix == same).then_some((from, matrix))
    };
    let (left, [left_rows, inner]) = before(left)?;
    let (right, [right_inner, right_columns]) = before(right)?;
    (left_rows == rows && right_columns == columns && inner == right_inner).then_some([left, right])
}

/// The batch axes, and the two of the matrix.
fn matrices(shape: &[Dim]) -> Option<(&[Dim], &[Dim; 2])> {
    shape.split_last_chunk::<2>()
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::Arg;

    use crate::test_program::{TestProgram, tensor};
    use crate::{Options, lower};

    /// Operators of a product of `left` and `right`, both flattened to three axes, whose result becomes `result`.
    fn operators(left: &[i64], right: &[i64], result: &[i64]) -> Vec<String> {
        let mut program = TestProgram::new();
        let view = |program: &mut TestProgram, from, sizes: &[i64]| {
            let args = [("self", Arg::Tensor(from)), ("size", Arg::Ints(sizes.to_vec()))];
            program.node("aten.view.default", &args, tensor(sizes))
        };
        let flat = |sizes: &[i64]| {
            let (batch, matrix) = sizes.split_at(sizes.len() - 2);
            vec![batch.iter().product(), matrix[0], matrix[1]]
        };
        let operands = [("a", left), ("b", right)].map(|(name, sizes)| {
            let input = program.input(name, tensor(sizes));
            view(&mut program, input, &flat(sizes))
        });
        let args = [("self", Arg::Tensor(operands[0])), ("mat2", Arg::Tensor(operands[1]))];
        let product = program.node("aten.bmm.default", &args, tensor(&flat(result)));
        let product = view(&mut program, product, result);
        let model = lower(program.outputs(&[product]), &Options::default(), &|_| None).unwrap().0;
        model.graph.nodes.iter().map(|node| node.op_type.to_string()).collect()
    }

    #[test]
    fn batch_axes_stay_as_they_are() {
        assert_eq!(operators(&[2, 3, 4, 5], &[2, 3, 5, 6], &[2, 3, 4, 6]), ["MatMul"]);
    }

    #[test]
    fn other_batch_axes_stay_flattened() {
        let flattened = ["Reshape", "Reshape", "MatMul", "Reshape"];
        assert_eq!(operators(&[2, 3, 4, 5], &[3, 2, 5, 6], &[2, 3, 4, 6]), flattened);
        assert_eq!(operators(&[2, 3, 4, 5], &[2, 3, 5, 6], &[3, 2, 4, 6]), flattened);
    }
}

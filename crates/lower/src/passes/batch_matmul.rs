//! Multiplies matrices in as many batch axes as they come in: `MatMul` takes any number, so that the reshapes of both
//! operands to three axes, and of the product back, are not needed. Where all batch axes but the last are 1, an operand
//! that has three axes for another reason may keep them: the other one gives the product its axes. The product keeps its
//! origin, and reads no further up than the call that it is in. Makes no nodes.

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

/// What `product` can multiply instead of operands with three axes, if the product is then as `result` is.
fn operands(product: &Node, result: ValueId, ir: &Ir, reshaped: &Reshaped) -> Option<[ValueId; 2]> {
    let (batch, [rows, columns]) = matrices(ir.shape(result)?)?;
    let [Some(left), Some(right)] = *product.inputs.as_slice() else { return None };
    let (innermost, outer) = batch.split_last()?;
    let is_broadcast = outer.iter().all(|dim| *dim == Dim::Static(1));
    let before = |operand: ValueId| {
        let (flat, matrix) = matrices(ir.shape(operand)?)?;
        let from = reshaped.get(&operand).filter(|(_, scope)| *scope == product.origin.scope);
        let from = from.map(|(from, _)| *from).filter(|from| {
            ir.shape(*from).and_then(matrices).is_some_and(|wide| wide == (batch, matrix) && flat.len() == 1)
        });
        let stays = || (is_broadcast && flat == [innermost.clone()]).then_some(operand);
        Some((from.or_else(stays)?, from.is_some(), matrix))
    };
    let (left, is_left_wide, [left_rows, inner]) = before(left)?;
    let (right, is_right_wide, [right_inner, right_columns]) = before(right)?;
    let fits = left_rows == rows && right_columns == columns && inner == right_inner;
    (fits && (is_left_wide || is_right_wide)).then_some([left, right])
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

    /// Operators of a product of `left`, flattened to three axes, with `right` as it is.
    fn operators_with_one_flattened(left: &[i64], right: &[i64], result: &[i64]) -> Vec<String> {
        let mut program = TestProgram::new();
        let view = |program: &mut TestProgram, from, sizes: &[i64]| {
            let args = [("self", Arg::Tensor(from)), ("size", Arg::Ints(sizes.to_vec()))];
            program.node("aten.view.default", &args, tensor(sizes))
        };
        let (wide, other) = (program.input("a", tensor(left)), program.input("b", tensor(right)));
        let flat = view(&mut program, wide, &[right[0], left[left.len() - 2], left[left.len() - 1]]);
        let args = [("self", Arg::Tensor(flat)), ("mat2", Arg::Tensor(other))];
        let product = [right[0], result[result.len() - 2], result[result.len() - 1]];
        let product = program.node("aten.bmm.default", &args, tensor(&product));
        let product = view(&mut program, product, result);
        let model = lower(program.outputs(&[product]), &Options::default(), &|_| None).unwrap().0;
        model.graph.nodes.iter().map(|node| node.op_type.to_string()).collect()
    }

    #[test]
    fn an_operand_of_three_axes_is_enough_beside_axes_of_one() {
        assert_eq!(operators_with_one_flattened(&[1, 3, 4, 5], &[3, 5, 6], &[1, 3, 4, 6]), ["MatMul"]);
        let flattened = ["Reshape", "MatMul", "Reshape"];
        assert_eq!(operators_with_one_flattened(&[3, 1, 4, 5], &[3, 5, 6], &[3, 1, 4, 6]), flattened);
        assert_eq!(operators_with_one_flattened(&[2, 3, 4, 5], &[6, 5, 6], &[2, 3, 4, 6]), flattened);
    }

    #[test]
    fn other_batch_axes_stay_flattened() {
        let flattened = ["Reshape", "Reshape", "MatMul", "Reshape"];
        assert_eq!(operators(&[2, 3, 4, 5], &[3, 2, 5, 6], &[2, 3, 4, 6]), flattened);
        assert_eq!(operators(&[2, 3, 4, 5], &[2, 3, 5, 6], &[3, 2, 4, 6]), flattened);
    }
}

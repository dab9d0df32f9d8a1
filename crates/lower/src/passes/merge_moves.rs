//! Reads through moves of elements: a transpose of a transpose and a reshape of a reshape (axes of one that are put in or
//! taken out are reshapes, too) read what the first one reads; moves that bring the first order or shape back are taken
//! out. The second keeps its origin and remembers the calls of those that it reads through, which go if nothing else
//! reads them; of moves that are taken out, their readers remember the calls. Makes no nodes.

use modelexport_graph::ScopeId;
use modelexport_graph::hash::HashMap;
use modelexport_graph::shape::static_shape;

use super::readers::Readers;
use crate::ir::{Attr, Graph, Ir, Node, ValueId};
use crate::literal::Literal;

/// True if a node reads from further up.
pub fn run(ir: &mut Ir, readers: &Readers<'_>) -> bool {
    let mut graph = std::mem::take(&mut ir.graph);
    let mut merger = Merger { ir, readers, moves: HashMap::default(), undone: HashMap::default() };
    let changed = merger.read_through(&mut graph);
    let undone = merger.undone;
    if !undone.is_empty() {
        tell_readers(&mut graph, &undone);
    }
    ir.graph = graph;
    if changed {
        // Moves that undo each other are copies now.
        super::identity::run(ir, readers);
    }
    changed
}

/// Remembers that `node` also does what nodes of other calls did.
fn note_sharing(node: &mut Node, others: &[ScopeId]) {
    if node.shared_by.is_empty() && others.iter().all(|other| *other == node.origin.scope) {
        return;
    }
    if node.shared_by.is_empty() {
        node.shared_by.push(node.origin.scope);
    }
    for other in others {
        if !node.shared_by.contains(other) {
            node.shared_by.push(*other);
        }
    }
}

/// Nodes that read what moves of several calls left as it was do the work of these calls, too: they see a shape or an
/// order that their own call did not see.
fn tell_readers(graph: &mut Graph, undone: &HashMap<ValueId, Vec<ScopeId>>) {
    for node in &mut graph.nodes {
        let read: Vec<ValueId> = node.inputs.iter().flatten().copied().collect();
        for calls in read.iter().filter_map(|input| undone.get(input)) {
            note_sharing(node, calls);
        }
        node.subgraphs_mut().for_each(|subgraph| tell_readers(subgraph, undone));
    }
}

/// How a value was made by a move.
#[derive(Clone)]
struct Move {
    from: ValueId,
    /// The order of the axes, for a transpose; a reshape otherwise.
    axes: Option<Vec<i64>>,
    /// The axes of one that an `Unsqueeze` puts in.
    put_in: Option<Vec<usize>>,
    /// The calls whose moves it stands for.
    calls: Vec<ScopeId>,
}

struct Merger<'a, 'p> {
    ir: &'a mut Ir,
    readers: &'a Readers<'p>,
    /// By value.
    moves: HashMap<ValueId, Move>,
    /// Results of moves that undo each other, with the calls of these moves if there are several.
    undone: HashMap<ValueId, Vec<ScopeId>>,
}

impl Merger<'_, '_> {
    fn read_through(&mut self, graph: &mut Graph) -> bool {
        let mut changed = false;
        for node in &mut graph.nodes {
            let input = node.inputs.first().copied().flatten();
            let earlier = input.and_then(|input| self.moves.get(&input).cloned());
            let scope = node.origin.scope;
            if let Some(earlier) =
                earlier.filter(|earlier| self.readers.may_read(self.ir, earlier.from, scope))
                && merge(node, &earlier, self.ir)
            {
                changed = true;
                note_sharing(node, &earlier.calls);
                if node.op == "Identity"
                    && !node.shared_by.is_empty()
                    && let Some(&output) = node.outputs.first()
                {
                    self.undone.insert(output, node.shared_by.clone());
                }
            }
            self.note(node);
            for subgraph in node.subgraphs_mut() {
                changed |= self.read_through(subgraph);
            }
        }
        changed
    }

    fn note(&mut self, node: &Node) {
        let (Some(from), Some(&to)) = (node.inputs.first().copied().flatten(), node.outputs.first()) else {
            return;
        };
        let axes = axes_of(node);
        if axes.is_none() && !is_reshape(node) {
            return;
        }
        let calls = if node.shared_by.is_empty() { vec![node.origin.scope] } else { node.shared_by.clone() };
        let put_in = put_in(node, self.ir);
        self.moves.insert(to, Move { from, axes: axes.map(<[i64]>::to_vec), put_in, calls });
    }
}

/// Makes `node` do the work of an earlier move, too, if it can.
fn merge(node: &mut Node, earlier: &Move, ir: &mut Ir) -> bool {
    let from = earlier.from;
    match (axes_of(node), &earlier.axes) {
        (Some(outer), Some(inner)) => {
            let composed: Option<Vec<i64>> =
                outer.iter().map(|&axis| inner.get(usize::try_from(axis).ok()?).copied()).collect();
            let Some(composed) = composed else { return false };
            node.inputs = vec![Some(from)];
            if composed.iter().copied().eq(0..composed.len() as i64) {
                copy(node, from);
            } else {
                node.attributes = crate::attrs![perm = composed];
            }
            true
        }
        (None, None) if is_reshape(node) && has_shape_of(node, from, ir) => {
            copy(node, from);
            true
        }
        (None, None) if is_plain_reshape(node, ir) => match node.inputs.first_mut() {
            Some(slot) => {
                *slot = Some(from);
                true
            }
            None => false,
        },
        (None, None) if is_reshape(node) && earlier.calls == [node.origin.scope] => {
            merge_axes_of_one(node, earlier, ir).is_some()
        }
        _ => false,
    }
}

/// Makes an `Unsqueeze`, `Squeeze` or `Flatten` read through an earlier reshape of the same call. Across calls, what
/// stands between two modules stays a value of its own.
fn merge_axes_of_one(node: &mut Node, earlier: &Move, ir: &mut Ir) -> Option<()> {
    let shape = ir.shape(*node.outputs.first()?)?;
    let (op, operand) = match (put_in(node, ir), &earlier.put_in) {
        (Some(outer), Some(inner)) => {
            let kept = (0..shape.len()).filter(|axis| !outer.contains(axis));
            let moved = kept.enumerate().filter(|(axis, _)| inner.contains(axis)).map(|(_, axis)| axis);
            let mut axes: Vec<i64> = moved.chain(outer.iter().copied()).map(|axis| axis as i64).collect();
            axes.sort_unstable();
            ("Unsqueeze", axes)
        }
        // In the target of a `Reshape`, 0 stands for another size.
        _ => ("Reshape", static_shape(shape).filter(|sizes| !sizes.contains(&0))?),
    };
    let operand = ir.add_literal(Literal::ints(&operand));
    node.op = op.into();
    node.inputs = vec![Some(earlier.from), Some(operand)];
    node.attributes.clear();
    Some(())
}

fn put_in(node: &Node, ir: &Ir) -> Option<Vec<usize>> {
    if node.op != "Unsqueeze" || !node.domain.is_empty() {
        return None;
    }
    let rank = ir.shape(*node.outputs.first()?)?.len() as i64;
    let axes = ir.literal(node.inputs.get(1).copied().flatten()?)?.as_ints()?;
    axes.iter().map(|&axis| usize::try_from(if axis < 0 { axis + rank } else { axis }).ok()).collect()
}

fn copy(node: &mut Node, from: ValueId) {
    node.op = "Identity".into();
    node.inputs = vec![Some(from)];
    node.attributes.clear();
}

fn axes_of(node: &Node) -> Option<&[i64]> {
    match node.attribute("perm") {
        Some(Attr::Ints(axes)) if node.op == "Transpose" && node.domain.is_empty() => Some(axes),
        _ => None,
    }
}

fn has_shape_of(node: &Node, from: ValueId, ir: &Ir) -> bool {
    let output = node.outputs.first().and_then(|&output| ir.shape(output));
    output.is_some() && output == ir.shape(from)
}

fn is_reshape(node: &Node) -> bool {
    node.domain.is_empty() && matches!(&*node.op, "Reshape" | "Unsqueeze" | "Squeeze" | "Flatten")
}

/// A reshape whose target does not copy sizes (0) of what it reads.
fn is_plain_reshape(node: &Node, ir: &Ir) -> bool {
    if node.op != "Reshape" || !node.domain.is_empty() {
        return false;
    }
    let target = node.inputs.get(1).copied().flatten().and_then(|target| ir.literal(target)?.as_ints());
    target.is_some_and(|target| !target.contains(&0))
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::Arg;

    use crate::test_calls::lowered_program;
    use crate::test_program::{TestProgram, tensor};

    /// The nodes of `steps` one after another, each an operator, its argument and the shape it gives.
    fn lowered(sizes: &[i64], steps: &[(&str, &str, Arg, &[i64])]) -> String {
        let mut program = TestProgram::new();
        let mut value = program.input("x", tensor(sizes));
        for (op, name, argument, sizes) in steps {
            let args = [("self", Arg::Tensor(value)), (*name, argument.clone())];
            value = program.node(op, &args, tensor(sizes));
        }
        lowered_program(program.outputs(&[value]))
    }

    const UNSQUEEZE: &str = "aten.unsqueeze.default";

    #[test]
    fn axes_of_one_that_are_put_in_one_after_another_are_put_in_at_once() {
        let steps: [(_, _, _, &[i64]); 3] = [
            (UNSQUEEZE, "dim", Arg::Int(1), &[2, 1, 3]),
            (UNSQUEEZE, "dim", Arg::Int(0), &[1, 2, 1, 3]),
            (UNSQUEEZE, "dim", Arg::Int(-1), &[1, 2, 1, 3, 1]),
        ];
        assert_eq!(lowered(&[2, 3], &steps), "Unsqueeze(x, [0, 2, 4])");
    }

    #[test]
    fn an_axis_of_one_beside_a_reshape_is_part_of_it() {
        let steps: [(_, _, _, &[i64]); 2] = [
            ("aten.view.default", "size", Arg::Ints(vec![2, 2, 3]), &[2, 2, 3]),
            (UNSQUEEZE, "dim", Arg::Int(1), &[2, 1, 2, 3]),
        ];
        assert_eq!(lowered(&[2, 6], &steps), "Reshape(x, [2, 1, 2, 3])");
    }

    #[test]
    fn what_has_no_elements_is_not_moved() {
        let steps: [(_, _, _, &[i64]); 2] = [
            ("aten.view.default", "size", Arg::Ints(vec![0, 2, 3]), &[0, 2, 3]),
            (UNSQUEEZE, "dim", Arg::Int(1), &[0, 1, 2, 3]),
        ];
        assert_eq!(lowered(&[0, 6], &steps), "Identity(f32[0, 1, 2, 3])");
    }
}

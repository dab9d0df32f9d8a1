//! Reads through moves of elements: a transpose of a transpose and a reshape of a reshape read what the first one
//! reads; a reshape that brings the first shape back is taken out. The second keeps its origin and remembers the call
//! of the first, which goes if nothing else reads it. Makes no nodes.

use modelexport_graph::ScopeId;

use super::readers::Readers;
use crate::ir::{Attr, Graph, Ir, Node, ValueId};

/// True if a node reads from further up.
pub fn run(ir: &mut Ir, readers: &Readers<'_>) -> bool {
    let mut graph = std::mem::take(&mut ir.graph);
    let mut moves = vec![None; ir.values.len()];
    let changed = read_through(&mut graph, ir, readers, &mut moves);
    ir.graph = graph;
    if changed {
        // Reshapes that undo each other are copies now.
        super::identity::run(ir, readers);
    }
    changed
}

/// Remembers that `node` also does what a node of another call did.
fn note_sharing(node: &mut Node, other: ScopeId) {
    if node.origin.scope == other && node.shared_by.is_empty() {
        return;
    }
    if node.shared_by.is_empty() {
        node.shared_by.push(node.origin.scope);
    }
    if !node.shared_by.contains(&other) {
        node.shared_by.push(other);
    }
}

/// What a value was made from by a move.
#[derive(Clone)]
enum Move {
    Transpose { from: ValueId, axes: Vec<i64>, scope: ScopeId },
    Reshape { from: ValueId, scope: ScopeId },
}

impl Move {
    fn from(&self) -> ValueId {
        match self {
            Move::Transpose { from, .. } | Move::Reshape { from, .. } => *from,
        }
    }

    fn scope(&self) -> ScopeId {
        match self {
            Move::Transpose { scope, .. } | Move::Reshape { scope, .. } => *scope,
        }
    }
}

fn read_through(graph: &mut Graph, ir: &Ir, readers: &Readers<'_>, moves: &mut [Option<Move>]) -> bool {
    let mut changed = false;
    for node in &mut graph.nodes {
        let input = node.inputs.first().copied().flatten();
        let scope = node.origin.scope;
        let earlier = input
            .and_then(|input| moves.get(input.0 as usize).cloned().flatten())
            .filter(|earlier| readers.may_read(ir, earlier.from(), scope));
        let earlier_scope = earlier.as_ref().map(Move::scope);
        let before = changed;
        changed = false;
        match (axes_of(node), earlier) {
            (Some(outer), Some(Move::Transpose { from, axes: inner, .. })) => {
                let composed: Option<Vec<i64>> =
                    outer.iter().map(|&axis| inner.get(usize::try_from(axis).ok()?).copied()).collect();
                if let Some(composed) = composed {
                    node.inputs = vec![Some(from)];
                    node.attributes = crate::attrs![perm = composed];
                    changed = true;
                }
            }
            (None, Some(Move::Reshape { from, .. })) if is_reshape(node) && has_shape_of(node, from, ir) => {
                node.op = "Identity".into();
                node.inputs = vec![Some(from)];
                node.attributes.clear();
                changed = true;
            }
            (None, Some(Move::Reshape { from, .. })) if is_plain_reshape(node, ir) => {
                if let Some(slot) = node.inputs.first_mut() {
                    *slot = Some(from);
                    changed = true;
                }
            }
            _ => {}
        }
        if changed && let Some(other) = earlier_scope {
            note_sharing(node, other);
        }
        changed |= before;
        note(node, moves);
        for subgraph in node.subgraphs_mut() {
            changed |= read_through(subgraph, ir, readers, moves);
        }
    }
    changed
}

fn note(node: &Node, moves: &mut [Option<Move>]) {
    let (Some(from), Some(&to)) = (node.inputs.first().copied().flatten(), node.outputs.first()) else {
        return;
    };
    let made = match axes_of(node) {
        Some(axes) => Some(Move::Transpose { from, axes: axes.to_vec(), scope: node.origin.scope }),
        None if is_reshape(node) => Some(Move::Reshape { from, scope: node.origin.scope }),
        None => None,
    };
    if let Some(slot) = moves.get_mut(to.0 as usize) {
        *slot = made;
    }
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

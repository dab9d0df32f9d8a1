//! Attention: `softmax(scale * q @ k^T + mask) @ v` as one `Attention` node, from opset 23.
//!
//! Three steps, each of which works on what the one before leaves:
//!
//! 1. [`scores`]: the products and the softmax, written by hand, become a node with axes `[batch, heads, rows, size]`;
//!    `scaled_dot_product_attention` has become one when it was lowered.
//! 2. [`heads`]: keys and values that are repeated for groups of heads are read unrepeated, and those that are appended
//!    to a cache are appended by the node.
//! 3. [`layout`]: the node takes its operands as `[batch, rows, heads * size]`, without the axes being exchanged before
//!    and after it.
//!
//! What onnxruntime's kernel does otherwise than PyTorch, or slower than the nodes, stays: docs/attention.md.

mod heads;
mod layout;
mod mask;
mod scores;
#[cfg(test)]
mod tests;

use modelexport_graph::{DType, Dim};

use super::rewrite::Pattern;
use super::search::{Search, input, is};
use crate::ir::{Attr, Attrs, Node, ValueId};

/// The patterns of each step.
pub const STEPS: [&[Pattern]; 3] =
    [&[scores::PATTERN], &[heads::CACHED, heads::REPEATED], &[layout::PATTERN]];

/// An `Attention` node whose operands have an axis for the heads.
struct Heads {
    inputs: Vec<Option<ValueId>>,
    outputs: Vec<ValueId>,
    attributes: Attrs,
    query: [Dim; 4],
    key: [Dim; 4],
    value: [Dim; 4],
    dtype: DType,
}

impl Heads {
    fn of(search: &Search<'_>, node: &Node) -> Option<Heads> {
        if !is(node, "Attention") || node.attribute("q_num_heads").is_some() {
            return None;
        }
        let sizes = |i| <[Dim; 4]>::try_from(search.shape(input(node, i)?)?.to_vec()).ok();
        Some(Heads {
            inputs: node.inputs.clone(),
            outputs: node.outputs.clone(),
            attributes: node.attributes.clone(),
            query: sizes(0)?,
            key: sizes(1)?,
            value: sizes(2)?,
            dtype: search.dtype(input(node, 0)?)?,
        })
    }

    fn input(&self, i: usize) -> Option<ValueId> {
        self.inputs.get(i).copied().flatten()
    }

    fn is_causal(&self) -> bool {
        self.attributes.iter().any(|(name, value)| name == "is_causal" && *value == Attr::Int(1))
    }

    fn has_past(&self) -> bool {
        self.input(4).is_some()
    }
}

/// The axes of a `Transpose`.
fn permutation(node: &Node) -> Option<&[i64]> {
    match node.attribute("perm") {
        Some(Attr::Ints(axes)) if is(node, "Transpose") => Some(axes),
        _ => None,
    }
}

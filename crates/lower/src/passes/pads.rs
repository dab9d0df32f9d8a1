//! What several passes ask of a `Pad`.

use crate::ir::{Attr, Ir, Node};
use crate::literal::Literal;

/// Whether the node surrounds its input with zeros, wherever.
pub fn is_pad_by_zeros(node: &Node, ir: &Ir) -> bool {
    let is_constant = match node.attribute("mode") {
        None => true,
        Some(Attr::Str(mode)) => mode == "constant",
        Some(_) => false,
    };
    let value = node.inputs.get(2).copied().flatten();
    let is_zero = value.is_none_or(|value| {
        let numbers = ir.literal(value).and_then(Literal::numbers);
        numbers.is_some_and(|numbers| numbers.iter().all(|number| number.as_f64() == 0.0))
    });
    node.op == "Pad" && node.domain.is_empty() && is_constant && is_zero
}

//! A product with a reciprocal is a division.
//!
//! ```text
//! Mul(x, Reciprocal(y))  becomes  Div(x, y)
//! ```
//!
//! In this form onnxruntime fuses the normalisations that an opset has no operator for.

use super::rewrite::{Pattern, Write};
use super::search::{Search, input};
use crate::builder::Builder;
use crate::ir::Node;

pub const PATTERN: Pattern = Pattern { last: &["Mul"], since: 1, find };

fn find(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let result = *root.outputs.first()?;
    let (x, y) = search.either(root, |search, x, factor| {
        let reciprocal = search.node(factor, "Reciprocal")?;
        Some((x, input(reciprocal, 0)?))
    })?;
    Some(Box::new(move |builder: &mut Builder| vec![(result, builder.emit("Div", &[x, y], vec![]))]))
}

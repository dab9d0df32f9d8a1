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

#[cfg(test)]
mod tests {
    use super::super::spelled::Spelled;

    #[test]
    fn a_product_with_a_reciprocal_divides() {
        let mut p = Spelled::new();
        let (x, y) = (p.input("x", &[2]), p.input("y", &[2]));
        let inverse = p.unary("reciprocal", y);
        let product = p.binary("mul", inverse, x);
        assert_eq!(p.lowered(&[product], 20), "Div(x, y)");
    }

    #[test]
    fn a_reciprocal_that_somebody_else_reads_stays() {
        let mut p = Spelled::new();
        let (x, y) = (p.input("x", &[2]), p.input("y", &[2]));
        let inverse = p.unary("reciprocal", y);
        let products = [p.binary("mul", inverse, x), p.binary("mul", inverse, y)];
        let nodes = p.lowered(&products, 20);
        assert!(nodes.contains("Reciprocal"), "{nodes}");
    }
}

//! `x * sigmoid(alpha * x)`, which is SiLU for 1 and the quick GELU for 1.702, becomes `Swish`.

use modelexport_graph::DType;

use super::product::Product;
use super::rewrite::{Pattern, Write};
use super::search::{Search, input};
use crate::attrs;
use crate::builder::Builder;
use crate::ir::Node;

pub const PATTERN: Pattern = Pattern { last: &["Mul"], since: 24, find };

fn find(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let y = *root.outputs.first()?;
    let is_double = search.dtype(y)? == DType::F64;
    let (x, alpha) = search.either(root, |search, x, gate| {
        let gate = search.before_casts(gate);
        let argument = input(search.node(gate, "Sigmoid")?, 0)?;
        let inner = search.before_casts(x);
        let scaled = Product::of(search, argument)?.without(inner, 1)?;
        scaled.factors.is_empty().then_some((x, scaled.number))
    })?;
    // The attribute is a `float32`.
    if is_double && alpha != 1.0 {
        return None;
    }
    let attributes = if alpha == 1.0 { vec![] } else { attrs![alpha = alpha] };
    Some(Box::new(move |builder: &mut Builder| vec![(y, builder.emit("Swish", &[x], attributes))]))
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::ValueId;

    use super::super::spelled::Spelled;

    fn nodes(opset: i64, spell: impl Fn(&mut Spelled, ValueId) -> ValueId) -> String {
        let mut p = Spelled::new();
        let x = p.input("x", &[2, 8]);
        let y = spell(&mut p, x);
        p.lowered(&[y], opset)
    }

    fn gated(p: &mut Spelled, x: ValueId, alpha: f64) -> ValueId {
        let scaled = p.number("mul", x, alpha);
        let gate = p.unary("sigmoid", scaled);
        p.binary("mul", gate, x)
    }

    #[test]
    fn a_product_with_its_own_sigmoid() {
        assert_eq!(nodes(24, |p, x| p.unary("silu", x)), "Swish(x)");
        assert_eq!(nodes(24, |p, x| gated(p, x, 1.702)), "Swish(x, alpha=1.702)");
        assert_eq!(nodes(23, |p, x| gated(p, x, 1.702)), "Mul(Sigmoid(Mul(x, 1.702)), x)");
    }

    #[test]
    fn the_sigmoid_of_another_value_stays() {
        let y = |p: &mut Spelled, x| {
            let other = p.input("other", &[2, 8]);
            let gate = p.unary("sigmoid", other);
            p.binary("mul", gate, x)
        };
        assert_eq!(nodes(24, y), "Mul(Sigmoid(other), x)");
    }
}

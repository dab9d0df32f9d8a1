//! Layer normalisation written by hand, `(x - mean(x)) / sqrt(mean((x - mean(x))^2) + epsilon) * weight + bias`, becomes
//! `LayerNormalization`.
//!
//! ```text
//! d = Sub(x, ReduceMean(x, axes, keepdims=1))
//! Add(Mul(weight, Div(d, Sqrt(Add(ReduceMean(Pow(d, 2), axes, keepdims=1), epsilon)))), bias)
//! ```
//!
//! in all forms that [`normal`] knows. Weight and bias are optional and have the sizes of the normalised axes. A variance
//! that divides by one less than the count is another function and stays.

use super::normal::{Computation, Normal, Parameters, is_mean_of, normal, with_parameter};
use super::rewrite::{Pattern, Write};
use super::search::{Search, input};
use crate::attrs;
use crate::builder::Builder;
use crate::ir::{Node, ValueId};

pub const PATTERN: Pattern = Pattern { last: &["Add", "Mul", "Div"], since: 17, find };

fn find(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let y = *root.outputs.first()?;
    let (normal, parameters) = if &*root.op == "Add" {
        let (normal, parameters, bias) = with_parameter(search, root, weighted)?;
        (normal, Parameters { bias: Some(bias), ..parameters })
    } else {
        weighted(search, y)?
    };
    let computation = Computation::of(search, &normal, parameters, y)?;
    let attributes = attrs![axis = -(normal.axes as i64), epsilon = normal.epsilon];
    Some(Box::new(move |builder: &mut Builder| {
        let inputs = computation.inputs(builder);
        vec![(y, builder.emit("LayerNormalization", &inputs, attributes))]
    }))
}

/// The normalisation with or without a weight that makes `y`.
fn weighted(search: &mut Search<'_>, y: ValueId) -> Option<(Normal, Parameters)> {
    let with_weight = search.attempt(|search| {
        let product = search.node(y, "Mul")?;
        let plain = |search: &mut Search<'_>, y| Some((standardized(search, y)?, Parameters::default()));
        with_parameter(search, product, plain)
    });
    match with_weight {
        Some((normal, _, weight)) => Some((normal, Parameters { weight: Some(weight), bias: None })),
        None => Some((search.attempt(|search| standardized(search, y))?, Parameters::default())),
    }
}

/// The normalisation of what is not centred yet.
fn standardized(search: &mut Search<'_>, y: ValueId) -> Option<Normal> {
    let centered = normal(search, y)?;
    let difference = search.before_casts(centered.x);
    let difference = search.node(difference, "Sub")?;
    let (x, mean) = (input(difference, 0)?, input(difference, 1)?);
    is_mean_of(search, mean, x, centered.axes).then_some(Normal { x, ..centered })
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::ValueId;

    use super::super::spelled::Spelled;

    const FUSED: &str = "LayerNormalization(x, weight, bias, axis=-1, epsilon=1e-5)";

    /// `(x - mean(x)) * inverse`, where `inverse` is given what is centred.
    fn normal(p: &mut Spelled, x: ValueId, inverse: impl Fn(&mut Spelled, ValueId) -> ValueId) -> ValueId {
        let mean = p.mean(x, -1);
        let centered = p.binary("sub", x, mean);
        let factor = inverse(p, centered);
        p.binary("mul", centered, factor)
    }

    /// The inverse root of the mean square and a number.
    fn inverse(p: &mut Spelled, centered: ValueId) -> ValueId {
        let squares = p.power(centered, 2.0);
        let mean = p.mean(squares, -1);
        let sum = p.number("add", mean, 1e-5);
        p.unary("rsqrt", sum)
    }

    /// The nodes of what `spell` makes of `x`, `weight` and `bias`.
    fn nodes(opset: i64, spell: impl Fn(&mut Spelled, ValueId, [ValueId; 2]) -> ValueId) -> String {
        let mut p = Spelled::new();
        let x = p.input("x", &[2, 3, 8]);
        let parameters = ["weight", "bias"].map(|name| p.parameter(name, &[8]));
        let y = spell(&mut p, x, parameters);
        p.lowered(&[y], opset)
    }

    fn affine(p: &mut Spelled, x: ValueId, [weight, bias]: [ValueId; 2]) -> ValueId {
        let product = p.binary("mul", weight, x);
        p.binary("add", bias, product)
    }

    #[test]
    fn by_the_mean_of_squares() {
        for opset in [17, 20, 23] {
            let y = |p: &mut Spelled, x, parameters| {
                let normal = normal(p, x, inverse);
                affine(p, normal, parameters)
            };
            assert_eq!(nodes(opset, y), FUSED);
        }
    }

    #[test]
    fn by_the_variance() {
        let y = |p: &mut Spelled, x, parameters| {
            let mean = p.mean(x, -1);
            let centered = p.binary("sub", x, mean);
            let variance = p.variance(x, 0);
            let sum = p.number("add", variance, 1e-5);
            let root = p.unary("sqrt", sum);
            let normal = p.binary("div", centered, root);
            affine(p, normal, parameters)
        };
        assert_eq!(nodes(20, y), FUSED);
    }

    #[test]
    fn by_the_variance_before_the_difference() {
        let y = |p: &mut Spelled, x, parameters| {
            let (mean, variance) = (p.mean(x, -1), p.variance(x, 0));
            let centered = p.binary("sub", x, mean);
            let sum = p.number("add", variance, 1e-5);
            let root = p.unary("sqrt", sum);
            let normal = p.binary("div", centered, root);
            affine(p, normal, parameters)
        };
        assert_eq!(nodes(20, y), FUSED);
    }

    #[test]
    fn without_a_bias_or_a_weight() {
        let y = |p: &mut Spelled, x, [weight, _]: [ValueId; 2]| {
            let normal = normal(p, x, inverse);
            p.binary("mul", normal, weight)
        };
        assert_eq!(nodes(20, y), FUSED.replace(", bias", ""));
        let ones = "[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]";
        let plain = |p: &mut Spelled, x, _| normal(p, x, inverse);
        assert_eq!(nodes(20, plain), FUSED.replace("weight, bias", ones));
    }

    // ---- near misses

    fn assert_stays(nodes: &str) {
        assert!(!nodes.contains("LayerNormalization"), "{nodes}");
    }

    #[test]
    fn a_variance_over_one_less_stays() {
        let y = |p: &mut Spelled, x, _| {
            let mean = p.mean(x, -1);
            let centered = p.binary("sub", x, mean);
            let variance = p.variance(x, 1);
            let sum = p.number("add", variance, 1e-5);
            let root = p.unary("sqrt", sum);
            p.binary("div", centered, root)
        };
        assert_stays(&nodes(20, y));
    }

    #[test]
    fn the_mean_of_another_value_or_axis_stays() {
        let of_another = |p: &mut Spelled, x, _| {
            let other = p.input("other", &[2, 3, 8]);
            let mean = p.mean(other, -1);
            let centered = p.binary("sub", x, mean);
            let factor = inverse(p, centered);
            p.binary("mul", centered, factor)
        };
        assert_stays(&nodes(20, of_another));
        let along_another = |p: &mut Spelled, x, _| {
            let mean = p.mean(x, 1);
            let centered = p.binary("sub", x, mean);
            let factor = inverse(p, centered);
            p.binary("mul", centered, factor)
        };
        assert_stays(&nodes(20, along_another));
    }

    #[test]
    fn a_mean_that_somebody_else_reads_stays() {
        let mut p = Spelled::new();
        let x = p.input("x", &[2, 3, 8]);
        let mean = p.mean(x, -1);
        let centered = p.binary("sub", x, mean);
        let factor = inverse(&mut p, centered);
        let y = p.binary("mul", centered, factor);
        assert_stays(&p.lowered(&[y, mean], 20));
    }

    #[test]
    fn a_sum_with_another_shape_is_no_bias() {
        let y = |p: &mut Spelled, x, [weight, _]: [ValueId; 2]| {
            let normal = normal(p, x, inverse);
            let product = p.binary("mul", normal, weight);
            let other = p.input("other", &[3, 8]);
            p.binary("add", product, other)
        };
        let fused = FUSED.replace(", bias", "");
        assert_eq!(nodes(20, y), format!("Add({fused}, other)"));
    }
}

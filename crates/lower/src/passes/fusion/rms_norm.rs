//! RMS normalisation, `x / sqrt(mean(x^2) + epsilon) * weight`, becomes `RMSNormalization`.
//!
//! ```text
//! Mul(weight, Mul(x, Reciprocal(Sqrt(Add(ReduceMean(Pow(x, 2), axes, keepdims=1), epsilon)))))
//! ```
//!
//! in all forms that [`normal`] knows. The weight is optional and may be multiplied before or after a cast; it has the
//! sizes of the normalised axes.

use super::normal::{Computation, Parameters, normal, with_parameter};
use super::rewrite::{Pattern, Write};
use super::search::{Search, is};
use crate::attrs;
use crate::builder::Builder;
use crate::ir::Node;

pub const PATTERN: Pattern = Pattern { last: &["Mul", "Div"], since: 23, find };

fn find(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let y = *root.outputs.first()?;
    let plain = |search: &mut Search<'_>, y| Some((normal(search, y)?, Parameters::default()));
    let weighted = if is(root, "Mul") { with_parameter(search, root, plain) } else { None };
    let (normal, weight) = match weighted {
        Some((normal, _, weight)) => (normal, Some(weight)),
        None => (search.attempt(|search| normal(search, y))?, None),
    };
    let parameters = Parameters { weight, bias: None };
    let computation = Computation::of(search, &normal, parameters, y)?;
    let attributes = attrs![axis = -(normal.axes as i64), epsilon = normal.epsilon];
    Some(Box::new(move |builder: &mut Builder| {
        let inputs = computation.inputs(builder);
        vec![(y, builder.emit("RMSNormalization", &inputs, attributes))]
    }))
}

#[cfg(test)]
mod tests {
    use modelexport_graph::DType;
    use modelexport_graph::aten::ValueId;

    use super::super::spelled::Spelled;

    const FUSED: &str = "RMSNormalization(x, weight, axis=-1, epsilon=1e-5)";

    /// `1 / sqrt(mean(x^2) + epsilon)`.
    fn inverse(p: &mut Spelled, x: ValueId) -> ValueId {
        let squares = p.power(x, 2.0);
        let mean = p.mean(squares, -1);
        let sum = p.number("add", mean, 1e-5);
        p.unary("rsqrt", sum)
    }

    /// The nodes of what `spell` makes of `x` and `weight` at opset 23.
    fn nodes(spell: impl Fn(&mut Spelled, ValueId, ValueId) -> ValueId) -> String {
        let mut p = Spelled::new();
        let (x, weight) = (p.input("x", &[2, 3, 8]), p.parameter("weight", &[8]));
        let y = spell(&mut p, x, weight);
        p.lowered(&[y], 23)
    }

    #[test]
    fn times_the_inverse_root() {
        let y = |p: &mut Spelled, x, weight| {
            let factor = inverse(p, x);
            let normal = p.binary("mul", x, factor);
            p.binary("mul", weight, normal)
        };
        assert_eq!(nodes(y), FUSED);
    }

    #[test]
    fn over_the_root_of_a_product() {
        let y = |p: &mut Spelled, x, weight| {
            let squares = p.binary("mul", x, x);
            let mean = p.mean(squares, -1);
            let sum = p.number("add", mean, 1e-5);
            let root = p.unary("sqrt", sum);
            let normal = p.binary("div", x, root);
            p.binary("mul", normal, weight)
        };
        assert_eq!(nodes(y), FUSED);
    }

    #[test]
    fn times_a_power_of_minus_one_half() {
        let y = |p: &mut Spelled, x, weight| {
            let squares = p.power(x, 2.0);
            let mean = p.mean(squares, -1);
            let sum = p.number("add", mean, 1e-5);
            let factor = p.power(sum, -0.5);
            let normal = p.binary("mul", factor, x);
            p.binary("mul", normal, weight)
        };
        assert_eq!(nodes(y), FUSED);
    }

    #[test]
    fn one_plus_the_weight_stays_a_sum() {
        let y = |p: &mut Spelled, x, weight| {
            let factor = inverse(p, x);
            let normal = p.binary("mul", x, factor);
            let weight = p.number("add", weight, 1.0);
            p.binary("mul", normal, weight)
        };
        assert_eq!(nodes(y), "RMSNormalization(x, Add(weight, 1.0), axis=-1, epsilon=1e-5)");
    }

    #[test]
    fn without_a_weight_it_is_ones() {
        let y = |p: &mut Spelled, x, _| {
            let factor = inverse(p, x);
            p.binary("mul", x, factor)
        };
        let ones = "[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]";
        assert_eq!(nodes(y), FUSED.replace("weight", ones));
    }

    #[test]
    fn casts_to_float32_and_back_go() {
        let mut p = Spelled::new();
        let x = p.typed_input("x", DType::F16, &[2, 3, 8]);
        let weight = p.typed_input("weight", DType::F16, &[8]);
        let wide = p.cast(x, DType::F32);
        let factor = inverse(&mut p, wide);
        let normal = p.binary("mul", wide, factor);
        let normal = p.cast(normal, DType::F16);
        let y = p.binary("mul", weight, normal);
        assert_eq!(p.lowered(&[y], 23), FUSED);
    }

    #[test]
    fn bfloat16_is_computed_in_float32() {
        let mut p = Spelled::new();
        let x = p.typed_input("x", DType::BF16, &[2, 3, 8]);
        let weight = p.typed_input("weight", DType::BF16, &[8]);
        let wide = p.cast(x, DType::F32);
        let factor = inverse(&mut p, wide);
        let normal = p.binary("mul", wide, factor);
        let normal = p.cast(normal, DType::BF16);
        let y = p.binary("mul", weight, normal);
        let fused = FUSED.replace("x, weight", "Cast(x, to=f32), Cast(weight, to=f32)");
        assert_eq!(p.lowered(&[y], 23), format!("t1 = {fused}\nCast(t1, to=bf16)"));
    }

    #[test]
    fn before_opset_23_the_inverse_becomes_a_division() {
        let mut p = Spelled::new();
        let (x, weight) = (p.input("x", &[2, 3, 8]), p.parameter("weight", &[8]));
        let factor = inverse(&mut p, x);
        let normal = p.binary("mul", x, factor);
        let y = p.binary("mul", weight, normal);
        let nodes = "t1 = Div(x, Sqrt(Add(ReduceMean(Pow(x, 2.0), [2], keepdims=1), 1e-5)))\nMul(weight, t1)";
        assert_eq!(p.lowered(&[y], 22), nodes);
    }

    // ---- near misses

    fn assert_stays(nodes: &str) {
        assert!(!nodes.contains("RMSNormalization"), "{nodes}");
    }

    #[test]
    fn the_mean_of_another_axis_stays() {
        let y = |p: &mut Spelled, x, _| {
            let squares = p.power(x, 2.0);
            let mean = p.mean(squares, 1);
            let sum = p.number("add", mean, 1e-5);
            let factor = p.unary("rsqrt", sum);
            p.binary("mul", x, factor)
        };
        assert_stays(&nodes(y));
    }

    #[test]
    fn another_power_stays() {
        let y = |p: &mut Spelled, x, _| {
            let squares = p.power(x, 4.0);
            let mean = p.mean(squares, -1);
            let sum = p.number("add", mean, 1e-5);
            let factor = p.unary("rsqrt", sum);
            p.binary("mul", x, factor)
        };
        assert_stays(&nodes(y));
    }

    #[test]
    fn an_epsilon_outside_the_root_stays() {
        let y = |p: &mut Spelled, x, _| {
            let squares = p.power(x, 2.0);
            let mean = p.mean(squares, -1);
            let root = p.unary("sqrt", mean);
            let sum = p.number("add", root, 1e-5);
            p.binary("div", x, sum)
        };
        assert_stays(&nodes(y));
    }

    #[test]
    fn another_value_than_the_one_that_is_squared_stays() {
        let y = |p: &mut Spelled, x, _| {
            let other = p.input("other", &[2, 3, 8]);
            let factor = inverse(p, x);
            p.binary("mul", other, factor)
        };
        assert_stays(&nodes(y));
    }

    #[test]
    fn a_factor_that_somebody_else_reads_stays() {
        let mut p = Spelled::new();
        let x = p.input("x", &[2, 3, 8]);
        let factor = inverse(&mut p, x);
        let y = p.binary("mul", x, factor);
        assert_stays(&p.lowered(&[y, factor], 23));
    }

    #[test]
    fn a_factor_of_another_shape_is_no_weight() {
        for sizes in [&[3, 8][..], &[1], &[2, 3, 8]] {
            let y = |p: &mut Spelled, x, _| {
                let factor = inverse(p, x);
                let normal = p.binary("mul", x, factor);
                let other = p.input("other", sizes);
                p.binary("mul", normal, other)
            };
            let ones = "[1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0, 1.0]";
            assert_eq!(nodes(y), format!("t1 = {}\nMul(t1, other)", FUSED.replace("weight", ones)));
        }
    }
}

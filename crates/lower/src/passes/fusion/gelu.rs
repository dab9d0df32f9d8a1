//! GELU written by hand becomes `Gelu`.
//!
//! ```text
//! x * 1/2 * (1 + erf(x / sqrt(2)))
//! x * 1/2 * (1 + tanh(sqrt(2 / pi) * (x + 0.044715 * x^3)))       approximate="tanh"
//! ```
//!
//! with the factors in any order and nesting, and `x` in front of the last parenthesis or inside of it. `float64` stays,
//! for which onnxruntime has no `Erf`.

use modelexport_graph::DType;

use super::product::Product;
use super::rewrite::{Pattern, Write};
use super::search::{Search, input};
use crate::attrs;
use crate::builder::Builder;
use crate::ir::{Node, ValueId};

pub const PATTERN: Pattern = Pattern { last: &["Mul", "Div"], since: 20, find };

/// The coefficient of the cube.
const CUBE: f64 = 0.044715;

fn find(search: &mut Search<'_>, root: &Node) -> Option<Write> {
    let y = *root.outputs.first()?;
    let dtype = search.dtype(y).filter(|dtype| matches!(dtype, DType::F16 | DType::F32))?;
    let product = Product::of(search, y).filter(|product| product.is_times(0.5))?;
    let [a, b] = *product.factors.as_slice() else { return None };
    let (x, by_tanh) = search
        .attempt(|search| Some((a.given, gate(search, b.value, a.value)?)))
        .or_else(|| search.attempt(|search| Some((b.given, gate(search, a.value, b.value)?))))?;
    let attributes = if by_tanh { attrs![approximate = "tanh"] } else { vec![] };
    Some(Box::new(move |builder: &mut Builder| {
        let x = builder.cast(x, dtype);
        vec![(y, builder.emit("Gelu", &[x], attributes))]
    }))
}

/// Whether `value` is one plus the `tanh` (true) or the error function (false) of what belongs to `x`.
fn gate(search: &mut Search<'_>, value: ValueId, x: ValueId) -> Option<bool> {
    let sum = search.node(value, "Add")?;
    let (curve, one) = search.with_number(sum)?;
    let curve = search.before_casts(curve);
    if one != 1.0 {
        return None;
    }
    if let Some(curve) = search.node(curve, "Erf") {
        let argument = Product::of(search, input(curve, 0)?)?.without(x, 1)?;
        return argument.is_only(std::f64::consts::FRAC_1_SQRT_2).then_some(false);
    }
    let curve = search.node(curve, "Tanh")?;
    let argument = Product::of(search, input(curve, 0)?)?;
    let scale = (2.0 / std::f64::consts::PI).sqrt();
    let [first, ..] = *argument.factors.as_slice() else { return None };
    let last = argument.factors.iter().find(|factor| factor.value != x).unwrap_or(&first).value;
    let is_inside = argument.factors.len() == 1;
    let argument = argument.without(last, 1)?;
    let argument = if is_inside { argument } else { argument.without(x, 1)? };
    let sum = search.node(last, "Add")?;
    let is_cubic = argument.is_only(scale)
        && search
            .either(sum, |search, linear, cube| {
                let (linear, power) = if is_inside {
                    (search.before_casts(linear) == x, 3)
                } else {
                    (search.is_number(linear, 1.0), 2)
                };
                let cube = Product::of(search, cube)?.without(x, power)?;
                (linear && cube.is_only(CUBE)).then_some(())
            })
            .is_some();
    is_cubic.then_some(true)
}

#[cfg(test)]
mod tests {
    use modelexport_graph::aten::ValueId;

    use super::super::spelled::Spelled;

    const SCALE: f64 = 0.7978845608028654;

    fn nodes(opset: i64, spell: impl Fn(&mut Spelled, ValueId) -> ValueId) -> String {
        let mut p = Spelled::new();
        let x = p.input("x", &[2, 8]);
        let y = spell(&mut p, x);
        p.lowered(&[y], opset)
    }

    /// `1 + erf(x / sqrt(2))`.
    fn gate(p: &mut Spelled, x: ValueId) -> ValueId {
        let scaled = p.number("div", x, std::f64::consts::SQRT_2);
        let erf = p.unary("erf", scaled);
        p.number("add", erf, 1.0)
    }

    /// `1 + tanh(scale * (x + cube * x^3))`.
    fn curve(p: &mut Spelled, x: ValueId, scale: f64, cube: f64) -> ValueId {
        let power = p.power(x, 3.0);
        let power = p.number("mul", power, cube);
        let sum = p.binary("add", x, power);
        let scaled = p.number("mul", sum, scale);
        let tanh = p.unary("tanh", scaled);
        p.number("add", tanh, 1.0)
    }

    #[test]
    fn by_the_error_function_in_every_order() {
        let spellings: [fn(&mut Spelled, ValueId) -> ValueId; 4] = [
            |p, x| {
                let (gate, half) = (gate(p, x), p.number("mul", x, 0.5));
                p.binary("mul", half, gate)
            },
            |p, x| {
                let gate = gate(p, x);
                let half = p.number("mul", gate, 0.5);
                p.binary("mul", x, half)
            },
            |p, x| {
                let gate = gate(p, x);
                let product = p.binary("mul", gate, x);
                p.number("div", product, 2.0)
            },
            |p, x| {
                let scaled = p.number("mul", x, std::f64::consts::FRAC_1_SQRT_2);
                let erf = p.unary("erf", scaled);
                let gate = p.number("add", erf, 1.0);
                let product = p.binary("mul", x, gate);
                p.number("mul", product, 0.5)
            },
        ];
        for spell in spellings {
            assert_eq!(nodes(20, spell), "Gelu(x)");
            assert!(nodes(19, spell).contains("Erf"));
        }
    }

    #[test]
    fn by_tanh_of_a_cubic() {
        let y = |p: &mut Spelled, x| {
            let half = p.number("mul", x, 0.5);
            let gate = curve(p, x, SCALE, 0.044715);
            p.binary("mul", half, gate)
        };
        assert_eq!(nodes(20, y), "Gelu(x, approximate=tanh)");
    }

    #[test]
    fn by_tanh_of_a_factored_cubic() {
        let y = |p: &mut Spelled, x| {
            let (half, scaled) = (p.number("mul", x, 0.5), p.number("mul", x, 0.79788456));
            let square = p.number("mul", x, 0.044715);
            let square = p.binary("mul", square, x);
            let sum = p.number("add", square, 1.0);
            let argument = p.binary("mul", scaled, sum);
            let tanh = p.unary("tanh", argument);
            let gate = p.number("add", tanh, 1.0);
            p.binary("mul", half, gate)
        };
        assert_eq!(nodes(20, y), "Gelu(x, approximate=tanh)");
    }

    // ---- near misses

    #[test]
    fn other_numbers_stay() {
        for (half, scale, cube) in [(1.0, SCALE, 0.044715), (0.5, 0.79, 0.044715), (0.5, SCALE, 0.0447)] {
            let y = |p: &mut Spelled, x| {
                let half = p.number("mul", x, half);
                let gate = curve(p, x, scale, cube);
                p.binary("mul", half, gate)
            };
            let nodes = nodes(20, y);
            assert!(nodes.contains("Tanh"), "{nodes}");
        }
    }

    #[test]
    fn the_gate_of_another_value_stays() {
        let y = |p: &mut Spelled, x| {
            let other = p.input("other", &[2, 8]);
            let (gate, half) = (gate(p, other), p.number("mul", x, 0.5));
            p.binary("mul", half, gate)
        };
        let nodes = nodes(20, y);
        assert!(nodes.contains("Erf"), "{nodes}");
    }

    #[test]
    fn a_gate_that_somebody_else_reads_stays() {
        let mut p = Spelled::new();
        let x = p.input("x", &[2, 8]);
        let (gate, half) = (gate(&mut p, x), p.number("mul", x, 0.5));
        let y = p.binary("mul", half, gate);
        let nodes = p.lowered(&[y, gate], 20);
        assert!(nodes.contains("Erf"), "{nodes}");
    }
}

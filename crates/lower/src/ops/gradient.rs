//! `gradient`: the slope along each axis from neighbours, and at both ends from the nearest elements (`edge_order` 1: two
//! of them, 2: three). The spacing is a number, or the coordinates of the elements.

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::ops::support::compute::formula_type;
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::gradient.array(Tensor self, *, int[] dim, int edge_order=1) -> Tensor[]", uniform),
    Row::new(
        "aten::gradient.scalararray(Tensor self, *, Scalar spacing, int[] dim, int edge_order=1) -> Tensor[]",
        uniform,
    ),
    Row::new(
        "aten::gradient.scalarint(Tensor self, *, Scalar? spacing=None, int? dim=None, int edge_order=1) -> Tensor[]",
        uniform,
    ),
    Row::new(
        "aten::gradient.scalarrayarray(Tensor self, *, Scalar[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
        uniform_each,
    ),
    Row::new(
        "aten::gradient.scalarrayint(Tensor self, *, Scalar[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
        uniform_each,
    ),
    Row::new(
        "aten::gradient.tensorarray(Tensor self, *, Tensor[] spacing, int[] dim, int edge_order=1) -> Tensor[]",
        by_coordinates,
    ),
    Row::new(
        "aten::gradient.tensorarrayint(Tensor self, *, Tensor[] spacing, int? dim=None, int edge_order=1) -> Tensor[]",
        by_coordinates,
    ),
];

/// The axes that are asked for: all if none is named.
fn axes(cx: &Context<'_, '_>) -> Result<Vec<i64>> {
    let rank = cx.meta("self")?.sizes.len();
    match cx.ints_opt("dim")? {
        None => Ok((0..rank as i64).collect()),
        Some(dims) => dims.into_iter().map(|dim| cx.normalize_axis("dim", dim, rank)).collect(),
    }
}

fn uniform(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let spacing = match cx.scalar_opt("spacing")? {
        None => 1.0,
        Some(scalar) => match scalar.number() {
            Some(number) => number.as_f64(),
            None => return cx.refuse("has a spacing that is computed in the graph"),
        },
    };
    let axes = axes(cx)?;
    let spacings = vec![spacing; axes.len()];
    with_spacings(cx, &axes, &spacings)
}

fn uniform_each(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let spacings = cx.floats_opt("spacing")?.unwrap_or_default();
    let axes = axes(cx)?;
    with_spacings(cx, &axes, &spacings)
}

/// One element along `axis`, counted from the end if negative.
fn element(cx: &mut Context<'_, '_>, x: ValueId, axis: i64, at: i64) -> ValueId {
    let end = if at == -1 { i64::MAX } else { at + 1 };
    cx.slice(x, &[axis], &[at], &[end], &[1])
}

/// `weights[0] * values[0] + …`
fn weighted(cx: &mut Context<'_, '_>, values: [ValueId; 3], weights: [ValueId; 3]) -> ValueId {
    let [a, b, c] = [0, 1, 2].map(|at| cx.emit("Mul", &[values[at], weights[at]], vec![]));
    let sum = cx.emit("Add", &[a, b], vec![]);
    cx.emit("Add", &[sum, c], vec![])
}

fn input(cx: &mut Context<'_, '_>) -> Result<ValueId> {
    real_only(cx)?;
    let compute = formula_type(math_type(cx.out()?.dtype));
    operand(cx, "self", compute)
}

fn with_spacings(cx: &mut Context<'_, '_>, axes: &[i64], spacings: &[f64]) -> Result<Outputs> {
    let x = input(cx)?;
    let dtype = cx.out()?.dtype;
    let is_second_order = cx.int("edge_order")? == 2;
    let mut results = Vec::with_capacity(axes.len());
    for (&axis, &spacing) in axes.iter().zip(spacings) {
        let behind = cx.slice(x, &[axis], &[2], &[i64::MAX], &[1]);
        let before = cx.slice(x, &[axis], &[0], &[-2], &[1]);
        let middle = cx.emit("Sub", &[behind, before], vec![]);
        let middle = with_number(cx, "Div", middle, 2.0 * spacing);
        let mut end = |places: [i64; 3], factors: [f64; 3]| {
            let places = places.map(|at| element(cx, x, axis, at));
            let sum = if is_second_order {
                let factors = factors.map(|factor| cx.const_like(x, factor));
                weighted(cx, places, factors)
            } else if factors[0] < 0.0 {
                cx.emit("Sub", &[places[1], places[0]], vec![])
            } else {
                cx.emit("Sub", &[places[0], places[1]], vec![])
            };
            with_number(cx, "Div", sum, spacing)
        };
        let first = end(if is_second_order { [0, 1, 2] } else { [0, 1, 1] }, [-1.5, 2.0, -0.5]);
        let last = end(if is_second_order { [-1, -2, -3] } else { [-1, -2, -2] }, [1.5, -2.0, 0.5]);
        let slopes = cx.concat(&[first, middle, last], axis);
        results.push(cx.cast(slopes, dtype));
    }
    Ok(results.into())
}

fn by_coordinates(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = input(cx)?;
    let dtype = cx.out()?.dtype;
    let rank = cx.meta("self")?.sizes.len() as i64;
    let is_second_order = cx.int("edge_order")? == 2;
    let (axes, coordinates) = (axes(cx)?, cx.tensors("spacing")?);
    let mut results = Vec::with_capacity(axes.len());
    for (&axis, &places) in axes.iter().zip(&coordinates) {
        let compute = cx.dtype(x);
        let places = cx.cast(places, compute);
        let behind: Vec<i64> = (1..rank - axis).collect();
        let places = cx.unsqueeze(places, &behind);
        let (to, from) = (cx.slice(places, &[0], &[1], &[i64::MAX], &[1]), cx.slice(places, &[0], &[0], &[-1], &[1]));
        let steps = cx.emit("Sub", &[to, from], vec![]);
        let pair = [cx.slice(steps, &[0], &[0], &[-1], &[1]), cx.slice(steps, &[0], &[1], &[i64::MAX], &[1])];
        let around = [(0, -2), (1, -1), (2, i64::MAX)].map(|(start, end)| cx.slice(x, &[axis], &[start], &[end], &[1]));
        let weights = parabola(cx, pair, Side::Middle);
        let middle = weighted(cx, around, weights);
        let mut end = |places: [i64; 3], near: i64, pair: [i64; 2], place: Side| {
            let values = places.map(|at| element(cx, x, axis, at));
            if is_second_order {
                let pair = pair.map(|at| element(cx, steps, 0, at));
                let weights = parabola(cx, pair, place);
                return weighted(cx, values, weights);
            }
            let (low, high) = if place == Side::First { (values[0], values[1]) } else { (values[1], values[2]) };
            let way = cx.emit("Sub", &[high, low], vec![]);
            let step = element(cx, steps, 0, near);
            cx.emit("Div", &[way, step], vec![])
        };
        let first = end(if is_second_order { [0, 1, 2] } else { [0, 1, 1] }, 0, [0, 1], Side::First);
        let last = end(if is_second_order { [-3, -2, -1] } else { [-2, -2, -1] }, -1, [-2, -1], Side::Last);
        let slopes = cx.concat(&[first, middle, last], axis);
        results.push(cx.cast(slopes, dtype));
    }
    Ok(results.into())
}

/// At which of three elements the slope is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    First,
    Middle,
    Last,
}

/// The factors of three elements that are `near` and `far` apart, for the slope of the parabola through them.
fn parabola(cx: &mut Context<'_, '_>, [near, far]: [ValueId; 2], place: Side) -> [ValueId; 3] {
    let sum = cx.emit("Add", &[near, far], vec![]);
    let [whole_near, whole_far] = [near, far].map(|step| cx.emit("Mul", &[step, sum], vec![]));
    let both = cx.emit("Mul", &[near, far], vec![]);
    let (over, negative) = match place {
        Side::First => {
            let longer = cx.emit("Add", &[near, sum], vec![]);
            ([longer, sum, near], [true, false, true])
        }
        Side::Middle => {
            let difference = cx.emit("Sub", &[far, near], vec![]);
            ([far, difference, near], [true, false, false])
        }
        Side::Last => {
            let longer = cx.emit("Add", &[far, sum], vec![]);
            ([far, sum, longer], [false, true, false])
        }
    };
    let under = [whole_near, both, whole_far];
    [0, 1, 2].map(|at| {
        let weight = cx.emit("Div", &[over[at], under[at]], vec![]);
        if negative[at] { cx.emit("Neg", &[weight], vec![]) } else { weight }
    })
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }
}

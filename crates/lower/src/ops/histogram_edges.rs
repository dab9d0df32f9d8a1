//! `histogram` and `histogramdd`: counts between edges, and the edges.
//!
//! Each element is compared with each edge of its coordinate; a sum of products over the elements gives the counts, or the
//! sums of the weights. The upper end belongs to the last bin.

use std::borrow::Cow;

use modelexport_graph::{DType, Dim};

use crate::context::Context;
use crate::error::Result;
use crate::ir::{Attr, ValueId};
use crate::literal::{Literal, Number};
use crate::ops::support::compute::{const_floats, product};
use crate::ops::support::fill::filled;
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::operand;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
        |cx| by_count(cx, Form::Flat),
    ),
    Row::new(
        "aten::histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
        |cx| {
            let edges = cx.tensor("bins")?;
            lower(cx, Form::Flat, vec![edges])
        },
    ),
    Row::new(
        "aten::histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
        |cx| by_count(cx, Form::Points),
    ),
    Row::new(
        "aten::histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
        |cx| by_count(cx, Form::Points),
    ),
    Row::new(
        "aten::histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
        |cx| {
            let edges = cx.tensors("bins")?;
            lower(cx, Form::Points, edges)
        },
    ),
];

/// What the elements are.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Form {
    /// Each is one.
    Flat,
    /// The last axis has the coordinates of a point.
    Points,
}

/// How many coordinates an element has, and how many elements there are.
fn counts(cx: &Context<'_, '_>, form: Form) -> Result<(usize, Dim)> {
    let sizes = &cx.meta("self")?.sizes;
    if form == Form::Flat {
        return Ok((1, product(sizes)));
    }
    match sizes.split_last().map(|(last, rest)| (last.as_static(), rest)) {
        Some((Some(last), rest)) => Ok((usize::try_from(last).unwrap_or(0), product(rest))),
        _ => cx.refuse("has points whose number of coordinates is symbolic"),
    }
}

/// The elements of each coordinate, one below the other.
fn columns(cx: &mut Context<'_, '_>, form: Form) -> Result<Vec<ValueId>> {
    let (rank, count) = counts(cx, form)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", dtype)?;
    let x = cx.reshape(x, &[count, Dim::Static(rank as i64)])?;
    Ok((0..rank as i64).map(|at| if rank == 1 { x } else { cx.slice(x, &[1], &[at], &[at + 1], &[1]) }).collect())
}

fn by_count(cx: &mut Context<'_, '_>, form: Form) -> Result<Outputs> {
    let columns = columns(cx, form)?;
    let bins = cx.ints_for("bins", columns.len())?;
    let range = cx.floats_opt("range")?;
    let is_empty = cx.meta("self")?.sizes.iter().any(|size| size.is(0));
    let mut edges = Vec::with_capacity(columns.len());
    for (at, (&column, &bins)) in columns.iter().zip(&bins).enumerate() {
        let ends = match &range {
            Some(range) => [range.get(2 * at), range.get(2 * at + 1)].map(|end| end.copied().unwrap_or(0.0)),
            None if is_empty => [0.0, 1.0],
            None => {
                let ends = ["ReduceMin", "ReduceMax"].map(|end| cx.reduce(end, column, &[], false));
                let is_single = cx.emit("Equal", &ends, vec![]);
                let low = with_number(cx, "Sub", ends[0], 0.5);
                let high = with_number(cx, "Add", ends[1], 0.5);
                let low = cx.emit("Where", &[is_single, low, ends[0]], vec![]);
                let high = cx.emit("Where", &[is_single, high, ends[1]], vec![]);
                edges.push(spaced(cx, [low, high], bins)?);
                continue;
            }
        };
        let ends = if ends[0] == ends[1] { [ends[0] - 0.5, ends[1] + 0.5] } else { ends };
        let ends = ends.map(|end| cx.const_like(column, end));
        edges.push(spaced(cx, ends, bins)?);
    }
    lower(cx, form, edges)
}

/// The edges of `bins` equal bins: the first half is counted from below, the second from above.
fn spaced(cx: &mut Context<'_, '_>, [low, high]: [ValueId; 2], bins: i64) -> Result<ValueId> {
    let dtype = cx.dtype(low);
    if bins < 1 {
        return cx.refuse(format!("has {bins} bins"));
    }
    let way = cx.emit("Sub", &[high, low], vec![]);
    let step = with_number(cx, "Div", way, bins as f64);
    let half = (bins + 1) / 2;
    let first = const_floats(cx, dtype, &[half], (0..half).map(|at| at as f64))?;
    let first = cx.emit("Mul", &[first, step], vec![]);
    let first = cx.emit("Add", &[low, first], vec![]);
    let second = const_floats(cx, dtype, &[bins + 1 - half], (half..=bins).map(|at| (bins - at) as f64))?;
    let second = cx.emit("Mul", &[second, step], vec![]);
    let second = cx.emit("Sub", &[high, second], vec![]);
    Ok(cx.concat(&[first, second], 0))
}

fn lower(cx: &mut Context<'_, '_>, form: Form, edges: Vec<ValueId>) -> Result<Outputs> {
    let columns = columns(cx, form)?;
    let (rank, count) = counts(cx, form)?;
    let dtype = cx.out()?.dtype;
    let bins: Option<Vec<i64>> = cx.out()?.sizes.iter().map(Dim::as_static).collect();
    let Some(bins) = bins else { return cx.refuse("has a symbolic number of bins") };
    let letters: Vec<char> = ('a'..'n').take(rank).collect();
    if letters.len() != rank || bins.len() != rank || edges.len() != rank {
        return cx.refuse(format!("counts points of {rank} coordinates"));
    }
    let edges: Vec<ValueId> = edges.into_iter().map(|edges| cx.cast(edges, dtype)).collect();
    let mut factors = Vec::with_capacity(rank + 1);
    for ((&column, &edges), &bins) in columns.iter().zip(&edges).zip(&bins) {
        factors.push(membership(cx, column, edges, bins, dtype)?);
    }
    let weights = match cx.meta_opt("weight") {
        Some(_) => {
            let weights = operand(cx, "weight", dtype)?;
            cx.reshape(weights, &[count])?
        }
        None => filled(cx, &[count], dtype, 1.0, None)?,
    };
    let mut histogram = if rank == 1 {
        cx.emit("MatMul", &[weights, factors[0]], vec![])
    } else {
        let terms: Vec<String> = letters.iter().map(|letter| format!("n{letter}")).collect();
        let result: String = letters.iter().collect();
        factors.insert(0, weights);
        let equation = format!("n,{}->{result}", terms.join(","));
        cx.emit("Einsum", &factors, vec![(Cow::Borrowed("equation"), Attr::Str(equation.into()))])
    };
    if cx.bool("density")? {
        let sum = cx.reduce("ReduceSum", histogram, &[], false);
        histogram = cx.emit("Div", &[histogram, sum], vec![]);
        for (at, &edges) in edges.iter().enumerate() {
            let [from, to] = neighbours(cx, edges);
            let widths = cx.emit("Sub", &[to, from], vec![]);
            let behind: Vec<i64> = (1..(rank - at) as i64).collect();
            let widths = cx.unsqueeze(widths, &behind);
            histogram = cx.emit("Div", &[histogram, widths], vec![]);
        }
    }
    let mut results = vec![histogram];
    results.extend(edges);
    Ok(results.into())
}

/// All edges but the last, and all but the first.
fn neighbours(cx: &mut Context<'_, '_>, edges: ValueId) -> [ValueId; 2] {
    [cx.slice(edges, &[0], &[0], &[-1], &[1]), cx.slice(edges, &[0], &[1], &[i64::MAX], &[1])]
}

/// `[elements, bins]`: 1 where the element lies in the bin.
fn membership(cx: &mut Context<'_, '_>, column: ValueId, edges: ValueId, bins: i64, dtype: DType) -> Result<ValueId> {
    let [from, to] = neighbours(cx, edges);
    let above = cx.emit("GreaterOrEqual", &[column, from], vec![]);
    let below = cx.emit("Less", &[column, to], vec![]);
    let is_last = (0..bins).map(|at| Number::from(at + 1 == bins));
    let Some(is_last) = Literal::from_numbers(DType::Bool, vec![bins], is_last) else {
        return cx.refuse("has no constants of booleans");
    };
    let is_last = cx.constant(is_last);
    let is_end = cx.emit("Equal", &[column, to], vec![]);
    let is_end = cx.emit("And", &[is_end, is_last], vec![]);
    let below = cx.emit("Or", &[below, is_end], vec![]);
    let inside = cx.emit("And", &[above, below], vec![]);
    Ok(cx.cast(inside, dtype))
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

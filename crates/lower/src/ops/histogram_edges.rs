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
        "aten.histogram.bin_ct",
        "histogram.bin_ct(Tensor self, int bins=100, *, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
        |cx| by_count(cx, Form::Flat),
    ),
    Row::new(
        "aten.histogram.bins_tensor",
        "histogram.bins_tensor(Tensor self, Tensor bins, *, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor bin_edges)",
        |cx| {
            let edges = cx.tensor("bins")?;
            lower(cx, Form::Flat, vec![edges])
        },
    ),
    Row::new(
        "aten.histogramdd.default",
        "histogramdd(Tensor self, int[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
        |cx| by_count(cx, Form::Points),
    ),
    Row::new(
        "aten.histogramdd.int_bins",
        "histogramdd.int_bins(Tensor self, int bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
        |cx| by_count(cx, Form::Points),
    ),
    Row::new(
        "aten.histogramdd.TensorList_bins",
        "histogramdd.TensorList_bins(Tensor self, Tensor[] bins, float[]? range=None, Tensor? weight=None, bool density=False) -> (Tensor hist, Tensor[] bin_edges)",
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
        assert_snapshot!(lowered(ROWS), @"
        aten.histogram.bin_ct(self: f32[5, 7], bins=6) -> (f32[6], f32[7])
            t1 = Reshape(self, [35, 1])
            t2 = ReduceMin(t1, keepdims=0)
            t3 = ReduceMax(t1, keepdims=0)
            t4 = Equal(t2, t3)
            t5 = Where(t4, Sub(t2, 0.5), t2)
            t6 = Where(t4, Add(t3, 0.5), t3)
            t7 = Div(Sub(t6, t5), 6.0)
            t8 = Concat(Add(t5, Mul([0.0, 1.0, 2.0], t7)), Sub(t6, Mul([3.0, 2.0, 1.0, 0.0], t7)), axis=0)
            t9 = Slice(t8, [1], [max], [0])
            t10 = And(Equal(t1, t9), [false, false, false, false, false, true])
            t11 = And(GreaterOrEqual(t1, Slice(t8, [0], [-1], [0])), Or(Less(t1, t9), t10))
            MatMul(f32[35], Cast(t11, to=f32)), t8
        aten.histogram.bins_tensor(self: f32[50], bins: f32[5]) -> (f32[4], f32[5])
            t1 = Reshape(self, [50, 1])
            t2 = Slice(bins, [1], [max], [0])
            t3 = Or(Less(t1, t2), And(Equal(t1, t2), [false, false, false, true]))
            t4 = Cast(And(GreaterOrEqual(t1, Slice(bins, [0], [-1], [0])), t3), to=f32)
            MatMul(f32[50], t4), Identity(bins)
        aten.histogramdd.default(self: f32[20, 3], bins=[2, 3, 4]) -> (f32[2, 3, 4], [f32[3], f32[4], f32[5]])
            t1 = Slice(self, [0], [1], [1])
            t2 = Slice(self, [1], [2], [1])
            t3 = Slice(self, [2], [3], [1])
            t4 = ReduceMin(t1, keepdims=0)
            t5 = ReduceMax(t1, keepdims=0)
            t6 = Equal(t4, t5)
            t7 = Where(t6, Sub(t4, 0.5), t4)
            t8 = Where(t6, Add(t5, 0.5), t5)
            t9 = Div(Sub(t8, t7), 2.0)
            t10 = Concat(Add(t7, Mul([0.0], t9)), Sub(t8, Mul([1.0, 0.0], t9)), axis=0)
            t11 = ReduceMin(t2, keepdims=0)
            t12 = ReduceMax(t2, keepdims=0)
            t13 = Equal(t11, t12)
            t14 = Where(t13, Sub(t11, 0.5), t11)
            t15 = Where(t13, Add(t12, 0.5), t12)
            t16 = Div(Sub(t15, t14), 3.0)
            t17 = Concat(Add(t14, Mul([0.0, 1.0], t16)), Sub(t15, Mul([1.0, 0.0], t16)), axis=0)
            t18 = ReduceMin(t3, keepdims=0)
            t19 = ReduceMax(t3, keepdims=0)
            t20 = Equal(t18, t19)
            t21 = Where(t20, Sub(t18, 0.5), t18)
            t22 = Where(t20, Add(t19, 0.5), t19)
            t23 = Div(Sub(t22, t21), 4.0)
            t24 = Concat(Add(t21, Mul([0.0, 1.0], t23)), Sub(t22, Mul([2.0, 1.0, 0.0], t23)), axis=0)
            t25 = Slice(t10, [1], [max], [0])
            t26 = And(GreaterOrEqual(t1, Slice(t10, [0], [-1], [0])), Or(Less(t1, t25), And(Equal(t1, t25), [false, true])))
            t27 = Slice(t17, [1], [max], [0])
            t28 = And(GreaterOrEqual(t2, Slice(t17, [0], [-1], [0])), Or(Less(t2, t27), And(Equal(t2, t27), [false, false, true])))
            t29 = Slice(t24, [1], [max], [0])
            t30 = Or(Less(t3, t29), And(Equal(t3, t29), [false, false, false, true]))
            t31 = Cast(And(GreaterOrEqual(t3, Slice(t24, [0], [-1], [0])), t30), to=f32)
            t32 = Einsum(f32[20], Cast(t26, to=f32), Cast(t28, to=f32), t31, equation=n,na,nb,nc->abc)
            t32, t10, t17, t24
        aten.histogramdd.int_bins(self: f32[20, 2], bins=3) -> (f32[3, 3], [f32[4], f32[4]])
            t1 = Slice(self, [0], [1], [1])
            t2 = Slice(self, [1], [2], [1])
            t3 = ReduceMin(t1, keepdims=0)
            t4 = ReduceMax(t1, keepdims=0)
            t5 = Equal(t3, t4)
            t6 = Where(t5, Sub(t3, 0.5), t3)
            t7 = Where(t5, Add(t4, 0.5), t4)
            t8 = Div(Sub(t7, t6), 3.0)
            t9 = Concat(Add(t6, Mul([0.0, 1.0], t8)), Sub(t7, Mul([1.0, 0.0], t8)), axis=0)
            t10 = ReduceMin(t2, keepdims=0)
            t11 = ReduceMax(t2, keepdims=0)
            t12 = Equal(t10, t11)
            t13 = Where(t12, Sub(t10, 0.5), t10)
            t14 = Where(t12, Add(t11, 0.5), t11)
            t15 = Div(Sub(t14, t13), 3.0)
            t16 = Concat(Add(t13, Mul([0.0, 1.0], t15)), Sub(t14, Mul([1.0, 0.0], t15)), axis=0)
            t17 = Slice(t9, [1], [max], [0])
            t18 = And(GreaterOrEqual(t1, Slice(t9, [0], [-1], [0])), Or(Less(t1, t17), And(Equal(t1, t17), [false, false, true])))
            t19 = Slice(t16, [1], [max], [0])
            t20 = And(GreaterOrEqual(t2, Slice(t16, [0], [-1], [0])), Or(Less(t2, t19), And(Equal(t2, t19), [false, false, true])))
            t21 = Einsum(f32[20], Cast(t18, to=f32), Cast(t20, to=f32), equation=n,na,nb->ab)
            t21, t9, t16
        aten.histogramdd.TensorList_bins(self: f32[20, 2], bins: [f32[5], f32[4]]) -> (f32[4, 3], [f32[5], f32[4]])
            t1 = Slice(self, [0], [1], [1])
            t2 = Slice(self, [1], [2], [1])
            t3 = Slice(bins_0, [1], [max], [0])
            t4 = Or(Less(t1, t3), And(Equal(t1, t3), [false, false, false, true]))
            t5 = Cast(And(GreaterOrEqual(t1, Slice(bins_0, [0], [-1], [0])), t4), to=f32)
            t6 = Slice(bins_1, [1], [max], [0])
            t7 = And(GreaterOrEqual(t2, Slice(bins_1, [0], [-1], [0])), Or(Less(t2, t6), And(Equal(t2, t6), [false, false, true])))
            Einsum(f32[20], t5, Cast(t7, to=f32), equation=n,na,nb->ab), Identity(bins_0), Identity(bins_1)
        ");
    }
}

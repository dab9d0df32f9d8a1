//! `median`, `nanmedian`, `mode`, `quantile`, `nanquantile`, from sorted elements.
//!
//! - `median` is the lower of two middle elements, or NaN if one is there.
//! - `mode` counts equal elements pairwise (memory grows with the square of the axis) and takes the smallest of the most
//!   frequent.
//! - `quantile` interpolates between neighbours as asked for. NaN makes its result NaN; `nanquantile` leaves it out.

use modelexport_graph::{DType, Dim, SymExpr, SymOp};

use super::sort::{last_of_smallest, top};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::ops::support::compute::product;
use crate::ops::support::formulas::{test_number, with_number};
use crate::ops::support::operands::{operand, real_only};
use crate::ops::support::reduction::count_value;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::median(Tensor self) -> Tensor", median_of_all),
    Row::new("aten::median.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)", median),
    Row::new("aten::mode(Tensor self, int dim=-1, bool keepdim=False) -> (Tensor values, Tensor indices)", mode),
    Row::new("aten::nanmedian(Tensor self) -> Tensor", nan_median_of_all),
    Row::new(
        "aten::nanmedian.dim(Tensor self, int dim, bool keepdim=False) -> (Tensor values, Tensor indices)",
        nan_median,
    ),
    Row::new(
        "aten::nanquantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> Tensor",
        |cx| quantile(cx, true),
    ),
    Row::new(
        "aten::nanquantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> Tensor",
        |cx| quantile(cx, true),
    ),
    Row::new(
        "aten::quantile(Tensor self, Tensor q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> Tensor",
        |cx| quantile(cx, false),
    ),
    Row::new(
        "aten::quantile.scalar(Tensor self, float q, int? dim=None, bool keepdim=False, *, str interpolation=\"linear\") -> Tensor",
        |cx| quantile(cx, false),
    ),
];

/// `self`, the axis, and the size of that axis. `None`: a 0-D tensor.
fn argument(cx: &mut Context<'_, '_>) -> Result<(ValueId, Option<(i64, Dim)>)> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    let sizes = &cx.meta("self")?.sizes;
    let axis = cx.axis("dim", sizes.len())?;
    let size = sizes.get(usize::try_from(axis).unwrap_or(usize::MAX)).cloned();
    Ok((x, size.map(|size| (axis, size))))
}

/// All elements in one row, and how many they are.
fn flat(cx: &mut Context<'_, '_>) -> Result<(ValueId, Dim)> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    let count = product(&cx.meta("self")?.sizes);
    Ok((cx.reshape_static(x, &[-1]), count))
}

/// `(count + 1) / 2`: the number of elements up to the lower middle.
fn up_to_middle(count: &Dim) -> Dim {
    match count {
        Dim::Static(count) => Dim::Static((count + 1) / 2),
        Dim::Symbolic(count) => {
            let more = SymExpr::Call(SymOp::Add, vec![count.clone(), SymExpr::Int(1)]);
            Dim::Symbolic(SymExpr::Call(SymOp::FloorDiv, vec![more, SymExpr::Int(2)]))
        }
    }
}

fn median_of_all(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, count) = flat(cx)?;
    let results = last_of_smallest(cx, x, 0, &up_to_middle(&count), false)?;
    let [value, _] = unless_nan(cx, x, 0, false, results);
    Ok(value.into())
}

/// Value and index, or NaN and where it is, if an element along `axis` is NaN.
fn unless_nan(cx: &mut Context<'_, '_>, x: ValueId, axis: i64, keepdim: bool, [value, index]: [ValueId; 2]) -> [ValueId; 2] {
    let dtype = cx.dtype(x);
    if !dtype.is_float() {
        return [value, index];
    }
    let x = cx.cast(x, math_type(dtype));
    let is_nan = cx.emit("IsNaN", &[x], vec![]);
    let found = cx.cast(is_nan, DType::I32);
    let any = cx.reduce("ReduceMax", found, &[axis], keepdim);
    let any = cx.cast(any, DType::Bool);
    let place = cx.emit("ArgMax", &[found], attrs![axis = axis, keepdims = keepdim]);
    let nan = cx.const_like(value, f64::NAN);
    [cx.select(any, nan, value), cx.select(any, place, index)]
}

fn median(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, axis) = argument(cx)?;
    let Some((axis, size)) = axis else { return Ok([x, cx.const_int(0)].into()) };
    let keepdim = cx.bool("keepdim")?;
    let results = last_of_smallest(cx, x, axis, &up_to_middle(&size), keepdim)?;
    Ok(unless_nan(cx, x, axis, keepdim, results).into())
}

fn nan_median_of_all(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, count) = flat(cx)?;
    let [value, _] = middle_of_numbers(cx, x, 0, &count)?;
    let sizes = cx.out()?.sizes.clone();
    Ok(cx.reshape(value, &sizes)?.into())
}

fn nan_median(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, axis) = argument(cx)?;
    let Some((axis, size)) = axis else { return Ok([x, cx.const_int(0)].into()) };
    let [value, index] = middle_of_numbers(cx, x, axis, &size)?;
    let sizes = cx.out()?.sizes.clone();
    Ok([cx.reshape(value, &sizes)?, cx.reshape(index, &sizes)?].into())
}

/// The lower middle of the elements that are numbers, with the axis kept. NaN sorts behind all as infinity.
fn middle_of_numbers(cx: &mut Context<'_, '_>, x: ValueId, axis: i64, size: &Dim) -> Result<[ValueId; 2]> {
    let dtype = cx.dtype(x);
    if !dtype.is_float() {
        return last_of_smallest(cx, x, axis, &up_to_middle(size), true);
    }
    let x = cx.cast(x, math_type(dtype));
    let is_nan = cx.emit("IsNaN", &[x], vec![]);
    let infinity = cx.const_like(x, f64::INFINITY);
    let ordered = cx.emit("Where", &[is_nan, infinity, x], vec![]);
    let [values, indices] = top(cx, ordered, axis, size, false, true)?;
    let is_number = cx.emit("Not", &[is_nan], vec![]);
    let counted = cx.cast(is_number, DType::I64);
    let count = cx.reduce("ReduceSum", counted, &[axis], true);
    let last = with_number(cx, "Sub", count, 1.0);
    let last = with_number(cx, "Max", last, 0.0);
    let middle = with_number(cx, "Div", last, 2.0);
    let value = cx.emit("GatherElements", &[values, middle], attrs![axis = axis]);
    let index = cx.emit("GatherElements", &[indices, middle], attrs![axis = axis]);
    let none = test_number(cx, "Equal", count, 0.0);
    let nan = cx.const_like(x, f64::NAN);
    let value = cx.emit("Where", &[none, nan, value], vec![]);
    Ok([cx.cast(value, dtype), index])
}

fn mode(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (x, axis) = argument(cx)?;
    let Some((axis, size)) = axis else { return Ok([x, cx.const_int(0)].into()) };
    let dtype = cx.dtype(x);
    let [values, indices] = top(cx, x, axis, &size, false, true)?;
    let row = cx.unsqueeze(values, &[axis]);
    let column = cx.unsqueeze(values, &[axis + 1]);
    let equal = cx.test("Equal", &[column, row]);
    let ones = cx.cast(equal, DType::I32);
    // The axis that is left counts for each element how often it occurs.
    let counts = cx.reduce("ReduceSum", ones, &[axis + 1], false);
    let first = cx.emit("ArgMax", &[counts], attrs![axis = axis, keepdims = 1]);
    let most = cx.reduce("ReduceMax", counts, &[axis], true);
    let most = cx.cast(most, DType::I64);
    let value = cx.emit("GatherElements", &[values, first], attrs![axis = axis]);
    // PyTorch tells the last place at which the value occurs.
    let offset = with_number(cx, "Sub", most, 1.0);
    let last = cx.emit("Add", &[first, offset], vec![]);
    let index = cx.emit("GatherElements", &[indices, last], attrs![axis = axis]);
    let sizes = cx.out()?.sizes.clone();
    let value = cx.cast(value, dtype);
    Ok([cx.reshape(value, &sizes)?, cx.reshape(index, &sizes)?].into())
}

fn quantile(cx: &mut Context<'_, '_>, skips_nan: bool) -> Result<Outputs> {
    real_only(cx)?;
    let meta = cx.meta("self")?;
    let rank = meta.sizes.len();
    let x = cx.tensor("self")?;
    let dtype = cx.out()?.dtype;
    // The axis of the elements goes last, so that the axis of the quantiles takes its place.
    let (x, rank, size) = match cx.int_opt("dim")? {
        Some(axis) if rank > 0 => {
            let axis = cx.normalize_axis("dim", axis, rank)?;
            let mut order: Vec<i64> = (0..rank as i64).filter(|&at| at != axis).collect();
            order.push(axis);
            let size = meta.sizes.get(usize::try_from(axis).unwrap_or(0)).cloned().unwrap_or(Dim::Static(1));
            (cx.transpose(x, &order), rank, size)
        }
        _ => (cx.reshape_static(x, &[-1]), 1, product(&meta.sizes)),
    };
    let last_axis = rank as i64 - 1;
    let many = cx.meta_opt("q").is_some_and(|q| !q.sizes.is_empty());
    let q = operand(cx, "q", dtype)?;
    let is_nan = cx.emit("IsNaN", &[x], vec![]);
    let value = if skips_nan {
        let infinity = cx.const_like(x, f64::INFINITY);
        let ordered = cx.emit("Where", &[is_nan, infinity, x], vec![]);
        let [values, _] = top(cx, ordered, last_axis, &size, false, true)?;
        let is_number = cx.emit("Not", &[is_nan], vec![]);
        let numbers = cx.cast(is_number, dtype);
        let count = cx.reduce("ReduceSum", numbers, &[last_axis], true);
        let last = with_number(cx, "Sub", count, 1.0);
        let last = with_number(cx, "Max", last, 0.0);
        let place = cx.emit("Mul", &[q, last], vec![]);
        let value = interpolated(cx, values, place, Pick::Own(last_axis))?;
        let is_none = test_number(cx, "Equal", count, 0.0);
        let nan = cx.const_like(x, f64::NAN);
        cx.emit("Where", &[is_none, nan, value], vec![])
    } else {
        let [values, _] = top(cx, x, last_axis, &size, false, true)?;
        let count = count_value(cx, &size, dtype)?;
        let last = with_number(cx, "Sub", count, 1.0);
        let place = cx.emit("Mul", &[q, last], vec![]);
        let value = interpolated(cx, values, place, Pick::Same(last_axis))?;
        let found = cx.cast(is_nan, DType::I32);
        let any = cx.reduce("ReduceMax", found, &[last_axis], many);
        let any = cx.cast(any, DType::Bool);
        let nan = cx.const_like(x, f64::NAN);
        cx.emit("Where", &[any, nan, value], vec![])
    };
    let value = if many {
        let mut order = vec![last_axis];
        order.extend(0..last_axis);
        cx.transpose(value, &order)
    } else {
        value
    };
    let sizes = cx.out()?.sizes.clone();
    Ok(cx.reshape(value, &sizes)?.into())
}

/// Which places along the axis are picked.
#[derive(Clone, Copy)]
enum Pick {
    /// The same of every row.
    Same(i64),
    /// Those that each row has of its own.
    Own(i64),
}

/// Elements at fractional places along the last axis.
fn interpolated(cx: &mut Context<'_, '_>, values: ValueId, place: ValueId, which: Pick) -> Result<ValueId> {
    let pick = |cx: &mut Context<'_, '_>, round: &'static str| {
        let at = cx.emit(round, &[place], vec![]);
        let at = cx.cast(at, DType::I64);
        match which {
            Pick::Same(axis) => cx.emit("Gather", &[values, at], attrs![axis = axis]),
            Pick::Own(axis) => cx.emit("GatherElements", &[values, at], attrs![axis = axis]),
        }
    };
    match cx.str_opt("interpolation")?.as_deref() {
        Some("lower") => Ok(pick(cx, "Floor")),
        Some("higher") => Ok(pick(cx, "Ceil")),
        Some("nearest") => Ok(pick(cx, "Round")),
        mode @ (Some("linear" | "midpoint") | None) => {
            let is_midpoint = mode == Some("midpoint");
            let (below, above) = (pick(cx, "Floor"), pick(cx, "Ceil"));
            let way = cx.emit("Sub", &[above, below], vec![]);
            let weight = if is_midpoint {
                cx.const_like(place, 0.5)
            } else {
                let floor = cx.emit("Floor", &[place], vec![]);
                cx.emit("Sub", &[place, floor], vec![])
            };
            let step = cx.emit("Mul", &[way, weight], vec![]);
            Ok(cx.emit("Add", &[below, step], vec![]))
        }
        Some(other) => cx.wrong("interpolation", "one of PyTorch's interpolations", other.to_owned()),
    }
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

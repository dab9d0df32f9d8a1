//! `segment_reduce`: segments of an axis, one behind the other, each reduced to one element.
//!
//! Each segment sees all elements, those of other segments replaced by what does not change the reduction.

use modelexport_graph::DType;

use super::support::compute::{formula_type, tensor_as};
use super::support::formulas::with_number;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new(
    "aten::segment_reduce(Tensor data, str reduce, *, Tensor? lengths=None, Tensor? indices=None, Tensor? offsets=None, int axis=0, bool unsafe=False, Scalar? initial=None) -> Tensor",
    lower,
)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (sizes, dtype) = (cx.meta("data")?.sizes.clone(), cx.out()?.dtype);
    let axis = cx.axis("axis", sizes.len())?;
    let compute = formula_type(dtype);
    let (reduce, combine, neutral) = match cx.str_opt("reduce")?.as_deref() {
        Some("sum" | "mean") => ("ReduceSum", "Add", 0.0),
        Some("prod") => ("ReduceProd", "Mul", 1.0),
        Some("max") => ("ReduceMax", "Max", f64::NEG_INFINITY),
        Some("min") => ("ReduceMin", "Min", f64::INFINITY),
        other => return cx.wrong("reduce", "`sum`, `mean`, `prod`, `max` or `min`", other),
    };
    let [starts, ends] = bounds(cx, axis)?;
    let count = match sizes.get(axis as usize) {
        Some(size) => cx.dim_value(size)?,
        None => return cx.refuse("reduces segments of a 0-D tensor"),
    };
    let (zero, one, limit) = (cx.const_int(0), cx.const_int(1), cx.squeeze(count, &[0]));
    let places = cx.emit("Range", &[zero, limit, one], vec![]);
    let (first, behind) = (cx.unsqueeze(starts, &[-1]), cx.unsqueeze(ends, &[-1]));
    let begun = cx.emit("GreaterOrEqual", &[places, first], vec![]);
    let open = cx.emit("Less", &[places, behind], vec![]);
    let inside = cx.emit("And", &[begun, open], vec![]);
    // `[.., segments, elements, 1..]` beside `[.., 1, elements, ..]`.
    let rest = sizes.len() as i64 - axis - 1;
    let inside = spread(cx, inside, axis + 2, rest);
    let data = tensor_as(cx, "data", compute)?;
    let data = cx.unsqueeze(data, &[axis]);
    let blank = cx.const_scalar(compute, neutral);
    let own = cx.emit("Where", &[inside, data, blank], vec![]);
    let mut value = cx.reduce(reduce, own, &[axis + 1], false);
    let initial = cx.scalar_opt("initial")?;
    let has_initial = initial.is_some();
    if let Some(initial) = initial {
        let initial = cx.scalar_value(initial, compute);
        value = cx.emit(combine, &[value, initial], vec![]);
    }
    if cx.str_opt("reduce")?.as_deref() == Some("mean") {
        let lengths = cx.emit("Sub", &[ends, starts], vec![]);
        // Nothing has no mean, unless it starts with one.
        let lengths = if has_initial { with_number(cx, "Max", lengths, 1) } else { lengths };
        let lengths = cx.cast(lengths, compute);
        let lengths = spread(cx, lengths, axis + 1, rest);
        value = cx.emit("Div", &[value, lengths], vec![]);
    }
    Ok(cx.cast(value, dtype).into())
}

/// `count` axes of size 1 from `first` on.
fn spread(cx: &mut Context<'_, '_>, value: ValueId, first: i64, count: i64) -> ValueId {
    cx.unsqueeze(value, &(first..first + count).collect::<Vec<_>>())
}

/// Where each segment begins and ends.
fn bounds(cx: &mut Context<'_, '_>, axis: i64) -> Result<[ValueId; 2]> {
    if cx.arg("lengths").is_some() {
        let lengths = tensor_as(cx, "lengths", DType::I64)?;
        let last = cx.const_int(axis);
        let ends = cx.emit("CumSum", &[lengths, last], vec![]);
        return Ok([cx.emit("Sub", &[ends, lengths], vec![]), ends]);
    }
    if cx.arg("offsets").is_none() {
        return cx.refuse("reduces segments that neither `lengths` nor `offsets` describe");
    }
    let offsets = tensor_as(cx, "offsets", DType::I64)?;
    let starts = cx.slice(offsets, &[axis], &[0], &[-1], &[1]);
    Ok([starts, cx.slice(offsets, &[axis], &[1], &[i64::MAX], &[1])])
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.segment_reduce.default(data: f32[5], reduce='sum', lengths: i64[3]) -> f32[3]
            t1 = CumSum(lengths, 0)
            t2 = GreaterOrEqual([0, 1, 2, 3, 4], Unsqueeze(Sub(t1, lengths), [-1]))
            t3 = Where(And(t2, Less([0, 1, 2, 3, 4], Unsqueeze(t1, [-1]))), Unsqueeze(data, [0]), 0.0)
            ReduceSum(t3, [1], keepdims=0)
        aten.segment_reduce.default(data: f32[5, s0], reduce='sum', lengths: i64[3], unsafe=True) -> f32[3, s0]
            t1 = CumSum(lengths, 0)
            t2 = GreaterOrEqual([0, 1, 2, 3, 4], Unsqueeze(Sub(t1, lengths), [-1]))
            t3 = Unsqueeze(And(t2, Less([0, 1, 2, 3, 4], Unsqueeze(t1, [-1]))), [2])
            ReduceSum(Where(t3, Unsqueeze(data, [0]), 0.0), [1], keepdims=0)
        ");
    }
}

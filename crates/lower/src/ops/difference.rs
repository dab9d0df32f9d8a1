//! Differences and areas along an axis: `diff`, `trapezoid`, `cumulative_trapezoid`. Two slices that are one apart,
//! subtracted (booleans: `Xor`) or added.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::{kernel_type, math_type};
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::cumulative_trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", |cx| trapezoid(cx, true)),
    Row::new("aten::cumulative_trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", |cx| trapezoid(cx, true)),
    Row::new("aten::diff(Tensor self, int n=1, int dim=-1, Tensor? prepend=None, Tensor? append=None) -> Tensor", diff),
    Row::new("aten::trapezoid.dx(Tensor y, *, Scalar dx=1, int dim=-1) -> Tensor", |cx| trapezoid(cx, false)),
    Row::new("aten::trapezoid.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", |cx| trapezoid(cx, false)),
    Row::new("aten::trapz.dx(Tensor y, *, float dx=1., int dim=-1) -> Tensor", |cx| trapezoid(cx, false)),
    Row::new("aten::trapz.x(Tensor y, Tensor x, *, int dim=-1) -> Tensor", |cx| trapezoid(cx, false)),
];

/// Everything but the last, and everything but the first element along `axis`.
fn neighbours(cx: &mut Context<'_, '_>, x: ValueId, axis: i64) -> [ValueId; 2] {
    [cx.slice(x, &[axis], &[0], &[-1], &[1]), cx.slice(x, &[axis], &[1], &[i64::MAX], &[1])]
}

fn diff(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let axis = cx.axis("dim", cx.meta("self")?.sizes.len())?;
    let mut parts = Vec::new();
    for name in ["prepend", "self", "append"] {
        if cx.meta_opt(name).is_some() {
            parts.push(operand(cx, name, dtype)?);
        }
    }
    let op = if dtype == DType::Bool { "Xor" } else { "Sub" };
    let joined = cx.concat(&parts, axis);
    let kernel = kernel_type(op, dtype, cx.opset);
    let mut value = cx.cast(joined, kernel);
    for _ in 0..cx.int("n")? {
        let [before, after] = neighbours(cx, value, axis);
        value = cx.emit(op, &[after, before], vec![]);
    }
    Ok(cx.cast(value, dtype).into())
}

/// Sums of neighbours times half their distance.
fn trapezoid(cx: &mut Context<'_, '_>, cumulative: bool) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let sizes = &cx.meta("y")?.sizes;
    let axis = cx.axis("dim", sizes.len())?;
    let y = operand(cx, "y", math_type(dtype))?;
    let [before, after] = neighbours(cx, y, axis);
    let mut area = cx.emit("Add", &[before, after], vec![]);
    if let Some(meta) = cx.meta_opt("x") {
        let x = operand(cx, "x", math_type(dtype))?;
        let x_axis = if meta.sizes.len() == 1 { 0 } else { axis - (sizes.len() as i64 - meta.sizes.len() as i64) };
        let [before, after] = neighbours(cx, x, x_axis);
        let mut distance = cx.emit("Sub", &[after, before], vec![]);
        if meta.sizes.len() == 1 {
            // A vector lies along the axis whatever the number of axes behind it.
            let behind: Vec<i64> = (1..sizes.len() as i64 - axis).collect();
            distance = cx.unsqueeze(distance, &behind);
        }
        area = cx.emit("Mul", &[area, distance], vec![]);
        area = with_number(cx, "Mul", area, 0.5);
    } else {
        let distance = cx.scalar_arg("dx")?;
        let distance = match distance.number() {
            Some(number) => number.as_f64(),
            None => return cx.refuse("has a distance that is computed in the graph"),
        };
        area = with_number(cx, "Mul", area, 0.5 * distance);
    }
    let value = if cumulative {
        let axis = cx.const_int(axis);
        cx.emit("CumSum", &[area, axis], vec![])
    } else {
        cx.reduce("ReduceSum", area, &[axis], false)
    };
    Ok(cx.cast(value, dtype).into())
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

//! Running results along an axis: `cumsum`, `cumprod`, `cummax`, `cummin`, `logcumsumexp`.
//!
//! ONNX has `CumSum`; the others are `Scan`. `cummax` and `cummin` tell the last of equal elements and keep NaN once it
//! came, as PyTorch does.

use modelexport_graph::{DType, Dim};

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::{kernel_type, math_type};
use crate::ops::support::fill::filled;
use crate::ops::support::formulas::log_add_exp;
use crate::ops::support::operands::{operand, real_only};
use crate::ops::support::scan::scan;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::cummax(Tensor self, int dim) -> (Tensor values, Tensor indices)", |cx| {
        extreme(cx, "GreaterOrEqual")
    }),
    Row::new("aten::cummin(Tensor self, int dim) -> (Tensor values, Tensor indices)", |cx| extreme(cx, "LessOrEqual")),
    Row::new("aten::cumprod(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", product),
    Row::new("aten::cumsum(Tensor self, int dim, *, ScalarType? dtype=None) -> Tensor", sum),
    Row::new("aten::logcumsumexp(Tensor self, int dim) -> Tensor", log_sum_exp),
];

fn sum(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", dtype)?;
    let rank = cx.meta("self")?.sizes.len();
    let axis = cx.axis("dim", rank)?;
    if rank == 0 {
        return Ok(x.into());
    }
    let kernel = kernel_type("CumSum", dtype, cx.opset);
    let x = cx.cast(x, kernel);
    let axis = cx.const_int(axis);
    let value = cx.emit("CumSum", &[x, axis], vec![]);
    Ok(cx.cast(value, dtype).into())
}

/// What runs along an axis. onnxruntime's `Scan` fails where there are no elements, so axes that may have none get one
/// more, which is cut off again.
struct Run {
    axis: i64,
    sizes: Vec<Dim>,
    /// Axes with one element more than the tensor has, and their sizes without it.
    longer: Vec<(usize, Dim)>,
}

impl Run {
    /// `None` for 0-D tensors, which are their own result.
    fn read(cx: &Context<'_, '_>) -> Result<Option<Run>> {
        let mut sizes = cx.meta("self")?.sizes.clone();
        let axis = cx.axis("dim", sizes.len())?;
        if sizes.is_empty() {
            return Ok(None);
        }
        let mut longer = Vec::new();
        for (at, size) in sizes.iter_mut().enumerate() {
            if cx.may_be_empty(size) {
                longer.push((at, size.clone()));
                *size = size.plus(&Dim::Static(1));
            }
        }
        Ok(Some(Run { axis, sizes, longer }))
    }

    /// The size of the axis.
    fn length(&self) -> Dim {
        self.sizes.iter().zip(0i64..).find(|(_, at)| *at == self.axis).map_or(Dim::Static(0), |(size, _)| size.clone())
    }

    /// The sizes of one slice along the axis.
    fn slice(&self) -> Vec<Dim> {
        self.sizes.iter().zip(0i64..).filter(|(_, at)| *at != self.axis).map(|(size, _)| size.clone()).collect()
    }

    fn lengthen(&self, cx: &mut Context<'_, '_>, x: ValueId) -> ValueId {
        if self.longer.is_empty() {
            return x;
        }
        let pads: Vec<i64> = (0..2 * self.sizes.len())
            .map(|place| i64::from(self.longer.iter().any(|(at, _)| at + self.sizes.len() == place)))
            .collect();
        let pads = cx.const_ints(&pads);
        let x = cx.apply_pad(x, pads);
        cx.set_shape(x, self.sizes.clone());
        x
    }

    fn shorten(&self, cx: &mut Context<'_, '_>, x: ValueId) -> Result<ValueId> {
        if self.longer.is_empty() {
            return Ok(x);
        }
        let ends: Vec<Dim> = self.longer.iter().map(|(_, size)| size.clone()).collect();
        let axes: Vec<i64> = self.longer.iter().map(|(at, _)| *at as i64).collect();
        let starts = cx.const_ints(&vec![0; axes.len()]);
        let (ends, axes) = (cx.shape_value(&ends)?, cx.const_ints(&axes));
        Ok(cx.emit("Slice", &[x, starts, ends, axes], vec![]))
    }
}

fn product(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let kernel = kernel_type("Mul", dtype, cx.opset);
    let x = operand(cx, "self", dtype)?;
    let Some(run) = Run::read(cx)? else { return Ok(x.into()) };
    let (axis, x) = (run.axis, cx.cast(x, kernel));
    let x = run.lengthen(cx, x);
    let one = filled(cx, &run.slice(), kernel, 1.0, None)?;
    let results = scan(cx, axis, &[one], &[(x, axis)], |b, states, slices| {
        vec![b.emit("Mul", &[states[0], slices[0]], vec![])]
    });
    finished(cx, &run, &results, &[dtype])
}

fn log_sum_exp(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", dtype)?;
    let Some(run) = Run::read(cx)? else { return Ok(x.into()) };
    let (axis, x) = (run.axis, cx.cast(x, math_type(dtype)));
    let x = run.lengthen(cx, x);
    let nothing = filled(cx, &run.slice(), math_type(dtype), f64::NEG_INFINITY, None)?;
    let results = scan(cx, axis, &[nothing], &[(x, axis)], |b, states, slices| {
        vec![log_add_exp(b, states[0], slices[0])]
    });
    finished(cx, &run, &results, &[dtype])
}

fn extreme(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = cx.tensor("self")?;
    let Some(run) = Run::read(cx)? else {
        return Ok([x, cx.const_int(0)].into());
    };
    let kernel = kernel_type("Where", dtype, cx.opset);
    let (axis, x) = (run.axis, cx.cast(x, kernel));
    let x = run.lengthen(cx, x);
    let first = filled(cx, &run.slice(), kernel, starting_point(kernel, op == "GreaterOrEqual"), None)?;
    let first_index = filled(cx, &run.slice(), DType::I64, 0.0, None)?;
    let indices = indices(cx, &run.length())?;
    let results = scan(cx, axis, &[first, first_index], &[(x, axis), (indices, 0)], |b, states, slices| {
        let mut taken = b.emit(op, &[slices[0], states[0]], vec![]);
        if kernel.is_float() {
            let is_nan = b.emit("IsNaN", &[slices[0]], vec![]);
            taken = b.emit("Or", &[taken, is_nan], vec![]);
        }
        let value = b.emit("Where", &[taken, slices[0], states[0]], vec![]);
        let index = b.emit("Where", &[taken, slices[1], states[1]], vec![]);
        vec![value, index]
    });
    finished(cx, &run, &results, &[dtype, DType::I64])
}

/// The results without what was added, in their types.
fn finished(cx: &mut Context<'_, '_>, run: &Run, results: &[ValueId], dtypes: &[DType]) -> Result<Outputs> {
    let mut values = Vec::with_capacity(results.len());
    for (&value, &dtype) in results.iter().zip(dtypes) {
        let value = run.shorten(cx, value)?;
        values.push(cx.cast(value, dtype));
    }
    Ok(values.into())
}

/// A number that every element replaces.
fn starting_point(dtype: DType, is_max: bool) -> f64 {
    let (low, high) = match dtype {
        DType::U8 => (0.0, f64::from(u8::MAX)),
        DType::I8 => (f64::from(i8::MIN), f64::from(i8::MAX)),
        DType::I32 => (f64::from(i32::MIN), f64::from(i32::MAX)),
        // The largest float that is no larger than the largest integer would not do; this one saturates.
        DType::I64 => (i64::MIN as f64, i64::MAX as f64),
        _ => (f64::NEG_INFINITY, f64::INFINITY),
    };
    if is_max { low } else { high }
}

/// 0, 1, … up to a size.
fn indices(cx: &mut Context<'_, '_>, size: &Dim) -> Result<ValueId> {
    let end = cx.dim_value(size)?;
    let end = cx.squeeze(end, &[0]);
    let (start, step) = (cx.const_int(0), cx.const_int(1));
    let indices = cx.emit("Range", &[start, end, step], vec![]);
    cx.set_shape(indices, vec![size.clone()]);
    Ok(indices)
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

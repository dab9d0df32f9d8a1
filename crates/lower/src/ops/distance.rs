//! Distances between vectors: `cdist`, `pairwise_distance`, `cosine_similarity`.
//!
//! The p-norm of differences: `ReduceL1` and `ReduceL2`, `ReduceMax` for infinity, the number of differences for 0,
//! powers otherwise. `cdist` takes all differences, where PyTorch may use products of matrices for p = 2: the result
//! is the same up to rounding.

use super::support::compute::{broadcast, filled, formula_type, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::cdist(Tensor x1, Tensor x2, float p=2., int? compute_mode=None) -> Tensor", cdist),
    Row::new("aten::_cdist_forward(Tensor x1, Tensor x2, float p, int? compute_mode) -> Tensor", cdist),
    Row::new(
        "aten::pairwise_distance(Tensor x1, Tensor x2, float p=2., float eps=9.9999999999999995e-07, bool keepdim=False) -> Tensor",
        pairwise,
    ),
    Row::new("aten::cosine_similarity(Tensor x1, Tensor x2, int dim=1, float eps=1e-08) -> Tensor", cosine),
];

fn cdist(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (dtype, sizes) = (cx.out()?.dtype, &cx.out()?.sizes);
    let compute = formula_type(dtype);
    if cx.meta("x1")?.sizes.last().is_some_and(|size| size.is(0)) {
        return Ok(filled(cx, dtype, sizes, 0.0)?.into());
    }
    let (a, b) = (tensor_as(cx, "x1", compute)?, tensor_as(cx, "x2", compute)?);
    let (a, b) = (cx.unsqueeze(a, &[-2]), cx.unsqueeze(b, &[-3]));
    let difference = cx.emit("Sub", &[a, b], vec![]);
    let p = cx.float("p")?;
    let y = norm(cx, difference, p, &[sizes.len() as i64], false);
    Ok(cx.cast(y, dtype).into())
}

fn pairwise(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (dtype, sizes) = (cx.out()?.dtype, &cx.out()?.sizes);
    let compute = formula_type(dtype);
    if cx.meta("x1")?.sizes.last().is_some_and(|size| size.is(0)) {
        return Ok(filled(cx, dtype, sizes, 0.0)?.into());
    }
    let (a, b) = (tensor_as(cx, "x1", compute)?, tensor_as(cx, "x2", compute)?);
    let difference = cx.emit("Sub", &[a, b], vec![]);
    let eps = cx.float("eps")?;
    let eps = cx.const_scalar(compute, eps);
    let difference = cx.emit("Add", &[difference, eps], vec![]);
    let (p, keepdim) = (cx.float("p")?, cx.bool("keepdim")?);
    let axis = sizes.len() as i64 - i64::from(keepdim);
    let y = norm(cx, difference, p, &[axis], keepdim);
    Ok(cx.cast(y, dtype).into())
}

/// The p-norm over axes, counted from the front: onnxruntime does not find others where there are no elements.
pub(crate) fn norm(cx: &mut Context<'_, '_>, x: ValueId, p: f64, axes: &[i64], keepdims: bool) -> ValueId {
    let dtype = cx.dtype(x);
    if p == 2.0 {
        return cx.reduce("ReduceL2", x, axes, keepdims);
    }
    if p == 1.0 {
        return cx.reduce("ReduceL1", x, axes, keepdims);
    }
    let size = cx.emit("Abs", &[x], vec![]);
    if p == f64::INFINITY {
        return cx.reduce("ReduceMax", size, axes, keepdims);
    }
    if p == f64::NEG_INFINITY {
        return cx.reduce("ReduceMin", size, axes, keepdims);
    }
    if p == 0.0 {
        let signs = cx.emit("Sign", &[size], vec![]);
        return cx.reduce("ReduceSum", signs, axes, keepdims);
    }
    let (power, root) = (cx.const_scalar(dtype, p), cx.const_scalar(dtype, 1.0 / p));
    let powers = cx.emit("Pow", &[size, power], vec![]);
    let sum = cx.reduce("ReduceSum", powers, axes, keepdims);
    cx.emit("Pow", &[sum, root], vec![])
}

/// `sum(a * b) / (max(|a|, eps) * max(|b|, eps))`.
fn cosine(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = formula_type(out.dtype);
    // Counted from the front: onnxruntime does not find an axis from the back where there are no elements.
    let axis = cx.axis("dim", out.sizes.len() + 1)?;
    let eps = cx.float("eps")?;
    let eps = cx.const_scalar(compute, eps);
    let sizes = broadcast(&cx.meta("x1")?.sizes, &cx.meta("x2")?.sizes);
    if usize::try_from(axis).ok().and_then(|axis| sizes.get(axis)).is_some_and(|size| size.is(0)) {
        return Ok(filled(cx, out.dtype, &out.sizes, 0.0)?.into());
    }
    let mut unit = Vec::with_capacity(2);
    for name in ["x1", "x2"] {
        let x = tensor_as(cx, name, compute)?;
        // What is broadcast along the axis of the vectors counts for their length.
        let own = &cx.meta(name)?.sizes;
        let at = axis - (sizes.len() - own.len()) as i64;
        let is_whole = usize::try_from(at).is_ok_and(|at| own.get(at) == sizes.get(sizes.len() - own.len() + at));
        // A number is a vector of one element.
        let (x, at) = if sizes.is_empty() {
            (cx.unsqueeze(x, &[0]), 0)
        } else if is_whole {
            (x, at)
        } else {
            (cx.expand(x, &sizes)?, axis)
        };
        let length = cx.reduce("ReduceL2", x, &[at], true);
        let length = cx.emit("Max", &[length, eps], vec![]);
        unit.push(cx.emit("Div", &[x, length], vec![]));
    }
    let products = cx.emit("Mul", &unit, vec![]);
    let y = cx.reduce("ReduceSum", products, &[axis], false);
    Ok(cx.cast(y, out.dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.cdist.default(x1: f32[3, 5], x2: f32[4, 5]) -> f32[3, 4]
            ReduceL2(Sub(Unsqueeze(x1, [-2]), Unsqueeze(x2, [-3])), [2], keepdims=0)
        aten._cdist_forward.default(x1: f32[2, 3, 5], x2: f32[2, 4, 5], p=2.0, compute_mode=None) -> f32[2, 3, 4]
            ReduceL2(Sub(Unsqueeze(x1, [-2]), Unsqueeze(x2, [-3])), [3], keepdims=0)
        aten.pairwise_distance.default(x1: f32[3, 5], x2: f32[1, 5]) -> f32[3]
            ReduceL2(Add(Sub(x1, x2), 1e-6), [1], keepdims=0)
        aten.cosine_similarity.default(x1: f32[3, 5], x2: f32[3, 5]) -> f32[3]
            t1 = Mul(Div(x1, Max(ReduceL2(x1, [1], keepdims=1), 1e-8)), Div(x2, Max(ReduceL2(x2, [1], keepdims=1), 1e-8)))
            ReduceSum(t1, [1], keepdims=0)
        ");
    }
}

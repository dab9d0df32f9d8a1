//! Losses of embeddings that should be alike (target 1) or not (target -1).

use modelexport_graph::DType;

use super::loss::reduced;
use super::support::compute::{formula_type, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::hinge_embedding_loss(Tensor self, Tensor target, float margin=1., int reduction=1) -> Tensor",
        hinge,
    ),
    Row::new(
        "aten::cosine_embedding_loss(Tensor input1, Tensor input2, Tensor target, float margin=0., int reduction=1) -> Tensor",
        cosine,
    ),
];

/// PyTorch adds this to the squares of both lengths.
const EPSILON: f64 = 1e-12;

/// `x` where the target is not -1, plus `Relu(margin - x)` where it is not 1.
fn hinge(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (x, target) = (tensor_as(cx, "self", compute)?, tensor_as(cx, "target", compute)?);
    let margin = cx.float("margin")?;
    let margin = cx.const_scalar(compute, margin);
    let far = cx.emit("Sub", &[margin, x], vec![]);
    let far = cx.emit("Relu", &[far], vec![]);
    both(cx, target, x, far, compute)
}

/// `1 - cos` where the target is not -1, plus `Relu(cos - margin)` where it is not 1.
fn cosine(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.out()?.dtype);
    let (a, b) = (tensor_as(cx, "input1", compute)?, tensor_as(cx, "input2", compute)?);
    let target = tensor_as(cx, "target", compute)?;
    let epsilon = cx.const_scalar(compute, EPSILON);
    let mut product = |left, right| {
        let product = cx.emit("Mul", &[left, right], vec![]);
        cx.reduce("ReduceSum", product, &[-1], false)
    };
    let (both_sides, left, right) = (product(a, b), product(a, a), product(b, b));
    let (left, right) = (cx.emit("Add", &[left, epsilon], vec![]), cx.emit("Add", &[right, epsilon], vec![]));
    let squares = cx.emit("Mul", &[left, right], vec![]);
    let lengths = cx.emit("Sqrt", &[squares], vec![]);
    let cosine = cx.emit("Div", &[both_sides, lengths], vec![]);
    let (one, margin) = (cx.const_scalar(compute, 1.0), cx.float("margin")?);
    let margin = cx.const_scalar(compute, margin);
    let near = cx.emit("Sub", &[one, cosine], vec![]);
    let far = cx.emit("Sub", &[cosine, margin], vec![]);
    let far = cx.emit("Relu", &[far], vec![]);
    both(cx, target, near, far, compute)
}

/// The sum of `near` where the target is not -1 and of `far` where it is not 1.
fn both(
    cx: &mut Context<'_, '_>,
    target: ValueId,
    near: ValueId,
    far: ValueId,
    compute: DType,
) -> Result<Outputs> {
    let zero = cx.const_scalar(compute, 0.0);
    let (one, minus) = (cx.const_scalar(compute, 1.0), cx.const_scalar(compute, -1.0));
    let is_far = cx.emit("Equal", &[target, minus], vec![]);
    let is_near = cx.emit("Equal", &[target, one], vec![]);
    let near = cx.emit("Where", &[is_far, zero, near], vec![]);
    let far = cx.emit("Where", &[is_near, zero, far], vec![]);
    let loss = cx.emit("Add", &[near, far], vec![]);
    reduced(cx, loss)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.hinge_embedding_loss.default(self: f32[3, 4], target: f32[4], margin=0.3, reduction=0) -> f32[3, 4]
            Add(Where(Equal(target, -1.0), 0.0, self), Where(Equal(target, 1.0), 0.0, Relu(Sub(0.3, self))))
        aten.hinge_embedding_loss.default(self: f32[s0], target: f32[s0]) -> f32[]
            t1 = Add(Where(Equal(target, -1.0), 0.0, self), Where(Equal(target, 1.0), 0.0, Relu(Sub(1.0, self))))
            ReduceMean(t1, keepdims=0)
        aten.cosine_embedding_loss.default(input1: f32[4, 3], input2: f32[4, 3], target: f32[4], margin=0.1, reduction=0) -> f32[4]
            t1 = Mul(Add(ReduceSum(Mul(input1, input1), [-1], keepdims=0), 1e-12), Add(ReduceSum(Mul(input2, input2), [-1], keepdims=0), 1e-12))
            t2 = Div(ReduceSum(Mul(input1, input2), [-1], keepdims=0), Sqrt(t1))
            Add(Where(Equal(target, -1.0), 0.0, Sub(1.0, t2)), Where(Equal(target, 1.0), 0.0, Relu(Sub(t2, 0.1))))
        ");
    }
}

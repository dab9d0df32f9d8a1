//! Products of vectors and matrices: `MatMul`, which broadcasts and treats vectors as PyTorch does.
//!
//! Integers narrower than 32 bits and `bfloat16` have no kernels and are computed in a wider type. Complex numbers
//! are refused. `out_dtype` is wider than the type of the factors, which are widened before they are multiplied: nothing
//! is rounded in between.

use modelexport_graph::DType;

use super::support::compute::tensor_as;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.matmul.default", "matmul(Tensor self, Tensor other) -> Tensor", |cx| pair(cx, "self", "other")),
    Row::new("aten.linalg_matmul.default", "linalg_matmul(Tensor self, Tensor other) -> Tensor", |cx| {
        pair(cx, "self", "other")
    }),
    Row::new("aten.mm.default", "mm(Tensor self, Tensor mat2) -> Tensor", |cx| pair(cx, "self", "mat2")),
    Row::new("aten.bmm.default", "bmm(Tensor self, Tensor mat2) -> Tensor", |cx| pair(cx, "self", "mat2")),
    Row::new("aten.mm.dtype", "mm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", |cx| {
        pair(cx, "self", "mat2")
    }),
    Row::new("aten.bmm.dtype", "bmm.dtype(Tensor self, Tensor mat2, ScalarType out_dtype) -> Tensor", |cx| {
        pair(cx, "self", "mat2")
    }),
    Row::new("aten.mv.default", "mv(Tensor self, Tensor vec) -> Tensor", |cx| pair(cx, "self", "vec")),
    Row::new("aten.dot.default", "dot(Tensor self, Tensor tensor) -> Tensor", |cx| pair(cx, "self", "tensor")),
    Row::new("aten.vdot.default", "vdot(Tensor self, Tensor other) -> Tensor", |cx| pair(cx, "self", "other")),
    Row::new("aten.outer.default", "outer(Tensor self, Tensor vec2) -> Tensor", outer),
    Row::new("aten.ger.default", "ger(Tensor self, Tensor vec2) -> Tensor", outer),
    Row::new("aten.chain_matmul.default", "chain_matmul(Tensor[] matrices) -> Tensor", |cx| chain(cx, "matrices")),
    Row::new("aten.linalg_multi_dot.default", "linalg_multi_dot(Tensor[] tensors) -> Tensor", |cx| {
        chain(cx, "tensors")
    }),
];

/// The type in which a product is computed.
pub(crate) fn product_type(dtype: DType) -> DType {
    match dtype {
        DType::BF16 => DType::F32,
        DType::Bool | DType::U8 | DType::I8 | DType::U16 | DType::I16 => DType::I32,
        other => other,
    }
}

fn pair(cx: &mut Context<'_, '_>, first: &str, second: &str) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = product_type(dtype);
    let (a, b) = (tensor_as(cx, first, compute)?, tensor_as(cx, second, compute)?);
    let product = cx.emit("MatMul", &[a, b], vec![]);
    Ok(cx.cast(product, dtype).into())
}

fn outer(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = if dtype == DType::BF16 { DType::F32 } else { dtype };
    if dtype == DType::Bool {
        let (a, b) = (cx.tensor("self")?, cx.tensor("vec2")?);
        let column = cx.unsqueeze(a, &[1]);
        return Ok(cx.emit("And", &[column, b], vec![]).into());
    }
    let (a, b) = (tensor_as(cx, "self", compute)?, tensor_as(cx, "vec2", compute)?);
    let column = cx.unsqueeze(a, &[1]);
    let product = cx.emit("Mul", &[column, b], vec![]);
    Ok(cx.cast(product, dtype).into())
}

/// A product of several matrices, from left to right.
fn chain(cx: &mut Context<'_, '_>, name: &str) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    if dtype.is_complex() {
        return cx.refuse("complex numbers are not supported");
    }
    let compute = product_type(dtype);
    let mut product = None;
    for matrix in cx.tensors(name)? {
        let matrix = cx.cast(matrix, compute);
        product = Some(match product {
            None => matrix,
            Some(left) => cx.emit("MatMul", &[left, matrix], vec![]),
        });
    }
    match product {
        Some(product) => Ok(cx.cast(product, dtype).into()),
        None => cx.wrong(name, "at least one matrix", "none"),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.matmul.default(self: f32[2, 3], other: f32[3, 4]) -> f32[2, 4]
            MatMul(self, other)
        aten.linalg_matmul.default(self: f32[2, 3], other: f32[3, 4]) -> f32[2, 4]
            MatMul(self, other)
        aten.mm.default(self: f32[2, 3], mat2: f32[3, 4]) -> f32[2, 4]
            MatMul(self, mat2)
        aten.bmm.default(self: f32[5, 2, 3], mat2: f32[5, 3, 4]) -> f32[5, 2, 4]
            MatMul(self, mat2)
        aten.mm.dtype(self: f16[2, 3], mat2: f16[3, 4], out_dtype=f32) -> f32[2, 4]
            MatMul(Cast(self, to=f32), Cast(mat2, to=f32))
        aten.bmm.dtype(self: f16[5, 2, 3], mat2: f16[5, 3, 4], out_dtype=f32) -> f32[5, 2, 4]
            MatMul(Cast(self, to=f32), Cast(mat2, to=f32))
        aten.mv.default(self: f32[2, 3], vec: f32[3]) -> f32[2]
            MatMul(self, vec)
        aten.dot.default(self: f32[3], tensor: f32[3]) -> f32[]
            MatMul(self, tensor)
        aten.vdot.default(self: f32[3], other: f32[3]) -> f32[]
            MatMul(self, other)
        aten.outer.default(self: f32[3], vec2: f32[4]) -> f32[3, 4]
            Mul(Unsqueeze(self, [1]), vec2)
        aten.ger.default(self: f32[3], vec2: f32[4]) -> f32[3, 4]
            Mul(Unsqueeze(self, [1]), vec2)
        aten.chain_matmul.default(matrices: [f32[2, 3], f32[3, 4], f32[4, 5]]) -> f32[2, 5]
            MatMul(MatMul(matrices_0, matrices_1), matrices_2)
        aten.linalg_multi_dot.default(tensors: [f32[3], f32[3, 4], f32[4, 5], f32[5]]) -> f32[]
            MatMul(MatMul(MatMul(tensors_0, tensors_1), tensors_2), tensors_3)
        ");
    }
}

//! `beta * self + alpha * (a @ b)`.
//!
//! `Gemm` where both factors are matrices of floats; else `MatMul`, `Mul` for factors that are not 1, `Add`.
//! PyTorch does not read `self` if `beta` is 0, so that NaN in it does not spread: it is left out.

use modelexport_graph::DType;

use super::matmul::{product, product_type};
use super::support::compute::tensor_as;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::addmm(Tensor self, Tensor mat1, Tensor mat2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", addmm),
    Row::new(
        "aten::addmm.dtype(Tensor self, Tensor mat1, Tensor mat2, ScalarType out_dtype, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        addmm,
    ),
    Row::new("aten::addmv(Tensor self, Tensor mat, Tensor vec, *, Scalar beta=1, Scalar alpha=1) -> Tensor", |cx| {
        with_product(cx, "mat", "vec", product)
    }),
    Row::new("aten::addr(Tensor self, Tensor vec1, Tensor vec2, *, Scalar beta=1, Scalar alpha=1) -> Tensor", |cx| {
        with_product(cx, "vec1", "vec2", |cx, first, second, compute| {
            let (a, b) = (tensor_as(cx, first, compute)?, tensor_as(cx, second, compute)?);
            let column = cx.unsqueeze(a, &[1]);
            Ok(cx.emit("Mul", &[column, b], vec![]))
        })
    }),
    Row::new(
        "aten::baddbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        |cx| with_product(cx, "batch1", "batch2", product),
    ),
    Row::new(
        "aten::addbmm(Tensor self, Tensor batch1, Tensor batch2, *, Scalar beta=1, Scalar alpha=1) -> Tensor",
        |cx| {
            with_product(cx, "batch1", "batch2", |cx, first, second, compute| {
                let products = product(cx, first, second, compute)?;
                Ok(cx.reduce("ReduceSum", products, &[0], false))
            })
        },
    ),
];

fn addmm(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let (alpha, beta) = (cx.scalar_arg("alpha")?, cx.scalar_arg("beta")?);
    let (Some(alpha), Some(beta)) = (alpha.number(), beta.number()) else {
        return with_product(cx, "mat1", "mat2", product);
    };
    // Attributes are `float32`.
    let (alpha, beta) = (alpha.as_f64(), beta.as_f64());
    let exact = f64::from(alpha as f32) == alpha && f64::from(beta as f32) == beta;
    // Where nothing is summed, onnxruntime's `Gemm` does not multiply by `beta`.
    let summed = cx.meta("mat1")?.sizes.last().and_then(|size| size.as_static());
    let may_sum_nothing = beta != 1.0 && summed.unwrap_or(0) == 0;
    if !dtype.is_float() || (dtype == DType::F64 && !exact) || may_sum_nothing {
        return with_product(cx, "mat1", "mat2", product);
    }
    let compute = product_type(dtype);
    let (a, b) = (tensor_as(cx, "mat1", compute)?, tensor_as(cx, "mat2", compute)?);
    let c = if beta == 0.0 { None } else { Some(tensor_as(cx, "self", compute)?) };
    let mut attributes = Vec::new();
    if alpha != 1.0 {
        attributes.extend(attrs![alpha = alpha]);
    }
    if c.is_some() && beta != 1.0 {
        attributes.extend(attrs![beta = beta]);
    }
    let y = cx.emit_optional("Gemm", &[Some(a), Some(b), c], attributes);
    Ok(cx.cast(y, dtype).into())
}

fn with_product(
    cx: &mut Context<'_, '_>,
    first: &str,
    second: &str,
    multiply: fn(&mut Context<'_, '_>, &str, &str, DType) -> Result<ValueId>,
) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = product_type(out.dtype);
    let product = multiply(cx, first, second, compute)?;
    let product = scaled(cx, product, "alpha", compute)?;
    let beta = cx.scalar_arg("beta")?;
    let y = if beta.is(0.0) {
        cx.expand(product, &out.sizes)?
    } else {
        let c = tensor_as(cx, "self", compute)?;
        let c = scaled(cx, c, "beta", compute)?;
        cx.emit("Add", &[c, product], vec![])
    };
    Ok(cx.cast(y, out.dtype).into())
}

fn scaled(cx: &mut Context<'_, '_>, value: ValueId, factor: &str, dtype: DType) -> Result<ValueId> {
    let factor = cx.scalar_arg(factor)?;
    if factor.is(1.0) {
        return Ok(value);
    }
    let factor = cx.scalar_value(factor, dtype);
    Ok(cx.emit("Mul", &[value, factor], vec![]))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.addmm.default(self: f32[4], mat1: f32[2, 3], mat2: f32[3, 4]) -> f32[2, 4]
            Gemm(mat1, mat2, self)
        aten.addmm.dtype(self: f32[2, 4], mat1: f16[2, 3], mat2: f16[3, 4], out_dtype=f32, beta=0.5, alpha=2) -> f32[2, 4]
            Gemm(Cast(mat1, to=f32), Cast(mat2, to=f32), self, alpha=2.0, beta=0.5)
        aten.addmv.default(self: f32[2], mat: f32[2, 3], vec: f32[3], beta=0.5, alpha=2) -> f32[2]
            Add(Mul(self, 0.5), Mul(MatMul(mat, vec), 2.0))
        aten.addr.default(self: f32[2, 3], vec1: f32[2], vec2: f32[3], beta=0.5, alpha=2) -> f32[2, 3]
            Add(Mul(self, 0.5), Mul(Mul(Unsqueeze(vec1, [1]), vec2), 2.0))
        aten.baddbmm.default(self: f32[5, 2, 4], batch1: f32[5, 2, 3], batch2: f32[5, 3, 4], beta=0.5, alpha=2) -> f32[5, 2, 4]
            Add(Mul(self, 0.5), Mul(MatMul(batch1, batch2), 2.0))
        aten.addbmm.default(self: f32[2, 4], batch1: f32[5, 2, 3], batch2: f32[5, 3, 4], beta=0.5, alpha=2) -> f32[2, 4]
            Add(Mul(self, 0.5), Mul(ReduceSum(MatMul(batch1, batch2), [0], keepdims=0), 2.0))
        ");
    }
}

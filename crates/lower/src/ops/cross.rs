//! `cross`: the product of vectors of three elements along an axis, from two turns of each vector.

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::kernels::kernel_type;
use crate::ops::support::operands::{operand, real_only};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::cross(Tensor self, Tensor other, int? dim=None) -> Tensor", lower),
    Row::new("aten::linalg_cross(Tensor self, Tensor other, *, int dim=-1) -> Tensor", lower),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let out = cx.out()?;
    let axis = match cx.int_opt("dim")? {
        Some(_) => cx.axis("dim", out.sizes.len())?,
        None => match out.sizes.iter().position(|size| size.is(3)) {
            Some(axis) => axis as i64,
            None => return cx.refuse("has no dimension of size 3"),
        },
    };
    // Counted from the end, since operands may have fewer axes.
    let axis = axis - out.sizes.len() as i64;
    let kernel = kernel_type("Mul", out.dtype, cx.opset);
    let (a, b) = (operand(cx, "self", out.dtype)?, operand(cx, "other", out.dtype)?);
    let (a, b) = (cx.cast(a, kernel), cx.cast(b, kernel));
    let (next, after_next) = (cx.const_ints(&[1, 2, 0]), cx.const_ints(&[2, 0, 1]));
    let mut turned = |value, turn| cx.emit("Gather", &[value, turn], attrs![axis = axis]);
    let (a1, b2) = (turned(a, next), turned(b, after_next));
    let (a2, b1) = (turned(a, after_next), turned(b, next));
    let (plus, minus) = (cx.emit("Mul", &[a1, b2], vec![]), cx.emit("Mul", &[a2, b1], vec![]));
    let value = cx.emit("Sub", &[plus, minus], vec![]);
    Ok(cx.cast(value, out.dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.cross.default(self: f32[4, 3], other: f32[4, 3]) -> f32[4, 3]
            t1 = Mul(Gather(self, [1, 2, 0], axis=-1), Gather(other, [2, 0, 1], axis=-1))
            t2 = Mul(Gather(self, [2, 0, 1], axis=-1), Gather(other, [1, 2, 0], axis=-1))
            Sub(t1, t2)
        aten.linalg_cross.default(self: f32[4, 3], other: f32[4, 3]) -> f32[4, 3]
            t1 = Mul(Gather(self, [1, 2, 0], axis=-1), Gather(other, [2, 0, 1], axis=-1))
            t2 = Mul(Gather(self, [2, 0, 1], axis=-1), Gather(other, [1, 2, 0], axis=-1))
            Sub(t1, t2)
        ");
    }
}

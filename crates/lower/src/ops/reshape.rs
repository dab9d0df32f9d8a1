//! Operators that give the same elements in another shape, all of which is known from the result: `Reshape`.

use crate::context::Context;
use crate::error::Result;
use crate::ir::model_shape;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.view.default", "view(Tensor(a) self, SymInt[] size) -> Tensor(a)", lower),
    Row::new("aten.view_copy.default", "view_copy(Tensor self, SymInt[] size) -> Tensor", lower),
    Row::new("aten._unsafe_view.default", "_unsafe_view(Tensor self, SymInt[] size) -> Tensor", lower),
    Row::new("aten.view_as.default", "view_as(Tensor(a) self, Tensor other) -> Tensor(a)", lower),
    Row::new("aten.reshape.default", "reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", lower),
    Row::new("aten.reshape_as.default", "reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", lower),
    Row::new("aten._reshape_alias.default", "_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)", lower),
    Row::new(
        "aten.flatten.using_ints",
        "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)",
        lower,
    ),
    Row::new("aten.unflatten.int", "unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", lower),
    Row::new("aten.ravel.default", "ravel(Tensor(a) self) -> Tensor(a)", lower),
    Row::new("aten.atleast_1d.default", "atleast_1d(Tensor self) -> Tensor", lower),
    Row::new("aten.atleast_2d.default", "atleast_2d(Tensor self) -> Tensor", lower),
    Row::new("aten.atleast_3d.default", "atleast_3d(Tensor self) -> Tensor", lower),
    Row::new("aten.atleast_1d.Sequence", "atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", each),
    Row::new("aten.atleast_2d.Sequence", "atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", each),
    Row::new("aten.atleast_3d.Sequence", "atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", each),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let sizes = model_shape(cx.out()?);
    Ok(cx.reshape(x, &sizes)?.into())
}

fn each(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let shaped = cx.tensors("tensors")?.into_iter().zip(cx.out_metas());
    let shaped: Result<Vec<_>> = shaped.map(|(x, meta)| cx.reshape(x, &model_shape(meta))).collect();
    Ok(shaped?.into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.view.default(self: f32[2, 3, 4], size=[6, 4]) -> f32[6, 4]
            Reshape(self, [6, 4])
        aten.view.default(self: f32[s0, s1, 6], size=[s0, s1, 2, 3]) -> f32[s0, s1, 2, 3]
            Reshape(self, [0, 0, 2, 3])
        aten.view_copy.default(self: f32[2, 3, 4], size=[6, 4]) -> f32[6, 4]
            Reshape(self, [6, 4])
        aten._unsafe_view.default(self: f32[2, 3, 4], size=[6, 4]) -> f32[6, 4]
            Reshape(self, [6, 4])
        aten.view_as.default(self: f32[2, 3], other: i64[3, 2]) -> f32[3, 2]
            Reshape(self, [3, 2])
        aten.reshape.default(self: f32[2, 3, 4], shape=[6, 4]) -> f32[6, 4]
            Reshape(self, [6, 4])
        aten.reshape.default(self: f32[s0, s1, 6], shape=[s1, s0, 6]) -> f32[s1, s0, 6]
            t1 = Concat(Shape(self, start=1, end=2), Shape(self, start=0, end=1), [6], axis=0)
            Reshape(self, t1)
        aten.reshape_as.default(self: f32[2, 3], other: i64[6]) -> f32[6]
            Reshape(self, [6])
        aten._reshape_alias.default(self: f32[2, 3], size=[3, 2], stride=[2, 1]) -> f32[3, 2]
            Reshape(self, [3, 2])
        aten.flatten.using_ints(self: f32[2, 3, 4]) -> f32[24]
            Reshape(self, [24])
        aten.flatten.using_ints(self: f32[s0, 3, 4, 5], start_dim=-3, end_dim=-2) -> f32[s0, 12, 5]
            Reshape(self, [0, 12, 5])
        aten.unflatten.int(self: f32[2, 6], dim=-1, sizes=[2, -1]) -> f32[2, 2, 3]
            Reshape(self, [2, 2, 3])
        aten.ravel.default(self: f32[2, 3]) -> f32[6]
            Reshape(self, [6])
        aten.atleast_1d.default(self: f32[]) -> f32[1]
            Reshape(self, [1])
        aten.atleast_2d.default(self: f32[]) -> f32[1, 1]
            Reshape(self, [1, 1])
        aten.atleast_3d.default(self: f32[]) -> f32[1, 1, 1]
            Reshape(self, [1, 1, 1])
        aten.atleast_1d.Sequence(tensors: [f32[], f32[4], i64[2, 3], f32[2, 3, 4, 5]]) -> [f32[1], f32[4], i64[2, 3], f32[2, 3, 4, 5]]
            Reshape(tensors_0, [1]), Identity(tensors_1), Identity(tensors_2), Identity(tensors_3)
        aten.atleast_1d.Sequence(tensors: [f32[s0], f32[2, s1]]) -> [f32[s0], f32[2, s1]]
            Identity(tensors_0), Identity(tensors_1)
        aten.atleast_2d.Sequence(tensors: [f32[], f32[4], i64[2, 3], f32[2, 3, 4, 5]]) -> [f32[1, 1], f32[1, 4], i64[2, 3], f32[2, 3, 4, 5]]
            Reshape(tensors_0, [1, 1]), Reshape(tensors_1, [1, 4]), Identity(tensors_2), Identity(tensors_3)
        aten.atleast_2d.Sequence(tensors: [f32[s0], f32[2, s1]]) -> [f32[1, s0], f32[2, s1]]
            Reshape(tensors_0, [1, -1]), Identity(tensors_1)
        aten.atleast_3d.Sequence(tensors: [f32[], f32[4], i64[2, 3], f32[2, 3, 4, 5]]) -> [f32[1, 1, 1], f32[1, 4, 1], i64[2, 3, 1], f32[2, 3, 4, 5]]
            Reshape(tensors_0, [1, 1, 1]), Reshape(tensors_1, [1, 4, 1]), Reshape(tensors_2, [2, 3, 1]), Identity(tensors_3)
        aten.atleast_3d.Sequence(tensors: [f32[s0], f32[2, s1]]) -> [f32[1, s0, 1], f32[2, s1, 1]]
            Reshape(tensors_0, [1, -1, 1]), Reshape(tensors_1, [2, 0, 1])
        ");
    }
}

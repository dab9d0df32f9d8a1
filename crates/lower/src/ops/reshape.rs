//! Operators that give the same elements in another shape, all of which is known from the result: `Reshape`.

use crate::context::Context;
use crate::error::Result;
use crate::ir::model_shape;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::view(Tensor(a) self, SymInt[] size) -> Tensor(a)", lower),
    Row::new("aten::view_copy(Tensor self, SymInt[] size) -> Tensor", lower),
    Row::new("aten::_unsafe_view(Tensor self, SymInt[] size) -> Tensor", lower),
    Row::new("aten::view_as(Tensor(a) self, Tensor other) -> Tensor(a)", lower),
    Row::new("aten::reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", lower),
    Row::new("aten::reshape_as(Tensor(a) self, Tensor other) -> Tensor(a)", lower),
    Row::new("aten::_reshape_alias(Tensor(a) self, SymInt[] size, SymInt[] stride) -> Tensor(a)", lower),
    Row::new("aten::flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", lower),
    Row::new("aten::unflatten.int(Tensor(a) self, int dim, SymInt[] sizes) -> Tensor(a)", lower),
    Row::new("aten::ravel(Tensor(a) self) -> Tensor(a)", lower),
    Row::new("aten::atleast_1d(Tensor self) -> Tensor", lower),
    Row::new("aten::atleast_2d(Tensor self) -> Tensor", lower),
    Row::new("aten::atleast_3d(Tensor self) -> Tensor", lower),
    Row::new("aten::atleast_1d.Sequence(Tensor[] tensors) -> Tensor[]", each),
    Row::new("aten::atleast_2d.Sequence(Tensor[] tensors) -> Tensor[]", each),
    Row::new("aten::atleast_3d.Sequence(Tensor[] tensors) -> Tensor[]", each),
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
        assert_snapshot!(lowered(ROWS));
    }
}

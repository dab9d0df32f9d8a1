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
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let sizes = model_shape(cx.out()?);
    Ok(cx.reshape(x, &sizes)?.into())
}

//! Operators that give the same elements in another shape, all of which is known from the result.

use crate::context::Context;
use crate::error::Result;
use crate::ir::model_shape;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.view.default", "view(Tensor(a) self, SymInt[] size) -> Tensor(a)", lower),
    Row::new("aten.reshape.default", "reshape(Tensor(a) self, SymInt[] shape) -> Tensor(a)", lower),
    Row::new("aten.flatten.using_ints", "flatten.using_ints(Tensor(a) self, int start_dim=0, int end_dim=-1) -> Tensor(a)", lower),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let sizes = model_shape(cx.out()?);
    Ok(cx.reshape(x, &sizes)?.into())
}

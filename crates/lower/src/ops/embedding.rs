//! `embedding`: `Gather` of the rows of the table.

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new(
    "aten.embedding.default",
    "embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    lower,
)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (table, rows) = (cx.tensor("weight")?, cx.tensor("indices")?);
    Ok(cx.emit("Gather", &[table, rows], attrs![axis = 0]).into())
}

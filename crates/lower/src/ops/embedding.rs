//! `embedding`: `Gather` of the rows of the table.

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new(
    "aten::embedding(Tensor weight, Tensor indices, SymInt padding_idx=-1, bool scale_grad_by_freq=False, bool sparse=False) -> Tensor",
    lower,
)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let (table, rows) = (cx.tensor("weight")?, cx.tensor("indices")?);
    Ok(cx.emit("Gather", &[table, rows], attrs![axis = 0]).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.embedding.default(weight: param f32[7, 3], indices: i64[2, 4]) -> f32[2, 4, 3]
            Gather(weight, indices, axis=0)
        ");
    }
}

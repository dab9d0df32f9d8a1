//! Operators whose result is their input: copies and views that differ in memory only. They emit nothing.

use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::alias(Tensor(a) self) -> Tensor(a)", same),
    Row::new("aten::alias_copy(Tensor self) -> Tensor", same),
    Row::new("aten::clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", same),
    Row::new("aten::contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)", same),
    Row::new("aten::detach(Tensor(a) self) -> Tensor(a)", same),
    Row::new("aten::detach_copy(Tensor self) -> Tensor", same),
    Row::new("aten::lift(Tensor self) -> Tensor", same),
    Row::new("aten::lift_fresh_copy(Tensor self) -> Tensor", same),
    Row::new("aten::positive(Tensor(a) self) -> Tensor(a)", same),
];

fn same(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    Ok(cx.tensor("self")?.into())
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

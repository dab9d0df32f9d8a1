//! Operators whose result is their input: copies and views that differ in memory only. They emit nothing.

use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.alias.default", "alias(Tensor(a) self) -> Tensor(a)", same),
    Row::new("aten.alias_copy.default", "alias_copy(Tensor self) -> Tensor", same),
    Row::new("aten.clone.default", "clone(Tensor self, *, MemoryFormat? memory_format=None) -> Tensor", same),
    Row::new(
        "aten.contiguous.default",
        "contiguous(Tensor(a) self, *, MemoryFormat memory_format=0) -> Tensor(a)",
        same,
    ),
    Row::new("aten.detach.default", "detach(Tensor(a) self) -> Tensor(a)", same),
    Row::new("aten.detach_copy.default", "detach_copy(Tensor self) -> Tensor", same),
    Row::new("aten.lift.default", "lift(Tensor self) -> Tensor", same),
    Row::new("aten.lift_fresh_copy.default", "lift_fresh_copy(Tensor self) -> Tensor", same),
    Row::new("aten.positive.default", "positive(Tensor(a) self) -> Tensor(a)", same),
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
        assert_snapshot!(lowered(ROWS), @r"
        aten.alias.default(self: f32[2, 3]) -> f32[2, 3]
            Identity(self)
        aten.alias_copy.default(self: f32[2, 3]) -> f32[2, 3]
            Identity(self)
        aten.clone.default(self: f32[2, 3]) -> f32[2, 3]
            Identity(self)
        aten.contiguous.default(self: f32[2, 3]) -> f32[2, 3]
            Identity(self)
        aten.detach.default(self: f32[2, 3]) -> f32[2, 3]
            Identity(self)
        aten.detach_copy.default(self: f32[2, 3]) -> f32[2, 3]
            Identity(self)
        aten.lift.default(self: f32[2, 3]) -> f32[2, 3]
            Identity(self)
        aten.lift_fresh_copy.default(self: f32[2, 3]) -> f32[2, 3]
            Identity(self)
        aten.positive.default(self: f32[2, 3]) -> f32[2, 3]
            Identity(self)
        ");
    }
}

//! Arithmetic on sizes. The program knows the result as an expression over its symbols, which is computed where a
//! lowering needs it, so that these nodes emit nothing.

use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::sym_size.int(Tensor self, int dim) -> SymInt", nothing),
    Row::new("aten::sym_stride.int(Tensor self, int dim) -> SymInt", nothing),
    Row::new("aten::sym_numel(Tensor self) -> SymInt", nothing),
    Row::new("aten::sym_storage_offset(Tensor self) -> SymInt", nothing),
    Row::new("_operator.add", nothing),
    Row::new("_operator.and_", nothing),
    Row::new("_operator.eq", nothing),
    Row::new("_operator.floordiv", nothing),
    Row::new("_operator.ge", nothing),
    Row::new("_operator.gt", nothing),
    Row::new("_operator.le", nothing),
    Row::new("_operator.lshift", nothing),
    Row::new("_operator.lt", nothing),
    Row::new("_operator.mod", nothing),
    Row::new("_operator.mul", nothing),
    Row::new("_operator.ne", nothing),
    Row::new("_operator.neg", nothing),
    Row::new("_operator.or_", nothing),
    Row::new("_operator.pow", nothing),
    Row::new("_operator.rshift", nothing),
    Row::new("_operator.sub", nothing),
    Row::new("_operator.truediv", nothing),
    Row::new("math.trunc", nothing),
    Row::new("torch._sym_sqrt", nothing),
    Row::new("torch.sym_float", nothing),
    Row::new("torch.sym_ite", nothing),
    Row::new("torch.sym_max", nothing),
    Row::new("torch.sym_min", nothing),
    Row::new("torch.sym_not", nothing),
];

fn nothing(_: &mut Context<'_, '_>) -> Result<Outputs> {
    Ok(().into())
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

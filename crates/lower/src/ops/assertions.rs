//! Assertions about tensors and sizes. They held when the model was captured; ONNX has no operator that stops, so that
//! they emit nothing.

use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::_assert_async(Tensor self) -> ()", nothing),
    Row::new("aten::_assert_async.msg(Tensor self, str assert_msg) -> ()", nothing),
    Row::new("aten::_assert_scalar(Scalar self, str assert_msg) -> ()", nothing),
    Row::new(
        "aten::_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
        nothing,
    ),
    Row::new("aten::_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()", nothing),
    Row::new("aten::sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()", nothing),
    Row::new("aten::sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()", nothing),
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

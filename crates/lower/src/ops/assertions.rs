//! Assertions about tensors and sizes. They held when the model was captured; ONNX has no operator that stops, so that
//! they emit nothing.

use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten._assert_async.default", "_assert_async(Tensor self) -> ()", nothing),
    Row::new("aten._assert_async.msg", "_assert_async.msg(Tensor self, str assert_msg) -> ()", nothing),
    Row::new("aten._assert_scalar.default", "_assert_scalar(Scalar self, str assert_msg) -> ()", nothing),
    Row::new(
        "aten._assert_tensor_metadata.default",
        "_assert_tensor_metadata(Tensor a, SymInt[]? size=None, SymInt[]? stride=None, ScalarType? dtype=None, *, Device? device=None, Layout? layout=None) -> ()",
        nothing,
    ),
    Row::new(
        "aten._linalg_check_errors.default",
        "_linalg_check_errors(Tensor info, str api_name, *, bool is_matrix) -> ()",
        nothing,
    ),
    Row::new(
        "aten.sym_constrain_range.default",
        "sym_constrain_range(Scalar size, *, int? min=None, int? max=None) -> ()",
        nothing,
    ),
    Row::new(
        "aten.sym_constrain_range_for_size.default",
        "sym_constrain_range_for_size(Scalar size, *, int? min=None, int? max=None) -> ()",
        nothing,
    ),
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
        assert_snapshot!(lowered(ROWS), @"
        aten._assert_async.default(self: bool[]) -> ()
            nothing
        aten._assert_async.msg(self: bool[], assert_msg='equal') -> ()
            nothing
        aten._assert_scalar.default(self=u0 >= 1, assert_msg='Runtime assertion failed for expression u0 >= 1 on node `ge_1`') -> ()
            nothing
        aten._assert_tensor_metadata.default(a: f32[2, 3], dtype=f32, device=cpu, layout=strided) -> ()
            nothing
        aten._linalg_check_errors.default(info: i32[], api_name='linalg.inv', is_matrix=True) -> ()
            nothing
        aten.sym_constrain_range.default(size=u0, min=1, max=8) -> ()
            nothing
        aten.sym_constrain_range_for_size.default(size=u0, min=1) -> ()
            nothing
        ");
    }
}

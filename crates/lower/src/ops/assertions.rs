//! Assertions that the capture left behind. They were checked while the program was captured, or ask about data that
//! ONNX has no way to refuse; nothing is emitted.

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
];

fn nothing(_: &mut Context<'_, '_>) -> Result<Outputs> {
    Ok(().into())
}

//! `copy`: the contents of `src` in the type and the sizes of `self`. `Cast`, `Expand`.

use crate::context::Context;
use crate::error::Result;
use crate::ir::model_shape;
use crate::kernels::kernel_type;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] =
    &[Row::new("aten::copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let source = cx.tensor("src")?;
    if cx.meta("src")?.dtype.is_complex() != out.dtype.is_complex() {
        return cx.refuse("copies between complex and real numbers");
    }
    let dtype = out.dtype.real();
    let sizes = model_shape(out);
    let value = cx.cast(source, dtype);
    if cx.shape(value) == Some(sizes.as_slice()) {
        return Ok(value.into());
    }
    let kernel = kernel_type("Expand", dtype, cx.opset);
    let value = cx.cast(value, kernel);
    let value = cx.expand(value, &sizes)?;
    Ok(cx.cast(value, dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.copy.default(self: f32[2, 3], src: f32[2, 3]) -> f32[2, 3]
            Identity(src)
        ");
    }
}

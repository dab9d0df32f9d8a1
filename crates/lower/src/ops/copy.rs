//! `copy`: a tensor that looks like `self` and has the contents of `src`, broadcast and converted. `Cast`, `Expand`.

use crate::context::Context;
use crate::error::Result;
use crate::ir::{ValueId, model_shape};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.copy.default", "copy(Tensor self, Tensor src, bool non_blocking=False) -> Tensor", |cx| {
        let source = cx.tensor("src")?;
        if cx.meta("src")?.dtype.is_complex() != cx.out()?.dtype.is_complex() {
            return cx.refuse("copies between complex and real numbers");
        }
        spread(cx, source)
    }),
];

/// `value` in the type and the sizes of the result.
fn spread(cx: &mut Context<'_, '_>, value: ValueId) -> Result<Outputs> {
    let out = cx.out()?;
    let value = cx.cast(value, out.dtype.real());
    Ok(cx.expand(value, &model_shape(out))?.into())
}

//! A tensor that looks like `self` and has other contents: those of `src`, broadcast and converted (`copy`), or one
//! number everywhere (`fill`). `Cast`, `Expand`.

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
    Row::new("aten.fill.Scalar", "fill.Scalar(Tensor self, Scalar value) -> Tensor", |cx| {
        let dtype = cx.out()?.dtype;
        if dtype.is_complex() {
            return cx.refuse("fills a complex tensor");
        }
        let value = cx.scalar_arg("value")?;
        let value = cx.scalar_value(value, dtype);
        spread(cx, value)
    }),
    Row::new("aten.fill.Tensor", "fill.Tensor(Tensor self, Tensor value) -> Tensor", |cx| {
        if cx.meta("value")?.dtype.is_complex() != cx.out()?.dtype.is_complex() {
            return cx.refuse("fills a complex tensor");
        }
        let value = cx.tensor("value")?;
        spread(cx, value)
    }),
];

/// `value` in the type and the sizes of the result.
fn spread(cx: &mut Context<'_, '_>, value: ValueId) -> Result<Outputs> {
    let out = cx.out()?;
    let value = cx.cast(value, out.dtype.real());
    Ok(cx.expand(value, &model_shape(out))?.into())
}

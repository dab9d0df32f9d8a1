//! `floor`, `ceil`, `round`, `trunc`, `frac`. Integers stay as they are.
//!
//! `Round` of ONNX takes halves to the even number, as PyTorch does. `trunc` is `Sign(x) * Floor(Abs(x))`; `frac` is
//! `Mod` with the sign of the dividend; `round` to decimals scales by a power of ten before and after.

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ops::support::formulas::{truncate, with_number};
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::ceil(Tensor self) -> Tensor", |cx| whole(cx, "Ceil")),
    Row::new("aten::fix(Tensor self) -> Tensor", trunc),
    Row::new("aten::floor(Tensor self) -> Tensor", |cx| whole(cx, "Floor")),
    Row::new("aten::frac(Tensor self) -> Tensor", frac),
    Row::new("aten::round.decimals(Tensor self, *, int decimals) -> Tensor", decimals),
    Row::new("aten::round(Tensor self) -> Tensor", |cx| whole(cx, "Round")),
    Row::new("aten::special_round(Tensor self, *, int decimals=0) -> Tensor", decimals),
    Row::new("aten::trunc(Tensor self) -> Tensor", trunc),
];

fn whole(cx: &mut Context<'_, '_>, op: &'static str) -> Result<Outputs> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    if !cx.out()?.dtype.is_float() {
        return Ok(x.into());
    }
    Ok(cx.apply(op, &[x], vec![]).into())
}

fn trunc(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    Ok(truncate(cx, x).into())
}

fn frac(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let one = cx.const_like(x, 1.0);
    Ok(cx.apply("Mod", &[x, one], attrs![fmod = 1]).into())
}

fn decimals(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let decimals = cx.int("decimals")?;
    if decimals == 0 || !cx.out()?.dtype.is_float() {
        return whole(cx, "Round");
    }
    let x = cx.tensor("self")?;
    let scale = 10f64.powi(i32::try_from(decimals.unsigned_abs()).unwrap_or(i32::MAX));
    let (before, after) = if decimals > 0 { ("Mul", "Div") } else { ("Div", "Mul") };
    let scaled = with_number(cx, before, x, scale);
    let rounded = cx.apply("Round", &[scaled], vec![]);
    Ok(with_number(cx, after, rounded, scale).into())
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

//! `tril` and `triu` by `Trilu`; `tril_indices` and `triu_indices` are constants.

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::kernels::kernel_type;
use crate::literal::{Literal, Number};
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::tril(Tensor self, SymInt diagonal=0) -> Tensor", |cx| lower(cx, false)),
    Row::new(
        "aten::tril_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| indices(cx, |row, column, offset| column - row <= offset),
    ),
    Row::new("aten::triu(Tensor self, SymInt diagonal=0) -> Tensor", |cx| lower(cx, true)),
    Row::new(
        "aten::triu_indices(int row, int col, int offset=0, *, ScalarType? dtype=4, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        |cx| indices(cx, |row, column, offset| column - row >= offset),
    ),
];

fn lower(cx: &mut Context<'_, '_>, upper: bool) -> Result<Outputs> {
    real_only(cx)?;
    let x = cx.tensor("self")?;
    let dtype = cx.dtype(x);
    let kernel = kernel_type("Trilu", dtype, cx.opset);
    let x = cx.cast(x, kernel);
    let diagonal = cx.dim("diagonal")?;
    let attributes = attrs![upper = upper];
    let value = if diagonal.is(0) {
        cx.emit("Trilu", &[x], attributes)
    } else {
        let diagonal = cx.dim_value(&diagonal)?;
        let diagonal = cx.squeeze(diagonal, &[0]);
        cx.emit("Trilu", &[x, diagonal], attributes)
    };
    Ok(cx.cast(value, dtype).into())
}

/// Rows, then columns of the places where `holds(row, column, offset)`.
fn indices(cx: &mut Context<'_, '_>, holds: fn(i64, i64, i64) -> bool) -> Result<Outputs> {
    let (rows, columns, offset) = (cx.int("row")?, cx.int("col")?, cx.int("offset")?);
    let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
    let places: Vec<(i64, i64)> = places.filter(|&(row, column)| holds(row, column, offset)).collect();
    let numbers = places.iter().map(|place| place.0).chain(places.iter().map(|place| place.1)).map(Number::Int);
    let dtype = cx.out()?.dtype;
    let dims = vec![2, places.len() as i64];
    match Literal::from_numbers(dtype, dims, numbers) {
        Some(literal) => Ok(cx.constant(literal).into()),
        None => cx.refuse(format!("makes indices of type {dtype}")),
    }
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.tril.default(self: f32[4, 4]) -> f32[4, 4]
            Trilu(self, upper=0)
        aten.tril_indices.default(row=3, col=4) -> i64[2, 6]
            Identity([[0, 1, 1, 2, 2, 2], [0, 0, 1, 0, 1, 2]])
        aten.triu.default(self: f32[4, 4]) -> f32[4, 4]
            Trilu(self, upper=1)
        aten.triu_indices.default(row=3, col=4) -> i64[2, 9]
            Identity(i64[2, 9])
        ");
    }
}

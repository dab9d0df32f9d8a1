//! `eye`: ones where row and column are equal. Small ones of known size are constants.

use modelexport_graph::{DType, Dim};

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::{Literal, Number};
use crate::ops::support::fill::is_small;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::eye(SymInt n, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        lower,
    ),
    Row::new(
        "aten::eye.m(SymInt n, SymInt m, *, ScalarType? dtype=None, Layout? layout=None, Device? device=None, bool? pin_memory=None) -> Tensor",
        lower,
    ),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let [rows, columns] = out.sizes.as_slice() else { return cx.refuse("does not give a matrix") };
    if let (Some(n), Some(m)) = (rows.as_static(), columns.as_static())
        && is_small(&out.sizes, out.dtype)
    {
        let numbers = (0..n).flat_map(|row| (0..m).map(move |column| Number::Int((row == column).into())));
        if let Some(literal) = Literal::from_numbers(out.dtype, vec![n, m], numbers) {
            return Ok(cx.constant(literal).into());
        }
    }
    let row = indices(cx, rows)?;
    let row = cx.unsqueeze(row, &[1]);
    let column = indices(cx, columns)?;
    let equal = cx.emit("Equal", &[row, column], vec![]);
    Ok(cx.cast(equal, out.dtype).into())
}

/// 0, 1, … up to a size.
fn indices(cx: &mut Context<'_, '_>, size: &Dim) -> Result<ValueId> {
    let end = cx.dim_value(size)?;
    let end = cx.squeeze(end, &[0]);
    let (start, step) = (cx.const_scalar(DType::I64, 0.0), cx.const_scalar(DType::I64, 1.0));
    Ok(cx.emit("Range", &[start, end, step], vec![]))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.eye.default(n=3) -> f32[3, 3]
            Identity([[1.0, 0.0, 0.0], [0.0, 1.0, 0.0], [0.0, 0.0, 1.0]])
        aten.eye.default(n=s0, device=cpu, pin_memory=False) -> f32[s0, s0]
            t1 = Range(0, s0, 1)
            Cast(Equal(Unsqueeze(t1, [1]), t1), to=f32)
        aten.eye.m(n=2, m=4) -> f32[2, 4]
            Identity([[1.0, 0.0, 0.0, 0.0], [0.0, 1.0, 0.0, 0.0]])
        aten.eye.m(n=s0, m=4, device=cpu, pin_memory=False) -> f32[s0, 4]
            Cast(Equal(Unsqueeze(Range(0, s0, 1), [1]), [0, 1, 2, 3]), to=f32)
        ");
    }
}

//! `pdist`: the distances between all pairs of rows, in the order of the upper triangle of `cdist`.
//!
//! Both rows of each pair are gathered, so that only the pairs that are asked for are computed. The numbers of the
//! rows are constants for few pairs; otherwise the graph finds them as the places of ones in a triangle.

use modelexport_graph::DType;

use super::distance::norm;
use super::support::compute::{filled, formula_type, tensor_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::pdist(Tensor self, float p=2.) -> Tensor", lower),
    Row::new("aten::_pdist_forward(Tensor self, float p=2.) -> Tensor", lower),
];

/// Up to so many pairs, their rows are constants in the model.
const MOST_CONSTANTS: i64 = 1024;

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = formula_type(out.dtype);
    // Rows without elements have distance 0, whatever the norm; less than two rows have no distance.
    if cx.meta("self")?.sizes.iter().chain(&out.sizes).any(|size| size.is(0)) {
        return Ok(filled(cx, out.dtype, &out.sizes, 0.0)?.into());
    }
    let x = tensor_as(cx, "self", compute)?;
    let (first, second) = pairs(cx)?;
    let first = cx.emit("Gather", &[x, first], attrs![axis = 0]);
    let second = cx.emit("Gather", &[x, second], attrs![axis = 0]);
    let difference = cx.emit("Sub", &[first, second], vec![]);
    let p = cx.float("p")?;
    let y = norm(cx, difference, p, &[1], false);
    Ok(cx.cast(y, out.dtype).into())
}

/// The numbers of the first and of the second row of each pair.
fn pairs(cx: &mut Context<'_, '_>) -> Result<(ValueId, ValueId)> {
    let Some(rows) = cx.meta("self")?.sizes.first() else {
        return cx.wrong("self", "a matrix", "a tensor without dimensions");
    };
    if let Some(rows) = rows.as_static().filter(|rows| rows * (rows - 1) / 2 <= MOST_CONSTANTS) {
        let (first, second): (Vec<i64>, Vec<i64>) =
            (0..rows).flat_map(|first| (first + 1..rows).map(move |second| (first, second))).unzip();
        return Ok((cx.const_ints(&first), cx.const_ints(&second)));
    }
    let one = cx.const_scalar(DType::I64, 1);
    let square = cx.shape_value(&[rows.clone(), rows.clone()])?;
    let ones = cx.emit("Expand", &[one, square], vec![]);
    let triangle = cx.emit("Trilu", &[ones, one], attrs![upper = 1]);
    let places = cx.emit("NonZero", &[triangle], vec![]);
    let (first, second) = (cx.const_int(0), cx.const_int(1));
    let first = cx.emit("Gather", &[places, first], attrs![axis = 0]);
    let second = cx.emit("Gather", &[places, second], attrs![axis = 0]);
    Ok((first, second))
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

//! `combinations`: a row for each choice of `r` elements of a vector, by one `Gather` with the places of all choices.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::literal::{Literal, Number};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] =
    &[Row::new("aten::combinations(Tensor self, int r=2, bool with_replacement=False) -> Tensor", lower)];

/// Rows that are written as constants at most.
const MOST_CHOICES: usize = 1 << 20;

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let Some(Dim::Static(count)) = cx.meta("self")?.sizes.first().cloned() else {
        return cx.refuse("chooses from a vector whose size is known only at run time");
    };
    let (width, repeats) = (cx.int("r")?.max(0), cx.bool("with_replacement")?);
    let Some(choices) = choices(count, width, repeats) else {
        return cx.refuse(format!("makes more than {MOST_CHOICES} rows"));
    };
    let dims = if width == 0 { vec![0] } else { vec![choices.len() as i64 / width, width] };
    let Some(places) = Literal::from_numbers(DType::I64, dims, choices.into_iter().map(Number::Int)) else {
        return cx.refuse("has no places as constants");
    };
    let places = cx.constant(places);
    Ok(cx.emit("Gather", &[x, places], attrs![axis = 0]).into())
}

/// All rising (with repetition: not falling) sequences of `width` numbers below `count`, in order, one after another.
fn choices(count: i64, width: i64, repeats: bool) -> Option<Vec<i64>> {
    let step = i64::from(!repeats);
    let mut rows: Vec<Vec<i64>> = vec![Vec::new()];
    for _ in 0..width {
        let mut longer = Vec::new();
        for row in &rows {
            let first = row.last().map_or(0, |last| last + step);
            for next in first..count {
                longer.push(row.iter().copied().chain([next]).collect());
                if longer.len() > MOST_CHOICES {
                    return None;
                }
            }
        }
        rows = longer;
    }
    Some(rows.concat())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.combinations.default(self: f32[4]) -> f32[6, 2]
            Gather(self, [[0, 1], [0, 2], [0, 3], [1, 2], [1, 3], [2, 3]], axis=0)
        ");
    }
}

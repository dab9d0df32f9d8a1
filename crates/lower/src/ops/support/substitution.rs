//! `T X = B` for triangular `T`: a loop over the rows of `X`, each of which is subtracted from those that remain.

use super::matrices::{Matrices, column, rounds, row, row_numbers};
use crate::context::Context;
use crate::error::Result;

/// Which elements of a matrix are read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Triangle {
    pub upper: bool,
    /// The diagonal is taken for ones.
    pub unit: bool,
}

impl Triangle {
    pub fn transposed(self) -> Triangle {
        Triangle { upper: !self.upper, ..self }
    }
}

/// `X`, for `t` whose batch axes broadcast to those of `b`.
pub(crate) fn substitute(
    cx: &mut Context<'_, '_>,
    t: &Matrices,
    triangle: Triangle,
    right: &Matrices,
) -> Result<Matrices> {
    let rows = row_numbers(cx, &t.rows)?;
    let last = match triangle.upper {
        false => None,
        true => {
            let size = cx.dim_value(&t.rows)?;
            let one = cx.const_ints(&[1]);
            Some(cx.emit("Sub", &[size, one], vec![]))
        }
    };
    cx.set_shape(right.value, right.sizes());
    let factors = t.value;
    let [solution] = rounds(cx, &t.rows, [right.value], |b, round, [rest]| {
        let at = last.map_or(round, |last| b.emit("Sub", &[last, round], vec![]));
        let (values, mut solved) = (column(b, factors, at), row(b, rest, at));
        if !triangle.unit {
            let pivot = row(b, values, at);
            solved = b.emit("Div", &[solved, pivot], vec![]);
        }
        let remains = b.test(if triangle.upper { "Less" } else { "Greater" }, &[rows, at]);
        let zero = b.const_like(values, 0.0);
        let factor = b.select(remains, values, zero);
        let product = b.emit("Mul", &[factor, solved], vec![]);
        let rest = b.emit("Sub", &[rest, product], vec![]);
        let here = b.test("Equal", &[rows, at]);
        [b.select(here, solved, rest)]
    })?;
    Ok(Matrices { value: solution, ..right.clone() })
}

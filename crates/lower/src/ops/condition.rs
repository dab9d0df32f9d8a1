//! `linalg_cond`: the norm of a matrix times that of its inverse, for spectral and nuclear norms by singular values.

use modelexport_graph::DType;

use super::linear_systems::inverse_of;
use super::norms::largest_or_smallest_sum;
use super::support::elimination::first_without_pivot;
use super::support::jacobi::{orthogonalize, upright};
use super::support::matrices::{Fill, Matrices, results_of_nothing};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::linalg_cond(Tensor self, Scalar? p=None) -> Tensor", |cx| {
        let order = match cx.scalar_opt("p")? {
            None => 2.0,
            Some(scalar) => match scalar.number() {
                Some(number) => number.as_f64(),
                None => return cx.wrong("p", "a number that is known when exporting", scalar),
            },
        };
        lower(cx, Norm::Order(order))
    }),
    Row::new("aten::linalg_cond.p_str(Tensor self, str p) -> Tensor", |cx| match cx.str_opt("p")?.as_deref() {
        Some("fro") => lower(cx, Norm::Frobenius),
        Some("nuc") => lower(cx, Norm::Nuclear),
        other => cx.wrong("p", "`fro` or `nuc`", other),
    }),
];

#[derive(Clone, Copy, Debug)]
enum Norm {
    Order(f64),
    Frobenius,
    Nuclear,
}

fn lower(cx: &mut Context<'_, '_>, norm: Norm) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (a, out) = (Matrices::argument_as(cx, "self", DType::F64)?, cx.out()?);
    let value = match norm {
        Norm::Order(order) if order.abs() == 2.0 => {
            let values = values(cx, &a)?;
            let largest = cx.reduce("ReduceMax", values, &[-2, -1], false);
            let smallest = cx.reduce("ReduceMin", values, &[-2, -1], false);
            let [over, under] = if order > 0.0 { [largest, smallest] } else { [smallest, largest] };
            cx.emit("Div", &[over, under], vec![])
        }
        Norm::Nuclear => {
            let values = values(cx, &a)?;
            let inverse = cx.emit("Reciprocal", &[values], vec![]);
            let sums = [values, inverse].map(|values| cx.reduce("ReduceSum", values, &[-2, -1], false));
            cx.emit("Mul", &sums, vec![])
        }
        Norm::Order(_) | Norm::Frobenius => by_inverse(cx, &a, norm)?,
    };
    let value = cx.reshape(value, &out.sizes)?;
    Ok(cx.cast(value, out.dtype).into())
}

fn values(cx: &mut Context<'_, '_>, a: &Matrices) -> Result<ValueId> {
    let tall = upright(cx, a);
    Ok(orthogonalize(cx, &tall)?.values)
}

/// Infinite for singular matrices.
fn by_inverse(cx: &mut Context<'_, '_>, a: &Matrices, norm: Norm) -> Result<ValueId> {
    let (inverse, factors) = inverse_of(cx, a)?;
    let mut norms = [a.value, inverse.value];
    for value in &mut norms {
        *value = match norm {
            Norm::Order(order) => largest_or_smallest_sum(cx, *value, order, [-2, -1])?,
            _ => cx.reduce("ReduceL2", *value, &[-2, -1], true),
        };
    }
    let product = cx.emit("Mul", &norms, vec![]);
    let product = cx.squeeze(product, &[-2, -1]);
    let (missing, none) = (first_without_pivot(cx, &factors.lu)?, cx.const_scalar(DType::I32, 0));
    let is_singular = cx.test("Greater", &[missing, none]);
    let infinity = cx.const_like(product, f64::INFINITY);
    Ok(cx.select(is_singular, infinity, product))
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

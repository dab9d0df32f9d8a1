//! Powers of square matrices: `matrix_power` by repeated squares, `matrix_exp` by its series.
//!
//! `matrix_exp` halves the matrix until its norm is at most 1, sums the series up to its 18th term, which is exact to the
//! last digit of `float64`, and squares the result as often as it has halved. All in `float64`, since squaring doubles
//! errors; PyTorch chooses shorter series for small norms.

use modelexport_graph::{DType, Dim};

use super::linear_systems::inverse_of;
use super::matmul::product_type;
use super::support::matrices::{Fill, Matrices, identity, results_of_nothing, rounds, rounds_of};
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::linalg_matrix_exp(Tensor self) -> Tensor", exponential),
    Row::new("aten::linalg_matrix_power(Tensor self, int n) -> Tensor", power),
    Row::new("aten::matrix_exp(Tensor self) -> Tensor", exponential),
    Row::new("aten::matrix_power(Tensor self, int n) -> Tensor", power),
];

fn power(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let (out, exponent) = (cx.out()?, cx.int("n")?);
    let mut a = Matrices::argument_as(cx, "self", product_type(out.dtype))?;
    if exponent == 0 {
        let one = identity(cx, &a.rows, &a.columns, out.dtype)?;
        return Ok(cx.expand(one, &out.sizes)?.into());
    }
    if exponent < 0 {
        a = inverse_of(cx, &a)?.0;
    }
    let (mut square, mut result, mut rest) = (a.value, None, exponent.unsigned_abs());
    while rest > 0 {
        if rest % 2 == 1 {
            result = Some(match result {
                None => square,
                Some(result) => cx.emit("MatMul", &[result, square], vec![]),
            });
        }
        rest /= 2;
        if rest > 0 {
            square = cx.emit("MatMul", &[square, square], vec![]);
        }
    }
    Ok(cx.cast(result.unwrap_or(square), out.dtype).into())
}

fn exponential(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    const TERMS: i64 = 18;
    if let Some(results) = results_of_nothing(cx, "self", &[Fill::Number(0.0)])? {
        return Ok(results);
    }
    let dtype = cx.out()?.dtype;
    if matches!(dtype, DType::F16 | DType::BF16) {
        return cx.refuse(format!("PyTorch's own result for {dtype} is NaN; convert the matrices to float32"));
    }
    let a = Matrices::argument_as(cx, "self", DType::F64)?;
    // The largest norm of all matrices says how often they are halved.
    let sums = cx.reduce("ReduceL1", a.value, &[-1], false);
    let norm = cx.reduce("ReduceMax", sums, &[], false);
    let logarithm = cx.emit("Log", &[norm], vec![]);
    let two = cx.const_like(a.value, 2.0);
    let unit = cx.const_like(a.value, std::f64::consts::LN_2);
    let halvings = cx.emit("Div", &[logarithm, unit], vec![]);
    let halvings = cx.emit("Ceil", &[halvings], vec![]);
    // Beyond the upper limit everything overflows; the lower stands for zeros.
    let (least, most) = (cx.const_like(a.value, 0.0), cx.const_like(a.value, 1000.0));
    let halvings = cx.emit("Clip", &[halvings, least, most], vec![]);
    let scale = cx.emit("Pow", &[two, halvings], vec![]);
    let scaled = cx.emit("Div", &[a.value, scale], vec![]);
    cx.set_shape(scaled, a.sizes());

    let one = identity(cx, &a.rows, &a.columns, DType::F64)?;
    let ones = Matrices::of(cx, one, &[a.rows.clone(), a.columns.clone()])?.expanded(cx, &a.batch)?;
    let terms = cx.const_ints(&[TERMS]);
    // I + X (I + X/2 (I + X/3 …)), from the inside.
    let [series] = rounds(cx, &Dim::Static(TERMS), [ones.value], |b, at, [sum]| {
        let number = b.emit("Sub", &[terms, at], vec![]);
        let number = b.cast(number, DType::F64);
        let product = b.emit("MatMul", &[scaled, sum], vec![]);
        let product = b.emit("Div", &[product, number], vec![]);
        [b.emit("Add", &[product, one], vec![])]
    })?;
    let count = cx.cast(halvings, DType::I64);
    let [result] =
        rounds_of(cx, count, [series], |b, _, [power]| [b.emit("MatMul", &[power, power], vec![])]);
    Ok(cx.cast(result, dtype).into())
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

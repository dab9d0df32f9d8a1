//! `embedding_dense_backward`: each row of the table adds up the gradients of the places that looked it up.
//!
//! `ScatterND` can add from opset 16 on. Before, it is the product with a matrix that says which place looked up which
//! row. Rows that were looked up are divided by how often, if the call asks for it.

use modelexport_graph::{DType, Dim};

use super::support::compute::{formula_type, product, tensor_as};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

const SCHEMA: &str = "aten::embedding_dense_backward(Tensor grad_output, Tensor indices, SymInt num_weights, SymInt padding_idx, bool scale_grad_by_freq) -> Tensor";

pub static ROWS: &[Row] = &[Row::new(SCHEMA, multiply), Row::new(SCHEMA, scatter).since(16)];

/// What both forms start from.
struct Lookups {
    /// `[places, width]`
    grad: ValueId,
    /// `[places]`
    rows: ValueId,
    /// How many places there are, and how many rows.
    places: Dim,
    table: Dim,
    width: Dim,
    dtype: DType,
}

fn lookups(cx: &mut Context<'_, '_>) -> Result<Lookups> {
    let out = cx.out()?;
    let [table, width] = out.sizes.as_slice() else {
        return cx.refuse("its result is not a matrix");
    };
    let dtype = formula_type(out.dtype);
    let places = product(&cx.meta("indices")?.sizes);
    let rows = cx.tensor("indices")?;
    let rows = cx.cast(rows, DType::I64);
    let rows = cx.reshape(rows, std::slice::from_ref(&places))?;
    let grad = tensor_as(cx, "grad_output", dtype)?;
    let grad = cx.reshape(grad, &[places.clone(), width.clone()])?;
    Ok(Lookups { grad, rows, places, table: table.clone(), width: width.clone(), dtype })
}

/// `padding_idx`, whose row gets no gradient; a negative number stands for none.
fn padding(cx: &Context<'_, '_>) -> Result<Option<i64>> {
    Ok(Some(cx.int("padding_idx")?).filter(|&row| row >= 0))
}

fn multiply(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let lookups = lookups(cx)?;
    let table = cx.dim_value(&lookups.table)?;
    let (zero, one, table) = (cx.const_int(0), cx.const_int(1), cx.squeeze(table, &[0]));
    let numbers = cx.emit("Range", &[zero, table, one], vec![]);
    let column = cx.unsqueeze(numbers, &[1]);
    let looked_up = cx.emit("Equal", &[column, lookups.rows], vec![]);
    let looked_up = cx.cast(looked_up, lookups.dtype);
    let mut y = cx.emit("MatMul", &[looked_up, lookups.grad], vec![]);
    if cx.bool("scale_grad_by_freq")? {
        let counts = cx.reduce("ReduceSum", looked_up, &[1], true);
        y = divided(cx, y, counts, lookups.dtype);
    }
    if let Some(row) = padding(cx)? {
        let row = cx.const_int(row);
        let is_padding = cx.emit("Equal", &[column, row], vec![]);
        let nothing = cx.const_scalar(lookups.dtype, 0);
        y = cx.emit("Where", &[is_padding, nothing, y], vec![]);
    }
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(y, dtype).into())
}

fn scatter(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let lookups = lookups(cx)?;
    let places = cx.unsqueeze(lookups.rows, &[1]);
    let (nothing, one) = (cx.const_scalar(lookups.dtype, 0), cx.const_scalar(lookups.dtype, 1));
    let mut grad = lookups.grad;
    if let Some(row) = padding(cx)? {
        let row = cx.const_int(row);
        let is_padding = cx.emit("Equal", &[places, row], vec![]);
        grad = cx.emit("Where", &[is_padding, nothing, grad], vec![]);
    }
    let zeros = cx.expand(nothing, &[lookups.table.clone(), lookups.width])?;
    let mut y = cx.emit("ScatterND", &[zeros, places, grad], attrs![reduction = "add"]);
    if cx.bool("scale_grad_by_freq")? {
        let zeros = cx.expand(nothing, &[lookups.table, Dim::Static(1)])?;
        let ones = cx.expand(one, &[lookups.places, Dim::Static(1)])?;
        let counts = cx.emit("ScatterND", &[zeros, places, ones], attrs![reduction = "add"]);
        y = divided(cx, y, counts, lookups.dtype);
    }
    let dtype = cx.out()?.dtype;
    Ok(cx.cast(y, dtype).into())
}

/// A row that nothing looked up is zero and stays so.
fn divided(cx: &mut Context<'_, '_>, y: ValueId, counts: ValueId, dtype: DType) -> ValueId {
    let one = cx.const_scalar(dtype, 1);
    let counts = cx.emit("Max", &[counts, one], vec![]);
    cx.emit("Div", &[y, counts], vec![])
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.embedding_dense_backward.default(grad_output: f32[2, 6, 3], indices: i64[2, 6], num_weights=7, padding_idx=-1, scale_grad_by_freq=False) -> f32[7, 3]
            ScatterND(f32[7, 3], Reshape(indices, [12, 1]), Reshape(grad_output, [12, 3]), reduction=add)
        aten.embedding_dense_backward.default(grad_output: f32[s0, s1, 3], indices: i64[s2, s3], num_weights=7, padding_idx=2, scale_grad_by_freq=True) -> f32[7, 3]
            t1 = Unsqueeze(Reshape(indices, [-1]), [1])
            t2 = ScatterND(f32[7, 3], t1, Where(Equal(t1, 2), 0.0, Reshape(grad_output, [-1, 3])), reduction=add)
            t3 = Mul(Shape(indices, start=0, end=1), Shape(indices, start=1, end=2))
            t4 = ScatterND([[0.0], [0.0], [0.0], [0.0], [0.0], [0.0], [0.0]], t1, Expand(1.0, Concat(t3, [1], axis=0)), reduction=add)
            Div(t2, Max(t4, 1.0))
        aten.embedding_dense_backward.default(grad_output: f32[2, 6, 3], indices: i64[2, 6], num_weights=7, padding_idx=-1, scale_grad_by_freq=False) -> f32[7, 3] at opset 15
            t1 = Equal([[0], [1], [2], [3], [4], [5], [6]], Reshape(indices, [12]))
            MatMul(Cast(t1, to=f32), Reshape(grad_output, [12, 3]))
        ");
    }
}

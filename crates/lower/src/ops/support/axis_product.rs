//! The product of a matrix with one axis of a tensor: pools and resamplings whose weights are known.

use modelexport_graph::Dim;

use super::compute::product;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// The product of a matrix `[out, in]` with one axis of `x`. `sizes` are those of the result.
pub(crate) fn multiply_axis(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    weights: ValueId,
    sizes: &[Dim],
    axis: usize,
) -> Result<ValueId> {
    let behind = sizes.get(axis + 1..).unwrap_or(&[]);
    let y = match behind.len() {
        0 => {
            let weights = cx.transpose(weights, &[1, 0]);
            cx.emit("MatMul", &[x, weights], vec![])
        }
        1 => cx.emit("MatMul", &[weights, x], vec![]),
        _ => {
            let before = sizes.get(..axis).unwrap_or(&[]);
            let old = cx.shape(x).and_then(|shape| shape.get(axis)).cloned().unwrap_or(Dim::Static(-1));
            let merged: Vec<Dim> = before.iter().cloned().chain([old, product(behind)]).collect();
            let matrix = cx.reshape(x, &merged)?;
            let product = cx.emit("MatMul", &[weights, matrix], vec![]);
            cx.reshape(product, sizes)?
        }
    };
    cx.set_shape(y, sizes.to_vec());
    Ok(y)
}

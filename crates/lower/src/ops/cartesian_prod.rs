//! `cartesian_prod`: a row for each combination of elements, one of each vector.

use modelexport_graph::Dim;

use crate::context::Context;
use crate::error::Result;
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new("aten::cartesian_prod(Tensor[] tensors) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let out = cx.out()?;
    let tensors = cx.tensors("tensors")?;
    if let [only] = tensors.as_slice() {
        return Ok((*only).into());
    }
    let counts: Vec<Dim> = cx.metas("tensors").iter().filter_map(|meta| meta.sizes.first().cloned()).collect();
    let mut columns = Vec::with_capacity(tensors.len());
    for (axis, tensor) in tensors.iter().enumerate() {
        // An axis for each vector and one behind them for the columns.
        let others: Vec<i64> = (0..=tensors.len()).filter(|&at| at != axis).map(|at| at as i64).collect();
        let tensor = cx.cast(*tensor, out.dtype);
        let laid = cx.unsqueeze(tensor, &others);
        let sizes: Vec<Dim> = counts.iter().cloned().chain([Dim::Static(1)]).collect();
        columns.push(cx.expand(laid, &sizes)?);
    }
    let table = cx.concat(&columns, tensors.len() as i64);
    Ok(cx.reshape(table, &out.sizes)?.into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @"
        aten.cartesian_prod.default(tensors: [i64[3], i64[2]]) -> i64[6, 2]
            t1 = Concat(Expand(Unsqueeze(tensors_0, [1, 2]), [3, 2, 1]), Expand(Unsqueeze(tensors_1, [0, 2]), [3, 2, 1]), axis=2)
            Reshape(t1, [6, 2])
        aten.cartesian_prod.default(tensors: [f32[s0], f32[3]]) -> f32[3*s0, 2]
            t1 = Concat(Shape(tensors_0, start=0, end=1), [3, 1], axis=0)
            t2 = Concat(Expand(Unsqueeze(tensors_0, [1, 2]), t1), Expand(Unsqueeze(tensors_1, [0, 2]), t1), axis=2)
            Reshape(t2, [-1, 2])
        ");
    }
}

//! `meshgrid`: each vector laid along its own axis and repeated along the others.

use modelexport_graph::Dim;

use crate::context::Context;
use crate::error::Result;
use crate::kernels::kernel_type;
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::meshgrid(Tensor[] tensors) -> Tensor[]", lower),
    Row::new("aten::meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", lower),
];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let tensors = cx.tensors("tensors")?;
    let by_column = cx.str_opt("indexing")?.as_deref() == Some("xy");
    let outs = cx.out_metas();
    let mut grids = Vec::with_capacity(tensors.len());
    for (i, (tensor, out)) in tensors.iter().zip(outs).enumerate() {
        let axis = match i {
            0 | 1 if by_column && tensors.len() > 1 => 1 - i,
            other => other,
        };
        let sizes = (0..out.sizes.len()).zip(&out.sizes).map(|(at, size)| {
            if at == axis { size.clone() } else { Dim::Static(1) }
        });
        let sizes: Vec<Dim> = sizes.collect();
        let kernel = kernel_type("Expand", out.dtype, cx.opset);
        let tensor = cx.cast(*tensor, kernel);
        let laid = cx.reshape(tensor, &sizes)?;
        let grid = cx.expand(laid, &out.sizes)?;
        grids.push(cx.cast(grid, out.dtype));
    }
    Ok(grids.into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.meshgrid.default(tensors: [f32[3], f32[4]]) -> [f32[3, 4], f32[3, 4]]
            Expand(Reshape(tensors_0, [3, 1]), [3, 4]), Expand(Reshape(tensors_1, [1, 4]), [3, 4])
        aten.meshgrid.indexing(tensors: [f32[3], f32[4]], indexing='ij') -> [f32[3, 4], f32[3, 4]]
            Expand(Reshape(tensors_0, [3, 1]), [3, 4]), Expand(Reshape(tensors_1, [1, 4]), [3, 4])
        aten.meshgrid.indexing(tensors: [f32[s0], f32[4]], indexing='ij') -> [f32[s0, 4], f32[s0, 4]]
            t1 = Concat(Shape(tensors_0, start=0, end=1), [4], axis=0)
            Expand(Reshape(tensors_0, [0, 1]), t1), Expand(Reshape(tensors_1, [1, 4]), t1)
        ");
    }
}

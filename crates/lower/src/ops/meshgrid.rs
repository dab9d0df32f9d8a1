//! `meshgrid`: each vector laid along its own axis and repeated along the others.

use modelexport_graph::Dim;

use crate::context::Context;
use crate::error::Result;
use crate::kernels::kernel_type;
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten.meshgrid.default", "meshgrid(Tensor[] tensors) -> Tensor[]", lower),
    Row::new("aten.meshgrid.indexing", "meshgrid.indexing(Tensor[] tensors, *, str indexing) -> Tensor[]", lower),
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

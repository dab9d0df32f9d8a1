//! `pixel_shuffle`, `pixel_unshuffle`, `channel_shuffle`: elements in another order.
//!
//! `DepthToSpace` (column, row, depth order) for batches of images in single or double precision or bytes; otherwise
//! `Reshape`, `Transpose`, `Reshape`. ONNX's `SpaceToDepth` orders channels otherwise than PyTorch.

use modelexport_graph::{DType, Dim};

use super::support::compute::product;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::pixel_shuffle(Tensor self, int upscale_factor) -> Tensor", shuffle),
    Row::new("aten::pixel_unshuffle(Tensor self, int downscale_factor) -> Tensor", unshuffle),
    Row::new("aten::channel_shuffle(Tensor self, SymInt groups) -> Tensor", channels),
    Row::new("aten::native_channel_shuffle(Tensor self, SymInt groups) -> Tensor", channels),
];

/// Splits the axes, reorders them and merges them to the sizes of the result.
fn reorder(
    cx: &mut Context<'_, '_>,
    lead: &[Dim],
    split: Vec<Dim>,
    order: &[i64],
) -> Result<ValueId> {
    let out = &cx.out()?.sizes;
    let x = cx.tensor("self")?;
    let sizes: Vec<Dim> = lead.iter().cloned().chain(split).collect();
    let offset = lead.len() as i64;
    let order: Vec<i64> = (0..offset).chain(order.iter().map(|axis| axis + offset)).collect();
    let x = cx.reshape(x, &sizes)?;
    let x = cx.transpose(x, &order);
    cx.reshape(x, out)
}

/// The last three sizes, and those before them.
fn image(cx: &Context<'_, '_>) -> Result<(Vec<Dim>, [Dim; 3])> {
    let meta = cx.meta("self")?;
    if meta.dtype.is_complex() {
        return cx.refuse("complex numbers are not supported");
    }
    match meta.sizes.as_slice() {
        [lead @ .., channels, rows, columns] => {
            Ok((lead.to_vec(), [channels.clone(), rows.clone(), columns.clone()]))
        }
        sizes => cx.wrong("self", "a tensor of at least 3 dimensions", sizes),
    }
}

fn shuffle(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let factor = cx.int("upscale_factor")?;
    let (lead, [_, rows, columns]) = image(cx)?;
    let out = cx.out()?;
    if lead.len() == 1 && matches!(out.dtype, DType::F32 | DType::F16 | DType::F64 | DType::U8) {
        let x = cx.tensor("self")?;
        return Ok(cx.emit("DepthToSpace", &[x], attrs![blocksize = factor, mode = "CRD"]).into());
    }
    let channels = out.sizes.get(lead.len()).cloned().unwrap_or(Dim::Static(1));
    let split = vec![channels, Dim::Static(factor), Dim::Static(factor), rows, columns];
    Ok(reorder(cx, &lead, split, &[0, 3, 1, 4, 2])?.into())
}

fn unshuffle(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let factor = cx.int("downscale_factor")?;
    let (lead, [channels, ..]) = image(cx)?;
    let [.., rows, columns] = cx.out()?.sizes.as_slice() else { return cx.refuse("has a result of no image") };
    let split = vec![channels, rows.clone(), Dim::Static(factor), columns.clone(), Dim::Static(factor)];
    Ok(reorder(cx, &lead, split, &[0, 2, 4, 1, 3])?.into())
}

fn channels(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let groups = cx.int("groups")?;
    let meta = cx.meta("self")?;
    let [batch, channels, rest @ ..] = meta.sizes.as_slice() else {
        return cx.wrong("self", "a tensor with channels in its second axis", &meta.sizes);
    };
    let Some(channels) = channels.as_static() else {
        return cx.wrong("self", "a number of channels that is known when exporting", channels);
    };
    let split = vec![Dim::Static(groups), Dim::Static(channels / groups.max(1)), product(rest)];
    Ok(reorder(cx, std::slice::from_ref(batch), split, &[1, 0, 2])?.into())
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

//! Broadcasting and repetition: `Expand`, `Tile`, and an `Expand` between two axes for interleaved repeats.

use modelexport_graph::Dim;

use crate::context::Context;
use crate::error::Result;
use crate::ir::model_shape;
use crate::ops::support::operands::real_only;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::expand(Tensor(a) self, SymInt[] size, *, bool implicit=False) -> Tensor(a)", expand),
    Row::new("aten::expand_copy(Tensor self, SymInt[] size, *, bool implicit=False) -> Tensor", expand),
    Row::new("aten::expand_as(Tensor(a) self, Tensor other) -> Tensor(a)", expand),
    Row::new("aten::broadcast_to(Tensor(a) self, SymInt[] size) -> Tensor(a)", expand),
    Row::new("aten::broadcast_tensors(Tensor[] tensors) -> Tensor[]", broadcast_tensors),
    Row::new("aten::repeat(Tensor self, SymInt[] repeats) -> Tensor", |cx| tile(cx, "repeats")),
    Row::new("aten::tile(Tensor self, SymInt[] dims) -> Tensor", |cx| tile(cx, "dims")),
    Row::new(
        "aten::repeat_interleave.self_int(Tensor self, SymInt repeats, int? dim=None, *, SymInt? output_size=None) -> Tensor",
        repeat_interleave,
    ),
];

fn expand(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let sizes = model_shape(cx.out()?);
    if cx.meta("self")?.dtype.is_complex() {
        // The axis of pairs stands behind all others, so that new axes in front are told apart by their number.
        let missing = sizes.len() - cx.meta("self")?.sizes.len() - 1;
        let x = cx.unsqueeze(x, &(0..missing as i64).collect::<Vec<_>>());
        return Ok(cx.expand(x, &sizes)?.into());
    }
    Ok(cx.expand(x, &sizes)?.into())
}

fn broadcast_tensors(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    real_only(cx)?;
    let tensors = cx.tensors("tensors")?;
    let mut results = Vec::with_capacity(tensors.len());
    for ((tensor, meta), out) in tensors.into_iter().zip(cx.metas("tensors")).zip(cx.out_metas()) {
        results.push(if meta.sizes == out.sizes { tensor } else { cx.expand(tensor, &out.sizes)? });
    }
    Ok(results.into())
}

fn tile(cx: &mut Context<'_, '_>, argument: &str) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let mut sizes = cx.meta("self")?.sizes.clone();
    let mut repeats = cx.dims(argument)?;
    while repeats.len() < sizes.len() {
        repeats.insert(0, Dim::Static(1));
    }
    let missing = repeats.len() - sizes.len();
    if repeats.iter().all(|repeat| repeat.is(1)) {
        return Ok(cx.unsqueeze(x, &(0..missing as i64).collect::<Vec<_>>()).into());
    }
    sizes.splice(0..0, std::iter::repeat_n(Dim::Static(1), missing));
    let result = model_shape(cx.out()?);
    // Axes of size 1 broadcast, which is cheaper than copying.
    if sizes.iter().zip(&repeats).all(|(size, repeat)| size.is(1) || repeat.is(1)) && !cx.out()?.dtype.is_complex() {
        return Ok(cx.expand(x, &result)?.into());
    }
    let x = cx.unsqueeze(x, &(0..missing as i64).collect::<Vec<_>>());
    if cx.out()?.dtype.is_complex() {
        repeats.push(Dim::Static(1));
    }
    let repeats = cx.shape_value(&repeats)?;
    Ok(cx.emit("Tile", &[x, repeats], vec![]).into())
}

/// Each element `repeats` times in a row: an axis of size `repeats` behind the axis, then both are merged.
fn repeat_interleave(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let mut x = cx.tensor("self")?;
    let mut sizes = cx.meta("self")?.sizes.clone();
    let repeats = cx.dim("repeats")?;
    let axis = match cx.int_opt("dim")? {
        Some(dim) => cx.normalize_axis("dim", dim, sizes.len())? as usize,
        None => {
            x = cx.reshape_static(x, &[-1]);
            sizes = match modelexport_graph::shape::static_numel(&sizes) {
                Some(count) => vec![Dim::Static(count)],
                None if sizes.len() == 1 => sizes,
                None => return cx.refuse("repeats a flattened tensor of symbolic sizes"),
            };
            0
        }
    };
    if sizes.is_empty() {
        sizes.push(Dim::Static(1));
        x = cx.unsqueeze(x, &[0]);
    }
    let x = cx.unsqueeze(x, &[axis as i64 + 1]);
    sizes.insert(axis + 1, repeats);
    let x = cx.expand(x, &sizes)?;
    let result = cx.out()?.sizes.clone();
    Ok(cx.reshape(x, &result)?.into())
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

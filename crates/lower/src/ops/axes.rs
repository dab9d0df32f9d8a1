//! Operators that reorder, add or drop axes.
//!
//! `Transpose`, `Unsqueeze`, `Squeeze`. A complex tensor has its pairs in an axis behind all others, which stays
//! where it is.

use modelexport_graph::Dim;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::transpose.int(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", swap),
    Row::new("aten::swapaxes(Tensor(a) self, int axis0, int axis1) -> Tensor(a)", |cx| exchange(cx, "axis0", "axis1")),
    Row::new("aten::swapdims(Tensor(a) self, int dim0, int dim1) -> Tensor(a)", swap),
    Row::new("aten::transpose_copy.int(Tensor self, int dim0, int dim1) -> Tensor", swap),
    Row::new("aten::permute(Tensor(a) self, int[] dims) -> Tensor(a)", permute),
    Row::new("aten::permute_copy(Tensor self, int[] dims) -> Tensor", permute),
    Row::new("aten::t(Tensor(a) self) -> Tensor(a)", reverse),
    Row::new("aten::t_copy(Tensor self) -> Tensor", reverse),
    Row::new("aten::numpy_T(Tensor(a) self) -> Tensor(a)", reverse),
    Row::new("aten::mT(Tensor(a) self) -> Tensor(a)", last_two),
    Row::new("aten::mH(Tensor(a) self) -> Tensor(a)", last_two),
    Row::new("aten::matrix_H(Tensor(a) self) -> Tensor(a)", last_two),
    Row::new("aten::adjoint(Tensor(a) self) -> Tensor(a)", last_two),
    Row::new("aten::movedim.intlist(Tensor(a) self, int[] source, int[] destination) -> Tensor(a)", move_axes),
    Row::new("aten::movedim.int(Tensor(a) self, int source, int destination) -> Tensor(a)", move_axes),
    Row::new("aten::unsqueeze(Tensor(a) self, int dim) -> Tensor(a)", unsqueeze),
    Row::new("aten::unsqueeze_copy(Tensor self, int dim) -> Tensor", unsqueeze),
    Row::new("aten::squeeze(Tensor(a) self) -> Tensor(a)", squeeze_all),
    Row::new("aten::squeeze.dim(Tensor(a) self, int dim) -> Tensor(a)", squeeze),
    Row::new("aten::squeeze.dims(Tensor(a) self, int[] dim) -> Tensor(a)", squeeze),
    Row::new("aten::squeeze_copy.dim(Tensor self, int dim) -> Tensor", squeeze),
    Row::new("aten::squeeze_copy.dims(Tensor self, int[] dim) -> Tensor", squeeze),
    Row::new("aten::squeeze_copy(Tensor self) -> Tensor", squeeze_all),
];

fn rank(cx: &Context<'_, '_>) -> Result<usize> {
    Ok(cx.meta("self")?.sizes.len())
}

/// Transposes `self`; the pairs of a complex tensor stay last.
fn transposed(cx: &mut Context<'_, '_>, mut permutation: Vec<i64>) -> Result<ValueId> {
    let x = cx.tensor("self")?;
    if cx.meta("self")?.dtype.is_complex() {
        permutation.push(permutation.len() as i64);
    }
    Ok(cx.transpose(x, &permutation))
}

fn swap(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    exchange(cx, "dim0", "dim1")
}

fn exchange(cx: &mut Context<'_, '_>, first: &str, second: &str) -> Result<Outputs> {
    let rank = rank(cx)?;
    let (a, b) = (cx.axis(first, rank)?, cx.axis(second, rank)?);
    let permutation = (0..rank as i64).map(|axis| if axis == a { b } else if axis == b { a } else { axis }).collect();
    Ok(transposed(cx, permutation)?.into())
}

fn permute(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let rank = rank(cx)?;
    let permutation = if rank == 0 { Vec::new() } else { cx.axes("dims", rank)? };
    Ok(transposed(cx, permutation)?.into())
}

fn reverse(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let permutation = (0..rank(cx)? as i64).rev().collect();
    Ok(transposed(cx, permutation)?.into())
}

fn last_two(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    if cx.meta("self")?.dtype.is_complex() && !cx.target().contains("mT") {
        return cx.refuse("the conjugate transpose of a complex tensor is not supported");
    }
    let mut permutation: Vec<i64> = (0..rank(cx)? as i64).collect();
    if let [.., a, b] = permutation.as_mut_slice() {
        std::mem::swap(a, b);
    }
    Ok(transposed(cx, permutation)?.into())
}

fn move_axes(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let rank = rank(cx)?;
    let (from, to) = (cx.axes("source", rank)?, cx.axes("destination", rank)?);
    let mut rest = (0..rank as i64).filter(|axis| !from.contains(axis));
    let permutation = (0..rank as i64)
        .filter_map(|axis| match to.iter().position(|&place| place == axis) {
            Some(i) => from.get(i).copied(),
            None => rest.next(),
        })
        .collect();
    Ok(transposed(cx, permutation)?.into())
}

fn unsqueeze(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let axis = cx.axis("dim", rank(cx)? + 1)?;
    Ok(cx.unsqueeze(x, &[axis]).into())
}

fn squeeze_all(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let axes = (0..rank(cx)? as i64).collect();
    squeezed(cx, axes)
}

fn squeeze(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let rank = rank(cx)?;
    let dims = cx.ints("dim")?;
    let axes = dims.into_iter().map(|dim| cx.normalize_axis("dim", dim, rank)).collect::<Result<Vec<i64>>>()?;
    squeezed(cx, axes)
}

/// Drops those of `axes` that have size 1; a symbolic size is not 1, or PyTorch would have noted it.
fn squeezed(cx: &mut Context<'_, '_>, axes: Vec<i64>) -> Result<Outputs> {
    let x = cx.tensor("self")?;
    let sizes = &cx.meta("self")?.sizes;
    let axes: Vec<i64> =
        axes.into_iter().filter(|&axis| sizes.get(axis as usize).is_some_and(|size| *size == Dim::Static(1))).collect();
    Ok(cx.squeeze(x, &axes).into())
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

//! Products with new axes: `kron` (every element of one tensor times the other tensor) and `_trilinear`.

use modelexport_graph::Dim;

use super::support::compute::{product, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::kron(Tensor self, Tensor other) -> Tensor", kron),
    Row::new(
        "aten::_trilinear(Tensor i1, Tensor i2, Tensor i3, int[] expand1, int[] expand2, int[] expand3, int[] sumdim, int unroll_dim=1) -> Tensor",
        trilinear,
    ),
];

/// `[a1, 1, a2, 1, …] * [1, b1, 1, b2, …]`, pairs of axes merged.
fn kron(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = super::matmul::product_type(out.dtype);
    let rank = out.sizes.len();
    let aligned = |sizes: &[Dim]| -> Vec<Dim> {
        let missing = rank - sizes.len().min(rank);
        std::iter::repeat_n(Dim::Static(1), missing).chain(sizes.iter().cloned()).collect()
    };
    let (left, right) = (aligned(&cx.meta("self")?.sizes), aligned(&cx.meta("other")?.sizes));
    let (a, b) = (tensor_as(cx, "self", compute)?, tensor_as(cx, "other", compute)?);
    let one = Dim::Static(1);
    let spread = |sizes: &[Dim], first: bool| -> Vec<Dim> {
        sizes
            .iter()
            .flat_map(|size| if first { [size.clone(), one.clone()] } else { [one.clone(), size.clone()] })
            .collect()
    };
    let (a, b) = (cx.reshape(a, &spread(&left, true))?, cx.reshape(b, &spread(&right, false))?);
    let y = cx.emit("Mul", &[a, b], vec![]);
    let merged: Vec<Dim> = left.iter().zip(&right).map(|(a, b)| product(&[a.clone(), b.clone()])).collect();
    let y = cx.reshape(y, &merged)?;
    Ok(cx.cast(y, out.dtype).into())
}

fn trilinear(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = super::matmul::product_type(out.dtype);
    let mut factors = Vec::with_capacity(3);
    for (name, axes) in [("i1", "expand1"), ("i2", "expand2"), ("i3", "expand3")] {
        let x = tensor_as(cx, name, compute)?;
        let axes = cx.ints(axes)?;
        factors.push(cx.unsqueeze(x, &axes));
    }
    let mut y = None;
    for factor in factors {
        y = Some(match y {
            None => factor,
            Some(y) => cx.emit("Mul", &[y, factor], vec![]),
        });
    }
    let Some(mut y) = y else { return cx.refuse("has no operands") };
    let axes = cx.ints("sumdim")?;
    if !axes.is_empty() {
        y = cx.reduce("ReduceSum", y, &axes, false);
    }
    Ok(cx.cast(y, out.dtype).into())
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.kron.default(self: f32[2, 3], other: f32[4, 5]) -> f32[8, 15]
            t1 = Mul(Reshape(self, [2, 1, 3, 1]), Reshape(other, [1, 4, 1, 5]))
            Reshape(t1, [8, 15])
        aten._trilinear.default(i1: f32[2, 3], i2: f32[4, 3, 5], i3: f32[2, 5], expand1=[1, 3], expand2=[0], expand3=[1, 2], sumdim=[2, 3]) -> f32[2, 4]
            t1 = Mul(Mul(Unsqueeze(i1, [1, 3]), Unsqueeze(i2, [0])), Unsqueeze(i3, [1, 2]))
            ReduceSum(t1, [2, 3], keepdims=0)
        ");
    }
}

//! `affine_grid_generator`: the places of a regular grid, with a 1 appended, times the transposed matrices `theta`.
//! The sizes are known: PyTorch fixes them in a capture.

use modelexport_graph::DType;

use super::support::compute::{const_floats, formula_type, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] =
    &[Row::new("aten::affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor", lower)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = formula_type(out.dtype);
    let theta = tensor_as(cx, "theta", compute)?;
    let theta = cx.transpose(theta, &[0, 2, 1]);
    let spatial: Vec<i64> = cx.ints("size")?.into_iter().skip(2).collect();
    let align = cx.bool("align_corners")?;
    let base = const_base(cx, &spatial, align, compute)?;
    let places = cx.emit("MatMul", &[base, theta], vec![]);
    let y = cx.reshape(places, &out.sizes)?;
    Ok(cx.cast(y, out.dtype).into())
}

/// Place `i` of `count` between -1 and 1: of the outer elements' centres (`align`) or borders.
fn place(i: i64, count: i64, align: bool) -> f64 {
    match (align, count) {
        (true, ..=1) => 0.0,
        (true, _) => 2.0 * i as f64 / (count - 1) as f64 - 1.0,
        (false, _) => (2.0 * i as f64 + 1.0) / count as f64 - 1.0,
    }
}

/// `[places, axes + 1]`: the last axis first, then 1.
fn const_base(cx: &mut Context<'_, '_>, sizes: &[i64], align: bool, dtype: DType) -> Result<ValueId> {
    let count: i64 = sizes.iter().product();
    let mut base = Vec::new();
    for flat in 0..count {
        let mut rest = flat;
        for &size in sizes.iter().rev() {
            base.push(place(rest % size, size, align));
            rest /= size;
        }
        base.push(1.0);
    }
    const_floats(cx, dtype, &[count, sizes.len() as i64 + 1], base)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten.affine_grid_generator.default(theta: f32[2, 2, 3], size=[2, 3, 4, 5], align_corners=False) -> f32[2, 4, 5, 2]
            Reshape(MatMul(f32[20, 3], Transpose(theta, perm=[0, 2, 1])), [2, 4, 5, 2])
        ");
    }
}

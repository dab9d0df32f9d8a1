//! `affine_grid_generator`: the places of a regular grid, with a 1 appended, times the transposed matrices `theta`.

use modelexport_graph::{DType, Dim};

use super::support::compute::{const_floats, formula_type, product, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[Row::new(
    "aten.affine_grid_generator.default",
    "affine_grid_generator(Tensor theta, SymInt[] size, bool align_corners) -> Tensor",
    lower,
)];

fn lower(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let out = cx.out()?;
    let compute = formula_type(out.dtype);
    let theta = tensor_as(cx, "theta", compute)?;
    let theta = cx.transpose(theta, &[0, 2, 1]);
    let size = cx.dims("size")?;
    let spatial = size.get(2..).unwrap_or(&[]).to_vec();
    let align = cx.bool("align_corners")?;
    let known: Option<Vec<i64>> = spatial.iter().map(Dim::as_static).collect();
    let base = match known {
        Some(sizes) => const_base(cx, &sizes, align, compute)?,
        None => computed_base(cx, &spatial, align, compute)?,
    };
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

/// The same for sizes that are known only when the model runs.
fn computed_base(cx: &mut Context<'_, '_>, sizes: &[Dim], align: bool, dtype: DType) -> Result<ValueId> {
    let mut columns = Vec::new();
    let mut full: Vec<Dim> = sizes.to_vec();
    full.push(Dim::Static(1));
    for (axis, size) in sizes.iter().enumerate().rev() {
        let numbers = axis_places(cx, size, align, dtype)?;
        let behind: Vec<i64> = (1..=(sizes.len() - axis) as i64).collect();
        let column = cx.unsqueeze(numbers, &behind);
        columns.push(cx.expand(column, &full)?);
    }
    let one = cx.const_scalar(dtype, 1.0);
    columns.push(cx.expand(one, &full)?);
    let base = cx.concat(&columns, -1);
    let width = Dim::Static(sizes.len() as i64 + 1);
    cx.reshape(base, &[product(sizes), width])
}

fn axis_places(cx: &mut Context<'_, '_>, size: &Dim, align: bool, dtype: DType) -> Result<ValueId> {
    let count = cx.dim_value(size)?;
    let (zero, one, limit) = (cx.const_int(0), cx.const_int(1), cx.squeeze(count, &[0]));
    let numbers = cx.emit("Range", &[zero, limit, one], vec![]);
    let (numbers, count) = (cx.cast(numbers, dtype), cx.cast(count, dtype));
    let (one, two) = (cx.const_scalar(dtype, 1.0), cx.const_scalar(dtype, 2.0));
    let doubled = cx.emit("Mul", &[numbers, two], vec![]);
    if align {
        let last = cx.emit("Sub", &[count, one], vec![]);
        let above = cx.emit("Sub", &[doubled, last], vec![]);
        let last = cx.emit("Max", &[last, one], vec![]);
        return Ok(cx.emit("Div", &[above, last], vec![]));
    }
    let middle = cx.emit("Add", &[doubled, one], vec![]);
    let ratio = cx.emit("Div", &[middle, count], vec![]);
    Ok(cx.emit("Sub", &[ratio, one], vec![]))
}

//! `scatter` and its reductions: `ScatterElements`. Reductions need opset 16 (`add`, `mul`) or 18 (`max`, `min`).
//!
//! Without the tensor's own elements (`include_self=False`), the places that are written to are first set to what
//! does not change the reduction.

use modelexport_graph::{DType, Dim};

use super::division::floor_divide_integers;
use super::index_put::along_axis;
use super::support::compute::tensor_as;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::scatter.src(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", |cx| lower(cx, None)),
    Row::new("aten::scatter.value(Tensor self, int dim, Tensor index, Scalar value) -> Tensor", |cx| lower(cx, None)),
    Row::new("aten::scatter.reduce(Tensor self, int dim, Tensor index, Tensor src, *, str reduce) -> Tensor", named),
    Row::new(
        "aten::scatter.value_reduce(Tensor self, int dim, Tensor index, Scalar value, *, str reduce) -> Tensor",
        named,
    ),
    Row::new("aten::scatter_add(Tensor self, int dim, Tensor index, Tensor src) -> Tensor", |cx| {
        lower(cx, Some("add"))
    }),
    Row::new(
        "aten::scatter_reduce.two(Tensor self, int dim, Tensor index, Tensor src, str reduce, *, bool include_self=True) -> Tensor",
        |cx| {
            let dtype = scatter_type(cx.meta("self")?.dtype, reduction(cx)?);
            let parts = parts(cx, dtype)?;
            reduced(cx, &parts, dtype)
        },
    ),
    Row::new(
        "aten::index_reduce(Tensor self, int dim, Tensor index, Tensor source, str reduce, *, bool include_self=True) -> Tensor",
        |cx| {
            let dtype = scatter_type(cx.meta("self")?.dtype, reduction(cx)?);
            let parts = slice_parts(cx, dtype)?;
            reduced(cx, &parts, dtype)
        },
    ),
];

/// The type in which onnxruntime has a kernel for a reduction that writes; PyTorch also adds 16-bit floats in `float32`.
pub(super) fn scatter_type(dtype: DType, reduction: &str) -> DType {
    match (dtype, reduction) {
        (DType::F16, "max" | "min") => dtype,
        (DType::F16 | DType::BF16, _) => DType::F32,
        (DType::Bool, "max" | "min") => DType::I32,
        _ => dtype,
    }
}

/// What a scatter works on: all of one rank above zero, the updates cut to the index.
struct ScatterArguments {
    x: ValueId,
    index: ValueId,
    updates: ValueId,
    index_sizes: Vec<Dim>,
    axis: i64,
    is_zero_dim: bool,
}

/// `dtype`: what the scatter computes in.
fn parts(cx: &mut Context<'_, '_>, dtype: DType) -> Result<ScatterArguments> {
    let mut x = tensor_as(cx, "self", dtype)?;
    let index = cx.tensor("index")?;
    let mut index = cx.cast(index, DType::I64);
    let mut index_sizes = cx.meta("index")?.sizes.clone();
    let is_zero_dim = cx.meta("self")?.sizes.is_empty();
    let rank = cx.meta("self")?.sizes.len();
    let axis = cx.axis("dim", rank)?;
    if is_zero_dim {
        x = cx.unsqueeze(x, &[0]);
    }
    if index_sizes.is_empty() {
        index = cx.unsqueeze(index, &[0]);
        index_sizes = vec![Dim::Static(1)];
    }
    let updates = match cx.meta_opt("src") {
        None => {
            let value = cx.scalar_arg("value")?;
            let value = cx.scalar_value(value, dtype);
            cx.expand(value, &index_sizes)?
        }
        Some(meta) => {
            let source = cx.tensor("src")?;
            let source = cx.cast(source, dtype);
            match meta.sizes.len() {
                0 => cx.unsqueeze(source, &[0]),
                _ => cut(cx, source, &meta.sizes, &index_sizes)?,
            }
        }
    };
    Ok(ScatterArguments { x, index, updates, index_sizes, axis, is_zero_dim })
}

/// The same for an index of whole slices: it is repeated for each element of a slice.
fn slice_parts(cx: &mut Context<'_, '_>, dtype: DType) -> Result<ScatterArguments> {
    let (mut x, mut updates) = (tensor_as(cx, "self", dtype)?, tensor_as(cx, "source", dtype)?);
    let is_zero_dim = cx.meta("self")?.sizes.is_empty();
    let mut index_sizes = cx.meta("source")?.sizes.clone();
    if is_zero_dim {
        x = cx.unsqueeze(x, &[0]);
    }
    if index_sizes.is_empty() {
        updates = cx.unsqueeze(updates, &[0]);
        index_sizes = vec![Dim::Static(1)];
    }
    let (index, axis) = along_axis(cx, &index_sizes)?;
    Ok(ScatterArguments { x, index, updates, index_sizes, axis, is_zero_dim })
}

/// The first elements of `source` along each axis, as many as the index has.
fn cut(cx: &mut Context<'_, '_>, source: ValueId, have: &[Dim], want: &[Dim]) -> Result<ValueId> {
    let axes: Vec<i64> =
        have.iter().zip(want).enumerate().filter(|(_, (have, want))| have != want).map(|(i, _)| i as i64).collect();
    if axes.is_empty() {
        return Ok(source);
    }
    let ends: Vec<Dim> = axes.iter().filter_map(|&axis| want.get(axis as usize).cloned()).collect();
    let (starts, ends) = (cx.const_ints(&vec![0; axes.len()]), cx.shape_value(&ends)?);
    let axes = cx.const_ints(&axes);
    Ok(cx.emit("Slice", &[source, starts, ends, axes], vec![]))
}

fn emit(cx: &mut Context<'_, '_>, x: ValueId, parts: &ScatterArguments, updates: ValueId, reduction: Option<&'static str>) -> Result<ValueId> {
    let needed = match reduction {
        None => 14,
        Some("add" | "mul") => 16,
        Some(_) => 18,
    };
    if cx.opset < needed {
        return cx.refuse(format!("needs a reduction that ONNX has from opset {needed} on: choose a higher opset"));
    }
    let mut attributes = attrs![axis = parts.axis];
    if let Some(reduction) = reduction {
        attributes.extend(attrs![reduction = reduction]);
    }
    Ok(cx.emit("ScatterElements", &[x, parts.index, updates], attributes))
}

fn finish(cx: &mut Context<'_, '_>, parts: &ScatterArguments, value: ValueId) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let value = cx.cast(value, dtype);
    Ok(if parts.is_zero_dim { cx.squeeze(value, &[0]) } else { value }.into())
}

fn lower(cx: &mut Context<'_, '_>, reduction: Option<&'static str>) -> Result<Outputs> {
    let dtype = cx.meta("self")?.dtype;
    let parts = parts(cx, reduction.map_or(dtype, |reduction| scatter_type(dtype, reduction)))?;
    let value = emit(cx, parts.x, &parts, parts.updates, reduction)?;
    finish(cx, &parts, value)
}

fn named(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    match cx.str_opt("reduce")?.as_deref() {
        Some("add") => lower(cx, Some("add")),
        Some("multiply") => lower(cx, Some("mul")),
        other => cx.wrong("reduce", "`add` or `multiply`", other),
    }
}

/// ONNX's name of the reduction; a mean is a sum that is divided.
fn reduction(cx: &Context<'_, '_>) -> Result<&'static str> {
    match cx.str_opt("reduce")?.as_deref() {
        Some("sum" | "mean") => Ok("add"),
        Some("prod") => Ok("mul"),
        Some("amax") => Ok("max"),
        Some("amin") => Ok("min"),
        other => cx.wrong("reduce", "`sum`, `prod`, `mean`, `amax` or `amin`", other),
    }
}

fn reduced(cx: &mut Context<'_, '_>, parts: &ScatterArguments, dtype: DType) -> Result<Outputs> {
    let reduction = reduction(cx)?;
    let is_mean = cx.str_opt("reduce")?.as_deref() == Some("mean");
    let include_self = cx.bool("include_self")?;
    let mut x = parts.x;
    if !include_self {
        let neutral = cx.const_scalar(dtype, neutral(reduction, dtype));
        let blank = cx.expand(neutral, &parts.index_sizes)?;
        x = emit(cx, x, parts, blank, None)?;
    }
    let mut value = emit(cx, x, parts, parts.updates, Some(reduction))?;
    if is_mean {
        let mut sizes = cx.meta("self")?.sizes.clone();
        if sizes.is_empty() {
            sizes.push(Dim::Static(1));
        }
        let one = cx.const_scalar(dtype, 1.0);
        let ones = cx.expand(one, &sizes)?;
        let index_ones = cx.expand(one, &parts.index_sizes)?;
        let start = if include_self {
            ones
        } else {
            let zero = cx.const_scalar(dtype, 0.0);
            let zeros = cx.expand(zero, &parts.index_sizes)?;
            emit(cx, ones, parts, zeros, None)?
        };
        let count = emit(cx, start, parts, index_ones, Some("add"))?;
        value = if dtype.is_float() {
            cx.emit("Div", &[value, count], vec![])
        } else {
            floor_divide_integers(cx, value, count)
        };
    }
    finish(cx, parts, value)
}

/// What does not change a reduction.
fn neutral(reduction: &str, dtype: DType) -> f64 {
    match reduction {
        "mul" => 1.0,
        "max" if dtype.is_float() => f64::NEG_INFINITY,
        "max" => lowest(dtype),
        "min" if dtype.is_float() => f64::INFINITY,
        "min" if dtype == DType::U8 => f64::from(u8::MAX),
        "min" => -lowest(dtype) - 1.0,
        _ => 0.0,
    }
}

fn lowest(dtype: DType) -> f64 {
    match dtype {
        DType::I8 => f64::from(i8::MIN),
        DType::I16 => f64::from(i16::MIN),
        DType::I32 => f64::from(i32::MIN),
        DType::I64 => i64::MIN as f64,
        _ => 0.0,
    }
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

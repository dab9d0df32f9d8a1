//! `fractional_max_pool2d` and `fractional_max_pool3d`: windows whose places follow from a random number for each channel.
//!
//! All elements of all windows are gathered from the flat image; the largest is taken, and told by its place.

use modelexport_graph::{DType, Dim};

use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::ops::support::compute::const_floats;
use crate::ops::support::formulas::with_number;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::fractional_max_pool2d(Tensor self, int[2] kernel_size, int[2] output_size, Tensor random_samples) -> (Tensor, Tensor)",
        // The first random number is that of the last axis.
        |cx| lower(cx, &[1, 0]),
    ),
    Row::new(
        "aten::fractional_max_pool3d(Tensor self, int[3] kernel_size, int[3] output_size, Tensor random_samples) -> (Tensor, Tensor)",
        |cx| lower(cx, &[0, 1, 2]),
    ),
];

/// `samples`: which random number belongs to each axis.
fn lower(cx: &mut Context<'_, '_>, samples: &[i64]) -> Result<Outputs> {
    let count = samples.len();
    let (kernels, results) = (cx.ints_for("kernel_size", count)?, cx.ints_for("output_size", count)?);
    let meta = cx.meta("self")?;
    let outer = meta.sizes.len().saturating_sub(count);
    let image: Option<Vec<i64>> = meta.sizes.iter().skip(outer).map(Dim::as_static).collect();
    let Some(image) = image else { return cx.refuse("pools images of symbolic size") };
    let sizes = cx.out()?.sizes.clone();
    let pixels: i64 = image.iter().product();
    let elements: i64 = kernels.iter().chain(&results).product();

    // The place in the flat image: [batch, channels, results…, kernel…], of which each axis knows its own.
    let random = cx.tensor("random_samples")?;
    let mut places: Option<ValueId> = None;
    let mut stride = pixels;
    for (axis, &sample) in samples.iter().enumerate() {
        let at = |values: &[i64]| values.get(axis).copied().unwrap_or(1);
        let (size, kernel, result) = (at(&image), at(&kernels), at(&results));
        stride /= size.max(1);
        let own = cx.slice(random, &[2], &[sample], &[sample + 1], &[1]);
        let starts = starts(cx, own, size, kernel, result)?;
        let starts = cx.unsqueeze(starts, &[3]);
        let offsets: Vec<i64> = (0..kernel).collect();
        let offsets = cx.const_ints(&offsets);
        let own = cx.emit("Add", &[starts, offsets], vec![]);
        let own = with_number(cx, "Mul", own, stride);
        let mut shape = vec![1i64; 2 * count];
        for (place, size) in [(axis, result), (axis + count, kernel)] {
            if let Some(slot) = shape.get_mut(place) {
                *slot = size;
            }
        }
        let shape: Vec<i64> = [0, 0].into_iter().chain(shape).collect();
        let shape = cx.const_ints(&shape);
        let own = cx.emit("Reshape", &[own, shape], vec![]);
        places = Some(places.map_or(own, |others| cx.emit("Add", &[others, own], vec![])));
    }
    let Some(places) = places else { return cx.refuse("has no axes") };
    let lead: Vec<Dim> = if outer == 1 {
        vec![Dim::Static(1), sizes.first().cloned().unwrap_or(Dim::Static(1))]
    } else {
        sizes.iter().take(2).cloned().collect()
    };
    let with = |rest: &[i64]| -> Vec<Dim> { lead.iter().cloned().chain(rest.iter().map(|&size| Dim::Static(size))).collect() };
    let places = cx.reshape(places, &with(&[elements]))?;
    let x = cx.tensor("self")?;
    let dtype = cx.dtype(x);
    let x = cx.cast(x, math_type(dtype));
    let x = cx.reshape(x, &with(&[pixels]))?;
    let window: i64 = kernels.iter().product();
    let values = cx.emit("GatherElements", &[x, places], attrs![axis = 2]);
    let values = cx.reshape(values, &with(&[elements / window.max(1), window]))?;
    let places = cx.reshape(places, &with(&[elements / window.max(1), window]))?;
    let best = cx.emit("ArgMax", &[values], attrs![axis = 3, keepdims = 1]);
    let value = cx.emit("GatherElements", &[values, best], attrs![axis = 3]);
    let place = cx.emit("GatherElements", &[places, best], attrs![axis = 3]);
    let value = cx.cast(value, dtype);
    Ok([cx.reshape(value, &sizes)?, cx.reshape(place, &sizes)?].into())
}

/// Where the windows of an axis begin: `floor((i + r) a) - floor(r a)` with `a = (size - kernel) / (results - 1)`; the last
/// ends with the image.
fn starts(cx: &mut Context<'_, '_>, random: ValueId, size: i64, kernel: i64, results: i64) -> Result<ValueId> {
    let dtype = cx.dtype(random);
    // PyTorch computes in the type of the numbers and rounds after each step.
    let compute = if dtype == DType::F64 { DType::F64 } else { DType::F32 };
    let round = |cx: &mut Context<'_, '_>, value: ValueId| {
        let rounded = cx.cast(value, dtype);
        cx.cast(rounded, compute)
    };
    let random = cx.cast(random, compute);
    let last = cx.const_int(size - kernel);
    let last = cx.unsqueeze(last, &[0]);
    let alpha = const_floats(cx, compute, &[], [(size - kernel) as f64 / (results - 1).max(1) as f64])?;
    let alpha = round(cx, alpha);
    let numbers = const_floats(cx, compute, &[results], (0..results).map(|at| at as f64))?;
    let places = cx.emit("Add", &[random, numbers], vec![]);
    let places = round(cx, places);
    let [places, shift] = [places, random].map(|value| {
        let scaled = cx.emit("Mul", &[value, alpha], vec![]);
        let scaled = round(cx, scaled);
        cx.cast(scaled, DType::I64)
    });
    let places = cx.emit("Sub", &[places, shift], vec![]);
    let is_last = const_floats(cx, DType::F32, &[results], (0..results).map(|at| f64::from(u8::from(at + 1 == results))))?;
    let is_last = cx.cast(is_last, DType::Bool);
    Ok(cx.emit("Where", &[is_last, last, places], vec![]))
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

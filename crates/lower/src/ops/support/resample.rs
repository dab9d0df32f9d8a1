//! Resampling by a matrix of weights for each axis, for sizes that are known.

use super::axis_product::multiply_axis;
use super::compute::{const_floats, float_type, tensor_as};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::ops::upsample::Sizes;

/// `weights` gives the matrix `[to, from]` of an axis, row by row, from its sizes and the factor that the user gave, or
/// the reason why there is none.
pub(crate) fn by_weights(
    cx: &mut Context<'_, '_>,
    sizes: &Sizes<'_>,
    weights: impl Fn(i64, i64, Option<f64>) -> Result<Vec<f64>, String>,
) -> Result<ValueId> {
    let compute = float_type(sizes.dtype);
    let mut y = tensor_as(cx, sizes.argument, compute)?;
    let mut current = sizes.input.to_vec();
    let (input, output) = sizes.spatial();
    let axes: Vec<_> = input.iter().zip(output).zip(&sizes.factors).enumerate().collect();
    for (i, ((from, to), factor)) in axes.into_iter().rev() {
        let (Some(from_size), Some(to_size)) = (from.as_static(), to.as_static()) else {
            return cx.refuse(format!(
                "this filter needs sizes that are known when exporting at opset {}: `{from}` to `{to}`",
                cx.opset
            ));
        };
        let weights = match weights(from_size, to_size, *factor) {
            Ok(weights) => weights,
            Err(reason) => return cx.refuse(reason),
        };
        let matrix = const_floats(cx, compute, &[to_size, from_size], weights)?;
        if let Some(size) = current.get_mut(i + 2) {
            *size = to.clone();
        }
        y = multiply_axis(cx, y, matrix, &current, i + 2)?;
    }
    cx.set_dtype(y, compute);
    Ok(y)
}

/// Weights of the two neighbours of each place.
pub(crate) fn linear_weights(from: i64, to: i64, factor: Option<f64>) -> Vec<f64> {
    matrix(from, to, factor, |place| {
        let place = place.max(0.0);
        let first = (place as i64).min(from - 1);
        let rest = f64::from((place - first as f32).clamp(0.0, 1.0));
        vec![(first, 1.0 - rest), (first + 1, rest)]
    })
}

/// Weights of the four neighbours of each place: Keys' polynomials with -0.75.
pub(crate) fn cubic_weights(from: i64, to: i64, factor: Option<f64>) -> Vec<f64> {
    const A: f64 = -0.75;
    let near = |x: f64| ((A + 2.0) * x - (A + 3.0)) * x * x + 1.0;
    let far = |x: f64| ((A * x - 5.0 * A) * x + 8.0 * A) * x - 4.0 * A;
    matrix(from, to, factor, |place| {
        let (first, rest) = (place.floor() as i64, f64::from(place - place.floor()));
        let weights = [far(rest + 1.0), near(rest), near(1.0 - rest), far(2.0 - rest)];
        (first - 1..).zip(weights).collect()
    })
}

/// Rows of weights, from the neighbours of each result and their weights. `neighbours` is given the place of the
/// result, in single precision as in PyTorch; what lies outside is the element at the border.
fn matrix(from: i64, to: i64, factor: Option<f64>, neighbours: impl Fn(f32) -> Vec<(i64, f64)>) -> Vec<f64> {
    let scale = factor.map_or_else(|| from as f32 / to as f32, |factor| (1.0 / factor) as f32);
    let mut matrix = Vec::with_capacity((from * to).max(0) as usize);
    for i in 0..to {
        let mut row = vec![0.0; from.max(0) as usize];
        for (at, weight) in neighbours(scale * (i as f32 + 0.5) - 0.5) {
            if let Some(sum) = usize::try_from(at.clamp(0, from - 1)).ok().and_then(|at| row.get_mut(at)) {
                *sum += weight;
            }
        }
        matrix.extend(row);
    }
    matrix
}

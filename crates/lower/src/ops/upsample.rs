//! `upsample_*`: `Resize`.
//!
//! ```text
//!                 mode      coordinates                       else
//! nearest         nearest   asymmetric, floor
//! nearest_exact   nearest   half_pixel, round_prefer_ceil
//! linear          linear    half_pixel or align_corners
//! bicubic         cubic     half_pixel or align_corners       cubic_coeff_a = -0.75
//! ```
//!
//! PyTorch multiplies the place of a result by a `float32` scale where onnxruntime divides: `nearest` may then choose
//! another neighbour. Where sizes are known both are computed here; if they differ, elements are taken by `Slice` or
//! `Gather`. `Resize` has kernels for `float32`, 8-bit and 32-bit integers; other types are cast.

use modelexport_graph::{DType, Dim};

use super::support::resample::{by_weights, cubic_weights, linear_weights};
use super::support::window::last;
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::{Attrs, ValueId};
use crate::literal::{Literal, Number};
use crate::registry::{Outputs, Row};

macro_rules! nearest {
    ($axes:literal, $kind:expr, $name:literal, $scales:literal) => {
        [
            Row::new(
                concat!("aten::", $name, "(Tensor self, SymInt[", $axes, "] output_size, ", $scales, ") -> Tensor"),
                |cx| lower(cx, $axes, $kind),
            ),
            Row::new(
                concat!("aten::", $name, ".vec(Tensor input, SymInt[]? output_size, float[]? scale_factors) -> Tensor"),
                |cx| lower(cx, $axes, $kind),
            ),
        ]
    };
}

macro_rules! smooth {
    ($axes:literal, $kind:expr, $name:literal, $scales:literal) => {
        [
            Row::new(
                concat!(
                    "aten::", $name, "(Tensor self, SymInt[", $axes, "] output_size, bool align_corners, ", $scales, ") -> Tensor"
                ),
                |cx| lower(cx, $axes, $kind),
            ),
            Row::new(
                concat!(
                    "aten::", $name,
                    ".vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor"
                ),
                |cx| lower(cx, $axes, $kind),
            ),
        ]
    };
}

const NEAREST: [[Row; 2]; 6] = [
    nearest!(1, Kind::Nearest, "upsample_nearest1d", "float? scales=None"),
    nearest!(2, Kind::Nearest, "upsample_nearest2d", "float? scales_h=None, float? scales_w=None"),
    nearest!(
        3,
        Kind::Nearest,
        "upsample_nearest3d",
        "float? scales_d=None, float? scales_h=None, float? scales_w=None"
    ),
    nearest!(1, Kind::NearestExact, "_upsample_nearest_exact1d", "float? scales=None"),
    nearest!(2, Kind::NearestExact, "_upsample_nearest_exact2d", "float? scales_h=None, float? scales_w=None"),
    nearest!(
        3,
        Kind::NearestExact,
        "_upsample_nearest_exact3d",
        "float? scales_d=None, float? scales_h=None, float? scales_w=None"
    ),
];

const SMOOTH: [[Row; 2]; 4] = [
    smooth!(1, Kind::Linear, "upsample_linear1d", "float? scales=None"),
    smooth!(2, Kind::Linear, "upsample_bilinear2d", "float? scales_h=None, float? scales_w=None"),
    smooth!(
        3,
        Kind::Linear,
        "upsample_trilinear3d",
        "float? scales_d=None, float? scales_h=None, float? scales_w=None"
    ),
    smooth!(2, Kind::Cubic, "upsample_bicubic2d", "float? scales_h=None, float? scales_w=None"),
];

pub static ROWS: &[Row] = &{
    let (n, s) = (NEAREST, SMOOTH);
    [
        n[0][0], n[0][1], n[1][0], n[1][1], n[2][0], n[2][1], n[3][0], n[3][1], n[4][0], n[4][1], n[5][0], n[5][1],
        s[0][0], s[0][1], s[1][0], s[1][1], s[2][0], s[2][1], s[3][0], s[3][1],
    ]
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Nearest,
    NearestExact,
    Linear,
    Cubic,
}

/// The arguments that all overloads have in common.
pub(crate) struct Sizes<'p> {
    /// Name of the tensor argument.
    pub argument: &'static str,
    pub input: &'p [Dim],
    pub output: &'p [Dim],
    pub dtype: DType,
    /// Factors that the user gave, for each axis; PyTorch then uses them instead of the ratio of the sizes.
    pub factors: Vec<Option<f64>>,
}

impl<'p> Sizes<'p> {
    pub fn read(cx: &Context<'_, 'p>, axes: usize) -> Result<Sizes<'p>> {
        let argument = if cx.meta_opt("input").is_some() { "input" } else { "self" };
        let (meta, out) = (cx.meta(argument)?, cx.out()?);
        if meta.dtype.is_complex() || meta.sizes.len() != axes + 2 {
            return cx.wrong(argument, &format!("a real tensor of {} dimensions", axes + 2), &meta.sizes);
        }
        let factors = match cx.floats_opt("scale_factors")? {
            Some(factors) => factors.into_iter().map(Some).collect(),
            None if axes == 1 => vec![cx.float_opt("scales")?],
            None => {
                let names = ["scales_d", "scales_h", "scales_w"];
                names.iter().skip(3 - axes).map(|name| cx.float_opt(name)).collect::<Result<_>>()?
            }
        };
        let factors = (0..axes).map(|axis| factors.get(axis).copied().flatten().filter(|&f| f > 0.0)).collect();
        Ok(Sizes { argument, input: &meta.sizes, output: &out.sizes, dtype: out.dtype, factors })
    }

    /// Sets factors of axes that keep their size to 1: whatever they say, PyTorch's linear filter and all that widen when
    /// shrinking leave such an axis alone.
    pub fn keep_equal(&mut self) {
        let (input, output) = self.spatial();
        for (factor, (from, to)) in self.factors.iter_mut().zip(input.iter().zip(output)) {
            if from.as_static().is_some() && from == to {
                *factor = factor.map(|_| 1.0);
            }
        }
    }

    /// The last `axes` sizes of input and output.
    pub fn spatial(&self) -> (&'p [Dim], &'p [Dim]) {
        let axes = self.factors.len();
        (last(self.input, axes), last(self.output, axes))
    }
}

fn lower(cx: &mut Context<'_, '_>, axes: usize, kind: Kind) -> Result<Outputs> {
    let mut sizes = Sizes::read(cx, axes)?;
    let x = cx.tensor(sizes.argument)?;
    let (input, output) = sizes.spatial();
    if kind == Kind::Linear {
        sizes.keep_equal();
    }
    if input == output && sizes.factors.iter().all(Option::is_none) {
        return Ok(x.into());
    }
    let is_nearest = matches!(kind, Kind::Nearest | Kind::NearestExact);
    if is_nearest && let Some(y) = moved(cx, x, &sizes, kind)? {
        return Ok(y.into());
    }
    if !is_nearest && !sizes.dtype.is_float() {
        return cx.refuse(format!("interpolation of {} is not supported", sizes.dtype));
    }
    let compute = match sizes.dtype {
        DType::F16 | DType::F32 | DType::I32 | DType::U8 | DType::I8 => sizes.dtype,
        _ => DType::F32,
    };
    let x = cx.cast(x, compute);
    let align_corners = !is_nearest && cx.bool("align_corners")?;
    // onnxruntime copies what keeps its sizes; PyTorch's cubic filter moves by the factors.
    let is_copied = input == output && kind == Kind::Cubic && by_factor(&sizes);
    if !is_nearest && !align_corners && (contradict(&sizes) || is_copied) {
        let weights = if kind == Kind::Cubic { cubic_weights } else { linear_weights };
        let y = by_weights(cx, &sizes, |from, to, factor| Ok(weights(from, to, factor)))?;
        return Ok(cx.cast(y, sizes.dtype).into());
    }
    let attributes = match kind {
        Kind::Nearest => {
            attrs![mode = "nearest", coordinate_transformation_mode = "asymmetric", nearest_mode = "floor"]
        }
        Kind::NearestExact => {
            attrs![mode = "nearest", coordinate_transformation_mode = "half_pixel", nearest_mode = "round_prefer_ceil"]
        }
        Kind::Linear => attrs![mode = "linear", coordinate_transformation_mode = coordinates(align_corners)],
        Kind::Cubic => attrs![
            mode = "cubic",
            coordinate_transformation_mode = coordinates(align_corners),
            cubic_coeff_a = -0.75
        ],
    };
    let y = resize(cx, x, &sizes, attributes)?;
    Ok(cx.cast(y, sizes.dtype).into())
}

pub(crate) fn coordinates(align_corners: bool) -> &'static str {
    if align_corners { "align_corners" } else { "half_pixel" }
}

/// `Resize` by the factors that the user gave, else to the sizes of the result.
pub(crate) fn resize(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    sizes: &Sizes<'_>,
    mut attributes: Attrs,
) -> Result<ValueId> {
    let (_, output) = sizes.spatial();
    let axes = sizes.factors.len();
    if by_factor(sizes) && let Some(factors) = all_factors(sizes) {
        let factors: Vec<Number> = [1.0, 1.0].into_iter().chain(factors).map(Number::Float).collect();
        let Some(literal) = Literal::from_numbers(DType::F32, vec![axes as i64 + 2], factors) else {
            return cx.refuse("has factors that are no numbers");
        };
        let factors = cx.constant(literal);
        return Ok(cx.emit_optional("Resize", &[Some(x), None, Some(factors)], attributes));
    }
    let wanted = if cx.opset >= 18 {
        let spatial: Vec<i64> = (2..axes as i64 + 2).collect();
        attributes.extend(attrs![axes = spatial]);
        cx.shape_value(output)?
    } else {
        cx.shape_value(sizes.output)?
    };
    Ok(cx.emit_optional("Resize", &[Some(x), None, None, Some(wanted)], attributes))
}

/// Whether a factor says something else than the ratio of the sizes.
fn by_factor(sizes: &Sizes<'_>) -> bool {
    let (input, output) = sizes.spatial();
    input.iter().zip(output).zip(&sizes.factors).any(|((from, to), factor)| {
        factor.is_some_and(|factor| match (from.as_static(), to.as_static()) {
            (Some(from), Some(to)) => from as f64 * factor != to as f64,
            _ => true,
        })
    })
}

/// Whether `Resize` would make other sizes of the factors than the wanted ones: it takes either, and PyTorch both.
pub(crate) fn contradict(sizes: &Sizes<'_>) -> bool {
    by_factor(sizes) && all_factors(sizes).is_none()
}

/// The factor of each axis, if `Resize` makes the wanted sizes of them.
fn all_factors(sizes: &Sizes<'_>) -> Option<Vec<f64>> {
    let (input, output) = sizes.spatial();
    let axes = input.iter().zip(output).zip(&sizes.factors);
    axes.map(|((from, to), factor)| match (from.as_static(), to.as_static(), factor) {
        (Some(from), Some(to), Some(factor)) => {
            ((from as f32 * *factor as f32) as i64 == to).then_some(*factor)
        }
        (Some(from), Some(to), None) => {
            let ratio = to as f64 / from as f64;
            ((from as f32 * ratio as f32) as i64 == to).then_some(ratio)
        }
        (_, _, Some(factor)) => Some(*factor),
        _ => None,
    })
    .collect()
}

/// The nearest neighbours by `Slice` or `Gather`, where `Resize` has no kernel or would choose others. `None`: `Resize`
/// does it.
fn moved(cx: &mut Context<'_, '_>, x: ValueId, sizes: &Sizes<'_>, kind: Kind) -> Result<Option<ValueId>> {
    let (input, output) = sizes.spatial();
    let mut axes = Vec::new();
    for ((from, to), factor) in input.iter().zip(output).zip(&sizes.factors) {
        let (Some(from), Some(to)) = (from.as_static(), to.as_static()) else { return Ok(None) };
        if has_two_answers(from, to, *factor, kind) {
            let reason = format!("enlarges {from} elements to {to} by a factor of {}", factor.unwrap_or_default());
            return cx.refuse(format!("{reason}, for which PyTorch's result depends on the memory format"));
        }
        let chosen = neighbours(from, to, *factor, kind);
        let agrees = resize_agrees(from, to, *factor, kind, &chosen);
        axes.push((from, chosen, agrees));
    }
    let has_kernel = sizes.dtype != DType::F64 && sizes.dtype != DType::I64;
    if has_kernel && axes.iter().all(|axis| axis.2) {
        return Ok(None);
    }
    let mut y = x;
    for (axis, (from, chosen, _)) in axes.into_iter().enumerate() {
        let axis = axis as i64 + 2;
        if chosen.iter().copied().eq(0..from) {
            continue;
        }
        y = match even_steps(&chosen) {
            Some((first, step)) => {
                let end = chosen.last().copied().unwrap_or(0) + 1;
                cx.slice(y, &[axis], &[first], &[end], &[step])
            }
            None => {
                let chosen = cx.const_ints(&chosen);
                cx.emit("Gather", &[y, chosen], attrs![axis = axis])
            }
        };
    }
    Ok(Some(y))
}

/// Whether PyTorch itself has two answers. Where a size stays or doubles, some of its kernels for `nearest` do not look at the
/// factor; which one runs depends on memory format and size.
fn has_two_answers(from: i64, to: i64, factor: Option<f64>, kind: Kind) -> bool {
    kind == Kind::Nearest
        && (to == from || to == 2 * from)
        && neighbours(from, to, factor, kind) != neighbours(from, to, None, kind)
}

/// The neighbours that PyTorch takes, computed as it does.
fn neighbours(from: i64, to: i64, factor: Option<f64>, kind: Kind) -> Vec<i64> {
    let scale = factor.map_or_else(|| from as f32 / to as f32, |factor| (1.0 / factor) as f32);
    let shift = if kind == Kind::NearestExact { 0.5 } else { 0.0 };
    (0..to).map(|i| (((i as f32 + shift) * scale).floor() as i64).min(from - 1)).collect()
}

/// Whether onnxruntime takes the same; where a place is close to a border between two neighbours it may not.
fn resize_agrees(from: i64, to: i64, factor: Option<f64>, kind: Kind, chosen: &[i64]) -> bool {
    const CLOSE: f32 = 1e-4;
    let scale = match factor {
        Some(factor) if from as f64 * factor != to as f64 => factor as f32,
        _ => to as f32 / from as f32,
    };
    if (from as f32 * scale) as i64 != to && factor.is_some_and(|factor| from as f64 * factor != to as f64) {
        return false;
    }
    chosen.iter().enumerate().all(|(i, &chosen)| match kind {
        Kind::NearestExact => {
            let place = (i as f32 + 0.5) / scale;
            let near_border = (place - place.round()).abs() < CLOSE;
            !near_border && (place.floor() as i64).clamp(0, from - 1) == chosen
        }
        _ => ((i as f32 / scale).floor() as i64).clamp(0, from - 1) == chosen,
    })
}

/// First element and distance, if all distances are alike and above 0.
fn even_steps(chosen: &[i64]) -> Option<(i64, i64)> {
    let first = *chosen.first()?;
    let step = chosen.get(1).map_or(1, |second| second - first);
    let is_even = chosen.iter().enumerate().all(|(i, &at)| at == first + i as i64 * step);
    (is_even && step > 0).then_some((first, step))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::*;
    use crate::test_calls::lowered;

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }

    #[test]
    fn neighbours_as_pytorch_takes_them() {
        assert_eq!(neighbours(14, 2, None, Kind::Nearest), [0, 7]);
        assert_eq!(neighbours(3, 6, None, Kind::Nearest), [0, 0, 1, 1, 2, 2]);
        assert_eq!(neighbours(4, 3, None, Kind::NearestExact), [0, 2, 3]);
    }

    #[test]
    fn factors_that_kernels_of_pytorch_read_differently_are_known() {
        assert!(has_two_answers(5, 5, Some(1.1), Kind::Nearest));
        assert!(has_two_answers(7, 14, Some(3.0), Kind::Nearest));
        assert!(!has_two_answers(5, 5, Some(1.1), Kind::NearestExact));
        assert!(!has_two_answers(7, 14, Some(2.0), Kind::Nearest));
        assert!(!has_two_answers(7, 14, None, Kind::Nearest));
        assert!(!has_two_answers(7, 13, Some(3.0), Kind::Nearest));
    }

    #[test]
    fn resize_is_left_where_it_takes_another_neighbour() {
        let agrees = |from, to| resize_agrees(from, to, None, Kind::Nearest, &neighbours(from, to, None, Kind::Nearest));
        assert!(agrees(3, 6));
        assert!(agrees(56, 112));
        assert!(!agrees(14, 2));
        assert!(!agrees(20, 12));
    }
}

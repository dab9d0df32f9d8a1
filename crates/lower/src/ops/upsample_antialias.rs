//! `_upsample_*_aa`: resampling with a filter that widens when shrinking.
//!
//! `Resize` with `antialias` and `exclude_outside` from opset 18; a product with a matrix of weights for each axis
//! before that, for `align_corners`, for factors that contradict the sizes and for the Lanczos filter, for which sizes
//! must be known.

use super::support::compute::{single_type, tensor_as};
use super::support::resample::by_weights;
use super::upsample::{Sizes, contradict, resize};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::_upsample_bilinear2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
        |cx| lower(cx, Filter::Triangle),
    ),
    Row::new(
        "aten::_upsample_bilinear2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
        |cx| lower(cx, Filter::Triangle),
    ),
    Row::new(
        "aten::_upsample_bicubic2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
        |cx| lower(cx, Filter::Cubic),
    ),
    Row::new(
        "aten::_upsample_bicubic2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
        |cx| lower(cx, Filter::Cubic),
    ),
    Row::new(
        "aten::_upsample_lanczos2d_aa(Tensor self, SymInt[2] output_size, bool align_corners, float? scales_h=None, float? scales_w=None) -> Tensor",
        |cx| lower(cx, Filter::Lanczos),
    ),
    Row::new(
        "aten::_upsample_lanczos2d_aa.vec(Tensor input, SymInt[]? output_size, bool align_corners, float[]? scale_factors) -> Tensor",
        |cx| lower(cx, Filter::Lanczos),
    ),
];

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Filter {
    Triangle,
    Cubic,
    Lanczos,
}

impl Filter {
    /// How far the filter reaches to each side.
    fn reach(self) -> f64 {
        match self {
            Filter::Triangle => 1.0,
            Filter::Cubic => 2.0,
            Filter::Lanczos => 3.0,
        }
    }

    fn at(self, x: f64) -> f64 {
        let x = x.abs();
        if x >= self.reach() {
            return 0.0;
        }
        match self {
            Filter::Triangle => 1.0 - x,
            Filter::Cubic if x < 1.0 => (1.5 * x - 2.5) * x * x + 1.0,
            Filter::Cubic => -0.5 * (((x - 5.0) * x + 8.0) * x - 4.0),
            Filter::Lanczos => sinc(x) * sinc(x / 3.0),
        }
    }
}

fn sinc(x: f64) -> f64 {
    let x = x * std::f64::consts::PI;
    if x == 0.0 { 1.0 } else { x.sin() / x }
}

fn lower(cx: &mut Context<'_, '_>, filter: Filter) -> Result<Outputs> {
    let mut sizes = Sizes::read(cx, 2)?;
    sizes.keep_equal();
    if !sizes.dtype.is_float() {
        return cx.refuse(format!("interpolation of {} is not supported", sizes.dtype));
    }
    let align_corners = cx.bool("align_corners")?;
    let y = if cx.opset < 18 || align_corners || filter == Filter::Lanczos || contradict(&sizes) {
        by_weights(cx, &sizes, |from, to, factor| weights(from, to, factor, filter, align_corners))?
    } else {
        let x = tensor_as(cx, sizes.argument, single_type(sizes.dtype))?;
        let mut attributes = attrs![
            mode = if filter == Filter::Cubic { "cubic" } else { "linear" },
            coordinate_transformation_mode = "half_pixel",
            antialias = 1,
            exclude_outside = 1,
        ];
        if filter == Filter::Cubic {
            attributes.extend(attrs![cubic_coeff_a = -0.5]);
        }
        resize(cx, x, &sizes, attributes)?
    };
    Ok(cx.cast(y, sizes.dtype).into())
}

/// The matrix `[to, from]`, row by row. A factor that contradicts the sizes may put a filter wholly outside the input;
/// PyTorch then reads memory that does not belong to the input.
fn weights(
    from: i64,
    to: i64,
    factor: Option<f64>,
    filter: Filter,
    align_corners: bool,
) -> Result<Vec<f64>, String> {
    let scale = match factor {
        _ if align_corners && to > 1 => (from - 1) as f64 / (to - 1) as f64,
        _ if align_corners => 0.0,
        Some(factor) => 1.0 / factor,
        None => from as f64 / to as f64,
    };
    let reach = if scale >= 1.0 { filter.reach() * scale } else { filter.reach() };
    let narrowing = if scale >= 1.0 { 1.0 / scale } else { 1.0 };
    let mut matrix = Vec::with_capacity((from * to).max(0) as usize);
    for i in 0..to {
        let centre = scale * (i as f64 + 0.5);
        let first = ((centre - reach + 0.5) as i64).max(0);
        let end = ((centre + reach + 0.5) as i64).min(from);
        if first >= end && from > 0 {
            return Err(format!(
                "with this factor, element {i} of {to} is computed from no element of the {from}; PyTorch's result is \
                 undefined there"
            ));
        }
        let at = |j: i64| {
            let inside = (first..end).contains(&j);
            if inside { filter.at((j as f64 - centre + 0.5) * narrowing) } else { 0.0 }
        };
        let sum: f64 = (0..from).map(at).sum();
        matrix.extend((0..from).map(|j| if sum == 0.0 { 0.0 } else { at(j) / sum }));
    }
    Ok(matrix)
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::{lowered, refused};

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS), @r"
        aten._upsample_bilinear2d_aa.default(self: f32[2, 3, 9, 8], output_size=[4, 3], align_corners=False) -> f32[2, 3, 4, 3]
            Resize(self, None, None, [4, 3], mode=linear, coordinate_transformation_mode=half_pixel, antialias=1, exclude_outside=1, axes=[2, 3])
        aten._upsample_bilinear2d_aa.vec(input: f32[2, 3, 9, 8], output_size=[4, 3], align_corners=False, scale_factors=None) -> f32[2, 3, 4, 3]
            Resize(input, None, None, [4, 3], mode=linear, coordinate_transformation_mode=half_pixel, antialias=1, exclude_outside=1, axes=[2, 3])
        aten._upsample_bicubic2d_aa.default(self: f32[2, 3, 9, 8], output_size=[4, 3], align_corners=False) -> f32[2, 3, 4, 3]
            Resize(self, None, None, [4, 3], mode=cubic, coordinate_transformation_mode=half_pixel, antialias=1, exclude_outside=1, cubic_coeff_a=-0.5, axes=[2, 3])
        aten._upsample_bicubic2d_aa.vec(input: f32[2, 3, 9, 8], output_size=[4, 3], align_corners=False, scale_factors=None) -> f32[2, 3, 4, 3]
            Resize(input, None, None, [4, 3], mode=cubic, coordinate_transformation_mode=half_pixel, antialias=1, exclude_outside=1, cubic_coeff_a=-0.5, axes=[2, 3])
        aten._upsample_lanczos2d_aa.default(self: f32[2, 3, 9, 8], output_size=[4, 3], align_corners=False) -> f32[2, 3, 4, 3]
            MatMul(f32[4, 9], MatMul(self, f32[8, 3]))
        aten._upsample_lanczos2d_aa.vec(input: f32[2, 3, 9, 8], output_size=[4, 3], align_corners=False, scale_factors=None) -> f32[2, 3, 4, 3]
            MatMul(f32[4, 9], MatMul(input, f32[8, 3]))
        ");
    }
    #[test]
    fn a_filter_that_lies_outside_the_input_is_refused() {
        assert_eq!(
            refused(
                "aten._upsample_bilinear2d_aa.default(self: f32[2, 3, 9, 8], output_size=[12, 5], align_corners=False, \
                 scales_h=0.6, scales_w=0.7) -> f32[2, 3, 12, 5]"
            ),
            "node `_upsample_bilinear2d_aa` (aten._upsample_bilinear2d_aa.default) in module `(root)`: with this factor, \
             element 6 of 12 is computed from no element of the 9; PyTorch's result is undefined there"
        );
    }
}

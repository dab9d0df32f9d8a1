//! `var`, `std`, `var_mean`, `std_mean`: mean of the squared distance to the mean, with PyTorch's correction of the
//! count.
//!
//! `ReduceMean`, `Sub`, `ReduceSumSquare`, and a division by the corrected count; 16-bit floats are computed in
//! `float32`.

use modelexport_graph::DType;

use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::ops::support::fill::filled;
use crate::ops::support::formulas::with_number;
use crate::ops::support::operands::{operand, real_only};
use crate::ops::support::reduction::{count_value, reduced_axes, reduced_count};
use crate::registry::{Outputs, Row};

macro_rules! moments {
    ($(($name:literal, $result:literal, $root:literal, $mean:literal)),* $(,)?) => {
        pub static ROWS: &[Row] = &[
            $(
                Row::new(
                    concat!(
                        "aten::", $name, ".correction(Tensor self, int[1]? dim=None, *, Scalar? correction=None, \
                         bool keepdim=False) -> ", $result
                    ),
                    |cx| lower(cx, $root, $mean),
                ),
                Row::new(
                    concat!("aten::", $name, "(Tensor self, bool unbiased=True) -> ", $result),
                    |cx| lower(cx, $root, $mean),
                ),
                Row::new(
                    concat!(
                        "aten::", $name, ".dim(Tensor self, int[1]? dim, bool unbiased=True, bool keepdim=False) -> ", $result
                    ),
                    |cx| lower(cx, $root, $mean),
                ),
            )*
        ];
    };
}

moments! {
    ("std", "Tensor", true, false),
    ("std_mean", "(Tensor, Tensor)", true, true),
    ("var", "Tensor", false, false),
    ("var_mean", "(Tensor, Tensor)", false, true),
}

fn lower(cx: &mut Context<'_, '_>, root: bool, with_mean: bool) -> Result<Outputs> {
    real_only(cx)?;
    let dtype = cx.out()?.dtype;
    let x = operand(cx, "self", math_type(dtype))?;
    let (axes, keepdim) = (reduced_axes(cx)?, cx.bool("keepdim")?);
    let count = reduced_count(cx, &axes)?;
    if count.is(0) {
        // Nothing has no mean and no variance: NaN. Runtimes say 0.
        let metas = cx.out_metas();
        let values = metas.iter().map(|meta| filled(cx, &meta.sizes, dtype, f64::NAN, None));
        return Ok(values.collect::<Result<Vec<_>>>()?.into());
    }
    let mean = if cx.may_be_empty(&count) {
        let sum = cx.reduce("ReduceSum", x, &axes, true);
        let count = count_value(cx, &count, math_type(dtype))?;
        cx.emit("Div", &[sum, count], vec![])
    } else {
        cx.reduce("ReduceMean", x, &axes, true)
    };
    let distance = cx.emit("Sub", &[x, mean], vec![]);
    let sum = cx.reduce("ReduceSumSquare", distance, &axes, keepdim);
    let count = corrected_count(cx, &axes)?;
    let mut value = cx.emit("Div", &[sum, count], vec![]);
    if root {
        value = cx.emit("Sqrt", &[value], vec![]);
    }
    let value = cx.cast(value, dtype);
    if !with_mean {
        return Ok(value.into());
    }
    let sizes = cx.out_metas().get(1).map(|meta| meta.sizes.clone()).unwrap_or_default();
    let mean = if keepdim { mean } else { cx.reshape(mean, &sizes)? };
    Ok([value, cx.cast(mean, dtype)].into())
}

/// The number of elements less the correction, but not below 0.
fn corrected_count(cx: &mut Context<'_, '_>, axes: &[i64]) -> Result<ValueId> {
    let dtype = match math_type(cx.out()?.dtype) {
        DType::F64 => DType::F64,
        _ => DType::F32,
    };
    let correction = match cx.scalar_opt("correction")? {
        Some(correction) => match correction.number() {
            Some(number) => number.as_f64(),
            None => return cx.refuse("has a correction that is computed in the graph"),
        },
        None if cx.arg("unbiased").is_some() => f64::from(u8::from(cx.bool("unbiased")?)),
        None => 1.0,
    };
    let count = reduced_count(cx, axes)?;
    if correction < 0.0 && cx.may_be_empty(&count) {
        return cx.refuse("has a negative correction where nothing may be left to reduce");
    }
    if let Some(count) = count.as_static() {
        return Ok(cx.const_scalar(dtype, (count as f64 - correction).max(0.0)));
    }
    let count = count_value(cx, &count, dtype)?;
    if correction == 0.0 {
        return Ok(count);
    }
    let less = with_number(cx, "Sub", count, correction);
    Ok(cx.emit("Relu", &[less], vec![]))
}

#[cfg(test)]
mod tests {
    use insta::assert_snapshot;

    use super::ROWS;
    use crate::test_calls::{lowered, refused};

    #[test]
    fn rows_as_onnx() {
        assert_snapshot!(lowered(ROWS));
    }

    #[test]
    fn a_negative_correction_of_what_may_be_nothing_is_refused() {
        assert_eq!(
            refused("aten.var.correction(self: f32[u0, 3], dim=[0], correction=-1) -> f32[3]"),
            "node `var` (aten.var.correction) in module `(root)`: has a negative correction where nothing may be left to \
             reduce"
        );
    }
}

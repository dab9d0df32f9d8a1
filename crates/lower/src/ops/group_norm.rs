//! `group_norm`: `GroupNormalization` from opset 21 (per channel; per group in 18 to 20, which does not fit), before
//! that `InstanceNormalization` of the groups as channels, and weight and bias of the true channels after it.

use modelexport_graph::{DType, Dim};

use super::layer_norm::norm_type;
use super::support::compute::{filled, formula_type, tensor_as, tensor_opt_as};
use super::support::norm::{Standardized, affine, standardize};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

const GROUP_NORM: &str = "aten::group_norm(Tensor input, int num_groups, Tensor? weight=None, Tensor? bias=None, float eps=1.0000000000000001e-05, bool cudnn_enabled=True) -> Tensor";
const NATIVE: &str = "aten::native_group_norm(Tensor input, Tensor? weight, Tensor? bias, SymInt N, SymInt C, SymInt HxW, int group, float eps) -> (Tensor, Tensor, Tensor)";

pub static ROWS: &[Row] = &[
    Row::new(GROUP_NORM, |cx| Ok(composed(cx, "num_groups")?.into())),
    Row::new(GROUP_NORM, |cx| Ok(fused(cx, "num_groups")?.into())).since(21),
    Row::new(NATIVE, |cx| {
        let y = composed(cx, "group")?;
        with_statistics(cx, y)
    }),
    Row::new(NATIVE, |cx| {
        let y = fused(cx, "group")?;
        with_statistics(cx, y)
    })
    .since(21),
];

fn channels(cx: &Context<'_, '_>) -> Result<Dim> {
    match cx.meta("input")?.sizes.get(1) {
        Some(size) => Ok(size.clone()),
        None => cx.wrong("input", "a tensor with channels in its second axis", "fewer dimensions"),
    }
}

/// The number of groups, each of as many channels.
fn group_count(cx: &Context<'_, '_>, argument: &str) -> Result<i64> {
    let groups = cx.int(argument)?;
    let is_divisor = |channels: i64| channels.checked_rem(groups) == Some(0);
    match groups > 0 && channels(cx)?.as_static().is_none_or(is_divisor) {
        true => Ok(groups),
        false => cx.wrong(argument, "a positive number that divides the channels", groups),
    }
}

fn fused(cx: &mut Context<'_, '_>, groups: &str) -> Result<ValueId> {
    let dtype = cx.out()?.dtype;
    let compute = norm_type(cx, dtype);
    if cx.meta("input")?.sizes.len() < 3 {
        return composed(cx, groups);
    }
    let x = tensor_as(cx, "input", compute)?;
    let channels = channels(cx)?;
    let mut parameters = Vec::with_capacity(2);
    for (name, default) in [("weight", 1.0), ("bias", 0.0)] {
        parameters.push(match tensor_opt_as(cx, name, compute)? {
            Some(value) => value,
            None => filled(cx, compute, std::slice::from_ref(&channels), default)?,
        });
    }
    let (groups, eps) = (group_count(cx, groups)?, cx.float("eps")?);
    let inputs: Vec<ValueId> = [x].into_iter().chain(parameters).collect();
    let y = cx.emit("GroupNormalization", &inputs, attrs![num_groups = groups, epsilon = eps]);
    Ok(cx.cast(y, dtype))
}

/// `input` as `[batch, groups, the rest]`.
fn grouped(cx: &mut Context<'_, '_>, groups: i64, dtype: DType) -> Result<ValueId> {
    let x = tensor_as(cx, "input", dtype)?;
    let shape = cx.const_ints(&[0, groups, -1]);
    Ok(cx.emit("Reshape", &[x, shape], vec![]))
}

fn composed(cx: &mut Context<'_, '_>, groups: &str) -> Result<ValueId> {
    let out = cx.out()?;
    let (dtype, rank) = (out.dtype, out.sizes.len());
    let compute = norm_type(cx, dtype);
    let (groups, eps) = (group_count(cx, groups)?, cx.float("eps")?);
    let (weight, bias) = (tensor_opt_as(cx, "weight", compute)?, tensor_opt_as(cx, "bias", compute)?);
    let sizes = [Dim::Static(groups)];
    if channels(cx)?.is(groups) && rank > 2 && compute != DType::F64 {
        let x = tensor_as(cx, "input", compute)?;
        let weight = weight.map_or_else(|| filled(cx, compute, &sizes, 1.0), Ok)?;
        let bias = bias.map_or_else(|| filled(cx, compute, &sizes, 0.0), Ok)?;
        let y = cx.emit("InstanceNormalization", &[x, weight, bias], attrs![epsilon = eps]);
        return Ok(cx.cast(y, dtype));
    }
    let x = grouped(cx, groups, compute)?;
    // There is no kernel for `float64`.
    let normal = if compute == DType::F64 {
        standardize(cx, x, &[-1], eps, compute).value
    } else {
        let (ones, zeros) = (filled(cx, compute, &sizes, 1.0)?, filled(cx, compute, &sizes, 0.0)?);
        cx.emit("InstanceNormalization", &[x, ones, zeros], attrs![epsilon = eps])
    };
    let y = cx.reshape(normal, &out.sizes)?;
    let axes: Vec<i64> = (1..rank as i64 - 1).collect();
    let weight = weight.map(|weight| cx.unsqueeze(weight, &axes));
    let bias = bias.map(|bias| cx.unsqueeze(bias, &axes));
    let y = affine(cx, y, weight, bias);
    Ok(cx.cast(y, dtype))
}

/// Mean and inverse deviation of each group.
fn with_statistics(cx: &mut Context<'_, '_>, y: ValueId) -> Result<Outputs> {
    let metas = cx.out_metas();
    let compute = formula_type(cx.out()?.dtype);
    let (groups, eps) = (cx.int("group")?, cx.float("eps")?);
    let x = grouped(cx, groups, compute)?;
    let Standardized { mean, inverse_deviation, .. } = standardize(cx, x, &[-1], eps, compute);
    let mut results = vec![y];
    for (meta, value) in metas.iter().skip(1).zip([mean, inverse_deviation]) {
        let value = cx.squeeze(value, &[-1]);
        results.push(cx.cast(value, meta.dtype));
    }
    Ok(results.into())
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
    fn groups_that_do_not_divide_the_channels_are_refused() {
        for groups in [-4, 0, 3] {
            assert_eq!(
                refused(&format!("aten.group_norm.default(input: f32[2, 8, 5], num_groups={groups}) -> f32[2, 8, 5]")),
                format!(
                    "node `group_norm` (aten.group_norm.default) in module `(root)`: argument `num_groups`: expected a \
                     positive number that divides the channels, found {groups}"
                )
            );
        }
    }
}

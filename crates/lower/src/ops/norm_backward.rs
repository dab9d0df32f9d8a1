//! Gradients of `native_layer_norm` and `native_group_norm`, from the mean and inverse deviation that they gave.
//!
//! With `n` the standardised input and `g` the gradient times the weight, the input gets
//! `inverse deviation * (g - mean(g) - n * mean(g * n))`, the weight the sum of `gradient * n`, the bias that of the
//! gradient. Results that `output_mask` leaves out are not in the program.

use modelexport_graph::Dim;

use super::support::compute::{formula_type, tensor_as, tensor_opt_as};
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new(
        "aten::native_layer_norm_backward(Tensor grad_out, Tensor input, SymInt[] normalized_shape, Tensor mean, Tensor rstd, Tensor? weight, Tensor? bias, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
        layer_norm,
    ),
    Row::new(
        "aten::native_group_norm_backward(Tensor grad_out, Tensor input, Tensor mean, Tensor rstd, Tensor? weight, SymInt N, SymInt C, SymInt HxW, int group, bool[3] output_mask) -> (Tensor, Tensor, Tensor)",
        group_norm,
    ),
];

/// A norm whose tensors are laid out so that statistics and weight broadcast.
struct Norm {
    grad: ValueId,
    input: ValueId,
    mean: ValueId,
    inverse_deviation: ValueId,
    weight: Option<ValueId>,
    /// Over which one mean was taken.
    normalized: Vec<i64>,
    /// Over which the parameters are the same.
    shared: Vec<i64>,
    /// Whether axes are divided or merged here, which results must not be.
    is_regrouped: bool,
}

fn layer_norm(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let input = cx.meta("input")?;
    let compute = formula_type(input.dtype);
    let rank = input.sizes.len() as i64;
    let first = rank - cx.dims("normalized_shape")?.len() as i64;
    let norm = Norm {
        grad: tensor_as(cx, "grad_out", compute)?,
        input: tensor_as(cx, "input", compute)?,
        mean: tensor_as(cx, "mean", compute)?,
        inverse_deviation: tensor_as(cx, "rstd", compute)?,
        weight: tensor_opt_as(cx, "weight", compute)?,
        normalized: (first..rank).collect(),
        shared: (0..first).collect(),
        is_regrouped: false,
    };
    gradients(cx, &norm)
}

/// Batch, groups, channels of a group, the rest.
fn group_norm(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let compute = formula_type(cx.meta("input")?.dtype);
    let (batch, rest) = (cx.dim("N")?, cx.dim("HxW")?);
    let (channels, groups) = (cx.int("C")?, cx.int("group")?);
    if groups < 1 || channels % groups != 0 {
        return cx.wrong("group", &format!("a divisor of {channels} channels"), groups);
    }
    let (one, groups, channels) = (Dim::Static(1), Dim::Static(groups), Dim::Static(channels / groups));
    let whole = [batch.clone(), groups.clone(), channels.clone(), rest];
    let statistics = [batch, groups.clone(), one.clone(), one.clone()];
    let parameters = [groups, channels, one];
    let mut laid_out = |name: &str, sizes: &[Dim]| {
        let value = tensor_as(cx, name, compute)?;
        cx.reshape(value, sizes)
    };
    let (grad, input) = (laid_out("grad_out", &whole)?, laid_out("input", &whole)?);
    let (mean, inverse_deviation) = (laid_out("mean", &statistics)?, laid_out("rstd", &statistics)?);
    let weight = match tensor_opt_as(cx, "weight", compute)? {
        Some(weight) => Some(cx.reshape(weight, &parameters)?),
        None => None,
    };
    let (normalized, shared) = (vec![2, 3], vec![0, 3]);
    let norm = Norm { grad, input, mean, inverse_deviation, weight, normalized, shared, is_regrouped: true };
    gradients(cx, &norm)
}

/// Those of input, weight and bias that the program has.
fn gradients(cx: &mut Context<'_, '_>, norm: &Norm) -> Result<Outputs> {
    let centered = cx.emit("Sub", &[norm.input, norm.mean], vec![]);
    let standard = cx.emit("Mul", &[centered, norm.inverse_deviation], vec![]);
    let mut results = Vec::with_capacity(3);
    for index in 0..3 {
        let Some(meta) = cx.out_at(index) else { continue };
        let value = match index {
            0 => of_input(cx, norm, standard),
            1 => {
                let products = cx.emit("Mul", &[norm.grad, standard], vec![]);
                summed(cx, products, &norm.shared)
            }
            _ => summed(cx, norm.grad, &norm.shared),
        };
        let value = if norm.is_regrouped { cx.reshape(value, &meta.sizes)? } else { value };
        results.push(cx.cast(value, meta.dtype));
    }
    Ok(results.into())
}

fn of_input(cx: &mut Context<'_, '_>, norm: &Norm, standard: ValueId) -> ValueId {
    let grad = match norm.weight {
        Some(weight) => cx.emit("Mul", &[norm.grad, weight], vec![]),
        None => norm.grad,
    };
    let mean = cx.reduce("ReduceMean", grad, &norm.normalized, true);
    let products = cx.emit("Mul", &[grad, standard], vec![]);
    let slope = cx.reduce("ReduceMean", products, &norm.normalized, true);
    let along = cx.emit("Mul", &[standard, slope], vec![]);
    let rest = cx.emit("Sub", &[grad, mean], vec![]);
    let rest = cx.emit("Sub", &[rest, along], vec![]);
    cx.emit("Mul", &[rest, norm.inverse_deviation], vec![])
}

/// `ReduceSum` without axes is over all of them.
fn summed(cx: &mut Context<'_, '_>, value: ValueId, axes: &[i64]) -> ValueId {
    if axes.is_empty() { value } else { cx.reduce("ReduceSum", value, axes, false) }
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
    fn groups_of_different_sizes_are_refused() {
        assert_eq!(
            refused(
                "aten.native_group_norm_backward.default(grad_out: f32[2, 6, 5], input: f32[2, 6, 5], mean: f32[2, 4], \
                 rstd: f32[2, 4], weight=None, N=2, C=6, HxW=5, group=4, output_mask=[True, False, False]) -> \
                 (f32[2, 6, 5], None, None)"
            ),
            "node `native_group_norm_backward` (aten.native_group_norm_backward.default) in module `(root)`: argument \
             `group`: expected a divisor of 6 channels, found 4"
        );
    }
}

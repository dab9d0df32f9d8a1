//! `adaptive_avg_pool1d/2d/3d` and `adaptive_max_pool1d/2d/3d`: pools that are told the size of their result.
//!
//! Result `i` of an axis covers the elements from `floor(i * in / out)` up to `ceil((i + 1) * in / out)`.
//! - Size 1: `GlobalAveragePool` (images in single precision) or `ReduceMean`; sizes may be symbolic.
//! - Windows of one length at one distance: `AveragePool`, `MaxPool`.
//! - Otherwise averages are products with a matrix of weights, which is computed in the graph for symbolic sizes (an
//!   infinity then spreads as NaN); maxima gather the elements of each window, for which sizes must be known.

use modelexport_graph::{DType, Dim};

use super::max_pool::pool_type;
use super::support::axis_product::multiply_axis;
use super::support::compute::{const_floats, float_type, product, single_type, tensor_as};
use super::support::window::{last, with_batch};
use crate::attrs;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::adaptive_avg_pool1d(Tensor self, int[1] output_size) -> Tensor", |cx| average(cx, 1)),
    Row::new("aten::adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", |cx| average(cx, 2)),
    Row::new("aten::adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", |cx| average(cx, 3)),
    Row::new("aten::_adaptive_avg_pool2d(Tensor self, SymInt[2] output_size) -> Tensor", |cx| average(cx, 2)),
    Row::new("aten::_adaptive_avg_pool3d(Tensor self, SymInt[3] output_size) -> Tensor", |cx| average(cx, 3)),
    Row::new("aten::adaptive_max_pool1d(Tensor self, int[1] output_size) -> (Tensor, Tensor)", |cx| maximum(cx, 1)),
    Row::new("aten::adaptive_max_pool2d(Tensor self, int[2] output_size) -> (Tensor, Tensor)", |cx| maximum(cx, 2)),
    Row::new("aten::adaptive_max_pool3d(Tensor self, int[3] output_size) -> (Tensor, Tensor)", |cx| maximum(cx, 3)),
];

/// First element and length of each window of an axis.
fn windows(input: i64, output: i64) -> Vec<(i64, i64)> {
    (0..output)
        .map(|i| {
            let (start, end) = (i * input / output, ((i + 1) * input + output - 1) / output);
            (start, end - start)
        })
        .collect()
}

/// Kernel and stride of a plain pool with the same windows.
fn uniform(input: &Dim, output: &Dim) -> Option<(i64, i64)> {
    if input == output {
        return Some((1, 1));
    }
    let windows = windows(input.as_static()?, output.as_static()?);
    let &(_, kernel) = windows.first()?;
    let stride = windows.get(1).map_or(kernel, |&(start, _)| start);
    let fits = |(i, &(start, length)): (usize, &(i64, i64))| start == i as i64 * stride && length == kernel;
    windows.iter().enumerate().all(fits).then_some((kernel, stride))
}

/// Kernels and strides for all axes.
fn uniform_axes(input: &[Dim], output: &[Dim]) -> Option<(Vec<i64>, Vec<i64>)> {
    input.iter().zip(output).map(|(input, output)| uniform(input, output)).collect()
}

fn average(cx: &mut Context<'_, '_>, axes: usize) -> Result<Outputs> {
    let (input, out) = (cx.meta("self")?, cx.out()?);
    let dtype = out.dtype;
    if !dtype.is_float() {
        return cx.refuse(format!("an average of {dtype} is not supported"));
    }
    let rank = input.sizes.len();
    let (input_sizes, out_sizes) = (last(&input.sizes, axes), last(&out.sizes, axes));
    let has_kernel = dtype != DType::F64;
    if out_sizes.iter().all(|size| size.is(1)) {
        let x = tensor_as(cx, "self", float_type(dtype))?;
        let y = if has_kernel && axes == 2 && rank == 4 {
            cx.emit("GlobalAveragePool", &[x], vec![])
        } else {
            let spatial: Vec<i64> = (-(axes as i64)..0).collect();
            cx.reduce("ReduceMean", x, &spatial, true)
        };
        return Ok(cx.cast(y, dtype).into());
    }
    if let Some((kernel, strides)) = uniform_axes(input_sizes, out_sizes).filter(|_| has_kernel) {
        let x = tensor_as(cx, "self", single_type(dtype))?;
        if kernel.iter().all(|&size| size == 1) {
            return Ok(cx.cast(x, dtype).into());
        }
        let results = with_batch(cx, x, rank, axes, |cx, x| {
            Ok(vec![cx.emit("AveragePool", &[x], attrs![kernel_shape = kernel, strides = strides])])
        })?;
        return Ok(results.into_iter().map(|y| cx.cast(y, dtype)).collect::<Vec<_>>().into());
    }
    let compute = float_type(dtype);
    let mut y = tensor_as(cx, "self", compute)?;
    let mut sizes = input.sizes.clone();
    for axis in (rank - axes..rank).rev() {
        let (Some(from), Some(to)) = (sizes.get(axis).cloned(), out.sizes.get(axis).cloned()) else { continue };
        if from == to {
            continue;
        }
        if let Some(size) = sizes.get_mut(axis) {
            *size = to.clone();
        }
        if to.is(1) {
            y = cx.reduce("ReduceMean", y, &[axis as i64], true);
            continue;
        }
        let Some(to) = to.as_static() else {
            return cx.wrong("output_size", "a size that is known when exporting", to);
        };
        let weights = match from.as_static() {
            Some(from) => const_weights(cx, from, to, compute)?,
            None => computed_weights(cx, &from, to, compute)?,
        };
        y = multiply_axis(cx, y, weights, &sizes, axis)?;
    }
    Ok(cx.cast(y, dtype).into())
}

/// The matrix `[out, in]` whose product with an axis averages each window.
pub(crate) fn const_weights(cx: &mut Context<'_, '_>, from: i64, to: i64, dtype: DType) -> Result<ValueId> {
    let rows = windows(from, to);
    let weights = rows.iter().flat_map(|&(start, length)| {
        (0..from).map(move |at| if (start..start + length).contains(&at) { 1.0 / length as f64 } else { 0.0 })
    });
    const_floats(cx, dtype, &[to, from], weights)
}

/// The same for a size that is known only when the model runs.
pub(crate) fn computed_weights(cx: &mut Context<'_, '_>, from: &Dim, to: i64, dtype: DType) -> Result<ValueId> {
    let size = cx.dim_value(from)?;
    let column = |cx: &mut Context<'_, '_>, first: i64| {
        let numbers = cx.const_ints(&(first..first + to).collect::<Vec<i64>>());
        cx.unsqueeze(numbers, &[1])
    };
    let out = cx.const_ints(&[to]);
    let first = column(cx, 0);
    let first = cx.emit("Mul", &[first, size], vec![]);
    let starts = cx.emit("Div", &[first, out], vec![]);
    let second = column(cx, 1);
    let second = cx.emit("Mul", &[second, size], vec![]);
    let round_up = cx.const_ints(&[to - 1]);
    let second = cx.emit("Add", &[second, round_up], vec![]);
    let ends = cx.emit("Div", &[second, out], vec![]);
    let (zero, one, limit) = (cx.const_int(0), cx.const_int(1), cx.squeeze(size, &[0]));
    let places = cx.emit("Range", &[zero, limit, one], vec![]);
    let before = cx.emit("Less", &[places, starts], vec![]);
    let inside = cx.emit("Less", &[places, ends], vec![]);
    let covered = cx.emit("Xor", &[inside, before], vec![]);
    let covered = cx.cast(covered, dtype);
    let lengths = cx.emit("Sub", &[ends, starts], vec![]);
    let lengths = cx.cast(lengths, dtype);
    Ok(cx.emit("Div", &[covered, lengths], vec![]))
}

fn maximum(cx: &mut Context<'_, '_>, axes: usize) -> Result<Outputs> {
    let (input, out) = (cx.meta("self")?, cx.out()?);
    let rank = input.sizes.len();
    let (input_sizes, out_sizes) = (last(&input.sizes, axes), last(&out.sizes, axes));
    let x = cx.tensor("self")?;
    let x = cx.cast(x, pool_type(out.dtype));
    let plane = product(input_sizes);
    let results = if let Some((kernel, strides)) = uniform_axes(input_sizes, out_sizes) {
        with_batch(cx, x, rank, axes, |cx, x| {
            let mut results =
                cx.emit_many("MaxPool", &[Some(x)], attrs![kernel_shape = kernel, strides = strides], 2);
            if let [_, places] = results.as_mut_slice() {
                cx.set_dtype(*places, DType::I64);
                let plane = cx.dim_value(&plane)?;
                *places = cx.emit("Mod", &[*places, plane], vec![]);
            }
            Ok(results)
        })?
    } else if out_sizes.iter().all(|size| size.is(1)) {
        let mut flat: Vec<Dim> = input.sizes.iter().take(rank - axes).cloned().collect();
        flat.push(plane);
        let flat = cx.reshape(x, &flat)?;
        let value = cx.reduce("ReduceMax", flat, &[-1], true);
        let place = cx.emit("ArgMax", &[flat], attrs![axis = -1, keepdims = 1]);
        let added: Vec<i64> = (1..axes as i64).map(|i| -i).collect();
        vec![cx.unsqueeze(value, &added), cx.unsqueeze(place, &added)]
    } else {
        gathered_maximum(cx, x, &input.sizes, &out.sizes, axes)?
    };
    let mut results = results.into_iter();
    let values = results.next().map(|values| cx.cast(values, out.dtype));
    Ok(values.into_iter().chain(results).collect::<Vec<_>>().into())
}

/// Gathers the elements of each window, short windows filled up with their last element.
fn gathered_maximum(
    cx: &mut Context<'_, '_>,
    x: ValueId,
    input: &[Dim],
    output: &[Dim],
    axes: usize,
) -> Result<Vec<ValueId>> {
    let known = |sizes: &[Dim]| modelexport_graph::shape::static_shape(last(sizes, axes));
    let (Some(from), Some(to)) = (known(input), known(output)) else {
        return cx.refuse("a maximum over windows of several lengths needs sizes that are known when exporting");
    };
    let lead = input.len() - axes;
    // For each axis the elements of each window, and how many a window has.
    let tables: Vec<(Vec<i64>, i64)> = from
        .iter()
        .zip(&to)
        .map(|(&from, &to)| {
            let windows = windows(from, to);
            let longest = windows.iter().map(|window| window.1).max().unwrap_or(1);
            let places = windows.iter().flat_map(|&(start, length)| {
                (0..longest).map(move |i| start + i.min(length - 1))
            });
            (places.collect(), longest)
        })
        .collect();
    let mut y = x;
    for (i, ((places, longest), &to)) in tables.iter().zip(&to).enumerate() {
        let table = crate::literal::Literal { dims: vec![to, *longest], ..crate::literal::Literal::ints(places) };
        let table = cx.constant(table);
        y = cx.emit("Gather", &[y, table], attrs![axis = (lead + 2 * i) as i64]);
    }
    let outs = (0..axes).map(|i| (lead + 2 * i) as i64);
    let insides = (0..axes).map(|i| (lead + 2 * i + 1) as i64);
    let order: Vec<i64> = (0..lead as i64).chain(outs).chain(insides).collect();
    y = cx.transpose(y, &order);
    let inside: i64 = tables.iter().map(|table| table.1).product();
    let mut flat: Vec<Dim> = output.to_vec();
    flat.push(Dim::Static(inside));
    y = cx.reshape(y, &flat)?;
    let values = cx.reduce("ReduceMax", y, &[-1], false);
    let chosen = cx.emit("ArgMax", &[y], attrs![axis = -1, keepdims = 0]);

    // Place within the plane of element `k` of window `o`, at `o * inside + k`.
    let mut places = vec![0i64];
    let mut shape: Vec<(i64, i64)> = Vec::new();
    for ((table, longest), (&size, &to)) in tables.iter().zip(from.iter().zip(&to)) {
        places = extend_places(&places, &shape, table, (to, *longest), size);
        shape.push((to, *longest));
    }
    let windows: i64 = to.iter().product();
    let starts: Vec<i64> = (0..windows).map(|window| window * inside).collect();
    let starts = crate::literal::Literal { dims: to.clone(), ..crate::literal::Literal::ints(&starts) };
    let starts = cx.constant(starts);
    let at = cx.emit("Add", &[chosen, starts], vec![]);
    let places = cx.const_ints(&places);
    Ok(vec![values, cx.emit("Gather", &[places, at], attrs![axis = 0])])
}

/// Adds an axis to a table of places: `places` is over windows, then over their elements, row-major each.
fn extend_places(
    places: &[i64],
    shape: &[(i64, i64)],
    table: &[i64],
    (windows, longest): (i64, i64),
    size: i64,
) -> Vec<i64> {
    let outer: i64 = shape.iter().map(|axis| axis.0).product();
    let inner: i64 = shape.iter().map(|axis| axis.1).product();
    let mut extended = Vec::new();
    for o in 0..outer {
        for window in 0..windows {
            for i in 0..inner {
                for k in 0..longest {
                    let before = places.get((o * inner + i) as usize).copied().unwrap_or(0);
                    let here = table.get((window * longest + k) as usize).copied().unwrap_or(0);
                    extended.push(before * size + here);
                }
            }
        }
    }
    extended
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
    fn windows_that_a_plain_pool_has() {
        let uniform = |input: i64, output: i64| uniform(&Dim::Static(input), &Dim::Static(output));
        assert_eq!(uniform(8, 4), Some((2, 2)));
        assert_eq!(uniform(7, 1), Some((7, 7)));
        assert_eq!(uniform(3, 2), Some((2, 1)));
        assert_eq!(uniform(7, 3), Some((3, 2)));
        assert_eq!(uniform(10, 4), None);
        assert_eq!(uniform(5, 5), Some((1, 1)));
        assert_eq!(uniform(2, 4), None);
    }
}

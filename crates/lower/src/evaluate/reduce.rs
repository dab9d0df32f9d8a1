//! Reductions, running sums and matrix products on constants.

use super::array::{Array, axis, broadcast_dims, dot, for_each_index, strides};
use super::elementwise::{maximum, minimum};
use crate::literal::Number;

pub fn reduce(op: &str, x: &Array, axes: &[i64], keepdims: bool) -> Option<Array> {
    let axes = if axes.is_empty() {
        (0..x.rank()).collect()
    } else {
        axes.iter().map(|&a| axis(a, x.rank())).collect::<Option<Vec<usize>>>()?
    };
    let kept: Vec<usize> =
        x.dims.iter().enumerate().map(|(i, &dim)| if axes.contains(&i) { 1 } else { dim }).collect();
    // With the reduced axes last, what becomes one number lies together.
    let own = strides(&x.dims);
    let (last, first): (Vec<usize>, Vec<usize>) = (0..x.rank()).partition(|i| axes.contains(i));
    let order = first.into_iter().chain(last);
    let (sizes, steps): (Vec<usize>, Vec<usize>) =
        order.filter_map(|i| Some((*x.dims.get(i)?, *own.get(i)?))).unzip();
    let numbers = x.strided(sizes, &steps)?.data;
    let count: usize = kept.iter().product();
    let length = numbers.len().checked_div(count).unwrap_or(0);
    let groups = (0..count).map(|group| numbers.get(group * length..(group + 1) * length));
    let data = groups.map(|group| fold(op, group?, x.dtype.is_float())).collect::<Option<Vec<Number>>>()?;
    let dims = match keepdims {
        true => kept,
        false => x.dims.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, &dim)| dim).collect(),
    };
    Array::from_literal(&Array::new(x.dtype, dims, data).to_literal()?)
}

fn fold(op: &str, group: &[Number], is_float: bool) -> Option<Number> {
    if is_float {
        let values = group.iter().map(|number| number.as_f64());
        return Some(Number::Float(match op {
            "ReduceSum" => sum(values),
            "ReduceProd" => values.product(),
            "ReduceMean" => sum(values) / group.len() as f64,
            "ReduceMax" => values.reduce(maximum)?,
            "ReduceMin" => values.reduce(minimum)?,
            "ReduceL1" => sum(values.map(f64::abs)),
            "ReduceL2" => sum(values.map(|value| value * value)).sqrt(),
            "ReduceSumSquare" => sum(values.map(|value| value * value)),
            _ => return None,
        }));
    }
    let values = group.iter().map(|number| number.as_i64());
    Some(Number::Int(match op {
        "ReduceSum" => values.fold(0, i64::wrapping_add),
        "ReduceProd" => values.fold(1, i64::wrapping_mul),
        "ReduceMax" => values.max()?,
        "ReduceMin" => values.min()?,
        _ => return None,
    }))
}

/// Starts at zero, which no sum of negative zeros changes; `Iterator::sum` starts at the negative zero.
fn sum(values: impl Iterator<Item = f64>) -> f64 {
    values.fold(0.0, |sum, value| sum + value)
}

pub fn cumulative_sum(x: &Array, along: i64) -> Option<Array> {
    let along = axis(along, x.rank())?;
    let own = strides(&x.dims);
    let step = *own.get(along)?;
    let mut data = x.data.clone();
    for number in &mut data {
        if let Number::Float(value) = number {
            *value += 0.0;
        }
    }
    for_each_index(&x.dims, |at| {
        if at.get(along).is_some_and(|&i| i > 0) {
            let here = dot(at, &own);
            let before = data.get(here - step).copied();
            if let (Some(before), Some(slot)) = (before, data.get_mut(here)) {
                *slot = match (before, *slot) {
                    (Number::Int(x), Number::Int(y)) => Number::Int(x.wrapping_add(y)),
                    (x, y) => Number::Float(x.as_f64() + y.as_f64()),
                };
            }
        }
    });
    Array::from_literal(&Array::new(x.dtype, x.dims.clone(), data).to_literal()?)
}

/// Products of at most this many multiplications are folded.
const MOST_MULTIPLICATIONS: usize = 1 << 24;

pub fn matmul(a: &Array, b: &Array) -> Option<Array> {
    let ([a_batch @ .., rows, inner], [b_batch @ .., b_inner, columns]) =
        (a.dims.as_slice(), b.dims.as_slice())
    else {
        return None;
    };
    let (rows, inner, columns) = (*rows, *inner, *columns);
    let batch = broadcast_dims(a_batch, b_batch)?;
    let count: usize = batch.iter().product();
    if inner != *b_inner
        || count.checked_mul(rows)?.checked_mul(inner)?.checked_mul(columns)? > MOST_MULTIPLICATIONS
    {
        return None;
    }
    let matrix = |dims: [usize; 2]| batch.iter().copied().chain(dims).collect::<Vec<usize>>();
    let (a, b) = (a.broadcast(&matrix([rows, inner]))?, b.broadcast(&matrix([inner, columns]))?);
    let mut data = Vec::with_capacity(count * rows * columns);
    for n in 0..count {
        for row in 0..rows {
            for column in 0..columns {
                let (mut sum, mut whole) = (0.0, 0i64);
                for k in 0..inner {
                    let left = *a.data.get((n * rows + row) * inner + k)?;
                    let right = *b.data.get((n * inner + k) * columns + column)?;
                    sum += left.as_f64() * right.as_f64();
                    whole = whole.wrapping_add(left.as_i64().wrapping_mul(right.as_i64()));
                }
                data.push(if a.dtype.is_float() { Number::Float(sum) } else { Number::Int(whole) });
            }
        }
    }
    Array::from_literal(&Array::new(a.dtype, matrix([rows, columns]), data).to_literal()?)
}

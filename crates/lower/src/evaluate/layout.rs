//! ONNX operators that move elements, on constants.

use modelexport_graph::DType;

use super::array::{Array, axis, dot, for_each_index, strides};
use crate::literal::Number;

pub fn reshape(x: &Array, target: &[i64], allow_zero: bool) -> Option<Array> {
    let mut dims = Vec::with_capacity(target.len());
    let mut inferred = None;
    for (i, &dim) in target.iter().enumerate() {
        match dim {
            -1 => {
                inferred = Some(i);
                dims.push(1);
            }
            0 if !allow_zero => dims.push(*x.dims.get(i)?),
            dim => dims.push(usize::try_from(dim).ok()?),
        }
    }
    if let Some(i) = inferred {
        let rest: usize = dims.iter().product();
        *dims.get_mut(i)? = x.data.len().checked_div(rest)?;
    }
    (dims.iter().product::<usize>() == x.data.len()).then(|| Array::new(x.dtype, dims, x.data.clone()))
}

pub fn transpose(x: &Array, permutation: &[i64]) -> Option<Array> {
    let axes = permutation.iter().map(|&a| axis(a, x.rank())).collect::<Option<Vec<usize>>>()?;
    let own = strides(&x.dims);
    let dims = axes.iter().map(|&a| x.dims.get(a).copied()).collect::<Option<Vec<usize>>>()?;
    let steps = axes.iter().map(|&a| own.get(a).copied()).collect::<Option<Vec<usize>>>()?;
    x.strided(dims, &steps)
}

pub fn unsqueeze(x: &Array, axes: &[i64]) -> Option<Array> {
    let rank = x.rank() + axes.len();
    let axes = axes.iter().map(|&a| axis(a, rank)).collect::<Option<Vec<usize>>>()?;
    let mut old = x.dims.iter();
    let dims = (0..rank).map(|i| if axes.contains(&i) { Some(1) } else { old.next().copied() });
    Some(Array::new(x.dtype, dims.collect::<Option<Vec<usize>>>()?, x.data.clone()))
}

pub fn squeeze(x: &Array, axes: Option<&[i64]>) -> Option<Array> {
    let axes = match axes {
        Some(axes) => axes.iter().map(|&a| axis(a, x.rank())).collect::<Option<Vec<usize>>>()?,
        None => x.dims.iter().enumerate().filter(|(_, dim)| **dim == 1).map(|(i, _)| i).collect(),
    };
    let kept = x.dims.iter().enumerate().filter(|(i, _)| !axes.contains(i)).map(|(_, &dim)| dim);
    Some(Array::new(x.dtype, kept.collect(), x.data.clone()))
}

pub fn slice(x: &Array, starts: &[i64], ends: &[i64], axes: &[i64], steps: &[i64]) -> Option<Array> {
    let mut first = vec![0i64; x.rank()];
    let mut stride = vec![1i64; x.rank()];
    let mut dims = x.dims.clone();
    for (i, &a) in axes.iter().enumerate() {
        let a = axis(a, x.rank())?;
        let size = *x.dims.get(a)? as i64;
        let step = steps.get(i).copied().unwrap_or(1);
        let wrap = |place: i64| if place < 0 { place.saturating_add(size) } else { place };
        let (start, end) = (wrap(*starts.get(i)?), wrap(*ends.get(i)?));
        let (start, count) = if step > 0 {
            let (start, end) = (start.clamp(0, size), end.clamp(0, size));
            (start, (end - start).max(0) as u64)
        } else if step < 0 {
            let (start, end) = (start.clamp(0, size - 1), end.clamp(-1, size - 1));
            (start, (start - end).max(0) as u64)
        } else {
            return None;
        };
        *first.get_mut(a)? = start;
        *stride.get_mut(a)? = step;
        *dims.get_mut(a)? = count.div_ceil(step.unsigned_abs()) as usize;
    }
    let own = strides(&x.dims);
    x.gather(dims, |at| {
        let places = at.iter().zip(&first).zip(&stride).map(|((&i, &first), &step)| first + i as i64 * step);
        places.zip(&own).map(|(place, &stride)| place.max(0) as usize * stride).sum()
    })
}

pub fn gather(x: &Array, indices: &Array, along: i64) -> Option<Array> {
    let along = axis(along, x.rank())?;
    let size = *x.dims.get(along)? as i64;
    let places = wrapped(indices, size)?;
    let (before, after) = (x.dims.get(..along)?, x.dims.get(along + 1..)?);
    let dims: Vec<usize> = before.iter().chain(&indices.dims).chain(after).copied().collect();
    let own = strides(&x.dims);
    let inner = strides(&indices.dims);
    let rank = indices.rank();
    x.gather(dims, |at| {
        let (front, rest) = at.split_at(along);
        let (middle, back) = rest.split_at(rank);
        let place = places.get(dot(middle, &inner)).copied().unwrap_or(usize::MAX);
        let (own_front, own_rest) = own.split_at(along);
        let own_back = own_rest.get(1..).unwrap_or_default();
        let step = own_rest.first().copied().unwrap_or(1);
        dot(front, own_front).saturating_add(place.saturating_mul(step)).saturating_add(dot(back, own_back))
    })
}

pub fn gather_elements(x: &Array, indices: &Array, along: i64) -> Option<Array> {
    let along = axis(along, x.rank())?;
    let places = wrapped(indices, *x.dims.get(along)? as i64)?;
    let (own, inner) = (strides(&x.dims), strides(&indices.dims));
    x.gather(indices.dims.clone(), |at| {
        let place = places.get(dot(at, &inner)).copied().unwrap_or(usize::MAX);
        let parts = at.iter().zip(&own).enumerate();
        parts.fold(0usize, |sum, (axis, (&i, &stride))| {
            sum.saturating_add(if axis == along { place } else { i }.saturating_mul(stride))
        })
    })
}

/// Indices counted from the front; `None` if one is out of range.
fn wrapped(indices: &Array, size: i64) -> Option<Vec<usize>> {
    let wrap = |index: i64| usize::try_from(if index < 0 { index + size } else { index }).ok();
    indices.ints().into_iter().map(|index| wrap(index).filter(|&i| (i as i64) < size)).collect()
}

pub fn concat(parts: &[&Array], along: i64) -> Option<Array> {
    let first = parts.first()?;
    let along = axis(along, first.rank())?;
    let mut dims = first.dims.clone();
    *dims.get_mut(along)? = parts.iter().map(|part| part.dims.get(along).copied()).sum::<Option<usize>>()?;
    let outer: usize = first.dims.get(..along)?.iter().product();
    let mut data = Vec::with_capacity(dims.iter().product());
    for i in 0..outer {
        for part in parts {
            let run = part.data.len() / outer;
            data.extend(part.data.get(i * run..(i + 1) * run)?);
        }
    }
    (data.len() == dims.iter().product::<usize>()).then(|| Array::new(first.dtype, dims, data))
}

pub fn split(x: &Array, sizes: &[i64], along: i64) -> Option<Vec<Array>> {
    let mut start = 0;
    sizes
        .iter()
        .map(|&size| {
            let part = slice(x, &[start], &[start + size], &[along], &[1]);
            start += size;
            part
        })
        .collect()
}

pub fn tile(x: &Array, repeats: &[i64]) -> Option<Array> {
    let dims = x.dims.iter().zip(repeats).map(|(&dim, &n)| Some(dim * usize::try_from(n).ok()?));
    let own = strides(&x.dims);
    x.gather(dims.collect::<Option<Vec<usize>>>()?, |at| {
        at.iter().zip(&x.dims).zip(&own).map(|((&i, &dim), &stride)| i % dim * stride).sum()
    })
}

pub fn expand(x: &Array, target: &[i64]) -> Option<Array> {
    let target = target.iter().map(|&dim| usize::try_from(dim).ok()).collect::<Option<Vec<usize>>>()?;
    x.broadcast(&super::array::broadcast_dims(&x.dims, &target)?)
}

pub fn range(start: &Array, limit: &Array, delta: &Array, most: usize) -> Option<Array> {
    let (start, limit, delta) = (*start.data.first()?, *limit.data.first()?, delta);
    let step = *delta.data.first()?;
    let count = ((limit.as_f64() - start.as_f64()) / step.as_f64()).ceil().max(0.0);
    if !count.is_finite() || count > most as f64 {
        return None;
    }
    let data: Vec<Number> = (0..count as i64)
        .map(|i| match (start, step) {
            (Number::Int(start), Number::Int(step)) => Number::Int(start + i * step),
            _ => Number::Float(start.as_f64() + i as f64 * step.as_f64()),
        })
        .collect();
    Some(Array::new(delta.dtype, vec![data.len()], data))
}

pub fn trilu(x: &Array, k: i64, upper: bool) -> Option<Array> {
    let zero = if x.dtype.is_float() { Number::Float(0.0) } else { Number::Int(0) };
    let mut data = Vec::with_capacity(x.data.len());
    let own = strides(&x.dims);
    for_each_index(&x.dims, |at| {
        let [.., row, column] = at else { return };
        let above = *column as i64 - *row as i64;
        let kept = if upper { above >= k } else { above <= k };
        let number = x.data.get(dot(at, &own)).copied().unwrap_or(zero);
        data.push(if kept { number } else { zero });
    });
    (data.len() == x.data.len()).then(|| Array::new(x.dtype, x.dims.clone(), data))
}

pub fn filled(dims: &[i64], value: Number, dtype: DType, most: usize) -> Option<Array> {
    let dims = dims.iter().map(|&dim| usize::try_from(dim).ok()).collect::<Option<Vec<usize>>>()?;
    let count = dims.iter().try_fold(1usize, |product, &dim| product.checked_mul(dim))?;
    (count <= most).then(|| Array::new(dtype, dims, vec![value; count]))
}

//! Reads and writes at places that an index names: `GatherND`, `ScatterND`, `ScatterElements`.

use super::array::{Array, axis, dot, for_each_index, strides};

/// Where each row of `indices` points to in an array with `dims`, and how many elements lie there.
fn targets(dims: &[usize], indices: &Array) -> Option<(Vec<usize>, usize)> {
    let (&depth, _) = indices.dims.split_last()?;
    let (indexed, block) = dims.split_at_checked(depth)?;
    let steps = strides(dims);
    let rows = indices.ints();
    if depth == 0 {
        return None;
    }
    let places = rows.chunks(depth).map(|row| {
        let mut place = 0usize;
        for ((&index, &size), &step) in row.iter().zip(indexed).zip(&steps) {
            let index = if index < 0 { index + size as i64 } else { index };
            let index = usize::try_from(index).ok().filter(|&index| index < size)?;
            place += index * step;
        }
        Some(place)
    });
    Some((places.collect::<Option<_>>()?, block.iter().product()))
}

pub fn gather_nd(x: &Array, indices: &Array) -> Option<Array> {
    let (places, length) = targets(&x.dims, indices)?;
    let (&depth, outer) = indices.dims.split_last()?;
    let dims: Vec<usize> = outer.iter().chain(x.dims.get(depth..)?).copied().collect();
    let mut data = Vec::with_capacity(places.len() * length);
    for place in places {
        data.extend_from_slice(x.data.get(place..place + length)?);
    }
    Some(Array::new(x.dtype, dims, data))
}

pub fn scatter_nd(x: &Array, indices: &Array, updates: &Array) -> Option<Array> {
    let (places, length) = targets(&x.dims, indices)?;
    if updates.data.len() != places.len() * length {
        return None;
    }
    let mut data = x.data.clone();
    for (i, place) in places.into_iter().enumerate() {
        let from = updates.data.get(i * length..(i + 1) * length)?;
        data.get_mut(place..place + length)?.copy_from_slice(from);
    }
    Some(Array::new(x.dtype, x.dims.clone(), data))
}

pub fn scatter_elements(x: &Array, indices: &Array, updates: &Array, along: i64) -> Option<Array> {
    let along = axis(along, x.rank())?;
    if indices.dims != updates.dims {
        return None;
    }
    let size = *x.dims.get(along)? as i64;
    let steps = strides(&x.dims);
    let (ints, mut data) = (indices.ints(), x.data.clone());
    let mut failed = false;
    let mut next = ints.iter().zip(&updates.data);
    for_each_index(&indices.dims, |at| {
        let Some((&index, &update)) = next.next() else { return };
        let index = if index < 0 { index + size } else { index };
        let own = at.get(along).copied().unwrap_or(0);
        let step = steps.get(along).copied().unwrap_or(1);
        let place = usize::try_from(index)
            .ok()
            .filter(|_| index < size)
            .and_then(|index| (dot(at, &steps) + index * step).checked_sub(own * step));
        match place.and_then(|place| data.get_mut(place)) {
            Some(slot) => *slot = update,
            None => failed = true,
        }
    });
    (!failed).then(|| Array::new(x.dtype, x.dims.clone(), data))
}

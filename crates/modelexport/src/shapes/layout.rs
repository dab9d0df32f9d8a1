//! Operators that move, cut and join elements.

use modelexport_graph::DType;
use modelexport_graph::onnx::AttributeValue;

use super::infer::{Operation, broadcast_dims};
use super::tensor_type::index;
use super::{TensorType, content};

type Dims = Vec<Option<u64>>;

pub(super) fn constant(operation: &Operation<'_>) -> Option<TensorType> {
    let vector = |dtype, length: usize| TensorType::new(Some(dtype), Some(vec![Some(length as u64)]));
    let single = |dtype| TensorType::new(Some(dtype), Some(Vec::new()));
    operation.node.attributes.iter().find_map(|attribute| match (&*attribute.name, &attribute.value) {
        ("value", AttributeValue::Tensor(tensor)) => Some(TensorType::of_tensor(tensor)),
        ("value_int", AttributeValue::Int(value)) => {
            Some(TensorType { content: Some(vec![*value]), ..single(DType::I64) })
        }
        ("value_ints", AttributeValue::Ints(values)) => {
            Some(TensorType { content: Some(values.clone()), ..vector(DType::I64, values.len()) })
        }
        ("value_float", AttributeValue::Float(_)) => Some(single(DType::F32)),
        ("value_floats", AttributeValue::Floats(values)) => Some(vector(DType::F32, values.len())),
        ("value_string", AttributeValue::String(_)) => Some(single(DType::String)),
        ("value_strings", AttributeValue::Strings(values)) => Some(vector(DType::String, values.len())),
        _ => None,
    })
}

/// Sizes as dimensions; negative ones are not known.
fn sizes(values: &[i64]) -> Dims {
    values.iter().map(|&size| u64::try_from(size).ok()).collect()
}

/// Dimensions that input `i` holds; of its length if only that is known.
fn sizes_from(operation: &Operation<'_>, i: usize) -> Option<Dims> {
    let input = operation.input(i)?;
    match &input.content {
        Some(values) => Some(sizes(values)),
        None => Some(vec![None; usize::try_from(input.dim(0)?).ok().filter(|&rank| rank <= 64)?]),
    }
}

pub(super) fn constant_of_shape(operation: &Operation<'_>) -> Option<TensorType> {
    let dtype = match operation.node.attribute("value") {
        Some(AttributeValue::Tensor(tensor)) => tensor.dtype(),
        _ => Some(DType::F32),
    };
    Some(TensorType::new(dtype, sizes_from(operation, 0)))
}

pub(super) fn shape(operation: &Operation<'_>) -> Option<TensorType> {
    let Some(dims) = operation.input(0).and_then(|input| input.dims.as_ref()) else {
        return Some(TensorType::new(Some(DType::I64), Some(vec![None])));
    };
    let rank = dims.len() as i64;
    let clamp = |axis: i64| (if axis < 0 { axis.saturating_add(rank) } else { axis }).clamp(0, rank) as usize;
    let start = clamp(operation.int("start").unwrap_or(0));
    let end = clamp(operation.int("end").unwrap_or(rank));
    let taken = dims.get(start..end).unwrap_or_default();
    let content = taken.iter().map(|dim| dim.and_then(|size| i64::try_from(size).ok())).collect();
    Some(TensorType { dtype: Some(DType::I64), dims: Some(vec![Some(taken.len() as u64)]), content })
}

pub(super) fn range(operation: &Operation<'_>) -> Option<TensorType> {
    let dtype = operation.input(0).and_then(|start| start.dtype);
    let number = |i: usize| operation.input(i)?.content.as_ref()?.first().copied();
    let count = || {
        let (start, limit, delta) = (number(0)?, number(1)?, number(2)?);
        let distance = i128::from(limit) - i128::from(start);
        let delta = i128::from(delta);
        (delta != 0).then(|| (distance + delta - delta.signum()) / delta).map(|count| count.max(0))
    };
    let count = count().and_then(|count| u64::try_from(count).ok());
    Some(TensorType::new(dtype, Some(vec![count])))
}

pub(super) fn reshape(operation: &Operation<'_>) -> Option<TensorType> {
    let input = operation.input(0)?;
    let output = |dims| Some(TensorType::new(input.dtype, dims));
    let Some(target) = operation.ints_or_input("shape", 1) else {
        return output(sizes_from(operation, 1));
    };
    let keeps_zero = operation.int("allowzero").unwrap_or(0) != 0;
    let mut dims: Dims = target
        .iter()
        .enumerate()
        .map(|(axis, &size)| match size {
            0 if !keeps_zero => input.dim(i64::try_from(axis).ok()?),
            size => u64::try_from(size).ok(),
        })
        .collect();
    if let Some(open) = target.iter().position(|&size| size == -1)
        && let Some(all) = input.elements()
    {
        let others = dims.iter().enumerate().filter(|(axis, _)| *axis != open);
        let others = others.map(|(_, dim)| *dim).try_fold(1u64, |product, dim| product.checked_mul(dim?));
        let size = others.filter(|&others| others > 0 && all % others == 0).map(|others| all / others);
        if let Some(dim) = dims.get_mut(open) {
            *dim = size;
        }
    }
    let content = input.content.clone();
    Some(TensorType { content, ..TensorType::new(input.dtype, Some(dims)) })
}

fn product(dims: &[Option<u64>]) -> Option<u64> {
    dims.iter().try_fold(1u64, |product, dim| product.checked_mul((*dim)?))
}

pub(super) fn flatten(operation: &Operation<'_>) -> Option<TensorType> {
    let input = operation.input(0)?;
    let dims = input.dims.as_ref()?;
    let axis = operation.int("axis").unwrap_or(1);
    let at = if axis == dims.len() as i64 { dims.len() } else { index(axis, dims.len())? };
    let (before, after) = dims.split_at_checked(at)?;
    Some(TensorType::new(input.dtype, Some(vec![product(before), product(after)])))
}

pub(super) fn transpose(operation: &Operation<'_>) -> Option<TensorType> {
    let input = operation.input(0)?;
    let Some(dims) = &input.dims else { return Some(TensorType::new(input.dtype, None)) };
    let dims = match operation.ints("perm") {
        Some(order) => {
            order.iter().map(|&axis| Some(*dims.get(index(axis, dims.len())?)?)).collect::<Option<_>>()?
        }
        None => dims.iter().rev().copied().collect(),
    };
    Some(TensorType::new(input.dtype, Some(dims)))
}

pub(super) fn squeeze(operation: &Operation<'_>) -> Option<TensorType> {
    let input = operation.input(0)?;
    let axes = operation.ints_or_input("axes", 1);
    let has_axes = axes.is_some() || operation.input(1).is_some();
    let dims = input.dims.as_ref().and_then(|dims| match axes {
        Some(axes) => {
            let gone: Option<Vec<usize>> = axes.iter().map(|&axis| index(axis, dims.len())).collect();
            let gone = gone?;
            let kept = dims.iter().enumerate().filter(|(axis, _)| !gone.contains(axis));
            Some(kept.map(|(_, dim)| *dim).collect())
        }
        // Without axes, what is 1 goes: all must be known.
        None if !has_axes && dims.iter().all(Option::is_some) => {
            Some(dims.iter().filter(|dim| **dim != Some(1)).copied().collect())
        }
        None => None,
    });
    Some(TensorType { dtype: input.dtype, dims, content: input.content.clone() })
}

pub(super) fn unsqueeze(operation: &Operation<'_>) -> Option<TensorType> {
    let input = operation.input(0)?;
    let axes = operation.ints_or_input("axes", 1);
    let dims = input.dims.as_ref().zip(axes).and_then(|(dims, axes)| {
        let rank = dims.len() + axes.len();
        let new: Vec<usize> = axes.iter().map(|&axis| index(axis, rank)).collect::<Option<_>>()?;
        let mut old = dims.iter();
        let dim = |axis: usize| if new.contains(&axis) { Some(Some(1)) } else { old.next().copied() };
        (0..rank).map(dim).collect::<Option<Dims>>()
    });
    Some(TensorType { dtype: input.dtype, dims, content: input.content.clone() })
}

pub(super) fn concat(operation: &Operation<'_>) -> Option<TensorType> {
    let dtype = operation.inputs.iter().flatten().find_map(|input| input.dtype);
    let lists: Option<Vec<&Dims>> =
        operation.inputs.iter().map(|input| input.as_ref()?.dims.as_ref()).collect();
    let Some(lists) = lists else { return Some(TensorType::new(dtype, None)) };
    let first = *lists.first()?;
    let axis = index(operation.int("axis").unwrap_or(0), first.len())?;
    let mut dims = first.clone();
    for other in lists.iter().skip(1) {
        for (i, (dim, other)) in dims.iter_mut().zip(other.iter()).enumerate() {
            *dim = match i == axis {
                true => dim.zip(*other).and_then(|(a, b)| a.checked_add(b)),
                false => dim.or(*other),
            };
        }
    }
    let contents: Option<Vec<Vec<i64>>> =
        operation.inputs.iter().map(|input| input.as_ref()?.content.clone()).collect();
    let content =
        contents.filter(|_| first.len() == 1).map(|parts| parts.concat()).filter(|all| all.len() <= 64);
    Some(TensorType { content, ..TensorType::new(dtype, Some(dims)) })
}

pub(super) fn expand(operation: &Operation<'_>) -> Option<TensorType> {
    let input = operation.input(0)?;
    let dims = input.dims.as_deref().zip(sizes_from(operation, 1));
    Some(TensorType::new(input.dtype, dims.and_then(|(dims, target)| broadcast_dims(dims, &target))))
}

pub(super) fn tile(operation: &Operation<'_>) -> Option<TensorType> {
    let input = operation.input(0)?;
    let dims = input.dims.as_ref().map(|dims| {
        let repeats = operation.input(1).and_then(|repeats| repeats.content.as_ref());
        let size = |(axis, dim): (usize, &Option<u64>)| {
            dim.and_then(|dim| dim.checked_mul(u64::try_from(*repeats?.get(axis)?).ok()?))
        };
        dims.iter().enumerate().map(size).collect()
    });
    Some(TensorType::new(input.dtype, dims))
}

pub(super) fn pad(operation: &Operation<'_>) -> Option<TensorType> {
    let input = operation.input(0)?;
    let dims = input.dims.as_ref()?;
    let pads = operation.ints_or_input("pads", 1);
    let axes: Option<Vec<usize>> = match operation.input(3) {
        Some(axes) => {
            axes.content.as_ref().and_then(|axes| axes.iter().map(|&axis| index(axis, dims.len())).collect())
        }
        None => Some((0..dims.len()).collect()),
    };
    let size = |axis: usize, dim: Option<u64>| {
        let (pads, axes) = (pads?, axes.as_ref()?);
        let Some(i) = axes.iter().position(|&padded| padded == axis) else { return dim };
        dim?.checked_add_signed(pads.get(i)?.checked_add(*pads.get(i + axes.len())?)?)
    };
    let dims = dims.iter().enumerate().map(|(axis, &dim)| size(axis, dim)).collect();
    Some(TensorType::new(input.dtype, Some(dims)))
}

/// Which elements `start:end:step` takes of `length`.
pub(super) struct Picked {
    pub first: i64,
    pub count: u64,
}

pub(super) fn slice_range(length: u64, start: i64, end: i64, step: i64) -> Option<Picked> {
    let length = i64::try_from(length).ok()?;
    let wrap = |at: i64| if at < 0 { at.saturating_add(length) } else { at };
    let (low, high) = if step > 0 { (0, length) } else { (-1, length - 1) };
    let (first, end) = (wrap(start).clamp(low.max(0), high.max(0)), wrap(end).clamp(low, high));
    let distance = if step > 0 { end - first } else { first - end };
    let step = step.checked_abs().filter(|&step| step > 0)?;
    Some(Picked { first, count: (distance.max(0) as u64).div_ceil(step as u64) })
}

pub(super) fn slice(operation: &Operation<'_>) -> Option<TensorType> {
    let input = operation.input(0)?;
    let dims = input.dims.as_ref()?;
    let starts = operation.ints_or_input("starts", 1);
    let ends = operation.ints_or_input("ends", 2);
    let axes = operation.ints_or_input("axes", 3);
    let has_axes = axes.is_some() || operation.input(3).is_none();
    let (Some(starts), Some(ends), true) = (starts, ends, has_axes) else {
        return Some(TensorType::new(input.dtype, Some(vec![None; dims.len()])));
    };
    let steps = operation.input(4).map(|steps| steps.content.as_deref());
    let mut dims = dims.clone();
    let mut taken = input.content.clone();
    for (i, (&start, &end)) in starts.iter().zip(ends).enumerate() {
        let axis = axes.map_or(Some(i as i64), |axes| axes.get(i).copied())?;
        let step = match steps {
            None => Some(1),
            Some(steps) => steps.and_then(|steps| steps.get(i).copied()),
        };
        let dim = dims.get_mut(index(axis, input.rank()?)?)?;
        let picked = dim.zip(step).and_then(|(size, step)| slice_range(size, start, end, step));
        taken = taken.zip(step).and_then(|(values, step)| content::slice(&values, start, end, step));
        *dim = picked.map(|picked| picked.count);
    }
    let content = taken.filter(|_| input.rank() == Some(1));
    Some(TensorType { content, ..TensorType::new(input.dtype, Some(dims)) })
}

pub(super) fn gather(operation: &Operation<'_>) -> Option<TensorType> {
    let (input, indices) = (operation.input(0)?, operation.input(1)?);
    let axis = operation.int("axis").unwrap_or(0);
    let dims = input.dims.as_ref().zip(indices.dims.as_ref()).and_then(|(dims, indices)| {
        let axis = index(axis, dims.len())?;
        Some([dims.get(..axis)?, indices, dims.get(axis + 1..)?].concat())
    });
    let contents = input.content.as_ref().zip(indices.content.as_ref()).filter(|_| input.rank() == Some(1));
    let content = contents.and_then(|(values, indices)| content::gather(values, indices));
    Some(TensorType { content, ..TensorType::new(input.dtype, dims) })
}

pub(super) fn gather_nd(operation: &Operation<'_>) -> Option<TensorType> {
    let (input, indices) = (operation.input(0)?, operation.input(1)?);
    let batch = usize::try_from(operation.int("batch_dims").unwrap_or(0)).ok()?;
    let dims = input.dims.as_ref().zip(indices.dims.as_ref()).and_then(|(dims, indices)| {
        let (depth, before) = indices.split_last()?;
        let taken = batch.checked_add(usize::try_from((*depth)?).ok()?)?;
        Some([before, dims.get(taken..)?].concat())
    });
    Some(TensorType::new(input.dtype, dims))
}

pub(super) fn reduce(operation: &Operation<'_>) -> Option<TensorType> {
    let input = operation.input(0)?;
    let Some(dims) = &input.dims else { return Some(TensorType::new(input.dtype, None)) };
    let keeps = operation.int("keepdims").unwrap_or(1) != 0;
    let is_arg = operation.node.op_type.starts_with("Arg");
    let axis = operation.int("axis").unwrap_or(0);
    let axes: Option<&[i64]> = match is_arg {
        true => Some(std::slice::from_ref(&axis)),
        false => operation.ints_or_input("axes", 1),
    };
    if axes.is_none() && operation.input(1).is_some() {
        return Some(TensorType::new(input.dtype, keeps.then(|| vec![None; dims.len()])));
    }
    let axes = axes.unwrap_or_default();
    if axes.is_empty() && operation.int("noop_with_empty_axes").unwrap_or(0) != 0 {
        return Some(TensorType::new(input.dtype, Some(dims.clone())));
    }
    let reduced: Vec<usize> = match axes.is_empty() {
        true => (0..dims.len()).collect(),
        false => axes.iter().map(|&axis| index(axis, dims.len())).collect::<Option<_>>()?,
    };
    let dims = dims.iter().enumerate().filter_map(|(axis, &dim)| match (reduced.contains(&axis), keeps) {
        (false, _) => Some(dim),
        (true, true) => Some(Some(1)),
        (true, false) => None,
    });
    Some(TensorType::new(input.dtype, Some(dims.collect())))
}

pub(super) fn split(operation: &Operation<'_>) -> Option<Vec<TensorType>> {
    let input = operation.input(0)?;
    let dims = input.dims.as_ref()?;
    let axis = index(operation.int("axis").unwrap_or(0), dims.len())?;
    let count = operation.node.outputs.len() as u64;
    let given = operation.ints_or_input("split", 1);
    let has_sizes = given.is_some() || operation.input(1).is_some();
    let part = |i: u64| match given {
        Some(sizes) => sizes.get(i as usize).and_then(|&size| u64::try_from(size).ok()),
        None if has_sizes => None,
        None => {
            let whole = (*dims.get(axis)?)?;
            let even = whole.div_ceil(count.max(1));
            Some(even.min(whole.saturating_sub(even.saturating_mul(i))))
        }
    };
    let output = |i: u64| {
        let mut dims = dims.clone();
        if let Some(dim) = dims.get_mut(axis) {
            *dim = part(i);
        }
        TensorType::new(input.dtype, Some(dims))
    };
    Some((0..count).map(output).collect())
}

pub(super) fn top_k(operation: &Operation<'_>) -> Option<Vec<TensorType>> {
    let input = operation.input(0)?;
    let mut dims = input.dims.clone()?;
    let kept = operation.input(1).and_then(|k| k.content.as_ref()?.first().copied());
    let axis = index(operation.int("axis").unwrap_or(-1), dims.len())?;
    *dims.get_mut(axis)? = kept.and_then(|kept| u64::try_from(kept).ok());
    let of = |dtype| TensorType::new(dtype, Some(dims.clone()));
    Some(vec![of(input.dtype), of(Some(DType::I64))])
}

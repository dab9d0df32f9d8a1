//! Small tensors of whole numbers: the sizes that shapes are computed from.

use modelexport_graph::DType;
use modelexport_graph::onnx::{Tensor, TensorData};

use crate::operation::Operation;
use crate::rules::slice_range;
use crate::size::{Dims, Size, index, product};

/// Longer ones are no shapes.
pub(crate) const LONGEST: usize = 64;

/// Field number of `int64_data` in a tensor, shifted as in its tag.
const INT64_DATA: u64 = 7;
const INT32_DATA: u64 = 5;

/// The elements of a small tensor that lies in the file itself, if all are whole numbers.
pub(crate) fn of_tensor(tensor: &Tensor) -> Option<Vec<Size>> {
    let dtype = tensor.dtype()?;
    let count = tensor.dims.iter().try_fold(1i64, |count, &dim| count.checked_mul(dim))?;
    if count > LONGEST as i64 {
        return None;
    }
    let numbers: Vec<i64> = match (&tensor.data, dtype) {
        (TensorData::Raw(bytes), DType::I64) => {
            bytes.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect()
        }
        (TensorData::Raw(bytes), DType::I32) => {
            bytes.as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect()
        }
        (TensorData::Raw(bytes), DType::Bool) => bytes.iter().map(|&byte| byte.into()).collect(),
        // Factors that sizes are multiplied by.
        (TensorData::Raw(bytes), DType::F32) => {
            let whole = |number: f32| (number.fract() == 0.0).then_some(number as i64);
            bytes
                .as_chunks::<4>()
                .0
                .iter()
                .map(|bytes| whole(f32::from_le_bytes(*bytes)))
                .collect::<Option<_>>()?
        }
        (TensorData::Typed(fields), DType::I64 | DType::I32 | DType::Bool) => typed(fields)?,
        _ => return None,
    };
    (numbers.len() as i64 == count).then(|| numbers.into_iter().map(Size::Known).collect())
}

/// The numbers of `int64_data` or `int32_data` fields, packed or one by one.
fn typed(mut bytes: &[u8]) -> Option<Vec<i64>> {
    let mut numbers = Vec::new();
    while !bytes.is_empty() {
        let tag = varint(&mut bytes)?;
        match (tag >> 3, tag & 7) {
            (INT64_DATA | INT32_DATA, 0) => numbers.push(varint(&mut bytes)? as i64),
            (INT64_DATA | INT32_DATA, 2) => {
                let length = usize::try_from(varint(&mut bytes)?).ok()?;
                let (mut packed, rest) = bytes.split_at_checked(length)?;
                while !packed.is_empty() {
                    numbers.push(varint(&mut packed)? as i64);
                }
                bytes = rest;
            }
            _ => return None,
        }
    }
    Some(numbers)
}

fn varint(bytes: &mut &[u8]) -> Option<u64> {
    let mut value = 0u64;
    for shift in (0..64).step_by(7) {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        value |= u64::from(byte & 0x7f) << shift;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// The elements of the first output, whose type and dimensions are given.
pub(crate) fn of_output(operation: &Operation<'_>, dtype: DType, dims: &[Size]) -> Option<Vec<Size>> {
    let is_small = product(dims).known().is_some_and(|count| count <= LONGEST as i64);
    if !is_small || !matches!(dtype, DType::I64 | DType::I32 | DType::Bool) {
        return None;
    }
    let mut content = compute(operation, dims)?;
    if dtype == DType::Bool {
        content.iter_mut().for_each(|size| *size = size.known().map(|number| i64::from(number != 0)).into());
    }
    (Some(content.len() as i64) == product(dims).known()).then_some(content)
}

fn compute(operation: &Operation<'_>, dims: &[Size]) -> Option<Vec<Size>> {
    let first = || operation.content(0).map(<[Size]>::to_vec);
    let count = usize::try_from(product(dims).known()?).ok()?;
    let pairs = |f: fn(Size, Size) -> Size| -> Option<Vec<Size>> {
        let (a, b) = (operation.content(0)?, operation.content(1)?);
        (0..count).map(|i| Some(f(at(a, count, i)?, at(b, count, i)?))).collect()
    };
    let of_vector = |i: usize| operation.content(i).filter(|_| operation.rank(i) == Some(1));
    match operation.op_type {
        "Identity" | "Cast" | "Reshape" | "Flatten" | "Squeeze" | "Unsqueeze" => first(),
        "Shape" => {
            let range = crate::rules::shape_range(operation)?;
            Some(operation.dims(0)?.get(range)?.to_vec())
        }
        "Size" => Some(vec![product(operation.dims(0)?)]),
        "ConstantOfShape" => {
            let value = operation.attributes.value_type("value")?.content?;
            Some(vec![*value.first()?; count])
        }
        "Range" => {
            let (start, delta) = (operation.scalar(0), operation.scalar(2));
            Some((0..count as i64).map(|i| start.plus(delta.times(Size::Known(i)))).collect())
        }
        "Concat" => {
            let parts: Option<Vec<&[Size]>> = (0..operation.inputs.len()).map(of_vector).collect();
            Some(parts?.concat())
        }
        "Gather" => {
            let (values, picked) = (of_vector(0)?, operation.content(1)?);
            picked.iter().map(|at| values.get(index(at.known()?, values.len())?).copied()).collect()
        }
        "Slice" => {
            let values = of_vector(0)?;
            let number = |name: &str, i: usize| operation.ints_or_input(name, i)?.first().copied();
            let step = if operation.has(4) { operation.scalar(4).known()? } else { 1 };
            let (start, end) = (number("starts", 1)?, number("ends", 2)?);
            let range = slice_range(values.len() as i64, start, end, step)?;
            let picked = (0..range.count).map(|i| range.first.checked_add(i.checked_mul(step)?));
            picked.map(|at| values.get(usize::try_from(at?).ok()?).copied()).collect()
        }
        "Add" => pairs(Size::plus),
        "Sub" => pairs(Size::minus),
        "Mul" => pairs(Size::times),
        "Div" => pairs(Size::over),
        "Max" if operation.inputs.len() == 2 => pairs(|a, b| a.with(b, |a, b| Some(a.max(b)))),
        "Min" if operation.inputs.len() == 2 => pairs(|a, b| a.with(b, |a, b| Some(a.min(b)))),
        "Mod" => pairs(|a, b| a.with(b, |a, b| a.checked_rem_euclid(b).filter(|_| b > 0))),
        "Equal" => pairs(|a, b| a.with(b, |a, b| Some(i64::from(a == b)))),
        "Neg" => first().map(|all| all.into_iter().map(|size| Size::Known(0).minus(size)).collect()),
        "Where" => {
            let (which, a, b) = (operation.content(0)?, operation.content(1)?, operation.content(2)?);
            let pick = |i: usize| {
                Some(match at(which, count, i)? {
                    Size::Known(0) => at(b, count, i)?,
                    Size::Known(_) => at(a, count, i)?,
                    _ => at(a, count, i)?.common(at(b, count, i)?),
                })
            };
            (0..count).map(pick).collect()
        }
        "ReduceProd" if count == 1 => Some(vec![product(operation.content(0)?)]),
        _ => None,
    }
}

/// Element `i` of one of `count`, or the only one.
fn at(content: &[Size], count: usize, i: usize) -> Option<Size> {
    match content.len() {
        1 => content.first().copied(),
        length if length == count => content.get(i).copied(),
        _ => None,
    }
}

/// The sizes as a shape.
pub(crate) fn as_dims(content: &[i64]) -> Dims {
    content.iter().map(|&size| Size::Known(size).dimension()).collect()
}

//! Integers that a tensor holds, and what operators make of them.

use modelexport_graph::DType;
use modelexport_graph::onnx::{Tensor, TensorData};

/// Longer ones are no shapes.
const LONGEST: u64 = 64;

/// Field number of `int64_data` in a tensor, shifted as in its tag.
const INT64_DATA: u64 = 7;
const INT32_DATA: u64 = 5;

/// The elements of a small integer tensor that lies in the file itself.
pub(super) fn of_tensor(tensor: &Tensor) -> Option<Vec<i64>> {
    let dtype = tensor.dtype().filter(|dtype| matches!(dtype, DType::I64 | DType::I32))?;
    if crate::tensors::elements(tensor) > LONGEST {
        return None;
    }
    match &tensor.data {
        TensorData::Raw(bytes) if dtype == DType::I64 => {
            Some(bytes.as_chunks::<8>().0.iter().map(|bytes| i64::from_le_bytes(*bytes)).collect())
        }
        TensorData::Raw(bytes) => {
            Some(bytes.as_chunks::<4>().0.iter().map(|bytes| i32::from_le_bytes(*bytes).into()).collect())
        }
        TensorData::Typed(fields) => typed(fields),
        _ => None,
    }
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

/// `a op b` with the rules of broadcasting for vectors and single numbers.
pub(super) fn arithmetic(operator: &str, a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    let length = match (a.len(), b.len()) {
        (a, b) if a == b => a,
        (1, b) => b,
        (a, 1) => a,
        _ => return None,
    };
    let at = |values: &[i64], i: usize| values.get(if values.len() == 1 { 0 } else { i }).copied();
    (0..length)
        .map(|i| {
            let (a, b) = (at(a, i)?, at(b, i)?);
            match operator {
                "Add" => a.checked_add(b),
                "Sub" => a.checked_sub(b),
                "Mul" => a.checked_mul(b),
                "Div" => a.checked_div(b),
                "Max" => Some(a.max(b)),
                "Min" => Some(a.min(b)),
                _ => None,
            }
        })
        .collect()
}

/// Elements at `indices` of a vector.
pub(super) fn gather(values: &[i64], indices: &[i64]) -> Option<Vec<i64>> {
    let length = i64::try_from(values.len()).ok()?;
    let at = |&index: &i64| {
        let index = if index < 0 { index + length } else { index };
        values.get(usize::try_from(index).ok()?).copied()
    };
    indices.iter().map(at).collect()
}

/// `values[start:end:step]`, as Python has it.
pub(super) fn slice(values: &[i64], start: i64, end: i64, step: i64) -> Option<Vec<i64>> {
    let picked = super::layout::slice_range(values.len() as u64, start, end, step)?;
    let indices: Vec<i64> = (0..picked.count).map(|i| picked.first + i as i64 * step).collect();
    gather(values, &indices)
}

//! Matrix products, recurrent layers and attention.

use std::collections::BTreeMap;

use super::TensorType;
use super::infer::{Operation, broadcast_dims};

pub(super) fn matmul(a: &TensorType, b: &TensorType) -> Option<TensorType> {
    let dtype = a.dtype.or(b.dtype);
    let (left, right) = match (&a.dims, &b.dims) {
        (Some(left), Some(right)) if !left.is_empty() && !right.is_empty() => (left, right),
        _ => return Some(TensorType::new(dtype, None)),
    };
    let (left_batch, left_matrix) = left.split_at(left.len().saturating_sub(2));
    let (right_batch, right_matrix) = right.split_at(right.len().saturating_sub(2));
    let mut dims = broadcast_dims(left_batch, right_batch)?;
    if let [rows, _] = left_matrix {
        dims.push(*rows);
    }
    if let [_, columns] = right_matrix {
        dims.push(*columns);
    }
    Some(TensorType::new(dtype, Some(dims)))
}

pub(super) fn gemm(operation: &Operation<'_>) -> Option<TensorType> {
    let (a, b) = (operation.input(0)?, operation.input(1)?);
    let is_set = |name: &str| operation.int(name).unwrap_or(0) != 0;
    let rows = a.dim(if is_set("transA") { 1 } else { 0 });
    let columns = b.dim(if is_set("transB") { 0 } else { 1 });
    Some(TensorType::new(a.dtype, Some(vec![rows, columns])))
}

/// The labels of each operand and of the result, and the size of each label. Ellipses are not followed.
pub(super) struct Einsum {
    pub sizes: BTreeMap<char, Option<u64>>,
    pub output: Vec<char>,
}

impl Einsum {
    pub(super) fn of(operation: &Operation<'_>) -> Option<Einsum> {
        let equation = operation.text("equation")?.replace(' ', "");
        if equation.contains('.') {
            return None;
        }
        let (operands, output) = match equation.split_once("->") {
            Some((operands, output)) => (operands.to_owned(), Some(output.to_owned())),
            None => (equation.clone(), None),
        };
        let mut sizes: BTreeMap<char, Option<u64>> = BTreeMap::new();
        let mut occurrences: BTreeMap<char, usize> = BTreeMap::new();
        for (i, labels) in operands.split(',').enumerate() {
            let dims = operation.input(i).and_then(|input| input.dims.as_ref());
            for (axis, label) in labels.chars().enumerate() {
                let size = dims.and_then(|dims| dims.get(axis).copied().flatten());
                let known = sizes.entry(label).or_default();
                *known = known.or(size);
                *occurrences.entry(label).or_default() += 1;
            }
        }
        let implicit =
            || occurrences.iter().filter(|(_, count)| **count == 1).map(|(label, _)| *label).collect();
        Some(Einsum { output: output.map_or_else(implicit, |output| output.chars().collect()), sizes })
    }
}

pub(super) fn einsum(operation: &Operation<'_>) -> Option<TensorType> {
    let einsum = Einsum::of(operation)?;
    let dims = einsum.output.iter().map(|label| einsum.sizes.get(label).copied().flatten()).collect();
    Some(TensorType::new(operation.input(0)?.dtype, Some(dims)))
}

/// Sequence, last hidden state, last cell state.
pub(super) fn recurrent(operation: &Operation<'_>) -> Vec<TensorType> {
    let (Some(x), Some(recurrence)) = (operation.input(0), operation.input(2)) else { return Vec::new() };
    let (directions, hidden) = (recurrence.dim(0), recurrence.dim(2));
    // With layout 1 the batch comes first everywhere.
    let batch_first = operation.int("layout").unwrap_or(0) != 0;
    let (first, second) = (x.dim(0), x.dim(1));
    let (sequence, state) = if batch_first {
        (vec![first, second, directions, hidden], vec![first, directions, hidden])
    } else {
        (vec![first, directions, second, hidden], vec![directions, second, hidden])
    };
    let of = |dims: &[Option<u64>]| TensorType::new(x.dtype, Some(dims.to_vec()));
    vec![of(&sequence), of(&state), of(&state)]
}

/// Batch, heads, query length, key length, head size, value head size of an `Attention` node.
pub(super) struct AttentionSizes {
    pub batch: u64,
    pub heads: u64,
    pub queries: u64,
    pub keys: u64,
    pub head_size: u64,
    pub value_size: u64,
}

impl AttentionSizes {
    pub(super) fn of(operation: &Operation<'_>) -> Option<AttentionSizes> {
        let (query, key, value) = (operation.input(0)?, operation.input(1)?, operation.input(2)?);
        let past = match operation.input(4) {
            Some(past) => past.dim(2)?,
            None => 0,
        };
        let sizes = match query.rank()? {
            4 => AttentionSizes {
                batch: query.dim(0)?,
                heads: query.dim(1)?,
                queries: query.dim(2)?,
                keys: key.dim(2)?,
                head_size: query.dim(3)?,
                value_size: value.dim(3)?,
            },
            3 => {
                let heads = u64::try_from(operation.int("q_num_heads")?).ok()?;
                let value_heads = u64::try_from(operation.int("kv_num_heads")?).ok()?;
                AttentionSizes {
                    batch: query.dim(0)?,
                    heads,
                    queries: query.dim(1)?,
                    keys: key.dim(1)?,
                    head_size: query.dim(2)?.checked_div(heads)?,
                    value_size: value.dim(2)?.checked_div(value_heads)?,
                }
            }
            _ => return None,
        };
        Some(AttentionSizes { keys: sizes.keys.checked_add(past)?, ..sizes })
    }
}

/// Only the first output; the others are rarely asked for.
pub(super) fn attention(operation: &Operation<'_>) -> Option<TensorType> {
    let query = operation.input(0)?;
    let sizes = AttentionSizes::of(operation)?;
    let dims = match query.rank()? {
        4 => vec![sizes.batch, sizes.heads, sizes.queries, sizes.value_size],
        _ => vec![sizes.batch, sizes.queries, sizes.heads.checked_mul(sizes.value_size)?],
    };
    Some(TensorType::new(query.dtype, Some(dims.into_iter().map(Some).collect())))
}

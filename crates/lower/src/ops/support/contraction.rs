//! Sums of products over labelled axes (`einsum`, `tensordot`, `bilinear`) as `MatMul`.
//!
//! onnxruntime's `Einsum` transposes and reshapes at run time; written out, transposes of weights are folded and
//! those of activations merge with their neighbours. A product of two tensors becomes
//!
//! ```text
//! left  [lead…, row, K]        lead, row, cols: labels of the result, in its order
//! right [lead…, K, cols]       K: labels that are summed over, merged into one axis
//! ```
//!
//! where a tensor that lacks a lead label has size 1 there, which `MatMul` broadcasts.

use modelexport_graph::{DType, Dim};

use super::compute::product;
use super::fill::filled;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;

/// Names an axis: letters of an equation, or any other numbers.
pub(crate) type Label = i32;

/// A tensor and the label of each of its axes; no label occurs twice.
#[derive(Clone, Debug)]
pub(crate) struct Labelled {
    pub value: ValueId,
    pub labels: Vec<Label>,
    pub sizes: Vec<Dim>,
}

impl Labelled {
    fn has(&self, label: Label) -> bool {
        self.labels.contains(&label)
    }

    fn size(&self, label: Label) -> Option<&Dim> {
        let at = self.labels.iter().position(|&own| own == label)?;
        self.sizes.get(at)
    }

    fn axis(&self, label: Label) -> i64 {
        self.labels.iter().position(|&own| own == label).unwrap_or(0) as i64
    }
}

/// Multiplies all operands from left to right and sums over every label that `result` lacks.
pub(crate) fn contract_all(
    cx: &mut Context<'_, '_>,
    operands: Vec<Labelled>,
    result: &[Label],
) -> Result<ValueId> {
    if operands.iter().any(|operand| operand.sizes.iter().any(|size| size.is(0))) {
        return sum_of_nothing(cx, &operands, result);
    }
    let mut rest = operands.into_iter();
    let Some(mut left) = rest.next() else { return cx.refuse("has no operands") };
    let mut rest: Vec<Labelled> = rest.collect();
    rest.reverse();
    while let Some(right) = rest.pop() {
        let is_last = rest.is_empty();
        let keep: Vec<Label> = if is_last {
            result.to_vec()
        } else {
            let wanted = |label: &Label| result.contains(label) || rest.iter().any(|later| later.has(*label));
            let new = right.labels.iter().filter(|label| !left.has(**label));
            left.labels.iter().chain(new).copied().filter(|label| wanted(label)).collect()
        };
        left = contract(cx, left, right, &keep)?;
    }
    let left = sum_out(cx, left, |label| result.contains(&label));
    Ok(arrange(cx, left, result)?.value)
}

/// Zeros: a sum over an axis without elements.
fn sum_of_nothing(cx: &mut Context<'_, '_>, operands: &[Labelled], result: &[Label]) -> Result<ValueId> {
    let size = |label: &Label| {
        let sizes = operands.iter().filter_map(|operand| operand.size(*label));
        sizes.reduce(|size, other| if size.is(1) { other } else { size }).cloned()
    };
    let sizes: Vec<Dim> = result.iter().filter_map(size).collect();
    let dtype = operands.first().map_or(DType::F32, |operand| cx.dtype(operand.value));
    filled(cx, &sizes, dtype, 0, None)
}

/// Sums over the labels that are not kept.
fn sum_out(cx: &mut Context<'_, '_>, x: Labelled, keep: impl Fn(Label) -> bool) -> Labelled {
    let axes: Vec<i64> = x.labels.iter().filter(|&&label| !keep(label)).map(|&label| x.axis(label)).collect();
    if axes.is_empty() {
        return x;
    }
    let value = cx.reduce("ReduceSum", x.value, &axes, false);
    let (labels, sizes) = x.labels.iter().zip(x.sizes).filter(|(label, _)| keep(**label)).unzip();
    Labelled { value, labels, sizes }
}

/// The axes in the order of `labels`, all of which `x` has.
fn arrange(cx: &mut Context<'_, '_>, x: Labelled, labels: &[Label]) -> Result<Labelled> {
    let permutation: Vec<i64> = labels.iter().map(|&label| x.axis(label)).collect();
    let sizes = labels.iter().filter_map(|&label| x.size(label).cloned()).collect();
    let value = cx.transpose(x.value, &permutation);
    Ok(Labelled { value, labels: labels.to_vec(), sizes })
}

/// The product of two operands; its labels are those of `keep` that one of them has, in that order.
fn contract(cx: &mut Context<'_, '_>, left: Labelled, right: Labelled, keep: &[Label]) -> Result<Labelled> {
    let (left_labels, right_labels) = (left.labels.clone(), right.labels.clone());
    let mut left = sum_out(cx, left, |label| keep.contains(&label) || right_labels.contains(&label));
    let mut right = sum_out(cx, right, |label| keep.contains(&label) || left_labels.contains(&label));
    drop_broadcast_sums(cx, &mut left, &mut right, keep);

    let summed: Vec<Label> =
        left.labels.iter().copied().filter(|&label| right.has(label) && !keep.contains(&label)).collect();
    let out: Vec<Label> = keep.iter().copied().filter(|&label| left.has(label) || right.has(label)).collect();
    if summed.is_empty() {
        return multiply(cx, left, right, out);
    }
    // The last axis of a `MatMul` comes from its right operand alone.
    if out.last().is_some_and(|&last| left.has(last) && !right.has(last)) {
        std::mem::swap(&mut left, &mut right);
    }
    matmul(cx, left, right, out, summed)
}

/// A summed label with size 1 on one side only: the other side is summed by itself.
fn drop_broadcast_sums(cx: &mut Context<'_, '_>, left: &mut Labelled, right: &mut Labelled, keep: &[Label]) {
    let shared: Vec<Label> =
        left.labels.iter().copied().filter(|&label| right.has(label) && !keep.contains(&label)).collect();
    for label in shared {
        let ones = (left.size(label).is_some_and(|s| s.is(1)), right.size(label).is_some_and(|s| s.is(1)));
        if ones.0 != ones.1 {
            *left = sum_out(cx, left.clone(), |own| own != label);
            *right = sum_out(cx, right.clone(), |own| own != label);
        }
    }
}

/// No label is summed: an elementwise product.
fn multiply(cx: &mut Context<'_, '_>, left: Labelled, right: Labelled, out: Vec<Label>) -> Result<Labelled> {
    let sizes = out_sizes(&left, &right, &out);
    let mut aligned = Vec::with_capacity(2);
    for operand in [left, right] {
        let own: Vec<Label> = out.iter().copied().filter(|&label| operand.has(label)).collect();
        let operand = arrange(cx, operand, &own)?;
        aligned.push(pad_axes(cx, &operand, &out));
    }
    let value = cx.emit("Mul", &aligned, vec![]);
    cx.set_shape(value, sizes.clone());
    Ok(Labelled { value, labels: out, sizes })
}

/// Adds an axis of size 1 for each of `out` that `x` lacks, unless broadcasting does so by itself.
fn pad_axes(cx: &mut Context<'_, '_>, x: &Labelled, out: &[Label]) -> ValueId {
    let first = out.iter().position(|&label| x.has(label)).unwrap_or(out.len());
    let axes: Vec<i64> = out
        .iter()
        .skip(first)
        .enumerate()
        .filter(|(_, label)| !x.has(**label))
        .map(|(axis, _)| axis as i64)
        .collect();
    cx.unsqueeze(x.value, &axes)
}

/// The size of a label is that of the operand that does not broadcast it.
fn out_sizes(left: &Labelled, right: &Labelled, out: &[Label]) -> Vec<Dim> {
    out.iter()
        .map(|&label| match (left.size(label), right.size(label)) {
            (Some(size), Some(other)) if size.is(1) => other.clone(),
            (Some(size), _) | (None, Some(size)) => size.clone(),
            (None, None) => Dim::Static(1),
        })
        .collect()
}

fn matmul(
    cx: &mut Context<'_, '_>,
    left: Labelled,
    right: Labelled,
    wanted: Vec<Label>,
    summed: Vec<Label>,
) -> Result<Labelled> {
    // A result that ends in a label of both operands is made with these in front and transposed.
    let mut out = wanted.clone();
    if out.last().is_some_and(|&last| left.has(last)) {
        let (both, single): (Vec<Label>, Vec<Label>) =
            wanted.iter().partition(|&&label| left.has(label) && right.has(label));
        out = both.into_iter().chain(single).collect();
        if out.last().is_some_and(|&last| left.has(last) && !right.has(last)) {
            return matmul_in_order(cx, right, left, out, summed, &wanted);
        }
    }
    matmul_in_order(cx, left, right, out, summed, &wanted)
}

fn matmul_in_order(
    cx: &mut Context<'_, '_>,
    left: Labelled,
    right: Labelled,
    out: Vec<Label>,
    summed: Vec<Label>,
    wanted: &[Label],
) -> Result<Labelled> {
    let sizes = out_sizes(&left, &right, &out);
    let col_count = out.iter().rev().take_while(|&&label| right.has(label) && !left.has(label)).count();
    let (front, cols) = out.split_at(out.len() - col_count);
    let row = front.last().copied().filter(|&label| left.has(label) && !right.has(label));
    let lead: Vec<Label> = front.iter().copied().take(front.len() - usize::from(row.is_some())).collect();

    let rows: Vec<Label> = row.into_iter().collect();
    let left_value = prepare(cx, left, &lead, &rows, &summed)?;
    let right_value = prepare(cx, right, &lead, &summed, cols)?;
    let product = cx.emit("MatMul", &[left_value, right_value], vec![]);

    // The axes that `MatMul` gives: lead, row (1 if there is none), cols merged (1 if there is none).
    let value = if cols.len() > 1 || (row.is_none() && cols.is_empty()) {
        cx.reshape(product, &sizes)?
    } else if row.is_none() {
        cx.squeeze(product, &[-2])
    } else if cols.is_empty() {
        cx.squeeze(product, &[-1])
    } else {
        product
    };
    cx.set_shape(value, sizes.clone());
    let result = Labelled { value, labels: out, sizes };
    arrange(cx, result, wanted)
}

/// `[lead…, first, second]`, where the labels of `first` and of `second` are merged into one axis each, of size 1 if
/// there are none.
fn prepare(
    cx: &mut Context<'_, '_>,
    x: Labelled,
    lead: &[Label],
    first: &[Label],
    second: &[Label],
) -> Result<ValueId> {
    let own_lead: Vec<Label> = lead.iter().copied().filter(|&label| x.has(label)).collect();
    let order: Vec<Label> = own_lead.iter().chain(first).chain(second).copied().collect();
    let x = arrange(cx, x, &order)?;
    let from = lead.iter().position(|&label| x.has(label)).unwrap_or(lead.len());
    let used_lead: Vec<Label> = lead.iter().copied().skip(from).collect();
    if first.len() <= 1 && second.len() <= 1 {
        let mut axes: Vec<i64> = used_lead
            .iter()
            .enumerate()
            .filter(|(_, label)| !x.has(**label))
            .map(|(axis, _)| axis as i64)
            .collect();
        if first.is_empty() {
            axes.push(used_lead.len() as i64);
        }
        if second.is_empty() {
            axes.push(used_lead.len() as i64 + 1);
        }
        return Ok(cx.unsqueeze(x.value, &axes));
    }
    let merged = |labels: &[Label]| {
        let sizes: Vec<Dim> = labels.iter().filter_map(|&label| x.size(label).cloned()).collect();
        product(&sizes)
    };
    let mut sizes: Vec<Dim> =
        used_lead.iter().map(|&label| x.size(label).cloned().unwrap_or(Dim::Static(1))).collect();
    sizes.push(merged(first));
    sizes.push(merged(second));
    cx.set_shape(x.value, x.sizes.clone());
    cx.reshape(x.value, &sizes)
}

//! `einsum` and products that are its special cases: `tensordot`, `inner`, `bilinear`.
//!
//! Lowered to `MatMul` and what has to be transposed for it, see [`contraction`](super::support::contraction): more
//! nodes than ONNX's `Einsum`, but onnxruntime takes 1.1 to 1.9 times as long for that, and many compilers have none.
//! It is left for equations that repeat a label within one operand (diagonals).

use std::borrow::Cow;

use super::matmul::product_type;
use super::support::compute::{tensor_as, tensor_opt_as};
use super::support::contraction::{Label, Labelled, contract_all};
use crate::context::Context;
use crate::error::Result;
use crate::ir::{Attr, ValueId};
use crate::registry::{Outputs, Row};

pub static ROWS: &[Row] = &[
    Row::new("aten::einsum(str equation, Tensor[] tensors, *, int[]? path=None) -> Tensor", einsum),
    Row::new("aten::tensordot(Tensor self, Tensor other, int[] dims_self, int[] dims_other) -> Tensor", tensordot),
    Row::new("aten::inner(Tensor self, Tensor other) -> Tensor", inner),
    Row::new("aten::bilinear(Tensor input1, Tensor input2, Tensor weight, Tensor? bias=None) -> Tensor", bilinear),
];

fn einsum(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    if dtype.is_complex() {
        return cx.refuse("complex numbers are not supported");
    }
    let Some(equation) = cx.str_opt("equation")? else { return cx.wrong_kind("equation", "an equation", None) };
    let metas = cx.metas("tensors");
    let ranks: Vec<usize> = metas.iter().map(|meta| meta.sizes.len()).collect();
    let Some(Equation { operands, result }) = parse(&equation, &ranks) else {
        return cx.wrong("equation", "one label for each axis of each operand", equation);
    };
    let compute = product_type(dtype);
    let values: Vec<ValueId> = cx.tensors("tensors")?.into_iter().map(|value| cx.cast(value, compute)).collect();
    let y = if operands.iter().any(|labels| has_repetition(labels)) {
        let equation = write(&operands, &result);
        cx.emit("Einsum", &values, vec![(Cow::Borrowed("equation"), Attr::Str(equation.into()))])
    } else {
        let labelled = operands
            .into_iter()
            .zip(&values)
            .zip(&metas)
            .map(|((labels, &value), meta)| Labelled { value, labels, sizes: meta.sizes.clone() })
            .collect();
        contract_all(cx, labelled, &result)?
    };
    Ok(cx.cast(y, dtype).into())
}

/// The labels of an equation: letters by their codes, axes of an ellipsis as -1 (the last), -2, …
#[derive(Debug, PartialEq, Eq)]
struct Equation {
    operands: Vec<Vec<Label>>,
    result: Vec<Label>,
}

/// Reads `bij, bjk -> bik`; `None` if it does not fit operands of these ranks.
fn parse(equation: &str, ranks: &[usize]) -> Option<Equation> {
    let text: String = equation.chars().filter(|c| !c.is_whitespace()).collect();
    let (inputs, output) = match text.split_once("->") {
        Some((inputs, output)) => (inputs, Some(output)),
        None => (text.as_str(), None),
    };
    let parts: Vec<&str> = inputs.split(',').collect();
    if parts.len() != ranks.len() {
        return None;
    }
    let operands: Option<Vec<Vec<Label>>> = parts
        .iter()
        .zip(ranks)
        .map(|(part, &rank)| {
            let letters = part.chars().filter(|&c| c != '.').count();
            let hidden = if part.contains("...") { rank.checked_sub(letters)? } else { 0 };
            let labels = expand(part, hidden)?;
            (labels.len() == rank).then_some(labels)
        })
        .collect();
    let operands = operands?;
    let hidden = operands.iter().flatten().copied().min().unwrap_or(0).min(0).unsigned_abs() as usize;
    let result = match output {
        Some(output) => expand(output, hidden)?,
        None => {
            let mut once: Vec<Label> = operands
                .iter()
                .flatten()
                .copied()
                .filter(|&label| label > 0 && operands.iter().flatten().filter(|&&other| other == label).count() == 1)
                .collect();
            once.sort_unstable();
            (1..=hidden as Label).rev().map(|i| -i).chain(once).collect()
        }
    };
    Some(Equation { operands, result })
}

fn expand(part: &str, hidden: usize) -> Option<Vec<Label>> {
    let ellipsis = (1..=hidden as Label).rev().map(|i| -i);
    match part.split_once("...") {
        Some((before, after)) => Some(letters(before)?.into_iter().chain(ellipsis).chain(letters(after)?).collect()),
        None => letters(part),
    }
}

fn letters(text: &str) -> Option<Vec<Label>> {
    text.chars().map(|c| c.is_ascii_alphabetic().then_some(c as Label)).collect()
}

fn has_repetition(labels: &[Label]) -> bool {
    labels.iter().enumerate().any(|(i, label)| labels.iter().skip(i + 1).any(|other| other == label))
}

/// The equation in lower-case letters without an ellipsis.
fn write(operands: &[Vec<Label>], result: &[Label]) -> String {
    let mut known: Vec<Label> = Vec::new();
    let mut text = |labels: &[Label]| -> String {
        let letter = |label: &Label| {
            let at = known.iter().position(|own| own == label).unwrap_or_else(|| {
                known.push(*label);
                known.len() - 1
            });
            char::from(if at < 26 { b'a' + at as u8 } else { b'A' + (at % 26) as u8 })
        };
        labels.iter().map(letter).collect()
    };
    let inputs: Vec<String> = operands.iter().map(|labels| text(labels)).collect();
    format!("{}->{}", inputs.join(","), text(result))
}

/// An argument whose axes are labelled.
fn labelled(
    cx: &mut Context<'_, '_>,
    name: &str,
    dtype: modelexport_graph::DType,
    labels: Vec<Label>,
) -> Result<Labelled> {
    let sizes = cx.meta(name)?.sizes.clone();
    Ok(Labelled { value: tensor_as(cx, name, dtype)?, labels, sizes })
}

fn tensordot(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = product_type(dtype);
    let (left_rank, right_rank) = (cx.meta("self")?.sizes.len(), cx.meta("other")?.sizes.len());
    let pairs = |name: &str, rank: usize| -> Result<Vec<i64>> {
        cx.ints(name)?.into_iter().map(|axis| cx.normalize_axis(name, axis, rank)).collect()
    };
    let (left_axes, right_axes) = (pairs("dims_self", left_rank)?, pairs("dims_other", right_rank)?);
    let left_labels: Vec<Label> = (0..left_rank as Label).collect();
    let mut right_labels: Vec<Label> = (0..right_rank as Label).map(|axis| axis + left_rank as Label).collect();
    for (left, right) in left_axes.iter().zip(&right_axes) {
        if let Some(label) = right_labels.get_mut(*right as usize) {
            *label = *left as Label;
        }
    }
    let is_summed = |label: &Label| left_axes.contains(&i64::from(*label));
    let result: Vec<Label> =
        left_labels.iter().chain(&right_labels).copied().filter(|label| !is_summed(label)).collect();
    let left = labelled(cx, "self", compute, left_labels)?;
    let right = labelled(cx, "other", compute, right_labels)?;
    let y = contract_all(cx, vec![left, right], &result)?;
    Ok(cx.cast(y, dtype).into())
}

/// The sum over the last axis of both; a number multiplies.
fn inner(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = product_type(dtype);
    let (left_rank, right_rank) = (cx.meta("self")?.sizes.len(), cx.meta("other")?.sizes.len());
    const LAST: Label = -1;
    let mut left_labels: Vec<Label> = (0..left_rank as Label).collect();
    let mut right_labels: Vec<Label> = (0..right_rank as Label).map(|axis| axis + left_rank as Label).collect();
    if let (Some(left), Some(right)) = (left_labels.last_mut(), right_labels.last_mut()) {
        (*left, *right) = (LAST, LAST);
    }
    let result: Vec<Label> =
        left_labels.iter().chain(&right_labels).copied().filter(|&label| label != LAST).collect();
    let left = labelled(cx, "self", compute, left_labels)?;
    let right = labelled(cx, "other", compute, right_labels)?;
    let y = contract_all(cx, vec![left, right], &result)?;
    Ok(cx.cast(y, dtype).into())
}

/// `sum over i, j of input1[…, i] * weight[o, i, j] * input2[…, j]`.
fn bilinear(cx: &mut Context<'_, '_>) -> Result<Outputs> {
    let dtype = cx.out()?.dtype;
    let compute = product_type(dtype);
    const I: Label = -1;
    const J: Label = -2;
    const O: Label = -3;
    let lead: Vec<Label> = (0..cx.meta("input1")?.sizes.len().saturating_sub(1) as Label).collect();
    let with = |label: Label| lead.iter().copied().chain([label]).collect::<Vec<Label>>();
    let first = labelled(cx, "input1", compute, with(I))?;
    let weight = labelled(cx, "weight", compute, vec![O, I, J])?;
    let second = labelled(cx, "input2", compute, with(J))?;
    let mut y = contract_all(cx, vec![first, weight, second], &with(O))?;
    if let Some(bias) = tensor_opt_as(cx, "bias", compute)? {
        y = cx.emit("Add", &[y, bias], vec![]);
    }
    Ok(cx.cast(y, dtype).into())
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

    fn labels(text: &str) -> Vec<Label> {
        text.chars().map(|c| c as Label).collect()
    }

    #[test]
    fn equations() {
        let parsed = parse("b i j, bjK -> bKi", &[3, 3]);
        assert_eq!(parsed, Some(Equation { operands: vec![labels("bij"), labels("bjK")], result: labels("bKi") }));
        let implicit = parse("ba,cA", &[2, 2]);
        assert_eq!(implicit.map(|e| e.result), Some(labels("Aabc")));
        let ellipsis = parse("...ij,...jk", &[4, 3]);
        let expected = vec![vec![-2, -1, 'i' as Label, 'j' as Label], vec![-1, 'j' as Label, 'k' as Label]];
        assert_eq!(ellipsis.as_ref().map(|e| e.operands.clone()), Some(expected));
        assert_eq!(ellipsis.map(|e| e.result), Some(vec![-2, -1, 'i' as Label, 'k' as Label]));
        assert_eq!(parse("ij,jk->ik", &[2]), None);
        assert_eq!(parse("ij->i", &[3]), None);
    }

    #[test]
    fn diagonals_are_written_for_onnx() {
        assert_eq!(write(&[labels("Bii"), labels("iz")], &labels("Bz")), "abb,bc->ac");
    }
}

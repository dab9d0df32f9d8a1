//! Matrix products and recurrent layers.

use std::collections::BTreeMap;

use modelexport_graph::DType;

use super::Element::{By, Fixed, Input};
use super::{Row, row};
use crate::operation::Operation;
use crate::size::{Dims, Size, broadcast, shape_text};

pub(super) const ROWS: &[Row] = &[
    row("Einsum", &[(Input(0), einsum)]),
    row("Gemm", &[(Input(0), gemm::<1>)]),
    row("MatMul", &[(By(either), matmul::<1>)]),
    row("MatMulInteger", &[(Fixed(DType::I32), matmul::<1>)]),
    row("QLinearMatMul", &[(Input(7), matmul::<3>)]),
    row("GRU LSTM RNN", &[(Input(0), sequence), (Input(0), state)]),
];

pub(super) fn either(operation: &Operation<'_>) -> Option<DType> {
    operation.dtype(0).or_else(|| operation.dtype(1))
}

/// The first input times input `B`.
pub(super) fn matmul<const B: usize>(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    product(operation, operation.dims(0)?, operation.dims(B)?)
}

pub(super) fn product(operation: &Operation<'_>, a: &[Size], b: &[Size]) -> Option<Dims> {
    let ([.., inner_a], [.., last_b]) = (a, b) else {
        return operation.refuse("a single number is no matrix");
    };
    let inner_b = if let [.., inner, _] = b { inner } else { last_b };
    operation.same("inner sizes of the product", *inner_a, *inner_b)?;
    let batch = |dims: &[Size]| dims.get(..dims.len().saturating_sub(2)).unwrap_or_default().to_vec();
    let Some(mut shape) = broadcast(&batch(a), &batch(b)) else {
        let (a, b) = (shape_text(Some(a)), shape_text(Some(b)));
        return operation.refuse(format!("batches of matrices of shape {a} and {b} do not broadcast"));
    };
    if let [.., rows, _] = a {
        shape.push(*rows);
    }
    if let [.., _, columns] = b {
        shape.push(*columns);
    }
    Some(shape)
}

pub(super) fn gemm<const B: usize>(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let matrix = |i: usize, is_transposed: bool| match operation.dims(i) {
        None => Some((Size::Unknown, Size::Unknown)),
        Some([rows, columns]) if is_transposed => Some((*columns, *rows)),
        Some([rows, columns]) => Some((*rows, *columns)),
        Some(other) => operation.refuse(format!("a tensor of rank {} is no matrix", other.len())),
    };
    let (rows, inner_a) = matrix(0, operation.flag("transA"))?;
    let (inner_b, columns) = matrix(B, operation.flag("transB"))?;
    operation.same("inner sizes of the product", inner_a, inner_b)?;
    Some(vec![rows, columns])
}

/// The sizes of the labels of an equation.
pub(crate) struct Einsum {
    pub sizes: BTreeMap<char, Size>,
    /// What an ellipsis stands for.
    pub ellipsis: Dims,
    output: String,
}

/// One character for an ellipsis, so that each label is one.
const ELLIPSIS: char = '.';

impl Einsum {
    pub(crate) fn of(operation: &Operation<'_>) -> Option<Einsum> {
        let equation = operation.attributes.text("equation")?.replace(' ', "").replace("...", ".");
        let (operands, output) = match equation.split_once("->") {
            Some((operands, output)) => (operands, Some(output.to_owned())),
            None => (&*equation, None),
        };
        let mut sizes: BTreeMap<char, Size> = BTreeMap::new();
        let mut ellipsis = Dims::new();
        for (i, labels) in operands.split(',').enumerate() {
            let dims = operation.dims(i)?;
            let hidden =
                if labels.contains(ELLIPSIS) { (dims.len() + 1).checked_sub(labels.len())? } else { 0 };
            let mut dims = dims.iter().copied();
            for label in labels.chars() {
                if label == ELLIPSIS {
                    let own: Dims = dims.by_ref().take(hidden).collect();
                    ellipsis = broadcast(&ellipsis, &own)?;
                } else {
                    let size = dims.next()?;
                    let known = sizes.entry(label).or_insert(size);
                    *known = if *known == Size::Known(1) { size } else { known.or(size) };
                }
            }
        }
        let implicit = || {
            let once = sizes.keys().filter(|label| operands.matches(**label).count() == 1);
            let first = operands.contains(ELLIPSIS).then_some(ELLIPSIS);
            first.into_iter().chain(once.copied()).collect()
        };
        Some(Einsum { output: output.unwrap_or_else(implicit), sizes, ellipsis })
    }
}

fn einsum(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let einsum = Einsum::of(operation)?;
    let mut shape = Dims::new();
    for label in einsum.output.chars() {
        match label {
            ELLIPSIS => shape.extend(&einsum.ellipsis),
            label => shape.push(*einsum.sizes.get(&label)?),
        }
    }
    Some(shape)
}

/// Steps, batch, directions and hidden size.
fn recurrent(operation: &Operation<'_>) -> (Size, Size, Size, Size) {
    let (first, second) = (operation.dim(0, 0), operation.dim(0, 1));
    let (steps, batch) = if operation.flag("layout") { (second, first) } else { (first, second) };
    let is_both = operation.attributes.text("direction") == Some("bidirectional");
    let hidden = operation.attributes.int("hidden_size").map_or_else(|| operation.dim(2, 2), Size::Known);
    (steps, batch, Size::Known(if is_both { 2 } else { 1 }), hidden)
}

pub(super) fn sequence(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let (steps, batch, directions, hidden) = recurrent(operation);
    Some(match operation.flag("layout") {
        true => vec![batch, steps, directions, hidden],
        false => vec![steps, directions, batch, hidden],
    })
}

pub(super) fn state(operation: &Operation<'_>, _: usize) -> Option<Dims> {
    let (_, batch, directions, hidden) = recurrent(operation);
    Some(if operation.flag("layout") {
        vec![batch, directions, hidden]
    } else {
        vec![directions, batch, hidden]
    })
}

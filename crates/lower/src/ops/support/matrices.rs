//! Matrices in the last two axes of a tensor, and loops over their columns.
//!
//! Axes are counted from the end, so that any number of batch axes may stand in front. A loop takes its number of rounds
//! at run time, so that sizes may be symbolic.

use modelexport_graph::shape::static_numel;
use modelexport_graph::{DType, Dim, SymExpr, SymOp};

use super::compute::tensor_as;
use super::fill::{filled, is_small};
use super::repeat::{repeat, repeat_while};
use crate::attrs;
use crate::builder::Builder;
use crate::context::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::kernels::math_type;
use crate::literal::{Literal, Number};
use crate::registry::Outputs;

/// A batch of matrices.
#[derive(Clone, Debug)]
pub(crate) struct Matrices {
    pub value: ValueId,
    pub batch: Vec<Dim>,
    pub rows: Dim,
    pub columns: Dim,
}

impl Matrices {
    /// An argument, in the type that PyTorch computes in.
    pub fn argument(cx: &mut Context<'_, '_>, name: &str) -> Result<Matrices> {
        let dtype = math_type(cx.meta(name)?.dtype);
        Matrices::argument_as(cx, name, dtype)
    }

    pub fn argument_as(cx: &mut Context<'_, '_>, name: &str, dtype: DType) -> Result<Matrices> {
        let value = tensor_as(cx, name, dtype)?;
        let sizes = cx.meta(name)?.sizes.clone();
        Matrices::of(cx, value, &sizes)
    }

    /// `value`, whose sizes are known to be `sizes`.
    pub fn of(cx: &Context<'_, '_>, value: ValueId, sizes: &[Dim]) -> Result<Matrices> {
        match sizes {
            [batch @ .., rows, columns] => {
                Ok(Matrices { value, batch: batch.to_vec(), rows: rows.clone(), columns: columns.clone() })
            }
            _ => cx.refuse(format!("wants matrices, but finds a tensor with {} dimensions", sizes.len())),
        }
    }

    pub fn rank(&self) -> usize {
        self.batch.len() + 2
    }

    pub fn sizes(&self) -> Vec<Dim> {
        self.with_sizes(&[&self.rows, &self.columns])
    }

    /// The sizes of a tensor that has `last` behind the batch axes.
    pub fn with_sizes(&self, last: &[&Dim]) -> Vec<Dim> {
        self.batch.iter().chain(last.iter().copied()).cloned().collect()
    }

    /// How many elements the diagonal has.
    pub fn diagonal_length(&self) -> Dim {
        smaller(&self.rows, &self.columns)
    }

    pub fn transposed(&self, b: &mut Builder) -> Matrices {
        let value = b.transpose_last(self.value, self.rank());
        b.set_shape(value, self.with_sizes(&[&self.columns, &self.rows]));
        Matrices { value, batch: self.batch.clone(), rows: self.columns.clone(), columns: self.rows.clone() }
    }

    /// Broadcast to the batch axes `batch`.
    pub fn expanded(&self, cx: &mut Context<'_, '_>, batch: &[Dim]) -> Result<Matrices> {
        let sizes: Vec<Dim> = batch.iter().chain([&self.rows, &self.columns]).cloned().collect();
        if self.sizes() == sizes {
            return Ok(self.clone());
        }
        cx.set_shape(self.value, self.sizes());
        let value = cx.expand(self.value, &sizes)?;
        Matrices::of(cx, value, &sizes)
    }
}

/// The smaller of two sizes.
pub(crate) fn smaller(a: &Dim, b: &Dim) -> Dim {
    match (a, b) {
        (Dim::Static(a), Dim::Static(b)) => Dim::Static(*a.min(b)),
        _ if a == b => a.clone(),
        _ => Dim::Symbolic(SymExpr::Call(SymOp::Min, vec![a.to_expr(), b.to_expr()])),
    }
}

/// What stands for a result when the argument has no elements.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Fill {
    Number(f64),
    Identity,
}

/// The results of a node whose argument `name` certainly has no elements: loops over nothing are not for runtimes.
pub(crate) fn results_of_nothing(
    cx: &mut Context<'_, '_>,
    name: &str,
    fills: &[Fill],
) -> Result<Option<Outputs>> {
    if static_numel(&cx.meta(name)?.sizes) != Some(0) {
        return Ok(None);
    }
    let mut results = Vec::with_capacity(fills.len());
    for (meta, fill) in cx.out_metas().into_iter().zip(fills) {
        results.push(match fill {
            Fill::Number(number) => filled(cx, &meta.sizes, meta.dtype, *number, None)?,
            Fill::Identity => {
                let [.., rows, columns] = meta.sizes.as_slice() else {
                    return cx.refuse("does not give matrices");
                };
                let one = identity(cx, rows, columns, meta.dtype)?;
                cx.expand(one, &meta.sizes)?
            }
        });
    }
    Ok(Some(results.into()))
}

/// 0, 1, … up to a size.
pub(crate) fn indices(cx: &mut Context<'_, '_>, size: &Dim) -> Result<ValueId> {
    if let Some(size) = size.as_static()
        && is_small(&[Dim::Static(size)], DType::I64)
    {
        let numbers: Vec<i64> = (0..size).collect();
        return Ok(cx.const_ints(&numbers));
    }
    let end = cx.dim_value(size)?;
    let end = cx.squeeze(end, &[0]);
    let (start, step) = (cx.const_int(0), cx.const_int(1));
    let range = cx.emit("Range", &[start, end, step], vec![]);
    cx.set_shape(range, vec![size.clone()]);
    Ok(range)
}

/// Indices in a column, which is compared with every row of a matrix.
pub(crate) fn row_numbers(cx: &mut Context<'_, '_>, size: &Dim) -> Result<ValueId> {
    if let Some(size) = size.as_static()
        && is_small(&[Dim::Static(size)], DType::I64)
        && let Some(literal) = Literal::from_numbers(DType::I64, vec![size, 1], (0..size).map(Number::Int))
    {
        return Ok(cx.constant(literal));
    }
    let row = indices(cx, size)?;
    Ok(cx.unsqueeze(row, &[1]))
}

/// Ones where row and column are equal.
pub(crate) fn identity(cx: &mut Context<'_, '_>, rows: &Dim, columns: &Dim, dtype: DType) -> Result<ValueId> {
    let sizes = [rows.clone(), columns.clone()];
    if let (Some(n), Some(m)) = (rows.as_static(), columns.as_static())
        && is_small(&sizes, dtype)
    {
        let numbers = (0..n).flat_map(|row| (0..m).map(move |column| Number::Int((row == column).into())));
        if let Some(literal) = Literal::from_numbers(dtype, vec![n, m], numbers) {
            return Ok(cx.constant(literal));
        }
    }
    let (row, column) = (row_numbers(cx, rows)?, indices(cx, columns)?);
    let equal = cx.emit("Equal", &[row, column], vec![]);
    let value = cx.cast(equal, dtype);
    cx.set_shape(value, sizes.to_vec());
    Ok(value)
}

/// A `Loop` of `count` rounds. `body` makes the new states from the number of the round, a tensor of one element, and
/// the old states.
pub(crate) fn rounds<const N: usize>(
    cx: &mut Context<'_, '_>,
    count: &Dim,
    initial: [ValueId; N],
    body: impl FnOnce(&mut Builder, ValueId, [ValueId; N]) -> [ValueId; N],
) -> Result<[ValueId; N]> {
    let count = match count.as_static() {
        Some(count) => cx.const_int(count),
        None => {
            let count = cx.dim_value(count)?;
            cx.squeeze(count, &[0])
        }
    };
    Ok(rounds_of(cx, count, initial, body))
}

/// [`rounds`] whose number is a 0-D `int64` tensor.
pub(crate) fn rounds_of<const N: usize>(
    b: &mut Builder,
    count: ValueId,
    initial: [ValueId; N],
    body: impl FnOnce(&mut Builder, ValueId, [ValueId; N]) -> [ValueId; N],
) -> [ValueId; N] {
    repeat(b, count, initial, |b, number, states| {
        let at = b.unsqueeze(number, &[0]);
        body(b, at, states)
    })
}

/// A loop of at most `count` rounds, whose body says first whether there is another one.
pub(crate) fn rounds_while<const N: usize>(
    b: &mut Builder,
    count: ValueId,
    initial: [ValueId; N],
    body: impl FnOnce(&mut Builder, ValueId, [ValueId; N]) -> (ValueId, [ValueId; N]),
) -> [ValueId; N] {
    repeat_while(b, Some(count), initial, |b, number, states| {
        let at = b.unsqueeze(number, &[0]);
        body(b, at, states)
    })
}

/// Row `at` of each matrix, as a matrix of one row.
pub(crate) fn row(b: &mut Builder, matrices: ValueId, at: ValueId) -> ValueId {
    b.emit("Gather", &[matrices, at], attrs![axis = -2])
}

/// Column `at` of each matrix, as a matrix of one column.
pub(crate) fn column(b: &mut Builder, matrices: ValueId, at: ValueId) -> ValueId {
    b.emit("Gather", &[matrices, at], attrs![axis = -1])
}

/// The elements on the diagonals.
pub(crate) fn diagonal(cx: &mut Context<'_, '_>, matrices: &Matrices) -> Result<ValueId> {
    let (row, column) = (row_numbers(cx, &matrices.rows)?, indices(cx, &matrices.columns)?);
    let equal = cx.test("Equal", &[row, column]);
    let zero = cx.const_like(matrices.value, 0.0);
    let kept = cx.select(equal, matrices.value, zero);
    let diagonal = cx.reduce("ReduceSum", kept, &[-2], false);
    Ok(diagonal)
}

/// Elements on and below (or above) the diagonal, zero elsewhere.
pub(crate) fn triangle(b: &mut Builder, matrices: ValueId, upper: bool) -> ValueId {
    b.apply("Trilu", &[matrices], attrs![upper = upper])
}

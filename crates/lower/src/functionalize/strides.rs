//! What sizes and strides tell about memory: whether a reshape can be a view, whether elements share memory,
//! whether two views can touch.
//!
//! Sizes may be symbolic. Products are compared as polynomials; what cannot be decided is said so.

use std::collections::BTreeMap;

use modelexport_graph::aten::TensorMeta;
use modelexport_graph::{Dim, SymExpr, SymOp};

/// An answer about symbolic sizes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Answer {
    Yes,
    No,
    Unknown,
}

/// A sum of products of symbols, in a form in which equal expressions are equal: factors to coefficient.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Polynomial(BTreeMap<Vec<String>, i64>);

impl Polynomial {
    fn constant(value: i64) -> Polynomial {
        Polynomial(BTreeMap::from([(Vec::new(), value)])).without_zeros()
    }

    fn of(dim: &Dim) -> Option<Polynomial> {
        match dim {
            Dim::Static(value) => Some(Polynomial::constant(*value)),
            Dim::Symbolic(expr) => Polynomial::of_expr(expr),
        }
    }

    fn of_expr(expr: &SymExpr) -> Option<Polynomial> {
        match expr {
            SymExpr::Int(value) => Some(Polynomial::constant(*value)),
            SymExpr::Call(SymOp::Add, parts) => {
                parts.iter().try_fold(Polynomial::constant(0), |sum, part| sum.plus(&Self::of_expr(part)?))
            }
            SymExpr::Call(SymOp::Mul, parts) => parts
                .iter()
                .try_fold(Polynomial::constant(1), |product, part| product.times(&Self::of_expr(part)?)),
            other => Some(Polynomial(BTreeMap::from([(vec![other.to_string()], 1)]))),
        }
    }

    fn plus(mut self, other: &Polynomial) -> Option<Polynomial> {
        for (factors, coefficient) in &other.0 {
            let sum = self.0.entry(factors.clone()).or_insert(0);
            *sum = sum.checked_add(*coefficient)?;
        }
        Some(self.without_zeros())
    }

    fn times(&self, other: &Polynomial) -> Option<Polynomial> {
        let mut product = Polynomial(BTreeMap::new());
        for (left, a) in &self.0 {
            for (right, b) in &other.0 {
                let mut factors = [left.as_slice(), right.as_slice()].concat();
                factors.sort();
                let sum = product.0.entry(factors).or_insert(0);
                *sum = sum.checked_add(a.checked_mul(*b)?)?;
            }
        }
        Some(product.without_zeros())
    }

    fn without_zeros(mut self) -> Polynomial {
        self.0.retain(|_, coefficient| *coefficient != 0);
        self
    }

    /// Whether this product is larger than `other` whatever the symbols are. A dynamic size is at least 2: programs
    /// are captured with 0 and 1 as sizes of their own.
    fn exceeds(&self, other: &Polynomial) -> bool {
        let (Some((factors, value)), Some((others, least))) = (self.product(), other.product()) else {
            return false;
        };
        let mut rest = factors.iter();
        let has_all = others.iter().all(|wanted| rest.any(|factor| factor == wanted));
        has_all && value >= least && least > 0 && (value > least || factors.len() > others.len())
    }

    /// The factors and the coefficient, if there is no sum.
    fn product(&self) -> Option<(&[String], i64)> {
        match self.0.first_key_value() {
            Some((factors, value)) if self.0.len() == 1 => Some((factors, *value)),
            _ => None,
        }
    }
}

/// Whether the elements lie in row-major order without gaps. `false` where it cannot be decided.
pub(super) fn is_contiguous(meta: &TensorMeta) -> bool {
    if meta.sizes.iter().any(|size| size.is(0)) {
        return true;
    }
    let mut expected = Some(Polynomial::constant(1));
    for (size, stride) in meta.sizes.iter().zip(&meta.strides).rev() {
        if size.is(1) {
            continue;
        }
        if expected.is_none() || expected != Polynomial::of(stride) {
            return false;
        }
        expected = expected.and_then(|expected| expected.times(&Polynomial::of(size)?));
    }
    true
}

/// Whether a tensor that looks like `old` can be shown with the sizes of `new` without a copy. PyTorch's `reshape`
/// makes a view if and only if it can.
pub(super) fn reshape_is_view(old: &TensorMeta, new: &TensorMeta) -> Answer {
    if is_contiguous(old) {
        return Answer::Yes;
    }
    // A copy starts at the front of memory of its own; a view starts where the original does.
    if old.storage_offset != new.storage_offset {
        return Answer::No;
    }
    // The strides of a copy are those of a contiguous tensor.
    if !is_contiguous(new) && new.strides.iter().all(|stride| stride.as_static().is_some()) {
        return Answer::Yes;
    }
    merge_runs(old, new).unwrap_or(Answer::Unknown)
}

/// Splits the old axes into runs that lie in memory without gaps. The view exists if the new axes can be split so
/// that each run keeps its number of elements. `None`: too large to count.
fn merge_runs(old: &TensorMeta, new: &TensorMeta) -> Option<Answer> {
    let mut new_sizes = new.sizes.iter().rev().peekable();
    let axes: Vec<(&Dim, &Dim)> =
        old.sizes.iter().zip(&old.strides).filter(|(size, _)| !size.is(1)).collect();
    let mut run: Option<(Polynomial, Polynomial)> = None;
    for (i, (size, stride)) in axes.iter().enumerate().rev() {
        let (base, count) = match run.take() {
            Some((base, count)) => (base, count.times(&Polynomial::of(size)?)?),
            None => (Polynomial::of(stride)?, Polynomial::of(size)?),
        };
        let goes_on = match i.checked_sub(1).and_then(|before| axes.get(before)) {
            Some((_, before)) => Polynomial::of(before)? == base.times(&count)?,
            None => false,
        };
        if goes_on {
            run = Some((base, count));
            continue;
        }
        let is_last_run = i == 0;
        let mut found = Polynomial::constant(1);
        let mut taken = 0;
        while found != count {
            let Some(next) = new_sizes.next() else {
                // One new axis for this run and for more that lies before it has too many elements.
                return Some(if taken == 1 && !is_last_run { Answer::No } else { Answer::Unknown });
            };
            taken += 1;
            found = found.times(&Polynomial::of(next)?)?;
            if found.exceeds(&count) {
                return Some(Answer::No);
            }
        }
    }
    Some(if new_sizes.all(|size| size.is(1)) { Answer::Yes } else { Answer::Unknown })
}

/// Whether two elements share memory, as in the result of `expand`. What symbolic sizes leave open counts as free of
/// overlap.
pub(super) fn overlaps_itself(meta: &TensorMeta) -> bool {
    if meta.sizes.iter().any(|size| size.is(0)) {
        return false;
    }
    let axes = || meta.sizes.iter().zip(&meta.strides).filter(|(size, _)| !size.is(1));
    if axes().any(|(_, stride)| stride.is(0)) {
        return true;
    }
    let known: Option<Vec<(i64, Option<i64>)>> =
        axes().map(|(size, stride)| Some((stride.as_static()?, size.as_static()))).collect();
    let Some(mut known) = known else { return false };
    known.sort_unstable();
    let mut reach = 0i64;
    for (stride, size) in known {
        if stride <= reach {
            return true;
        }
        let Some(size) = size else { return false };
        reach = reach.saturating_add(stride.saturating_mul(size - 1));
    }
    false
}

/// Whether two views of one memory cannot touch, told by the ranges that they lie in. Element types must be equal.
pub(super) fn ranges_are_apart(a: &TensorMeta, b: &TensorMeta) -> bool {
    let (Some((a_first, a_last)), Some((b_first, b_last))) = (range(a), range(b)) else { return false };
    a.dtype == b.dtype && (a_last < b_first || b_last < a_first)
}

/// The first and the last element in memory.
fn range(meta: &TensorMeta) -> Option<(i64, i64)> {
    let first = meta.storage_offset.as_static()?;
    let last = meta.sizes.iter().zip(&meta.strides).try_fold(first, |last, (size, stride)| {
        last.checked_add(size.as_static()?.checked_sub(1)?.checked_mul(stride.as_static()?)?)
    })?;
    Some((first, last))
}

#[cfg(test)]
mod tests {
    use modelexport_graph::DType;
    use modelexport_graph::aten::Layout;

    use super::*;

    fn meta(sizes: Vec<Dim>, strides: Vec<Dim>) -> TensorMeta {
        TensorMeta {
            dtype: DType::F32,
            sizes,
            strides,
            storage_offset: Dim::Static(0),
            layout: Layout::Strided,
        }
    }

    fn plain(sizes: &[i64], strides: &[i64]) -> TensorMeta {
        let dims = |values: &[i64]| values.iter().map(|&value| Dim::Static(value)).collect();
        meta(dims(sizes), dims(strides))
    }

    fn symbol() -> Dim {
        Dim::Symbolic(SymExpr::Symbol("s0".into()))
    }

    fn times(factor: i64) -> Dim {
        Dim::Symbolic(SymExpr::Call(SymOp::Mul, vec![SymExpr::Int(factor), SymExpr::Symbol("s0".into())]))
    }

    #[test]
    fn reshape_of_a_transposed_matrix_copies() {
        assert_eq!(reshape_is_view(&plain(&[3, 2], &[1, 3]), &plain(&[6], &[1])), Answer::No);
        assert_eq!(reshape_is_view(&plain(&[2, 3], &[3, 1]), &plain(&[6], &[1])), Answer::Yes);
    }

    #[test]
    fn reshape_of_a_slice_is_a_view_while_no_run_is_broken() {
        let slice = plain(&[2, 3, 4], &[20, 4, 1]);
        assert_eq!(reshape_is_view(&slice, &plain(&[2, 12], &[20, 1])), Answer::Yes);
        assert_eq!(reshape_is_view(&slice, &plain(&[1, 2, 3, 2, 2], &[40, 20, 4, 2, 1])), Answer::Yes);
        assert_eq!(reshape_is_view(&slice, &plain(&[6, 4], &[4, 1])), Answer::No);
        assert_eq!(reshape_is_view(&slice, &plain(&[24], &[1])), Answer::No);
    }

    #[test]
    fn symbolic_sizes_are_compared_as_products() {
        let contiguous = meta(vec![symbol(), 4.into(), symbol()], vec![times(4), symbol(), 1.into()]);
        assert!(is_contiguous(&contiguous));
        let slice = meta(vec![2.into(), symbol(), 4.into()], vec![times(5), 4.into(), 1.into()]);
        let flat = meta(vec![2.into(), times(4)], vec![times(5), 1.into()]);
        assert_eq!(reshape_is_view(&slice, &flat), Answer::Yes);
        let all = meta(vec![times(8)], vec![1.into()]);
        assert_eq!(reshape_is_view(&slice, &all), Answer::No);
        let gaps = meta(vec![symbol(), 2.into()], vec![9.into(), 1.into()]);
        assert_eq!(reshape_is_view(&gaps, &meta(vec![times(2)], vec![1.into()])), Answer::No);
        let less =
            Dim::Symbolic(SymExpr::Call(SymOp::Add, vec![SymExpr::Symbol("s0".into()), SymExpr::Int(-1)]));
        let shorter = meta(vec![less.clone(), 2.into()], vec![9.into(), 1.into()]);
        let count = SymExpr::Call(SymOp::Mul, vec![SymExpr::Int(2), less.to_expr()]);
        let flat = meta(vec![Dim::Symbolic(count)], vec![1.into()]);
        assert_eq!(reshape_is_view(&shorter, &flat), Answer::No);
        let other = || Dim::Symbolic(SymExpr::Symbol("s1".into()));
        let unrelated = meta(vec![other(), other()], vec![other(), 1.into()]);
        assert_eq!(reshape_is_view(&gaps, &unrelated), Answer::Unknown);
    }

    #[test]
    fn expanded_and_sliding_windows_overlap() {
        assert!(overlaps_itself(&plain(&[3, 4], &[0, 1])));
        assert!(overlaps_itself(&plain(&[3, 2], &[1, 1])));
        assert!(!overlaps_itself(&plain(&[1, 4], &[0, 1])));
        assert!(!overlaps_itself(&plain(&[4, 3], &[1, 4])));
        assert!(!overlaps_itself(&plain(&[2, 2], &[2, 1])));
    }

    #[test]
    fn ranges_that_do_not_meet_are_apart() {
        let at = |offset: i64| TensorMeta { storage_offset: offset.into(), ..plain(&[4], &[1]) };
        assert!(ranges_are_apart(&at(0), &at(4)));
        assert!(!ranges_are_apart(&at(0), &at(3)));
    }
}

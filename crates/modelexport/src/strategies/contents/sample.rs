//! A sample of the elements of a large tensor, which identifies it.

use std::collections::HashSet;

use modelexport_graph::{DType, StridedView};
use modelexport_io::fingerprint::mix;
use modelexport_io::source::Sources;

/// How many elements are taken.
const ELEMENTS: u64 = 64;

/// A tensor with fewer different ones among them may be one of many with the same few numbers.
const LEAST_DIFFERENT: usize = 32;

/// Smaller tensors are read as a whole as fast.
const LEAST_BYTES: u64 = 1 << 16;

/// Widest element: two floats of 64 bits.
const WIDEST: usize = 16;

/// Stands for all elements of a tensor, in their order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Sample {
    dtype: DType,
    elements: u64,
    sum: u64,
}

impl Sample {
    /// Of the elements in the order in which the view has them; `None` if a sample would not tell them apart from
    /// others, or cannot be read.
    pub(super) fn of(view: &StridedView, dtype: DType, sources: &Sources) -> Option<Sample> {
        take(view, dtype, sources, |place| place)
    }

    /// Of the elements of a matrix in the order that they have in its transpose.
    pub(super) fn of_transposed(view: &StridedView, dtype: DType, sources: &Sources) -> Option<Sample> {
        let mut axes = view.sizes.iter().filter(|size| **size != 1);
        let (Some(&rows), Some(&columns), None) = (axes.next(), axes.next(), axes.next()) else {
            return None;
        };
        // A row of the transpose is as long as the matrix has rows.
        take(view, dtype, sources, |place| place % rows * columns + place / rows)
    }
}

/// Takes elements from places that depend on their number alone. `order` says which element of the view is at a place.
fn take(view: &StridedView, dtype: DType, sources: &Sources, order: impl Fn(u64) -> u64) -> Option<Sample> {
    let elements = view.sizes.iter().try_fold(1u64, |all, &size| all.checked_mul(size))?;
    let width = dtype.bits().filter(|bits| bits.is_multiple_of(8))? / 8;
    if dtype.byte_len(elements)? < LEAST_BYTES {
        return None;
    }
    let mut different = HashSet::new();
    let mut sum = 0;
    for number in 0..ELEMENTS {
        let at = view_place(view, order(mix(number) % elements))?.checked_mul(width)?;
        let mut element = [0; WIDEST];
        let bytes = element.get_mut(..width as usize)?;
        sources.read_at(view.span.source, view.span.offset.checked_add(at)?, bytes).ok()?;
        let [low, high] = [0, 8].map(|start| u64::from_le_bytes(std::array::from_fn(|i| element[start + i])));
        sum = mix(mix(sum ^ low) ^ high);
        different.insert(element);
    }
    (different.len() >= LEAST_DIFFERENT).then_some(Sample { dtype, elements, sum })
}

/// Where an element is in the storage, counted in elements; `place` counts through the view in row-major order.
fn view_place(view: &StridedView, mut place: u64) -> Option<u64> {
    let mut at = view.offset;
    for (&size, stride) in view.sizes.iter().zip(&view.strides).rev() {
        at = at.checked_add((place % size).checked_mul(*stride)?)?;
        place /= size;
    }
    Some(at)
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use modelexport_graph::Span;

    use super::*;

    const ROWS: u64 = 160;
    const COLUMNS: u64 = 128;

    /// A matrix of 32-bit elements in memory, and where it is.
    fn matrix(rows: u64, columns: u64, element: impl Fn(u64, u64) -> u64) -> (Sources, StridedView) {
        let places = (0..rows).flat_map(|row| (0..columns).map(move |column| (row, column)));
        let bytes: Vec<u8> =
            places.flat_map(|(row, column)| (element(row, column) as u32).to_le_bytes()).collect();
        let length = bytes.len() as u64;
        let mut sources = Sources::default();
        let source = sources.add_memory("matrix", Arc::new(bytes));
        let span = Span { source, offset: 0, length };
        (sources, StridedView { span, offset: 0, sizes: vec![rows, columns], strides: vec![columns, 1] })
    }

    fn numbers(row: u64, column: u64) -> u64 {
        mix(row * COLUMNS + column)
    }

    #[test]
    fn a_transposed_matrix_is_known_by_its_elements() {
        let (sources, view) = matrix(ROWS, COLUMNS, numbers);
        let (others, other) = matrix(COLUMNS, ROWS, |row, column| numbers(column, row));
        let sample = Sample::of(&view, DType::F32, &sources);
        assert!(sample.is_some());
        assert_eq!(Sample::of_transposed(&other, DType::F32, &others), sample);
        assert_ne!(Sample::of(&other, DType::F32, &others), sample);
    }

    #[test]
    fn a_view_in_another_order_is_its_elements_in_that_order() {
        let (sources, view) = matrix(ROWS, COLUMNS, numbers);
        let turned = view.permuted(&[1, 0]).unwrap();
        let (others, other) = matrix(COLUMNS, ROWS, |row, column| numbers(column, row));
        assert_eq!(Sample::of(&turned, DType::F32, &sources), Sample::of(&other, DType::F32, &others));
    }

    #[test]
    fn other_elements_and_types_are_something_else() {
        let (sources, view) = matrix(ROWS, COLUMNS, numbers);
        let (others, other) = matrix(ROWS, COLUMNS, |row, column| numbers(row, column) ^ 1);
        let sample = Sample::of(&view, DType::F32, &sources);
        assert_ne!(Sample::of(&other, DType::F32, &others), sample);
        assert_ne!(Sample::of(&view, DType::I32, &sources), sample);
    }

    #[test]
    fn few_different_numbers_and_small_tensors_have_no_sample() {
        let (sources, view) = matrix(ROWS, COLUMNS, |row, _| row % 16);
        assert_eq!(Sample::of(&view, DType::F32, &sources), None);
        let (sources, view) = matrix(127, COLUMNS, numbers);
        assert_eq!(Sample::of(&view, DType::F32, &sources), None);
    }

    #[test]
    fn what_cannot_be_read_has_no_sample() {
        let (sources, mut view) = matrix(ROWS, COLUMNS, numbers);
        view.offset = ROWS * COLUMNS;
        assert_eq!(Sample::of(&view, DType::F32, &sources), None);
    }
}

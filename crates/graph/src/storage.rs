//! Where the bytes of a weight are. Weights are never loaded: these are addresses.

/// Index into the table of byte sources (files, or memory that a caller owns) that goes with a program or model.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct SourceId(pub u32);

/// A range of bytes inside a source.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Span {
    pub source: SourceId,
    pub offset: u64,
    pub length: u64,
}

/// A tensor as PyTorch sees it: sizes and strides (in elements) over the bytes of a storage.
///
/// A plain weight is contiguous; a transposed or sliced one is not and is gathered while it is written.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct StridedView {
    /// The whole storage.
    pub span: Span,
    /// First element, counted in elements from the start of the storage.
    pub offset: u64,
    pub sizes: Vec<u64>,
    pub strides: Vec<u64>,
}

impl StridedView {
    /// Row-major without gaps, so that the elements are one run of bytes.
    pub fn is_contiguous(&self) -> bool {
        let mut expected = 1u64;
        for (&size, &stride) in self.sizes.iter().zip(&self.strides).rev() {
            if size != 1 && stride != expected {
                return self.sizes.contains(&0);
            }
            expected = expected.saturating_mul(size);
        }
        true
    }

    /// The same elements with the axes in another order; `None` if an axis does not exist.
    pub fn permuted(&self, permutation: &[usize]) -> Option<StridedView> {
        let pick = |values: &[u64]| -> Option<Vec<u64>> {
            permutation.iter().map(|&axis| values.get(axis).copied()).collect()
        };
        Some(StridedView { sizes: pick(&self.sizes)?, strides: pick(&self.strides)?, ..self.clone() })
    }
}

/// The number of elements; `None` if it does not fit. A size of zero makes it zero, however large the others are.
pub fn element_count(sizes: &[u64]) -> Option<u64> {
    if sizes.contains(&0) {
        return Some(0);
    }
    sizes.iter().try_fold(1u64, |count, &size| count.checked_mul(size))
}

/// The strides of elements that lie row after row without gaps.
pub fn row_major_strides(sizes: &[u64]) -> Vec<u64> {
    let mut strides: Vec<u64> = sizes
        .iter()
        .rev()
        .scan(1u64, |next, &size| {
            let stride = *next;
            *next = next.saturating_mul(size);
            Some(stride)
        })
        .collect();
    strides.reverse();
    strides
}

//! Sizes of dimensions, as far as they are known.

/// A dimension, or an integer that a shape is computed from.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Size {
    #[default]
    Unknown,
    Known(i64),
    /// Equal to every other size of this name; see [`crate::Symbols`].
    Named(Symbol),
}

/// A name of a dimension, as an index into [`crate::Symbols`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Symbol(pub u32);

/// The dimensions of a tensor.
pub type Dims = Vec<Size>;

impl From<i64> for Size {
    fn from(size: i64) -> Self {
        Size::Known(size)
    }
}

impl From<Option<i64>> for Size {
    fn from(size: Option<i64>) -> Self {
        size.map_or(Size::Unknown, Size::Known)
    }
}

impl Size {
    pub fn known(self) -> Option<i64> {
        match self {
            Size::Known(size) => Some(size),
            Size::Named(_) | Size::Unknown => None,
        }
    }

    /// As the size of a dimension, which is never negative.
    pub(crate) fn dimension(self) -> Size {
        if self.known().is_some_and(|size| size < 0) { Size::Unknown } else { self }
    }

    /// What is known here, completed by `other`: a number says more than a name.
    pub(crate) fn or(self, other: Size) -> Size {
        match (self, other) {
            (Size::Known(_), _) | (_, Size::Unknown) => self,
            (_, Size::Known(_)) | (Size::Unknown, _) => other,
            (Size::Named(_), Size::Named(_)) => self,
        }
    }

    pub(crate) fn differs(self, other: Size) -> bool {
        matches!((self, other), (Size::Known(a), Size::Known(b)) if a != b)
    }

    /// What is certain if the value is one or the other.
    pub(crate) fn common(self, other: Size) -> Size {
        if self == other { self } else { Size::Unknown }
    }

    /// Computed from two sizes; 0 added to a name and 1 times a name are that name.
    pub(crate) fn with(self, other: Size, f: impl Fn(i64, i64) -> Option<i64>) -> Size {
        self.known().zip(other.known()).and_then(|(a, b)| f(a, b)).into()
    }

    pub(crate) fn plus(self, other: Size) -> Size {
        match (self, other) {
            (Size::Known(0), sum) | (sum, Size::Known(0)) => sum,
            (a, b) => a.with(b, i64::checked_add),
        }
    }

    pub(crate) fn minus(self, other: Size) -> Size {
        if other == Size::Known(0) { self } else { self.with(other, i64::checked_sub) }
    }

    pub(crate) fn times(self, other: Size) -> Size {
        match (self, other) {
            (Size::Known(0), _) | (_, Size::Known(0)) => Size::Known(0),
            (Size::Known(1), product) | (product, Size::Known(1)) => product,
            (a, b) => a.with(b, i64::checked_mul),
        }
    }

    /// Rounded towards zero.
    pub(crate) fn over(self, other: Size) -> Size {
        if other == Size::Known(1) { self } else { self.with(other, i64::checked_div) }
    }
}

/// The number of elements.
pub(crate) fn product(dims: &[Size]) -> Size {
    dims.iter().fold(Size::Known(1), |product, &dim| product.times(dim))
}

/// The number of elements of `whole` for each element of `parts`: sizes of one name cancel each other.
pub(crate) fn quotient(whole: &[Size], parts: &[Size]) -> Size {
    let mut whole = whole.to_vec();
    let mut parts = parts.to_vec();
    parts.retain(|part| match whole.iter().position(|size| matches!(part, Size::Named(_)) && size == part) {
        Some(at) => {
            whole.swap_remove(at);
            false
        }
        None => true,
    });
    match (product(&whole), product(&parts)) {
        (whole, Size::Known(1)) => whole,
        (whole, part) => whole.with(part, |whole, part| match whole.checked_rem(part)? {
            0 => whole.checked_div(part),
            _ => None,
        }),
    }
}

/// `[2, ?, 8]`, or `?` if not even the rank is known.
pub fn shape_text(dims: Option<&[Size]>) -> String {
    let Some(dims) = dims else { return "?".to_owned() };
    let text = |dim: &Size| dim.known().map_or_else(|| "?".to_owned(), |size| size.to_string());
    format!("[{}]", dims.iter().map(text).collect::<Vec<_>>().join(", "))
}

/// An axis as an index, counted from the end if negative; `None` if it is out of range.
pub(crate) fn index(axis: i64, rank: usize) -> Option<usize> {
    let axis = if axis < 0 { axis.checked_add(i64::try_from(rank).ok()?)? } else { axis };
    usize::try_from(axis).ok().filter(|&axis| axis < rank)
}

/// The same for several axes.
pub(crate) fn indices(axes: &[i64], rank: usize) -> Option<Vec<usize>> {
    axes.iter().map(|&axis| index(axis, rank)).collect()
}

/// Shapes aligned at the last axis, where sizes of 1 stretch. `None` if they do not fit.
pub(crate) fn broadcast(a: &[Size], b: &[Size]) -> Option<Dims> {
    let rank = a.len().max(b.len());
    let at = |dims: &[Size], i: usize| {
        (i + dims.len()).checked_sub(rank).and_then(|i| dims.get(i)).copied().unwrap_or(Size::Known(1))
    };
    (0..rank)
        .map(|i| match (at(a, i), at(b, i)) {
            (Size::Known(1), other) | (other, Size::Known(1)) => Some(other),
            (a, b) if a.differs(b) => None,
            // Beside a number, what is not known is the number or 1.
            (size @ Size::Known(_), _) | (_, size @ Size::Known(_)) => Some(size),
            (a, b) => Some(a.common(b)),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    const N: Size = Size::Named(Symbol(0));

    fn dims(sizes: &[i64]) -> Dims {
        sizes.iter().map(|&size| if size < 0 { Size::Unknown } else { Size::Known(size) }).collect()
    }

    #[test]
    fn operands_stretch_from_behind() {
        assert_eq!(broadcast(&dims(&[2, 1, 4]), &dims(&[3, 1])), Some(dims(&[2, 3, 4])));
        assert_eq!(broadcast(&dims(&[2, 3]), &dims(&[4])), None);
        assert_eq!(broadcast(&dims(&[-1, 3]), &dims(&[5, 1])), Some(dims(&[5, 3])));
        assert_eq!(broadcast(&dims(&[0]), &dims(&[1])), Some(dims(&[0])));
        assert_eq!(broadcast(&[N, N], &[N, Size::Unknown]), Some(vec![N, Size::Unknown]));
    }

    #[test]
    fn sizes_of_one_name_cancel_each_other() {
        assert_eq!(quotient(&[N, Size::Known(6)], &[N, Size::Known(2)]), Size::Known(3));
        assert_eq!(quotient(&[N, Size::Known(6)], &[Size::Known(6)]), Size::Unknown);
        assert_eq!(quotient(&[N, Size::Known(1)], &[]), N);
        assert_eq!(quotient(&dims(&[7]), &dims(&[2])), Size::Unknown);
    }
}

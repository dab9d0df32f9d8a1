//! What is known of one value.

use modelexport_graph::DType;
use modelexport_graph::onnx::{DimensionValue, Tensor, Type, TypeKind};

use super::{Sizes, content};

/// Element type, dimensions and, for a few integers, the elements themselves.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub(crate) struct TensorType {
    pub dtype: Option<DType>,
    /// `None`: not even the rank is known.
    pub dims: Option<Vec<Option<u64>>>,
    /// Elements of a small integer tensor.
    pub content: Option<Vec<i64>>,
}

impl TensorType {
    pub(crate) fn new(dtype: Option<DType>, dims: Option<Vec<Option<u64>>>) -> Self {
        TensorType { dtype, dims, content: None }
    }

    /// Of a weight or constant.
    pub(crate) fn of_tensor(tensor: &Tensor) -> Self {
        let dims = tensor.dims.iter().map(|&dim| u64::try_from(dim).ok()).collect();
        TensorType { dtype: tensor.dtype(), dims: Some(dims), content: content::of_tensor(tensor) }
    }

    /// As a graph declares it. Only dimensions that are numbers are known for certain: see [`TensorType::with_named`].
    pub(crate) fn declared(declared: &Type) -> Self {
        let TypeKind::Tensor { elem_type, shape } = &declared.kind else { return TensorType::default() };
        let dims = shape.as_ref().map(|dims| {
            let size = |value: &DimensionValue| match value {
                DimensionValue::Static(size) => u64::try_from(*size).ok(),
                _ => None,
            };
            dims.iter().map(|dim| size(&dim.value)).collect()
        });
        TensorType::new(DType::from_onnx_code(*elem_type), dims)
    }

    /// The same, with what is still unknown filled in from the names of the declared dimensions.
    pub(crate) fn with_named(mut self, declared: &Type, sizes: &Sizes) -> Self {
        let TypeKind::Tensor { shape: Some(shape), .. } = &declared.kind else { return self };
        let dims = self.dims.get_or_insert_with(|| vec![None; shape.len()]);
        for (dim, declared) in dims.iter_mut().zip(shape) {
            if let (None, DimensionValue::Named(name)) = (&dim, &declared.value) {
                *dim = sizes.of(name);
            }
        }
        self
    }

    /// What is known here, completed by `other`.
    pub(crate) fn or(self, other: TensorType) -> Self {
        let dims = match (self.dims, other.dims) {
            (Some(mine), Some(other)) if mine.len() == other.len() => {
                Some(mine.into_iter().zip(other).map(|(mine, other)| mine.or(other)).collect())
            }
            (mine, other) => mine.or(other),
        };
        TensorType { dtype: self.dtype.or(other.dtype), dims, content: self.content.or(other.content) }
    }

    /// Why both cannot be said of one value.
    pub(crate) fn contradiction(&self, other: &TensorType) -> Option<String> {
        if let (Some(mine), Some(other)) = (self.dtype, other.dtype)
            && mine != other
        {
            return Some(format!("type {mine} and type {other}"));
        }
        let (Some(mine), Some(theirs)) = (&self.dims, &other.dims) else { return None };
        let differs = |(a, b): (&Option<u64>, &Option<u64>)| a.is_some() && b.is_some() && a != b;
        if mine.len() != theirs.len() || mine.iter().zip(theirs).any(differs) {
            return Some(format!("shape {} and shape {}", self.shape_text(), other.shape_text()));
        }
        None
    }

    /// `[2, ?, 8]`.
    pub(crate) fn shape_text(&self) -> String {
        let Some(dims) = &self.dims else { return "?".to_owned() };
        let dims: Vec<String> =
            dims.iter().map(|dim| dim.map_or_else(|| "?".to_owned(), |size| size.to_string())).collect();
        format!("[{}]", dims.join(", "))
    }

    pub(crate) fn rank(&self) -> Option<usize> {
        self.dims.as_ref().map(Vec::len)
    }

    /// Dimension `axis`, counted from the end if negative.
    pub(crate) fn dim(&self, axis: i64) -> Option<u64> {
        let dims = self.dims.as_ref()?;
        dims.get(index(axis, dims.len())?).copied().flatten()
    }

    /// All dimensions, if all are known.
    pub(crate) fn sizes(&self) -> Option<Vec<u64>> {
        self.dims.as_ref()?.iter().copied().collect()
    }

    pub(crate) fn elements(&self) -> Option<u64> {
        self.sizes()?.iter().try_fold(1u64, |product, &size| product.checked_mul(size))
    }

    pub(crate) fn bytes(&self) -> Option<u64> {
        self.dtype?.byte_len(self.elements()?)
    }
}

/// An axis as an index; `None` if it is out of range.
pub(super) fn index(axis: i64, rank: usize) -> Option<usize> {
    let rank = i64::try_from(rank).ok()?;
    let axis = if axis < 0 { axis.checked_add(rank)? } else { axis };
    usize::try_from(axis).ok().filter(|_| axis < rank)
}

//! Shapes and types of values, as far as the file and its operators tell.
//!
//! A file declares some values; the others are inferred from the nodes, in the order of the file. The inference is
//! modest: what an operator does to shapes is known for the common ones, everything else stays unknown. Small integer
//! contents (the results of `Shape`, sizes for `Reshape`) are followed, so that shapes computed in the graph are known.
//! With the shapes come the multiply-adds and the bytes that each node produces.

mod content;
mod convolution;
mod cost;
mod infer;
mod layout;
mod matrix;
mod tensor_type;
mod walk;

use std::collections::{BTreeMap, BTreeSet};

use modelexport_graph::onnx::{Dimension, DimensionValue, TypeKind, ValueInfo};

pub(crate) use cost::Cost;
pub(crate) use tensor_type::TensorType;
pub(crate) use walk::walk;

/// What a dimension with a name counts as.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Sizes {
    /// Nothing is assumed: such a dimension is not known.
    Unknown,
    /// These; 1 for names that are not listed.
    Given(BTreeMap<String, u64>),
}

/// The names of dimensions of `values`, each once.
pub(crate) fn dimension_names(values: &[ValueInfo]) -> BTreeSet<String> {
    let dims = values.iter().filter_map(|value| match &value.value_type.as_deref()?.kind {
        TypeKind::Tensor { shape, .. } => shape.as_ref(),
        _ => None,
    });
    let name = |dim: &Dimension| match &dim.value {
        DimensionValue::Named(name) => Some(name.clone()),
        _ => None,
    };
    dims.flatten().filter_map(name).collect()
}

impl Sizes {
    fn of(&self, name: &str) -> Option<u64> {
        match self {
            Sizes::Unknown => None,
            Sizes::Given(sizes) => Some(sizes.get(name).copied().unwrap_or(1)),
        }
    }
}

#[cfg(test)]
mod tests;

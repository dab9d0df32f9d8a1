//! Dimensions that are numbers or symbolic expressions.

use crate::sym_expr::{SymExpr, SymOp};

/// One dimension of a shape (or one stride).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Dim {
    Static(i64),
    Symbolic(SymExpr),
}

impl Dim {
    pub fn as_static(&self) -> Option<i64> {
        match self {
            Dim::Static(value) => Some(*value),
            Dim::Symbolic(_) => None,
        }
    }

    pub fn is(&self, value: i64) -> bool {
        self.as_static() == Some(value)
    }

    /// As an expression, also if it is a number.
    pub fn to_expr(&self) -> SymExpr {
        match self {
            Dim::Static(value) => SymExpr::Int(*value),
            Dim::Symbolic(expr) => expr.clone(),
        }
    }

    pub fn plus(&self, other: &Dim) -> Dim {
        match (self, other) {
            (Dim::Static(0), sum) | (sum, Dim::Static(0)) => sum.clone(),
            (Dim::Static(a), Dim::Static(b)) => Dim::Static(a.saturating_add(*b)),
            _ => Dim::Symbolic(SymExpr::Call(SymOp::Add, vec![self.to_expr(), other.to_expr()])),
        }
    }
}

impl From<i64> for Dim {
    fn from(value: i64) -> Self {
        Dim::Static(value)
    }
}

impl std::fmt::Display for Dim {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Dim::Static(value) => write!(f, "{value}"),
            Dim::Symbolic(expr) => write!(f, "{expr}"),
        }
    }
}

/// All dimensions as numbers, or `None` if one is symbolic.
pub fn static_shape(dims: &[Dim]) -> Option<Vec<i64>> {
    dims.iter().map(Dim::as_static).collect()
}

/// Number of elements, if all dimensions are known and the product fits.
pub fn static_numel(dims: &[Dim]) -> Option<i64> {
    dims.iter().try_fold(1i64, |product, dim| product.checked_mul(dim.as_static()?))
}

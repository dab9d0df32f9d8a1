//! Sizes and axes among the arguments, which may be symbolic.

use modelexport_graph::aten::{self, Arg, SymOr, ValueKind};
use modelexport_graph::{Dim, SymExpr, SymOp};

use super::Context;
use crate::error::Result;
use crate::schema::Default;

impl<'p> Context<'_, 'p> {
    /// The expression of a symbolic value.
    pub fn symbolic(&self, id: aten::ValueId) -> Option<&'p SymExpr> {
        match &self.graph.value(id)?.kind {
            ValueKind::SymInt(expr) | ValueKind::SymFloat(expr) | ValueKind::SymBool(expr) => Some(expr),
            _ => None,
        }
    }

    fn sym_dim(&self, name: &str, id: aten::ValueId) -> Result<Dim> {
        match self.symbolic(id) {
            Some(SymExpr::Int(value)) => Ok(Dim::Static(*value)),
            Some(expr) => Ok(Dim::Symbolic(expr.clone())),
            None => self.wrong(name, "a symbolic size", "another kind of value"),
        }
    }

    /// A size or index that may be symbolic.
    pub fn dim(&self, name: &str) -> Result<Dim> {
        match self.dim_opt(name)? {
            Some(dim) => Ok(dim),
            None => self.wrong_kind(name, "an integer", None),
        }
    }

    pub fn dim_opt(&self, name: &str) -> Result<Option<Dim>> {
        match self.arg(name) {
            Some(Arg::SymInt(id)) => self.sym_dim(name, *id).map(Some),
            _ => Ok(self.int_opt(name)?.map(Dim::Static)),
        }
    }

    /// Sizes that may be symbolic.
    pub fn dims(&self, name: &str) -> Result<Vec<Dim>> {
        match self.dims_opt(name)? {
            Some(dims) => Ok(dims),
            None => self.wrong_kind(name, "a list of sizes", None),
        }
    }

    pub fn dims_opt(&self, name: &str) -> Result<Option<Vec<Dim>>> {
        match self.arg(name) {
            Some(Arg::Ints(values)) => Ok(Some(values.iter().map(|&value| Dim::Static(value)).collect())),
            Some(Arg::Int(value)) => Ok(Some(vec![Dim::Static(*value)])),
            Some(Arg::SymInt(id)) => Ok(Some(vec![self.sym_dim(name, *id)?])),
            Some(Arg::SymInts(values)) => {
                let dims = values.iter().map(|value| match value {
                    SymOr::Const(value) => Ok(Dim::Static(*value)),
                    SymOr::Value(id) => self.sym_dim(name, *id),
                });
                dims.collect::<Result<Vec<Dim>>>().map(Some)
            }
            // An empty list has no kind of its own.
            Some(Arg::Tensors(values)) if values.is_empty() => Ok(Some(Vec::new())),
            None => match self.default_of(name) {
                Some(Default::Ints(values)) => Ok(Some(values.into_iter().map(Dim::Static).collect())),
                Some(Default::Int(value)) => Ok(Some(vec![Dim::Static(value)])),
                _ => Ok(None),
            },
            Some(other) => self.wrong_kind(name, "a list of sizes", Some(other)),
        }
    }

    /// Whether the size can be 0: it is, or it comes from data and the program does not say that it is larger. Sizes
    /// of inputs are at least 2 in a captured program.
    pub fn may_be_empty(&self, dim: &Dim) -> bool {
        let Dim::Symbolic(expr) = dim else { return dim.is(0) };
        let mut from_data = false;
        expr.for_each_symbol(&mut |symbol| {
            from_data |= self.least_of_symbol(symbol).is_some_and(|least| least < 1)
        });
        from_data && self.least(expr).is_none_or(|least| least < 1)
    }

    fn least_of_symbol(&self, symbol: &str) -> Option<i64> {
        self.lowering.program.ranges.iter().find(|(name, _)| **name == *symbol)?.1.min
    }

    /// A number that the expression does not go below.
    fn least(&self, expr: &SymExpr) -> Option<i64> {
        match expr {
            SymExpr::Int(value) => Some(*value),
            SymExpr::Symbol(name) => self.least_of_symbol(name),
            SymExpr::Call(SymOp::Add, terms) => {
                terms.iter().try_fold(0i64, |sum, term| sum.checked_add(self.least(term)?))
            }
            SymExpr::Call(SymOp::Mul, factors) => factors.iter().try_fold(1i64, |product, factor| {
                self.least(factor).filter(|least| *least >= 0).and_then(|least| product.checked_mul(least))
            }),
            SymExpr::Call(SymOp::Max, choices) => {
                choices.iter().filter_map(|choice| self.least(choice)).max()
            }
            _ => None,
        }
    }

    /// An axis argument, counted from the front.
    pub fn axis(&self, name: &str, rank: usize) -> Result<i64> {
        let axis = self.int(name)?;
        self.normalize_axis(name, axis, rank)
    }

    /// Axis arguments, counted from the front. `None` or an empty list in the program: all axes.
    pub fn axes(&self, name: &str, rank: usize) -> Result<Vec<i64>> {
        let axes = self.ints_opt(name)?.unwrap_or_default();
        if axes.is_empty() {
            return Ok((0..rank as i64).collect());
        }
        axes.into_iter().map(|axis| self.normalize_axis(name, axis, rank)).collect()
    }

    /// PyTorch lets a 0-D tensor have axis 0 and -1.
    pub fn normalize_axis(&self, name: &str, axis: i64, rank: usize) -> Result<i64> {
        let size = (rank as i64).max(1);
        if (-size..size).contains(&axis) {
            return Ok(if axis < 0 { axis + size } else { axis });
        }
        self.wrong(name, &format!("an axis of a tensor with {rank} dimensions"), axis)
    }
}

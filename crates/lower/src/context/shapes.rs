//! Symbolic sizes as values of the graph, and nodes that take them.

use modelexport_graph::{Dim, SymExpr};

use super::Context;
use crate::driver::Lowering;
use crate::error::Result;
use crate::ir::ValueId;

impl<'p> Context<'_, 'p> {
    /// One size as a 1-D `int64` tensor of one element.
    pub fn dim_value(&mut self, dim: &Dim) -> Result<ValueId> {
        self.shape_value(std::slice::from_ref(dim))
    }

    /// Sizes as a 1-D `int64` tensor.
    pub fn shape_value(&mut self, dims: &[Dim]) -> Result<ValueId> {
        let Lowering { symbols, builder, .. } = &mut *self.lowering;
        match symbols.shape_tensor(builder, dims) {
            Ok(value) => Ok(value),
            Err(symbol) => self.refuse(format!("needs the size `{symbol}`, which nothing before it tells")),
        }
    }

    /// Whether a size is known now, or can be told in the graph.
    pub fn can_compute(&self, dim: &Dim) -> bool {
        match dim {
            Dim::Static(_) => true,
            Dim::Symbolic(expr) => self.lowering.symbols.can_compute(expr),
        }
    }

    /// Reshapes to the sizes of a result of the program; symbolic sizes cost no node where ONNX can copy (0) or
    /// infer (-1) them.
    pub fn reshape(&mut self, value: ValueId, sizes: &[Dim]) -> Result<ValueId> {
        let old = self.shape(value).map(<[Dim]>::to_vec);
        if old.as_deref() == Some(sizes) {
            return Ok(value);
        }
        let has_empty = sizes.iter().any(|size| size.is(0));
        let is_copied = |i: usize, size: &Dim| old.as_ref().and_then(|old| old.get(i)) == Some(size);
        // A size cannot be inferred beside one that is 0.
        let mut inferred = sizes
            .iter()
            .enumerate()
            .any(|(i, size)| size.as_static().is_none() && is_copied(i, size) && self.may_be_empty(size));
        let short: Option<Vec<i64>> = sizes
            .iter()
            .enumerate()
            .map(|(i, size)| match size {
                Dim::Static(size) => Some(*size),
                _ if has_empty => None,
                _ if is_copied(i, size) => Some(0),
                _ if !inferred => {
                    inferred = true;
                    Some(-1)
                }
                _ => None,
            })
            .collect();
        let reshaped = match short {
            Some(short) if has_empty => {
                let target = self.const_ints(&short);
                self.emit("Reshape", &[value, target], crate::attrs![allowzero = 1])
            }
            Some(short) => {
                let target = self.const_ints(&short);
                self.emit("Reshape", &[value, target], vec![])
            }
            None => {
                let target = self.shape_value(sizes)?;
                let attributes = if has_empty { crate::attrs![allowzero = 1] } else { vec![] };
                self.emit("Reshape", &[value, target], attributes)
            }
        };
        self.set_shape(reshaped, sizes.to_vec());
        Ok(reshaped)
    }

    /// Broadcasts to `sizes`; no node if the shape is that already.
    pub fn expand(&mut self, value: ValueId, sizes: &[Dim]) -> Result<ValueId> {
        if self.shape(value) == Some(sizes) {
            return Ok(value);
        }
        let target = self.shape_value(sizes)?;
        let expanded = self.apply_expand(value, target);
        self.set_shape(expanded, sizes.to_vec());
        Ok(expanded)
    }

    /// A symbolic expression as a 1-D tensor of one element.
    pub fn compute(&mut self, expr: &SymExpr) -> Result<ValueId> {
        let Lowering { symbols, builder, .. } = &mut *self.lowering;
        match symbols.compute(builder, expr) {
            Ok(value) => Ok(value),
            Err(symbol) => self.refuse(format!("needs the size `{symbol}`, which nothing before it tells")),
        }
    }
}

//! Python numbers among the arguments.

use modelexport_graph::aten::Arg;
use modelexport_graph::{DType, SymExpr};

use super::Context;
use crate::error::Result;
use crate::ir::ValueId;
use crate::literal::Number;
use crate::schema::Default;

/// A Python number among the arguments.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Scalar {
    Bool(bool),
    Int(i64),
    Float(f64),
    /// Computed in the graph: a tensor of one element, `int64`, `float64` or `bool`.
    Value(ValueId),
}

impl Scalar {
    /// The number, if it is known now.
    pub fn number(self) -> Option<Number> {
        match self {
            Scalar::Bool(value) => Some(value.into()),
            Scalar::Int(value) => Some(value.into()),
            Scalar::Float(value) => Some(value.into()),
            Scalar::Value(_) => None,
        }
    }

    pub fn is(self, value: f64) -> bool {
        self.number().is_some_and(|number| number.as_f64() == value)
    }
}

impl<'p> Context<'_, 'p> {
    pub fn scalar_arg(&mut self, name: &str) -> Result<Scalar> {
        match self.scalar_opt(name)? {
            Some(scalar) => Ok(scalar),
            None => self.wrong_kind(name, "a number", None),
        }
    }

    pub fn scalar_opt(&mut self, name: &str) -> Result<Option<Scalar>> {
        Ok(Some(match self.arg(name) {
            Some(Arg::Bool(value)) => Scalar::Bool(*value),
            Some(Arg::Int(value)) => Scalar::Int(*value),
            Some(Arg::Float(value)) => Scalar::Float(*value),
            Some(Arg::SymInt(id) | Arg::SymFloat(id) | Arg::SymBool(id)) => match self.symbolic(*id) {
                Some(SymExpr::Int(value)) => Scalar::Int(*value),
                Some(SymExpr::Float(bits)) => Scalar::Float(f64::from_bits(*bits)),
                Some(SymExpr::Bool(value)) => Scalar::Bool(*value),
                Some(expr) => {
                    let expr = expr.clone();
                    Scalar::Value(self.compute(&expr)?)
                }
                None => return self.wrong(name, "a number", "another kind of value"),
            },
            None => match self.default_of(name) {
                Some(Default::Bool(value)) => Scalar::Bool(value),
                Some(Default::Int(value)) => Scalar::Int(value),
                Some(Default::Float(value)) => Scalar::Float(value),
                _ => return Ok(None),
            },
            Some(other) => return self.wrong_kind(name, "a number", Some(other)),
        }))
    }

    /// A scalar as a 0-D tensor of `dtype`.
    pub fn scalar_value(&mut self, scalar: Scalar, dtype: DType) -> ValueId {
        match scalar {
            Scalar::Bool(value) => self.const_scalar(dtype, value),
            Scalar::Int(value) => self.const_scalar(dtype, value),
            Scalar::Float(value) => self.const_scalar(dtype, value),
            Scalar::Value(value) => {
                let cast = self.cast(value, dtype);
                self.squeeze(cast, &[0])
            }
        }
    }
}

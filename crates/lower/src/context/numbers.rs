//! Arguments that are plain Python values.

use modelexport_graph::aten::Arg;
use modelexport_graph::{DType, Dim};

use super::Context;
use crate::error::Result;
use crate::schema::Default;

impl<'p> Context<'_, 'p> {
    pub fn int(&self, name: &str) -> Result<i64> {
        match self.int_opt(name)? {
            Some(value) => Ok(value),
            None => self.wrong_kind(name, "an integer", None),
        }
    }

    pub fn int_opt(&self, name: &str) -> Result<Option<i64>> {
        match self.arg(name) {
            Some(Arg::Int(value)) => Ok(Some(*value)),
            Some(Arg::Bool(value)) => Ok(Some(i64::from(*value))),
            Some(Arg::SymInt(id)) => match self.symbolic(*id).and_then(|expr| expr.as_int()) {
                Some(value) => Ok(Some(value)),
                None => self.wrong(name, "an integer that is known when exporting", "a symbolic size"),
            },
            None => match self.default_of(name) {
                Some(Default::Int(value)) => Ok(Some(value)),
                _ => Ok(None),
            },
            Some(other) => self.wrong_kind(name, "an integer", Some(other)),
        }
    }

    pub fn bool(&self, name: &str) -> Result<bool> {
        match self.arg(name) {
            Some(Arg::Bool(value)) => Ok(*value),
            Some(Arg::Int(value)) => Ok(*value != 0),
            None => match self.default_of(name) {
                Some(Default::Bool(value)) => Ok(value),
                _ => Ok(false),
            },
            Some(other) => self.wrong_kind(name, "true or false", Some(other)),
        }
    }

    pub fn float(&self, name: &str) -> Result<f64> {
        match self.float_opt(name)? {
            Some(value) => Ok(value),
            None => self.wrong_kind(name, "a number", None),
        }
    }

    pub fn float_opt(&self, name: &str) -> Result<Option<f64>> {
        match self.arg(name) {
            Some(Arg::Float(value)) => Ok(Some(*value)),
            Some(Arg::Int(value)) => Ok(Some(*value as f64)),
            Some(Arg::Bool(value)) => Ok(Some(f64::from(u8::from(*value)))),
            None => match self.default_of(name) {
                Some(Default::Float(value)) => Ok(Some(value)),
                Some(Default::Int(value)) => Ok(Some(value as f64)),
                _ => Ok(None),
            },
            Some(other) => self.wrong_kind(name, "a number", Some(other)),
        }
    }

    /// A list of numbers.
    pub fn floats_opt(&self, name: &str) -> Result<Option<Vec<f64>>> {
        match self.arg(name) {
            Some(Arg::Floats(values)) => Ok(Some(values.clone())),
            Some(Arg::Ints(values)) => Ok(Some(values.iter().map(|&value| value as f64).collect())),
            // An empty list has no kind of its own.
            Some(Arg::Tensors(values)) if values.is_empty() => Ok(Some(Vec::new())),
            None => Ok(None),
            Some(other) => self.wrong_kind(name, "a list of numbers", Some(other)),
        }
    }

    pub fn str_opt(&self, name: &str) -> Result<Option<String>> {
        match self.arg(name) {
            Some(Arg::Str(value)) => Ok(Some(value.to_string())),
            None => match self.default_of(name) {
                Some(Default::Text(value)) => Ok(Some(value)),
                _ => Ok(None),
            },
            Some(other) => self.wrong_kind(name, "a string", Some(other)),
        }
    }

    pub fn dtype_opt(&self, name: &str) -> Result<Option<DType>> {
        match self.arg(name) {
            Some(Arg::DType(dtype)) => Ok(Some(*dtype)),
            None => Ok(None),
            Some(other) => self.wrong_kind(name, "an element type", Some(other)),
        }
    }

    /// A list of numbers that are known when exporting; one number counts as a list of one.
    pub fn ints(&self, name: &str) -> Result<Vec<i64>> {
        match self.ints_opt(name)? {
            Some(values) => Ok(values),
            None => self.wrong_kind(name, "a list of integers", None),
        }
    }

    pub fn ints_opt(&self, name: &str) -> Result<Option<Vec<i64>>> {
        match self.dims_opt(name)? {
            None => Ok(None),
            Some(dims) => match dims.iter().map(Dim::as_static).collect() {
                Some(values) => Ok(Some(values)),
                None => self.wrong_kind(name, "integers that are known when exporting", self.arg(name)),
            },
        }
    }

    /// `ints` stretched to `count` values: PyTorch takes one number for all spatial axes.
    pub fn ints_for(&self, name: &str, count: usize) -> Result<Vec<i64>> {
        let values = self.ints_opt(name)?.unwrap_or_default();
        match values.as_slice() {
            [one] => Ok(vec![*one; count]),
            all if all.len() == count => Ok(values),
            _ => self.wrong(name, &format!("one or {count} integers"), values),
        }
    }
}

//! The attributes of an ONNX node.

use std::borrow::Cow;

use modelexport_graph::onnx::{AttributeValue, Graph, Node};
use modelexport_graph::{DType, Name};

use crate::operation::Attributes;
use crate::size::Size;
use crate::value_type::{Symbols, ValueType};

/// Values of the attributes of a function, for one call.
pub(crate) type Bindings<'a> = Vec<(&'a str, &'a AttributeValue)>;

/// A node, inside the call of a function or not.
pub(crate) struct Bound<'a> {
    pub node: &'a Node,
    pub call: &'a Bindings<'a>,
}

impl<'a> Bound<'a> {
    /// Inside a function, an attribute may stand for one of the function's.
    pub(crate) fn attribute(&self, name: &str) -> Option<&'a AttributeValue> {
        let found = self.node.attributes.iter().find(|attribute| &*attribute.name == name)?;
        if found.ref_attr_name.is_empty() {
            return Some(&found.value);
        }
        self.call.iter().find(|(name, _)| *name == found.ref_attr_name).map(|(_, value)| *value)
    }

    pub(crate) fn graph(&self, name: &str) -> Option<&'a Graph> {
        match self.attribute(name)? {
            AttributeValue::Graph(graph) => Some(graph),
            _ => None,
        }
    }

    /// The output, if the node names it.
    pub(crate) fn output(&self, i: usize) -> Option<&'a Name> {
        self.node.outputs.get(i).filter(|name| !name.is_empty())
    }
}

impl Attributes for Bound<'_> {
    fn int(&self, name: &str) -> Option<i64> {
        match self.attribute(name)? {
            AttributeValue::Int(value) => Some(*value),
            _ => None,
        }
    }

    fn ints(&self, name: &str) -> Option<Cow<'_, [i64]>> {
        match self.attribute(name)? {
            AttributeValue::Ints(values) => Some(Cow::Borrowed(values)),
            _ => None,
        }
    }

    fn text(&self, name: &str) -> Option<&str> {
        match self.attribute(name)? {
            AttributeValue::String(bytes) => std::str::from_utf8(bytes).ok(),
            _ => None,
        }
    }

    fn value_type(&self, name: &str) -> Option<ValueType> {
        let list =
            |dtype, length: usize| ValueType::tensor(Some(dtype), Some(vec![Size::Known(length as i64)]));
        let single = |dtype| ValueType::tensor(Some(dtype), Some(Vec::new()));
        Some(match self.attribute(name)? {
            AttributeValue::Tensor(tensor) => ValueType::of_tensor(tensor),
            AttributeValue::SparseTensor(tensor) => ValueType::of_sparse(tensor),
            AttributeValue::Type(stated) => {
                ValueType::declared(stated, &mut Symbols::default()).without_names()
            }
            AttributeValue::Int(value) => {
                ValueType { content: Some(vec![Size::Known(*value)]), ..single(DType::I64) }
            }
            AttributeValue::Ints(values) => {
                let content = values.iter().map(|&value| Size::Known(value)).collect();
                ValueType { content: Some(content), ..list(DType::I64, values.len()) }
            }
            AttributeValue::Float(_) => single(DType::F32),
            AttributeValue::Floats(values) => list(DType::F32, values.len()),
            AttributeValue::String(_) => single(DType::String),
            AttributeValue::Strings(values) => list(DType::String, values.len()),
            _ => return None,
        })
    }
}

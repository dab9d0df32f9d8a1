//! The nodes of an ONNX graph as a formula: a value that is read once stands where it is read, constants stand as
//! numbers.
//!
//! ```text
//! t1, _ = TopK(self, [2], axis=1)
//! Mul(t1, 0.5)
//! ```
//!
//! The last line has the results. `max` is the largest `int64`. Numbers are `float32` or `int64` unless their type follows them (`0.5:f64`).

use std::collections::HashMap;

use modelexport_graph::onnx::{AttributeValue, Graph, Node, Tensor, TensorData};
use modelexport_graph::{DType, Name};

use super::parse::short_name;
use crate::literal::{Literal, Number};

/// Longer formulas are not nested.
const MOST_NESTED: usize = 60;
/// Constants with more elements are told by their type.
const MOST_ELEMENTS: usize = 12;

pub(super) fn text(graph: &Graph) -> String {
    let mut printer = Printer { texts: HashMap::new(), uses: HashMap::new(), count: 0 };
    printer.count_uses(graph);
    printer.graph(graph).join("\n")
}

struct Printer {
    /// What stands for a value.
    texts: HashMap<Name, String>,
    /// How often a value is read.
    uses: HashMap<Name, usize>,
    /// Values that have a line of their own.
    count: usize,
}

impl Printer {
    fn graph(&mut self, graph: &Graph) -> Vec<String> {
        for tensor in &graph.initializers {
            self.texts.insert(tensor.name.clone(), constant(tensor));
        }
        let mut lines = Vec::new();
        let results: Vec<&Name> = graph.outputs.iter().map(|output| &output.name).collect();
        for (i, node) in graph.nodes.iter().enumerate() {
            let text = self.node(node);
            // The last node needs no name if it gives the results as they are.
            let is_last = i + 1 == graph.nodes.len();
            if is_last
                && node.outputs.len() == results.len()
                && node.outputs.iter().eq(results.iter().copied())
            {
                lines.push(text);
                return lines;
            }
            match node.outputs.as_slice() {
                [only] if self.uses(only) == 1 && text.len() <= MOST_NESTED && !text.contains('\n') => {
                    self.texts.insert(only.clone(), text);
                }
                outputs => {
                    let names: Vec<String> = outputs.iter().map(|output| self.fresh(output)).collect();
                    lines.push(format!("{} = {text}", names.join(", ")));
                }
            }
        }
        let results: Vec<String> = results.iter().map(|name| self.value(name)).collect();
        lines.push(if results.is_empty() { "nothing".into() } else { results.join(", ") });
        lines
    }

    fn count_uses(&mut self, graph: &Graph) {
        let inputs = graph.nodes.iter().flat_map(|node| &node.inputs);
        for name in inputs.chain(graph.outputs.iter().map(|output| &output.name)) {
            *self.uses.entry(name.clone()).or_default() += 1;
        }
        for subgraph in graph.nodes.iter().flat_map(Node::subgraphs) {
            self.count_uses(subgraph);
        }
    }

    fn uses(&self, name: &Name) -> usize {
        self.uses.get(name).copied().unwrap_or_default()
    }

    /// A short name for a value, `_` if nothing reads it.
    fn fresh(&mut self, name: &Name) -> String {
        if self.uses(name) == 0 {
            return "_".into();
        }
        self.count += 1;
        let short = format!("t{}", self.count);
        self.texts.insert(name.clone(), short.clone());
        short
    }

    fn value(&self, name: &Name) -> String {
        match self.texts.get(name) {
            Some(text) => text.clone(),
            None if name.is_empty() => "None".into(),
            None => name.to_string(),
        }
    }

    fn node(&mut self, node: &Node) -> String {
        let mut parts: Vec<String> = node.inputs.iter().map(|input| self.value(input)).collect();
        for attribute in &node.attributes {
            let value = self.attribute(&attribute.name, &attribute.value);
            parts.push(format!("{}={value}", attribute.name));
        }
        let domain = if node.domain.is_empty() { String::new() } else { format!("{}.", node.domain) };
        format!("{domain}{}({})", node.op_type, parts.join(", "))
    }

    fn attribute(&mut self, name: &str, value: &AttributeValue) -> String {
        match value {
            AttributeValue::Int(code) if matches!(name, "to" | "dtype" | "output_dtype") => {
                let dtype = i32::try_from(*code).ok().and_then(DType::from_onnx_code);
                dtype.map_or_else(|| code.to_string(), short_name)
            }
            AttributeValue::Int(value) => value.to_string(),
            AttributeValue::Float(value) => format!("{value:?}"),
            AttributeValue::Ints(values) => format!("{values:?}"),
            AttributeValue::Floats(values) => format!("{values:?}"),
            AttributeValue::String(bytes) => String::from_utf8_lossy(bytes).into_owned(),
            AttributeValue::Strings(all) => {
                let texts: Vec<_> = all.iter().map(|bytes| String::from_utf8_lossy(bytes)).collect();
                format!("[{}]", texts.join(", "))
            }
            AttributeValue::Tensor(tensor) => constant(tensor),
            AttributeValue::Graph(graph) => {
                let inputs: Vec<String> = graph.inputs.iter().map(|input| self.fresh(&input.name)).collect();
                let body = self.graph(graph).join("\n").replace('\n', "\n    ");
                format!("({}) {{\n    {body}\n}}", inputs.join(", "))
            }
            other => panic!("an attribute that no lowering makes: {other:?}"),
        }
    }
}

/// A small constant as numbers, a larger one by its type, a parameter by its name.
fn constant(tensor: &Tensor) -> String {
    let TensorData::Raw(bytes) = &tensor.data else {
        let order = tensor.metadata.iter().find(|(key, _)| key == "modelexport.permutation");
        return match order {
            Some((_, order)) => format!("{}.permute({order})", tensor.name),
            None => tensor.name.to_string(),
        };
    };
    let dtype = tensor.dtype().unwrap_or_else(|| panic!("a constant of type {}", tensor.data_type));
    let literal = Literal { dtype, dims: tensor.dims.clone(), bytes: bytes.clone() };
    match literal.numbers() {
        Some(numbers) if numbers.len() <= MOST_ELEMENTS && !literal.dims.contains(&0) => {
            let suffix = match dtype {
                DType::F32 | DType::I64 | DType::Bool => String::new(),
                other => format!(":{}", short_name(other)),
            };
            let mut numbers = numbers.into_iter().map(|number| number_text(dtype, number));
            nested(&literal.dims, &mut numbers) + &suffix
        }
        _ => format!("{}{:?}", short_name(dtype), literal.dims),
    }
}

fn number_text(dtype: DType, number: Number) -> String {
    match number {
        Number::Int(value) if dtype == DType::Bool => (value != 0).to_string(),
        Number::Int(i64::MAX) => "max".into(),
        Number::Int(value) if value == -i64::MAX => "-max".into(),
        Number::Int(value) => value.to_string(),
        Number::Float(value) if dtype == DType::F64 => format!("{value:?}"),
        Number::Float(value) => format!("{:?}", value as f32),
    }
}

/// `[[1, 2], [3, 4]]`.
fn nested(dims: &[i64], numbers: &mut dyn Iterator<Item = String>) -> String {
    match dims {
        [] => numbers.next().unwrap_or_default(),
        [count, inner @ ..] => {
            let items: Vec<String> = (0..*count).map(|_| nested(inner, numbers)).collect();
            format!("[{}]", items.join(", "))
        }
    }
}

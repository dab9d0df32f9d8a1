//! The types of values: those that a file declares, and those that follow from them.
//!
//! A file need not say what its inner values are. Element types follow forward from inputs and weights by the
//! operators' rules; shapes only where an operator keeps the shape of what it reads. What a rule does not know stays
//! unknown.

mod rules;

use std::collections::HashMap;

use modelexport_graph::Name;
use modelexport_graph::onnx::{
    Dimension, DimensionValue, Function, Graph, Model, Node, Tensor, Type, TypeKind, ValueInfo,
};

/// Types by value name.
#[derive(Clone, Debug, Default)]
pub(crate) struct ValueTypes {
    types: HashMap<Name, Type>,
}

impl ValueTypes {
    /// The types of the values of `graph`, which is the graph of `model` or one inside it; `outer` are those of the
    /// graphs around it.
    pub(crate) fn of(graph: &Graph, model: &Model, outer: Option<&ValueTypes>) -> ValueTypes {
        let mut types = outer.cloned().unwrap_or_default();
        types.declare_graph(graph);
        types.infer(&graph.nodes, &model.functions);
        types
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Type> {
        self.types.get(name)
    }

    fn declare_graph(&mut self, graph: &Graph) {
        for tensor in &graph.initializers {
            self.types.insert(tensor.name.clone(), of_tensor(tensor));
        }
        for tensor in &graph.sparse_initializers {
            if let Some(values) = &tensor.values {
                let kind = TypeKind::SparseTensor {
                    elem_type: values.data_type,
                    shape: Some(static_shape(&tensor.dims)),
                };
                self.types.insert(values.name.clone(), Type { kind, ..Type::default() });
            }
        }
        for info in graph.inputs.iter().chain(&graph.value_infos).chain(&graph.outputs) {
            self.declare(info);
        }
    }

    fn declare(&mut self, info: &ValueInfo) {
        if let Some(declared) = info.value_type.as_deref().filter(|found| is_known(found)) {
            self.types.insert(info.name.clone(), declared.clone());
        }
    }

    fn infer(&mut self, nodes: &[Node], functions: &[Function]) {
        for node in nodes {
            let is_open = |name: &Name| !name.is_empty() && !self.types.contains_key(name);
            if !node.outputs.iter().any(is_open) {
                continue;
            }
            let inferred = self.outputs(node, functions);
            for (name, found) in node.outputs.iter().zip(inferred) {
                if let Some(found) = found.filter(|_| !name.is_empty()) {
                    self.types.entry(name.clone()).or_insert(found);
                }
            }
        }
    }

    fn outputs(&self, node: &Node, functions: &[Function]) -> Vec<Option<Type>> {
        let called = functions.iter().find(|function| {
            (&function.name, &function.domain, &function.overload)
                == (&node.op_type, &node.domain, &node.overload)
        });
        if let Some(function) = called {
            return self.through_function(node, function, functions);
        }
        if node.subgraphs().next().is_some() {
            return self.through_graphs(node, functions);
        }
        let inputs: Vec<Option<&Type>> = node.inputs.iter().map(|name| self.types.get(name)).collect();
        (0..node.outputs.len()).map(|i| rules::output(node, i, &inputs)).collect()
    }

    fn through_function(
        &self,
        node: &Node,
        function: &Function,
        functions: &[Function],
    ) -> Vec<Option<Type>> {
        let mut inner = ValueTypes::default();
        for (formal, actual) in function.inputs.iter().zip(&node.inputs) {
            if let Some(found) = self.types.get(actual) {
                inner.types.insert(formal.clone(), found.clone());
            }
        }
        function.value_infos.iter().for_each(|info| inner.declare(info));
        inner.infer(&function.nodes, functions);
        function.outputs.iter().map(|name| inner.types.get(name).cloned()).collect()
    }

    /// `If` gives what its branches give. `Loop` and `Scan` give what their body gives: what a body collects has one
    /// dimension more than each piece, so that the shapes are left open.
    fn through_graphs(&self, node: &Node, functions: &[Function]) -> Vec<Option<Type>> {
        let is_if = &*node.op_type == "If";
        // The body of a `Loop` also gives the condition, first of all.
        let skipped = usize::from(&*node.op_type == "Loop");
        let mut outputs = vec![None; node.outputs.len()];
        for graph in node.subgraphs() {
            let mut inner = self.clone();
            inner.declare_graph(graph);
            inner.infer(&graph.nodes, functions);
            for (slot, given) in outputs.iter_mut().zip(graph.outputs.iter().skip(skipped)) {
                let found: Option<Type> = inner.types.get(&given.name).cloned();
                *slot = match (slot.take(), found) {
                    (None, found) => found.map(|found| if is_if { found } else { without_shape(found) }),
                    (Some(known), Some(found)) if known != found => Some(without_shape(known)),
                    (known, _) => known,
                };
            }
        }
        outputs
    }
}

/// Whether a declared type says anything.
fn is_known(declared: &Type) -> bool {
    match &declared.kind {
        TypeKind::Tensor { elem_type, .. } | TypeKind::SparseTensor { elem_type, .. } => *elem_type != 0,
        TypeKind::Missing => false,
        _ => true,
    }
}

fn without_shape(mut found: Type) -> Type {
    if let TypeKind::Tensor { shape, .. } = &mut found.kind {
        *shape = None;
    }
    found
}

/// The type of a dense weight.
pub(crate) fn of_tensor(tensor: &Tensor) -> Type {
    let kind = TypeKind::Tensor { elem_type: tensor.data_type, shape: Some(static_shape(&tensor.dims)) };
    Type { kind, ..Type::default() }
}

fn static_shape(dims: &[i64]) -> Vec<Dimension> {
    let dimension = |&dim: &i64| Dimension { value: DimensionValue::Static(dim), ..Dimension::default() };
    dims.iter().map(dimension).collect()
}

#[cfg(test)]
mod tests;

//! Parameters of an ONNX file that has no sidecar.
//!
//! Exporters keep the names of most parameters, but fold some into new tensors (a transposed weight). So an
//! initializer belongs to the module that it is named after, else to the deepest module that holds all its readers.
//! Whether it was trained is not known; single numbers, and sizes and indices, which are integers, are left out.

use std::collections::HashMap;

use modelexport_graph::module_tree::Parameter;
use modelexport_graph::onnx::{Model, Tensor};
use modelexport_graph::{ModuleId, Name};

use super::Hierarchy;
use crate::tensors;

/// Adds the initializers of `model`, whose nodes have their origin already.
pub(super) fn add_initializers(model: &Model, hierarchy: &mut Hierarchy) {
    let readers = readers(model, hierarchy);
    for tensor in &model.graph.initializers {
        let named_after = tensor.name.rsplit_once('.').and_then(|(path, _)| hierarchy.tree.find(path));
        let reader = || readers.get(&tensor.name).copied().flatten().filter(|_| looks_like_a_weight(tensor));
        let Some(module) = named_after.or_else(reader).and_then(|id| hierarchy.tree.get_mut(id)) else {
            continue;
        };
        module.parameters.push(Parameter {
            name: tensor.name.clone(),
            elements: tensors::elements(tensor),
            bytes: tensors::bytes(tensor),
            is_buffer: false,
        });
    }
}

/// For each initializer the deepest module that holds all nodes which read it.
pub fn readers<'a>(model: &'a Model, hierarchy: &Hierarchy) -> HashMap<&'a Name, Option<ModuleId>> {
    let mut readers: HashMap<&Name, Option<ModuleId>> =
        model.graph.initializers.iter().map(|tensor| (&tensor.name, None)).collect();
    model.graph.for_each_node(&mut |node| {
        let Some(origin) = &node.origin else { return };
        let module = hierarchy.scopes.module(origin.scope);
        for input in &node.inputs {
            if let Some(reader) = readers.get_mut(input) {
                *reader = Some(match *reader {
                    Some(known) => hierarchy.tree.lowest_common_ancestor(known, module),
                    None => module,
                });
            }
        }
    });
    readers
}

/// Weights are vectors of floating-point numbers, or matrices of integers where they are quantised.
fn looks_like_a_weight(tensor: &Tensor) -> bool {
    let rank = tensor.dims.len();
    tensor.dtype().is_some_and(|dtype| (dtype.is_float() && rank > 0) || (dtype.is_integer() && rank > 1))
}

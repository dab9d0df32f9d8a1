//! Parameters of an ONNX file that has no sidecar.
//!
//! Exporters keep the names of most parameters, but fold some into new tensors (a transposed weight). An initializer therefore
//! belongs to the module in its name, or else to the deepest module that contains all its readers. Whether it was trained is
//! unknown. Scalars, integers (sizes and indices), and scales and zero points of quantized weights are not parameters.

use std::collections::HashMap;

use modelexport_graph::module_tree::Parameter;
use modelexport_graph::onnx::{Model, Tensor};
use modelexport_graph::{DType, ModuleId, ModuleTree, Name, ScopeId};

use super::Hierarchy;
use super::quantised::Quantised;
use crate::strategies::graph::TextId;
use crate::strategies::{GraphView, NodeId};
use crate::tensors;

/// Adds initializers to the modules of `tree`. `reader` says which module reads an initializer, by it and its number.
pub(super) fn add_initializers(
    initializers: &[Tensor],
    tree: &mut ModuleTree,
    quantised: &Quantised,
    reader: &dyn Fn(&Tensor, usize) -> Option<ModuleId>,
) {
    let weights = initializers.iter().enumerate().filter(|(_, tensor)| !quantised.is_scale(&tensor.name));
    for (number, tensor) in weights {
        let named_after = tensor.name.rsplit_once('.').and_then(|(path, _)| tree.find(path));
        let reader = || reader(tensor, number).filter(|_| looks_like_a_weight(tensor));
        let Some(module) = named_after.or_else(reader).and_then(|id| tree.get_mut(id)) else { continue };
        module.parameters.push(Parameter {
            name: tensor.name.clone(),
            elements: quantised.elements(&tensor.name).unwrap_or_else(|| tensors::elements(tensor)),
            bytes: tensors::bytes(tensor),
            is_buffer: false,
            tied_to: None,
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
                widen(reader, module, &hierarchy.tree);
            }
        }
    });
    readers
}

/// The same by the number of the initializer. `calls` are the places of the nodes of `graph`.
pub(super) fn readers_in(
    graph: &GraphView,
    calls: &[Option<ScopeId>],
    hierarchy: &Hierarchy,
) -> Vec<Option<ModuleId>> {
    let mut numbers: HashMap<TextId, usize> = HashMap::new();
    let mut number_of: Vec<usize> = Vec::new();
    for (number, value) in graph.main_initializers().enumerate() {
        let name = graph.value(value).map(|value| value.name).unwrap_or_default();
        number_of.push(*numbers.entry(name).or_insert(number));
    }
    let mut readers = vec![None; number_of.len()];
    for (id, call) in graph.main_nodes().map(NodeId).zip(calls) {
        let Some(module) = call.map(|call| hierarchy.scopes.module(call)) else { continue };
        let names = graph.inputs(id).filter_map(|input| graph.value(input)).map(|value| value.name);
        for number in names.filter_map(|name| numbers.get(&name)) {
            if let Some(reader) = readers.get_mut(*number) {
                widen(reader, module, &hierarchy.tree);
            }
        }
    }
    number_of.into_iter().map(|number| readers.get(number).copied().flatten()).collect()
}

/// Makes `reader` hold `module`, too.
fn widen(reader: &mut Option<ModuleId>, module: ModuleId, tree: &ModuleTree) {
    *reader = Some(reader.map_or(module, |known| tree.lowest_common_ancestor(known, module)));
}

/// Weights are vectors of floating-point numbers, or matrices of small integers where they are quantised.
pub(crate) fn looks_like_a_weight(tensor: &Tensor) -> bool {
    let rank = tensor.dims.len();
    let is_small = |dtype: DType| dtype.is_integer() && dtype.bits().is_some_and(|bits| bits <= 8);
    tensor.dtype().is_some_and(|dtype| (dtype.is_float() && rank > 0) || (is_small(dtype) && rank > 1))
}

//! The tensors that a graph holds.

use modelexport_graph::DType;

use super::super::evidence::sorted_dims;
use super::super::graph::{GraphView, ValueId, ValueKind};
use super::super::parameters::LEAST_ELEMENTS;
use super::flow::{Flow, Uses};

/// A constant of the graph that data meets.
#[derive(Clone, Debug)]
pub(super) struct GraphConstant {
    pub value: ValueId,
    pub elements: u64,
    /// See [`sorted_dims`].
    pub dims: Vec<u64>,
    pub rank: usize,
    pub dtype: Option<DType>,
    pub is_initializer: bool,
    pub uses: Uses,
    /// How many nodes read it together with data.
    pub readers: usize,
}

impl GraphConstant {
    /// A number that may have been trained, or was made from one that was.
    pub(super) fn is_number(&self) -> bool {
        self.dtype.is_some_and(|dtype| dtype.is_float() || dtype.bits().is_some_and(|bits| bits <= 8))
    }
}

/// All constants of a graph that may be parameters.
pub(super) fn held(graph: &GraphView, flow: &Flow) -> Vec<GraphConstant> {
    let constants = graph.values().filter_map(|(id, entry)| {
        let tensor = graph.constant(id)?;
        let sizes: Vec<u64> = tensor.dims.iter().map(|dim| dim.unsigned_abs()).collect();
        let elements = sizes.iter().fold(1u64, |all, size| all.saturating_mul(*size));
        let is_initializer = matches!(entry.kind, ValueKind::Initializer(_));
        if elements < LEAST_ELEMENTS && !is_initializer {
            return None;
        }
        let readers = flow.readers(graph, id);
        let mut uses = Uses::default();
        readers.iter().for_each(|(node, slot)| uses.add(graph.operator(*node), *slot));
        let dims = sorted_dims(sizes);
        let (rank, dtype, readers) = (tensor.dims.len(), tensor.dtype, readers.len());
        Some(GraphConstant { value: id, elements, dims, rank, dtype, is_initializer, uses, readers })
    });
    constants.collect()
}

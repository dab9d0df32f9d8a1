//! Maps values of the graph to parameters of the model.
//!
//! Names are compared first. If an exporter renamed, transposed or folded a parameter, its content is compared. Only tensors
//! without a matching name are read, and in the evidence only those of the same type and size.

use std::collections::{HashMap, HashSet};

use modelexport_graph::DType;
use modelexport_io::source::Sources;

use super::contents::{KnownContents, Size};
use super::evidence::{Evidence, ParameterId, sorted_dims};
use super::graph::{Constant, GraphView, ValueId};
use super::lists::Lists;

/// Smaller tensors are not told apart by their content: too many constants have the same few numbers.
pub(super) const LEAST_ELEMENTS: u64 = 8;

/// By [`ValueId`]: the parameters that a value may be.
#[derive(Clone, Debug, Default)]
pub struct Anchors {
    candidates: Lists<ParameterId>,
    /// Parameters that no value of the graph matches by name or content, by their dimensions.
    by_dims: HashMap<Vec<u64>, Vec<ParameterId>>,
}

impl Anchors {
    /// `sources` is where the tensors of the graph lie.
    pub fn new(graph: &GraphView, sources: &Sources, evidence: &Evidence) -> Self {
        // Any value may have a parameter's name: one that equals another is made from it by an `Identity`.
        let mut candidates: Vec<Vec<ParameterId>> = graph
            .values()
            .map(|(_, value)| evidence.parameters.find(graph.text(value.name)).into_iter().collect())
            .collect();
        let named: HashSet<ParameterId> = candidates.iter().flatten().copied().collect();
        let tensors: Vec<(ValueId, Constant<'_>, Size)> = graph
            .values()
            .filter_map(|(id, _)| {
                let tensor = graph.constant(id)?;
                let size = |all: u64, &dim: &i64| all.checked_mul(u64::try_from(dim).ok()?);
                let elements = tensor.dims.iter().try_fold(1, size)?;
                (elements >= LEAST_ELEMENTS).then_some((id, tensor, (tensor.dtype?, elements)))
            })
            .collect();
        let in_graph = tensors.iter().map(|(_, _, size)| *size).collect();
        let known = KnownContents::new(evidence, &in_graph, &named);
        for (id, tensor, size) in tensors {
            let Some(place) = candidates.get_mut(id.0 as usize).filter(|_| known.has_size(size)) else {
                continue;
            };
            // An exporter that finds equal tensors keeps one of them, so that the others may be meant as well.
            let equal = match place.first() {
                Some(&named) => known.equal_to(named),
                None => known.equal_to_tensor(tensor, size, sources),
            };
            place.extend(equal.iter().filter(|id| !named.contains(id)));
            if place.is_empty() {
                place.extend(equal);
            }
        }
        pass_through_copies(graph, &mut candidates);
        let candidates = candidates.into_iter().collect::<Lists<ParameterId>>();
        let found: HashSet<ParameterId> = candidates.iter().flatten().copied().collect();
        let mut by_dims: HashMap<Vec<u64>, Vec<ParameterId>> = HashMap::new();
        for (id, fact) in evidence.parameters.iter().filter(|(id, _)| !found.contains(id)) {
            if let Some(dims) = fact.sorted_dims.as_ref().filter(|_| fact.elements >= LEAST_ELEMENTS) {
                by_dims.entry(dims.clone()).or_default().push(id);
            }
        }
        Anchors { candidates, by_dims }
    }

    /// The parameters that a constant of the graph may have been made from by changing its numbers, as an exporter
    /// does that merges a norm into a convolution: those of the same dimensions that are nowhere else.
    pub fn changed_from(&self, graph: &GraphView, value: ValueId) -> &[ParameterId] {
        let Some(tensor) = graph.constant(value).filter(|_| self.candidates(value).is_empty()) else {
            return &[];
        };
        let is_weight = tensor.dims.len() > 1 && tensor.dtype.is_some_and(DType::is_float);
        let dims = sorted_dims(tensor.dims.iter().map(|dim| dim.unsigned_abs()));
        self.by_dims.get(&dims).filter(|_| is_weight).map(Vec::as_slice).unwrap_or_default()
    }

    /// Whether no value of the graph is the parameter.
    pub fn is_gone(&self, parameter: ParameterId, evidence: &Evidence) -> bool {
        let dims = evidence.parameters.get(parameter).and_then(|fact| fact.sorted_dims.as_ref());
        dims.and_then(|dims| self.by_dims.get(dims))
            .is_some_and(|gone| gone.binary_search(&parameter).is_ok())
    }

    /// The parameters that a value may be, in the order of the evidence; empty if it is none.
    pub fn candidates(&self, value: ValueId) -> &[ParameterId] {
        self.candidates.get(value.0)
    }

    /// The parameter that a value is, if only one fits.
    pub fn parameter(&self, value: ValueId) -> Option<ParameterId> {
        match self.candidates(value) {
            [only] => Some(*only),
            _ => None,
        }
    }
}

/// What a copy of a constant is, the constant is: exporters that find equal tensors copy the one that they keep.
fn pass_through_copies(graph: &GraphView, candidates: &mut [Vec<ParameterId>]) {
    for (id, entry) in graph.nodes().filter(|(_, entry)| graph.text(entry.op_type) == "Identity") {
        let is_main = entry.holder().is_none();
        let (Some(input), [output]) = (graph.inputs(id).next(), graph.outputs(id)) else { continue };
        let of_input = candidates.get(input.0 as usize).cloned().unwrap_or_default();
        if let Some(place) = candidates.get_mut(output.0 as usize).filter(|place| is_main && place.is_empty())
        {
            *place = of_input;
        }
    }
}

//! Which parameter of the model an initializer is.
//!
//! By name first. An exporter may have renamed, transposed or folded a parameter; then its content tells, by a
//! fingerprint that does not depend on the order of elements. Fingerprints are taken only of tensors that no name
//! matched, and on the side of the evidence only where type and size fit.

use super::evidence::{Evidence, ParameterId};
use super::graph::{GraphView, ValueId};

/// By [`ValueId`]: the parameters that a value may be. One that matches by name is the only one.
#[derive(Clone, Debug, Default)]
pub struct Anchors {
    candidates: Vec<Vec<ParameterId>>,
}

impl Anchors {
    pub fn by_name(graph: &GraphView<'_>, evidence: &Evidence) -> Self {
        let found = graph.values().map(|(id, value)| match graph.constant(id) {
            Some(_) => evidence.parameters.find(value.name).into_iter().collect(),
            None => Vec::new(),
        });
        Anchors { candidates: found.collect() }
    }

    /// The parameters that a value may be, in the order of the evidence; empty if it is none.
    pub fn candidates(&self, value: ValueId) -> &[ParameterId] {
        self.candidates.get(value.0 as usize).map(Vec::as_slice).unwrap_or_default()
    }

    /// The parameter that a value is, if only one fits.
    pub fn parameter(&self, value: ValueId) -> Option<ParameterId> {
        match self.candidates(value) {
            [only] => Some(*only),
            _ => None,
        }
    }
}

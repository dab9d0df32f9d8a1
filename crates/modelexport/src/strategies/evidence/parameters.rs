//! Parameters, buffers and constants in evidence: their owners, readers and contents.

use modelexport_graph::hash::HashMap;
use modelexport_graph::{DType, ModuleId, Name, ScopeId};

/// Index into [`Parameters`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ParameterId(pub u32);

/// One tensor of the model.
#[derive(Clone, Debug, PartialEq)]
pub struct ParameterFact {
    /// PyTorch's name, such as `encoder.layer.0.attention.self.query.weight`. Of a tied one, the first.
    pub name: Name,
    /// The module that holds it under that name.
    pub owner: ModuleId,
    /// The calls that read it, in their order; empty if the evidence does not say.
    pub readers: Vec<ScopeId>,
    pub(crate) dtype: Option<DType>,
    pub(crate) elements: u64,
    /// Its dimensions, the smallest first; `None` if the evidence does not say.
    pub sorted_dims: Option<Vec<u64>>,
    /// See [`modelexport_io::fingerprint`]; `None` if it was not taken (yet).
    pub fingerprint: Option<u64>,
}

/// All tensors of the model, each once.
#[derive(Clone, Debug, Default)]
pub struct Parameters {
    facts: Vec<ParameterFact>,
    by_name: HashMap<Name, ParameterId>,
}

impl Parameters {
    pub(crate) fn add(&mut self, fact: ParameterFact) -> ParameterId {
        let id = ParameterId(self.facts.len() as u32);
        self.by_name.entry(fact.name.clone()).or_insert(id);
        self.facts.push(fact);
        id
    }

    /// Another name of a tied parameter.
    pub fn add_name(&mut self, name: &Name, id: ParameterId) {
        self.by_name.entry(name.clone()).or_insert(id);
    }

    /// The names of a tensor under `aliases`, the other paths of the module that holds it as `name`.
    pub fn add_aliases(&mut self, name: &str, aliases: &[Name], id: ParameterId) {
        let attribute = name.rsplit('.').next().unwrap_or(name);
        for alias in aliases {
            self.add_name(&format!("{alias}.{attribute}").into(), id);
        }
    }

    pub(crate) fn find(&self, name: &str) -> Option<ParameterId> {
        self.by_name.get(name).copied()
    }

    pub(crate) fn get(&self, id: ParameterId) -> Option<&ParameterFact> {
        self.facts.get(id.0 as usize)
    }

    pub(crate) fn get_mut(&mut self, id: ParameterId) -> Option<&mut ParameterFact> {
        self.facts.get_mut(id.0 as usize)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = (ParameterId, &ParameterFact)> + '_ {
        self.facts.iter().enumerate().map(|(i, fact)| (ParameterId(i as u32), fact))
    }

    pub(crate) fn len(&self) -> usize {
        self.facts.len()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.facts.is_empty()
    }
}

/// Dimensions without their order, without those of size 1: what an exporter that transposes leaves as it is.
pub fn sorted_dims(dims: impl IntoIterator<Item = u64>) -> Vec<u64> {
    let mut dims: Vec<u64> = dims.into_iter().filter(|&dim| dim != 1).collect();
    dims.sort_unstable();
    dims
}

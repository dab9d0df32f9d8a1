//! Types and shapes of tensors, interned: a model has few different ones.

use std::collections::HashMap;
use std::sync::Arc;

use modelexport_graph::DType;

/// What is known of a tensor: its type and its sizes, `None` for those that are not numbers.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Fact {
    pub dtype: DType,
    pub sizes: Vec<Option<i64>>,
}

impl Fact {
    /// Whether both may describe one tensor.
    pub fn agrees(&self, other: &Fact) -> bool {
        let same = |(a, b): (&Option<i64>, &Option<i64>)| a.is_none() || b.is_none() || a == b;
        self.dtype == other.dtype
            && self.sizes.len() == other.sizes.len()
            && self.sizes.iter().zip(&other.sizes).all(same)
    }
}

/// Index into [`Facts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FactId(u32);

/// Facts, each once: two are equal if their ids are.
#[derive(Clone, Debug, Default)]
pub(super) struct Facts {
    facts: Vec<Arc<Fact>>,
    ids: HashMap<Arc<Fact>, FactId>,
}

impl Facts {
    pub(super) fn add(&mut self, fact: Fact) -> FactId {
        if let Some(known) = self.ids.get(&fact) {
            return *known;
        }
        let id = FactId(self.facts.len() as u32);
        let fact = Arc::new(fact);
        self.facts.push(fact.clone());
        self.ids.insert(fact, id);
        id
    }

    pub(super) fn get(&self, id: FactId) -> Option<&Fact> {
        self.facts.get(id.0 as usize).map(|fact| &**fact)
    }
}

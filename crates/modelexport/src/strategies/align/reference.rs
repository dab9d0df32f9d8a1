//! The executed steps: the side of an alignment whose modules are known.

use std::collections::HashMap;

use modelexport_graph::{Name, ScopeId};

use super::super::facts::{Fact, FactId, Facts};
use super::super::lists::Lists;

/// A run of a model as a list of ATen operators in their order.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    pub(super) steps: Vec<Step>,
    sources: Lists<Source>,
    ports: Lists<u32>,
    results: Lists<FactId>,
    facts: Facts,
    /// ATen operators, each once.
    targets: Vec<Name>,
    target_ids: HashMap<Name, TargetId>,
    /// Names of the model's inputs; [`Source::Input`] is an index.
    pub inputs: Vec<Name>,
    /// What the model's outputs are, in their order.
    pub outputs: Vec<Option<Source>>,
}

/// Index into the ATen operators of a [`Reference`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct TargetId(pub u32);

/// One ATen operator that ran.
#[derive(Clone, Debug)]
pub struct Step {
    pub target: TargetId,
    pub call: ScopeId,
    /// The name of the FX node, where there is one.
    pub name: Option<Name>,
    /// Stands for all arguments that are no tensors: two steps with equal ones and equal sources compute the same.
    pub arguments: u64,
}

/// Where a tensor that a step reads comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Source {
    /// The result of an earlier step; index into [`Reference::steps`].
    Step(u32),
    Input(u32),
    /// A class of equal weights, see [`super::weights`].
    Weight(u32),
}

impl Reference {
    /// The number of an ATen operator such as `aten.linear.default`.
    pub fn target_id(&mut self, target: &Name) -> TargetId {
        if let Some(known) = self.target_ids.get(target) {
            return *known;
        }
        let id = TargetId(self.targets.len() as u32);
        self.targets.push(target.clone());
        self.target_ids.insert(target.clone(), id);
        id
    }

    /// Adds a step. It reads `origins` in this order: where a tensor comes from, and which of the results of the step
    /// that made it it is. `results` are its own as far as they are known, in their order.
    pub fn push(&mut self, step: Step, origins: &[(Source, u32)], results: impl Iterator<Item = Fact>) {
        self.steps.push(step);
        self.sources.push(origins.iter().map(|(source, _)| *source));
        self.ports.push(origins.iter().map(|(_, port)| *port));
        let facts = &mut self.facts;
        self.results.push(results.map(|fact| facts.add(fact)));
    }

    /// Lets go of all but the steps themselves.
    pub fn keep_steps(&mut self) {
        let Reference { steps, targets, .. } = std::mem::take(self);
        *self = Reference { steps, targets, ..Reference::default() };
    }

    pub fn len(&self) -> usize {
        self.steps.len()
    }

    pub fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    pub fn step(&self, step: u32) -> Option<&Step> {
        self.steps.get(step as usize)
    }

    /// The tensors that a step reads, in their order.
    pub fn sources(&self, step: u32) -> &[Source] {
        self.sources.get(step)
    }

    /// By source: which of the results of the step that made it.
    pub fn ports(&self, step: u32) -> &[u32] {
        self.ports.get(step)
    }

    /// What is known of the results of a step, in their order.
    pub fn results(&self, step: u32) -> &[FactId] {
        self.results.get(step)
    }

    pub fn fact(&self, id: FactId) -> Option<&Fact> {
        self.facts.get(id)
    }

    /// `aten.linear.default`, by [`TargetId`].
    pub fn targets(&self) -> &[Name] {
        &self.targets
    }

    pub fn target(&self, id: TargetId) -> Option<&Name> {
        self.targets.get(id.0 as usize)
    }
}

//! What ran, step by step: the side of an alignment whose modules are known.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use modelexport_graph::{DType, Name, ScopeId};
use modelexport_lower::foreign_forms::{self, Forms, Trace};

/// A run of a model as a list of ATen operators in their order.
#[derive(Clone, Debug, Default)]
pub struct Reference {
    pub steps: Vec<Step>,
    /// Names of the model's inputs; [`Source::Input`] is an index.
    pub inputs: Vec<Name>,
    /// What the model's outputs are, in their order.
    pub outputs: Vec<Option<Source>>,
}

/// One ATen operator that ran.
#[derive(Clone, Debug)]
pub struct Step {
    /// `aten.linear.default`.
    pub target: Name,
    /// The name of the FX node, where there is one.
    pub name: Option<Name>,
    pub call: ScopeId,
    /// The tensors that it reads, in their order.
    pub sources: Vec<Source>,
    /// By source: which of the results of the step that made it.
    pub ports: Vec<u32>,
    /// Its results as far as they are known, in their order.
    pub results: Vec<Fact>,
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

/// What is known of a tensor: its type and its sizes, `None` for those that are not numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
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

/// Longest list of sources that is kept for a step, and how many steps that may be missing are looked through.
const MAX_SOURCES: usize = 12;
const MAX_LOOK_THROUGH: usize = 4;

/// A reference with what follows from it for an alignment.
#[derive(Debug)]
pub struct Prepared<'r> {
    pub reference: &'r Reference,
    pub forms: Vec<Option<&'static Forms>>,
    /// By step: the first step that computes the same.
    pub first_equal: Vec<u32>,
    /// By step: depends on no input of the model, so that an exporter may compute it once and for all.
    pub is_foldable: Vec<bool>,
    /// By step: nothing that the model returns depends on it.
    pub is_dead: Vec<bool>,
    /// By step: gives what it reads as it is, or is merged into what it reads in many graphs.
    pub is_slight: Vec<bool>,
    /// By step: what it reads, through steps that leave no node.
    pub near: Vec<Vec<Source>>,
    /// By step: what it reads if steps that may vanish did vanish.
    pub far: Vec<Vec<Source>>,
    /// By step: steps that read its result, through steps that leave no node.
    pub readers: Vec<Vec<u32>>,
    /// By output of the model, through steps that leave no node.
    pub outputs: Vec<Vec<Source>>,
}

impl<'r> Prepared<'r> {
    pub fn new(reference: &'r Reference) -> Self {
        let steps = &reference.steps;
        let forms: Vec<_> = steps.iter().map(|step| foreign_forms::find(&step.target)).collect();
        let mut prepared = Prepared {
            reference,
            forms,
            first_equal: Vec::with_capacity(steps.len()),
            is_foldable: Vec::with_capacity(steps.len()),
            is_dead: dead_steps(reference),
            is_slight: steps.iter().map(|step| is_slight(reference, step)).collect(),
            near: Vec::with_capacity(steps.len()),
            far: Vec::with_capacity(steps.len()),
            readers: vec![Vec::new(); steps.len()],
            outputs: Vec::new(),
        };
        let mut seen: HashMap<u64, u32> = HashMap::new();
        let mut numbers: Vec<u64> = Vec::with_capacity(steps.len());
        for (i, step) in steps.iter().enumerate() {
            let number = number(step, &numbers, prepared.trace(i as u32));
            let first = *seen.entry(number).or_insert(i as u32);
            numbers.push(number);
            prepared.first_equal.push(first);
            let near = prepared.seen_through(&step.sources);
            let read = foreign_forms::tensors_read(&step.target, step.sources.len());
            let foldable = step.sources.iter().take(read).all(|source| match source {
                Source::Step(s) => prepared.is_foldable.get(*s as usize).copied().unwrap_or(false),
                Source::Input(_) => false,
                Source::Weight(_) => true,
            });
            prepared.is_foldable.push(foldable);
            for source in &near {
                if let Source::Step(s) = source
                    && let Some(readers) = prepared.readers.get_mut(*s as usize)
                    && prepared.forms.get(i).copied().flatten().is_none_or(|forms| forms.trace != Trace::None)
                {
                    readers.push(i as u32);
                }
            }
            let far = prepared.looked_through(&near);
            prepared.near.push(near);
            prepared.far.push(far);
        }
        prepared.lend_weights();
        prepared.outputs =
            reference.outputs.iter().map(|output| prepared.seen_through(output.as_slice())).collect();
        prepared
    }

    pub fn trace(&self, step: u32) -> Trace {
        self.forms.get(step as usize).copied().flatten().map_or(Trace::Compute, |forms| forms.trace)
    }

    /// The first step that computes the same as `step`.
    pub fn first(&self, step: u32) -> u32 {
        self.first_equal.get(step as usize).copied().unwrap_or(step)
    }

    /// `sources` with steps that leave no node replaced by what these read, and equal steps by the first of them.
    fn seen_through(&self, sources: &[Source]) -> Vec<Source> {
        let mut seen = Vec::new();
        for source in sources {
            match source {
                Source::Step(s) if self.trace(*s) == Trace::None => {
                    let through = self.near.get(*s as usize).map(Vec::as_slice).unwrap_or_default();
                    through.iter().for_each(|source| push_new(&mut seen, *source));
                }
                Source::Step(s) => {
                    push_new(&mut seen, Source::Step(self.first(*s)));
                }
                other => push_new(&mut seen, *other),
            }
        }
        seen
    }

    /// What is behind `near`, if steps that may be missing are.
    fn looked_through(&self, near: &[Source]) -> Vec<Source> {
        let mut far = Vec::new();
        let mut front = near.to_vec();
        for _ in 0..MAX_LOOK_THROUGH {
            let mut next = Vec::new();
            for source in &front {
                let Source::Step(s) = source else { continue };
                if !self.may_vanish(*s) {
                    continue;
                }
                // A step that vanished took its weights with it, unless it only prepared weights.
                let is_foldable = self.is_foldable.get(*s as usize).copied().unwrap_or(false);
                for behind in self.near.get(*s as usize).map(Vec::as_slice).unwrap_or_default() {
                    if matches!(behind, Source::Weight(_)) && !is_foldable {
                        continue;
                    }
                    if !near.contains(behind) && !far.contains(behind) && far.len() < MAX_SOURCES {
                        far.push(*behind);
                        next.push(*behind);
                    }
                }
            }
            front = next;
        }
        far
    }

    /// A step into which its reader is merged reads the weights of its reader.
    fn lend_weights(&mut self) {
        for (i, step) in self.reference.steps.iter().enumerate() {
            let (Some(Source::Step(into)), Some(true)) = (step.sources.first(), self.is_slight.get(i)) else {
                continue;
            };
            let weights = step.sources.iter().filter(|source| matches!(source, Source::Weight(_)));
            if let Some(far) = self.far.get_mut(*into as usize) {
                weights.for_each(|weight| push_new(far, *weight));
            }
        }
    }

    /// Whether graphs are common in which nothing stands for a step.
    pub fn may_vanish(&self, step: u32) -> bool {
        let dynamic = |source: &&Source| !matches!(source, Source::Weight(_));
        let near = self.near.get(step as usize).map(Vec::as_slice).unwrap_or_default();
        match self.trace(step) {
            Trace::None | Trace::Move => true,
            Trace::Compute => near.iter().filter(dynamic).count() <= 1,
        }
    }
}

/// Steps that no output of the model depends on. All live if the outputs are not known.
fn dead_steps(reference: &Reference) -> Vec<bool> {
    let mut dead = vec![!reference.outputs.is_empty(); reference.steps.len()];
    let revive = |dead: &mut Vec<bool>, source: &Source| {
        if let Source::Step(step) = source
            && let Some(dead) = dead.get_mut(*step as usize)
        {
            *dead = false;
        }
    };
    reference.outputs.iter().flatten().for_each(|source| revive(&mut dead, source));
    for (i, step) in reference.steps.iter().enumerate().rev() {
        if dead.get(i) == Some(&false) {
            step.sources.iter().for_each(|source| revive(&mut dead, source));
        }
    }
    dead
}

/// Whether a step does nothing, or scales the result of a product.
fn is_slight(reference: &Reference, step: &Step) -> bool {
    let Some((Source::Step(source), port)) = step.sources.first().zip(step.ports.first()) else {
        return false;
    };
    let Some(source) = reference.steps.get(*source as usize) else { return false };
    if foreign_forms::is_merged(&source.target, &step.target) {
        return step.sources.iter().skip(1).all(|source| matches!(source, Source::Weight(_)));
    }
    match (step.results.first(), source.results.get(*port as usize)) {
        (Some(result), Some(read)) => result == read && foreign_forms::keeps_same_size(&step.target),
        _ => false,
    }
}

/// A number that two steps share if they compute the same. `numbers` are those of the steps before.
fn number(step: &Step, numbers: &[u64], trace: Trace) -> u64 {
    let of = |source: &Source| match source {
        Source::Step(s) => (0, numbers.get(*s as usize).copied().unwrap_or(0)),
        Source::Input(input) => (1, u64::from(*input)),
        Source::Weight(weight) => (2, u64::from(*weight)),
    };
    let mut hasher = DefaultHasher::new();
    match step.sources.as_slice() {
        [Source::Step(s)] if trace == Trace::None && step.results.len() == 1 && step.ports == [0] => {
            return numbers.get(*s as usize).copied().unwrap_or(0);
        }
        sources => sources.iter().map(of).zip(&step.ports).for_each(|pair| pair.hash(&mut hasher)),
    }
    (&step.target, step.arguments).hash(&mut hasher);
    hasher.finish()
}

fn push_new(list: &mut Vec<Source>, source: Source) {
    if list.len() < MAX_SOURCES && !list.contains(&source) {
        list.push(source);
    }
}

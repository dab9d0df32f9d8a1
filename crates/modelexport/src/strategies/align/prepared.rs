//! Data derived from a reference for an alignment.

use std::collections::HashMap;
use std::hash::{DefaultHasher, Hash, Hasher};

use modelexport_lower::foreign_forms::{self, Forms, Trace};

use super::super::lists::Lists;
use super::reference::{Reference, Source, Step, TargetId};

/// Longest list of sources that is kept for a step, and how many steps that may be missing are looked through.
const MAX_SOURCES: usize = 12;
const MAX_LOOK_THROUGH: usize = 4;

/// A reference with what follows from it for an alignment.
#[derive(Debug)]
pub(crate) struct Prepared<'r> {
    pub reference: &'r Reference,
    /// By [`TargetId`].
    operators: Vec<Operator>,
    /// By step: the first step that computes the same.
    pub first_equal: Vec<u32>,
    /// By step: depends on no input of the model, so that an exporter may compute it once and for all.
    pub is_foldable: Vec<bool>,
    /// By step: nothing that the model returns depends on it.
    pub is_dead: Vec<bool>,
    /// By step: gives what it reads as it is, or is merged into what it reads in many graphs.
    pub is_slight: Vec<bool>,
    /// By step: what it reads, through steps that leave no node.
    pub near: Lists<Source>,
    /// By step: what it reads if steps that may vanish did vanish.
    pub far: Lists<Source>,
    /// By step: steps that read its result, through steps that leave no node.
    pub readers: Lists<u32>,
    /// By output of the model, through steps that leave no node.
    pub outputs: Vec<Vec<Source>>,
}

/// What is known of an ATen operator.
#[derive(Clone, Copy, Debug)]
struct Operator {
    forms: Option<&'static Forms>,
    /// How many of the tensors that it reads matter by their content.
    tensors_read: usize,
    keeps_same_size: bool,
    is_product: bool,
    is_scale: bool,
}

impl Operator {
    fn new(target: &str) -> Self {
        Operator {
            forms: foreign_forms::find(target),
            tensors_read: foreign_forms::tensors_read(target, usize::MAX),
            keeps_same_size: foreign_forms::keeps_same_size(target),
            is_product: foreign_forms::is_product(target),
            is_scale: foreign_forms::is_scale(target),
        }
    }
}

impl<'r> Prepared<'r> {
    pub(crate) fn new(reference: &'r Reference) -> Self {
        let count = reference.len();
        let mut prepared = Prepared {
            reference,
            operators: reference.targets().iter().map(|target| Operator::new(target)).collect(),
            first_equal: Vec::with_capacity(count),
            is_foldable: Vec::with_capacity(count),
            is_dead: dead_steps(reference),
            is_slight: Vec::new(),
            near: Lists::with_capacity(count),
            far: Lists::with_capacity(count),
            readers: Lists::default(),
            outputs: Vec::new(),
        };
        prepared.is_slight = (0..count as u32).map(|step| prepared.is_slight(step)).collect();
        prepared.look_near();
        prepared.find_readers();
        prepared.look_far();
        prepared.outputs =
            reference.outputs.iter().map(|output| prepared.seen_through(output.as_slice())).collect();
        prepared
    }

    fn operator(&self, step: u32) -> Option<&Operator> {
        let TargetId(target) = self.reference.step(step)?.target;
        self.operators.get(target as usize)
    }

    /// What may stand for a step; `None` if nothing is known of its operator.
    pub(crate) fn forms(&self, step: u32) -> Option<&'static Forms> {
        self.operator(step)?.forms
    }

    pub(crate) fn trace(&self, step: u32) -> Trace {
        self.forms(step).map_or(Trace::Compute, |forms| forms.trace)
    }

    /// The first step that computes the same as `step`.
    pub(crate) fn first(&self, step: u32) -> u32 {
        self.first_equal.get(step as usize).copied().unwrap_or(step)
    }

    /// Whether exporters may write one node for `first` and the step `then` that reads its result.
    pub(crate) fn is_merged(&self, first: u32, then: u32) -> bool {
        let is = |step, what: fn(&Operator) -> bool| self.operator(step).is_some_and(what);
        is(first, |operator| operator.is_product) && is(then, |operator| operator.is_scale)
    }

    /// Equal steps, what can be folded, and what each step reads.
    fn look_near(&mut self) {
        let reference = self.reference;
        let mut seen: HashMap<u64, u32> = HashMap::with_capacity(reference.len());
        let mut numbers: Vec<u64> = Vec::with_capacity(reference.len());
        for (step, i) in reference.steps().iter().zip(0..) {
            let number = number(reference, step, i, &numbers, self.trace(i));
            let first = *seen.entry(number).or_insert(i);
            numbers.push(number);
            self.first_equal.push(first);
            let sources = reference.sources(i);
            let read = self.operator(i).map_or(sources.len(), |operator| operator.tensors_read);
            let foldable = sources.iter().take(read).all(|source| match source {
                Source::Step(s) => self.is_foldable.get(*s as usize).copied().unwrap_or(false),
                Source::Input(_) => false,
                Source::Weight(_) => true,
            });
            self.is_foldable.push(foldable);
            let near = self.seen_through(sources);
            self.near.push(near);
        }
    }

    fn find_readers(&mut self) {
        let steps = self.reference.len();
        let leaves_node = |step: u32| self.forms(step).is_none_or(|forms| forms.trace != Trace::None);
        self.readers = Lists::grouped(steps, || {
            self.near.iter().zip(0..).filter(|(_, i)| leaves_node(*i)).flat_map(|(near, i)| {
                near.iter().filter_map(move |source| match source {
                    Source::Step(s) => Some((*s, i)),
                    _ => None,
                })
            })
        });
    }

    /// What each step reads if others vanished. A step into which its reader is merged reads the weights of its reader.
    fn look_far(&mut self) {
        let reference = self.reference;
        let lent = Lists::grouped(reference.len(), || {
            (0..reference.len() as u32).zip(&self.is_slight).filter_map(|(step, is_slight)| {
                match reference.sources(step).first() {
                    Some(Source::Step(into)) if *is_slight => Some((*into, step)),
                    _ => None,
                }
            })
        });
        for step in 0..reference.len() as u32 {
            let mut far = self.looked_through(self.near.get(step));
            for lender in lent.get(step) {
                let weights =
                    reference.sources(*lender).iter().filter(|source| matches!(source, Source::Weight(_)));
                weights.for_each(|weight| push_new(&mut far, *weight));
            }
            self.far.push(far);
        }
    }

    /// `sources` with steps that leave no node replaced by what these read, and equal steps by the first of them.
    fn seen_through(&self, sources: &[Source]) -> Vec<Source> {
        let mut seen = Vec::with_capacity(sources.len());
        for source in sources {
            match source {
                Source::Step(s) if self.trace(*s) == Trace::None => {
                    self.near.get(*s).iter().for_each(|source| push_new(&mut seen, *source));
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
        let mut far: Vec<Source> = Vec::new();
        // What one round found is what the next looks behind: first `near`, then the end of `far`.
        let mut found_before = 0;
        for round in 0..MAX_LOOK_THROUGH {
            let found = far.len();
            let front = if round == 0 { near.len() } else { found - found_before };
            for at in 0..front {
                let source = if round == 0 { near.get(at) } else { far.get(found_before + at) };
                let Some(&Source::Step(s)) = source else { continue };
                if !self.may_vanish(s) {
                    continue;
                }
                // A step that vanished took its weights with it, unless it only prepared weights.
                let is_foldable = self.is_foldable.get(s as usize).copied().unwrap_or(false);
                for behind in self.near.get(s) {
                    if matches!(behind, Source::Weight(_)) && !is_foldable {
                        continue;
                    }
                    if far.len() < MAX_SOURCES && !near.contains(behind) && !far.contains(behind) {
                        far.push(*behind);
                    }
                }
            }
            found_before = found;
        }
        far
    }

    /// Whether graphs are common in which nothing stands for a step.
    pub(crate) fn may_vanish(&self, step: u32) -> bool {
        let dynamic = |source: &&Source| !matches!(source, Source::Weight(_));
        match self.trace(step) {
            Trace::None | Trace::Move => true,
            Trace::Compute => self.near.get(step).iter().filter(dynamic).count() <= 1,
        }
    }

    /// Whether a step does nothing, or scales the result of a product.
    fn is_slight(&self, step: u32) -> bool {
        let reference = self.reference;
        let sources = reference.sources(step);
        let (Some(&Source::Step(source)), Some(&port)) = (sources.first(), reference.ports(step).first())
        else {
            return false;
        };
        if reference.step(source).is_none() {
            return false;
        }
        if self.is_merged(source, step) {
            return sources.iter().skip(1).all(|source| matches!(source, Source::Weight(_)));
        }
        match (reference.results(step).first(), reference.results(source).get(port as usize)) {
            (Some(result), Some(read)) => {
                result == read && self.operator(step).is_some_and(|operator| operator.keeps_same_size)
            }
            _ => false,
        }
    }
}

/// Steps that no output of the model depends on. All live if the outputs are not known.
fn dead_steps(reference: &Reference) -> Vec<bool> {
    let mut dead = vec![!reference.outputs.is_empty(); reference.len()];
    let revive = |dead: &mut Vec<bool>, source: &Source| {
        if let Source::Step(step) = source
            && let Some(dead) = dead.get_mut(*step as usize)
        {
            *dead = false;
        }
    };
    reference.outputs.iter().flatten().for_each(|source| revive(&mut dead, source));
    for step in (0..reference.len() as u32).rev() {
        if dead.get(step as usize) == Some(&false) {
            reference.sources(step).iter().for_each(|source| revive(&mut dead, source));
        }
    }
    dead
}

/// A number that two steps share if they compute the same. `numbers` are those of the steps before.
fn number(reference: &Reference, step: &Step, i: u32, numbers: &[u64], trace: Trace) -> u64 {
    let of = |source: &Source| match source {
        Source::Step(s) => (0, numbers.get(*s as usize).copied().unwrap_or(0)),
        Source::Input(input) => (1, u64::from(*input)),
        Source::Weight(weight) => (2, u64::from(*weight)),
    };
    let mut hasher = DefaultHasher::new();
    match reference.sources(i) {
        [Source::Step(s)]
            if trace == Trace::None && reference.results(i).len() == 1 && reference.ports(i) == [0] =>
        {
            return numbers.get(*s as usize).copied().unwrap_or(0);
        }
        sources => sources.iter().map(of).zip(reference.ports(i)).for_each(|pair| pair.hash(&mut hasher)),
    }
    (step.target, step.arguments).hash(&mut hasher);
    hasher.finish()
}

fn push_new(list: &mut Vec<Source>, source: Source) {
    if list.len() < MAX_SOURCES && !list.contains(&source) {
        list.push(source);
    }
}

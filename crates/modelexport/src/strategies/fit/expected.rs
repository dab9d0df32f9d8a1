//! The expected contents of a graph if the evidence belongs to its model: tensors, the order of reads, operators.

use std::collections::{HashMap, HashSet};

use modelexport_graph::{ModuleId, Name};
use modelexport_lower::foreign_forms::{self, Trace};

use super::super::align::prepared::Prepared;
use super::super::align::reference::{Reference, Source};
use super::super::align::weights::Classes;
use super::super::evidence::{Evidence, ParameterFact, sorted_dims};
use super::super::graph::{GraphView, ValueKind};
use super::super::parameters::LEAST_ELEMENTS;
use super::census::Allowed;
use super::flow::{Flow, Uses};

/// Where a tensor is read: the first and the last place in the order of execution.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Span {
    pub first: u32,
    pub last: u32,
}

impl Span {
    fn widen(span: &mut Option<Span>, at: u32) {
        let Span { first, last } = span.unwrap_or(Span { first: at, last: at });
        *span = Some(Span { first: first.min(at), last: last.max(at) });
    }
}

/// A tensor that the evidence knows.
#[derive(Clone, Debug)]
pub(super) struct Tensor {
    pub name: Name,
    pub elements: u64,
    /// See [`sorted_dims`]; `None` if the evidence does not say.
    pub dims: Option<Vec<u64>>,
    pub read: Option<Span>,
    /// How often it is read, where the evidence says.
    pub reads: usize,
    /// Something that the model returns depends on it, as far as the evidence says.
    pub is_used: bool,
    /// Tools neither fold nor merge it: it meets data of the model as a matrix, or in a product.
    pub is_firm: bool,
    /// What data does with it, where the evidence says.
    pub uses: Option<Uses>,
    /// Tensors of one class have one content, so that a graph may hold one of them for all.
    pub class: u32,
}

#[derive(Debug, Default)]
pub(super) struct Expected {
    pub tensors: Vec<Tensor>,
    /// Of the tensors of a graph.
    by_name: HashMap<Name, u32>,
    /// Sizes of what can be computed without the model's inputs.
    pub folded: HashSet<Vec<u64>>,
    /// Names of values that can be.
    pub folded_names: HashSet<Name>,
    pub operators: Allowed,
    /// Ranks of the model's outputs, `None` where not known; absent if the evidence does not tell the outputs.
    pub outputs: Option<Vec<Option<usize>>>,
}

impl Expected {
    pub(super) fn new(evidence: &Evidence) -> Self {
        let original = evidence.original.as_ref().and_then(|original| original.graph.as_ref());
        match (&evidence.run, original) {
            (Some(run), _) => from_run(evidence, run),
            (None, Some(original)) => from_graph(&original.view),
            (None, None) => from_modules(evidence),
        }
    }

    /// The tensor of this name; `evidence` is what this was made from.
    pub(super) fn find(&self, name: &str, evidence: &Evidence) -> Option<u32> {
        match self.by_name.is_empty() {
            true => evidence.parameters.find(name).map(|id| id.0),
            false => self.by_name.get(name).copied(),
        }
    }
}

/// How the steps of a forward pass read a weight.
#[derive(Clone, Copy, Debug, Default)]
struct Reads {
    span: Option<Span>,
    count: usize,
    is_firm: bool,
    uses: Uses,
}

/// From the operators of a forward pass.
fn from_run(evidence: &Evidence, run: &Reference) -> Expected {
    let classes = Classes::new(evidence, evidence.program.as_ref());
    let prepared = Prepared::new(run);
    let mut expected = Expected::default();
    let mut reads: HashMap<u32, Reads> = HashMap::new();
    // By step that can be folded: the weight that it gives in another layout.
    let mut carried: Vec<Option<u32>> = vec![None; run.len()];
    for step in 0..run.len() as u32 {
        let at = step as usize;
        let flag = |flags: &[bool]| flags.get(at).copied().unwrap_or(false);
        let weights = run.sources(step).iter().filter_map(|source| match source {
            Source::Weight(class) => Some(*class),
            Source::Step(made) => carried.get(*made as usize).copied().flatten(),
            Source::Input(_) => None,
        });
        let weights: Vec<u32> = weights.collect();
        if flag(&prepared.is_foldable) {
            let only_moves = prepared.trace(step) != Trace::Compute;
            if let (Some(slot), [weight], true) = (carried.get_mut(at), weights.as_slice(), only_moves) {
                *slot = Some(*weight);
                continue;
            }
            let facts = run.results(step).iter().filter_map(|id| run.fact(*id));
            for fact in facts {
                let known: Option<Vec<u64>> =
                    fact.sizes.iter().map(|size| size.and_then(|size| u64::try_from(size).ok())).collect();
                expected.folded.extend(known.map(sorted_dims));
            }
            continue;
        }
        if flag(&prepared.is_dead) {
            continue;
        }
        let target = run.step(step).and_then(|step| run.target(step.target)).map_or("", |target| target);
        let is_product = foreign_forms::is_product(target);
        let is_merged = flag(&prepared.is_slight);
        for weight in weights {
            let read = reads.entry(weight).or_default();
            Span::widen(&mut read.span, step);
            read.count += 1;
            read.is_firm |= is_product || !is_merged;
            read.uses.merge(Uses { product: is_product, lookup: foreign_forms::is_lookup(target) });
        }
    }
    expected.operators = Allowed::from_run(&prepared);
    for (id, fact) in evidence.parameters.iter() {
        let class = classes.of(id).unwrap_or(id.0);
        let read = reads.get(&class).copied();
        let is_matrix = fact.sorted_dims.as_ref().is_none_or(|dims| dims.len() > 1);
        expected.tensors.push(Tensor {
            name: fact.name.clone(),
            elements: fact.elements,
            dims: fact.sorted_dims.clone(),
            read: read.and_then(|read| read.span),
            reads: read.map_or(1, |read| read.count),
            is_used: read.is_some(),
            is_firm: is_matrix && read.is_some_and(|read| read.is_firm),
            uses: read.map(|read| read.uses),
            class,
        });
    }
    expected.outputs = (!run.outputs.is_empty()).then(|| {
        let rank = |source: &Option<Source>| match source {
            Some(Source::Step(step)) => match run.results(*step) {
                [only] => run.fact(*only).map(|fact| fact.sizes.len()),
                _ => None,
            },
            _ => None,
        };
        run.outputs.iter().map(rank).collect()
    });
    expected
}

/// From the graph that a tool made another one from.
fn from_graph(graph: &GraphView) -> Expected {
    let flow = Flow::new(graph);
    let mut expected = Expected::default();
    for (id, value) in graph.values() {
        if let ValueKind::Result(node) = value.kind
            && flow.is_fixed(node)
            && !flow.is_move(graph, node)
        {
            expected.folded_names.insert(graph.text(value.name).into());
            let fact = graph.fact(id).and_then(|fact| {
                fact.sizes.iter().map(|size| size.and_then(|size| u64::try_from(size).ok())).collect()
            });
            expected.folded.extend(fact.map(|sizes: Vec<u64>| sorted_dims(sizes)));
        }
        let Some(tensor) = graph.constant(id) else { continue };
        let sizes: Vec<u64> = tensor.dims.iter().map(|dim| dim.unsigned_abs()).collect();
        let elements = sizes.iter().fold(1u64, |all, size| all.saturating_mul(*size));
        let dims = sorted_dims(sizes);
        let (mut read, mut uses) = (None, Uses::default());
        let readers = flow.readers(graph, id);
        for (node, slot) in &readers {
            Span::widen(&mut read, node.0);
            uses.add(graph.operator(*node), *slot);
        }
        let number = expected.tensors.len() as u32;
        let name: Name = graph.text(value.name).into();
        expected.by_name.entry(name.clone()).or_insert(number);
        let is_number = tensor.dtype.is_some_and(|dtype| dtype.is_float() || dtype.bits() == Some(8));
        expected.tensors.push(Tensor {
            name,
            elements,
            is_used: read.is_some() && is_number,
            is_firm: is_number && uses.is_weight(),
            dims: Some(dims),
            read,
            reads: readers.len(),
            uses: Some(uses),
            class: number,
        });
    }
    expected.operators = match graph.functions() {
        0 => Allowed::from_operators(&operators_of(graph, &flow)),
        _ => Allowed::anything(),
    };
    expected.outputs =
        Some(graph.main_outputs().map(|value| graph.fact(value?).map(|fact| fact.sizes.len())).collect());
    expected
}

/// How often operators occur that data passes.
fn operators_of(graph: &GraphView, flow: &Flow) -> HashMap<Name, u64> {
    let mut counts: HashMap<Name, u64> = HashMap::new();
    for (_, entry) in graph.nodes().filter(|(id, _)| !flow.is_fixed(*id)) {
        *counts.entry(graph.text(entry.op_type).into()).or_default() += 1;
    }
    counts
}

/// Whether nodes multiply by a parameter: as many of the largest ones of a module as it has nodes that do.
fn is_multiplied(evidence: &Evidence, fact: &ParameterFact) -> bool {
    let products = products(evidence, fact.owner);
    let module = evidence.modules.get(fact.owner).filter(|module| module.children.is_empty());
    let Some(module) = module else { return false };
    let is_larger = |other: &&modelexport_graph::module_tree::Parameter| {
        other.elements >= fact.elements && other.name != fact.name
    };
    let larger = module.parameters.iter().filter(is_larger).count() as u64;
    let calls = u64::from(module.calls.max(1));
    larger < products.div_ceil(calls) && fact.elements >= LEAST_ELEMENTS
}

/// How many nodes of a module multiply, as a sidecar lists them.
fn products(evidence: &Evidence, module: ModuleId) -> u64 {
    evidence.original.as_ref().and_then(|original| original.products.get(&module)).copied().unwrap_or(0)
}

/// From a list of modules: which of the parameters a graph needs is not known.
fn from_modules(evidence: &Evidence) -> Expected {
    let listed = evidence.original.as_ref().filter(|original| !original.operators.is_empty());
    let operators = match listed {
        Some(original) => Allowed::from_operators(&original.operators),
        None => Allowed::anything(),
    };
    let mut expected = Expected { operators, ..Expected::default() };
    for (id, fact) in evidence.parameters.iter() {
        let owner = evidence.modules.get(fact.owner);
        let order = owner.and_then(|owner| owner.order);
        // A module that calls others reads its own parameters at any time between.
        let is_own = owner.is_some_and(|owner| {
            fact.name.strip_prefix(&*owner.path).is_some_and(|rest| rest.starts_with('.'))
        });
        let is_leaf = owner.is_some_and(|owner| owner.children.is_empty() && owner.calls == 1) && is_own;
        expected.tensors.push(Tensor {
            name: fact.name.clone(),
            elements: fact.elements,
            dims: fact.sorted_dims.clone(),
            read: order.filter(|_| is_leaf).map(|order| Span { first: order, last: order }),
            is_used: order.is_some(),
            reads: owner.map_or(1, |owner| owner.calls as usize).max(products(evidence, fact.owner) as usize),
            is_firm: is_own && is_multiplied(evidence, fact),
            uses: None,
            class: id.0,
        });
    }
    expected
}

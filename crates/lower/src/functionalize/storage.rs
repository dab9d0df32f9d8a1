//! Weights whose elements lie in the same memory: two buffers of which one is a part of the other, a parameter and its
//! transpose. What is written to one of them is seen through all.
//!
//! Weights over the same elements in the same shape are one tensor. Others of one element type whose ranges overlap are
//! windows of a *base*: the weight that holds all of them in order if there is one, else a weight that is added to the
//! program if it is read. Memory that is seen as several element types has a base for each; these are *unrelated*, and
//! once one of them is written the others cannot be read.

use std::collections::HashMap;

use modelexport_graph::aten::{Arg, Graph, InputSpec, Layout, Signature, TensorMeta, Weight, WeightKind};
use modelexport_graph::{DType, Dim, Name, StridedView};

/// How an input of the graph lies in memory.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Sharing {
    /// In memory of its own.
    #[default]
    Alone,
    /// As the same tensor as this input, which comes before it.
    As(usize),
    /// As a window of this base.
    In(usize),
}

/// Holds the elements of several weights in order.
#[derive(Debug)]
pub(super) enum Base {
    /// An input of the graph.
    Input(usize),
    /// A weight that the program does not have.
    Added(Box<(Weight, TensorMeta)>),
}

/// How the inputs of a graph lie in memory.
#[derive(Debug, Default)]
pub(super) struct Storages {
    sharing: Vec<Sharing>,
    pub(super) bases: Vec<Base>,
    /// Groups of inputs over the same memory of which none is followed to another, with the names of the weights.
    pub(super) unrelated: Vec<Vec<(usize, Name)>>,
}

/// A weight with its bytes in memory.
struct PlacedWeight<'a> {
    input: usize,
    weight: &'a Weight,
    data: &'a StridedView,
    /// The range in its storage, in elements.
    first: u64,
    end: u64,
    /// Whether views can lead from its memory to it.
    is_followed: bool,
}

impl PlacedWeight<'_> {
    /// The range in its storage.
    fn bytes(&self) -> (u64, u64) {
        let bytes = |elements| self.weight.dtype.byte_len(elements).unwrap_or(u64::MAX);
        (bytes(self.first), bytes(self.end))
    }
}

impl Storages {
    pub(super) fn of(graph: &Graph, signature: &Signature, weights: &[Weight]) -> Storages {
        let mut storages =
            Storages { sharing: vec![Sharing::Alone; signature.inputs.len()], ..Storages::default() };
        let mut placed = Vec::new();
        let mut first_over: HashMap<(DType, &StridedView), usize> = HashMap::new();
        let mut first_of: HashMap<u32, usize> = HashMap::new();
        for (input, spec) in signature.inputs.iter().enumerate() {
            let Some(index) = weight_of(spec) else { continue };
            let Some(weight) = weights.get(index as usize) else { continue };
            let first = match &weight.data {
                Some(data) => first_over.entry((weight.dtype, data)).or_insert(input),
                None => first_of.entry(index).or_insert(input),
            };
            if *first != input {
                storages.set(input, Sharing::As(*first));
                continue;
            }
            placed.extend(weight.data.as_ref().and_then(|data| place(graph, input, weight, data)));
        }
        placed.sort_by_key(|placed| (placed.data.span, placed.bytes(), placed.input));
        let mut rest = placed.as_slice();
        while let Some(first) = rest.first() {
            let (_, mut end) = first.bytes();
            let touches = |placed: &&PlacedWeight<'_>| {
                let (start, stop) = placed.bytes();
                let touches = placed.data.span == first.data.span && start < end;
                end = if touches { stop.max(end) } else { end };
                touches
            };
            let (group, after) = rest.split_at(rest.iter().take_while(touches).count());
            storages.group(group);
            rest = after;
        }
        storages
    }

    pub(super) fn sharing(&self, input: usize) -> Sharing {
        self.sharing.get(input).copied().unwrap_or_default()
    }

    fn set(&mut self, input: usize, sharing: Sharing) {
        if let Some(slot) = self.sharing.get_mut(input) {
            *slot = sharing;
        }
    }

    /// Weights of one storage whose ranges overlap.
    fn group(&mut self, group: &[PlacedWeight<'_>]) {
        let mut of_type: HashMap<DType, usize> = HashMap::new();
        let mut units: Vec<Vec<&PlacedWeight<'_>>> = Vec::new();
        for placed in group {
            let next = units.len();
            let unit = match placed.is_followed {
                true => *of_type.entry(placed.weight.dtype).or_insert(next),
                false => next,
            };
            match units.get_mut(unit) {
                Some(unit) => unit.push(placed),
                None => units.push(vec![placed]),
            }
        }
        for unit in units.iter().filter(|unit| unit.len() > 1) {
            self.add_base(unit);
        }
        if units.len() > 1 {
            let firsts = units.iter().filter_map(|unit| unit.first());
            self.unrelated.push(firsts.map(|placed| (placed.input, placed.weight.name.clone())).collect());
        }
    }

    fn add_base(&mut self, unit: &[&PlacedWeight<'_>]) {
        let Some(&lead) = unit.iter().min_by_key(|placed| placed.input) else { return };
        let first = unit.iter().map(|placed| placed.first).fold(u64::MAX, u64::min);
        let end = unit.iter().map(|placed| placed.end).fold(0, u64::max);
        let holder = unit
            .iter()
            .find(|placed| (placed.first, placed.end) == (first, end) && placed.data.is_contiguous());
        for placed in unit {
            self.set(placed.input, Sharing::In(self.bases.len()));
        }
        if let Some(holder) = holder {
            self.set(holder.input, Sharing::Alone);
        }
        self.bases.push(match holder {
            Some(holder) => Base::Input(holder.input),
            None => added(lead, first, end),
        });
    }
}

fn place<'a>(
    graph: &Graph,
    input: usize,
    weight: &'a Weight,
    data: &'a StridedView,
) -> Option<PlacedWeight<'a>> {
    if data.sizes.contains(&0) {
        return None;
    }
    let reach = data.sizes.iter().zip(&data.strides).map(|(size, stride)| (size - 1).saturating_mul(*stride));
    let end = reach.fold(data.offset, u64::saturating_add).saturating_add(1);
    let meta = match graph.inputs.get(input) {
        Some(Arg::Tensor(id)) => graph.tensor(*id),
        _ => None,
    };
    let is_followed =
        !weight.dtype.is_complex() && meta.is_some_and(|meta| *meta == meta_of(weight.dtype, data));
    Some(PlacedWeight { input, weight, data, first: data.offset, end, is_followed })
}

/// A weight for the elements from `first` to `end` of the storage that `placed` lies in.
fn added(placed: &PlacedWeight<'_>, first: u64, end: u64) -> Base {
    let data =
        StridedView { span: placed.data.span, offset: first, sizes: vec![end - first], strides: vec![1] };
    let meta = meta_of(placed.weight.dtype, &data);
    let weight = Weight {
        name: format!("{}_storage", placed.weight.name).into(),
        kind: WeightKind::Buffer,
        dtype: placed.weight.dtype,
        sizes: data.sizes.clone(),
        data: Some(data),
    };
    Base::Added(Box::new((weight, meta)))
}

fn meta_of(dtype: DType, data: &StridedView) -> TensorMeta {
    let dim = |value: u64| Dim::Static(i64::try_from(value).unwrap_or(i64::MAX));
    TensorMeta {
        dtype,
        sizes: data.sizes.iter().copied().map(dim).collect(),
        strides: data.strides.iter().copied().map(dim).collect(),
        storage_offset: dim(data.offset),
        layout: Layout::Strided,
    }
}

/// The weight that an input of the graph stands for.
pub(super) fn weight_of(spec: &InputSpec) -> Option<u32> {
    match spec {
        InputSpec::Parameter { weight }
        | InputSpec::Buffer { weight, .. }
        | InputSpec::TensorConstant { weight } => Some(*weight),
        _ => None,
    }
}

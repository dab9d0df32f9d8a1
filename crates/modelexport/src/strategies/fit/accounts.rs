//! Matches the tensors of the graph with those of the evidence, and lists those without a match.

use std::collections::{HashMap, HashSet};

use super::super::Anchors;
use super::super::evidence::Evidence;
use super::super::graph::GraphView;
use super::super::parameters::LEAST_ELEMENTS;
use super::expected::{Expected, Tensor};
use super::held::GraphConstant;
use super::pieces;

/// How a tensor of the evidence was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum MatchKind {
    Name,
    Content,
    Shape,
    /// As a piece of a larger tensor of the graph, or padded.
    Piece,
}

#[derive(Debug)]
pub(super) struct TensorMatches {
    /// By tensor of the evidence.
    pub found: Vec<Option<MatchKind>>,
    /// By constant of the graph: the tensor that it is, if only one can be meant.
    pub meant: Vec<Option<u32>>,
    /// By constant of the graph: something accounts for it.
    pub is_explained: Vec<bool>,
    /// Constants of the graph that have the name of a tensor of another size, with that tensor.
    pub resized: Vec<(usize, u32)>,
}

impl TensorMatches {
    pub(super) fn new(
        graph: &GraphView,
        evidence: &Evidence,
        anchors: &Anchors,
        expected: &Expected,
        held: &[GraphConstant],
    ) -> Self {
        let mut accounts = TensorMatches {
            found: vec![None; expected.tensors.len()],
            meant: vec![None; held.len()],
            is_explained: vec![false; held.len()],
            resized: Vec::new(),
        };
        accounts.by_name(graph, evidence, expected, held);
        accounts.by_content(anchors, evidence, expected, held);
        accounts.share_classes(expected);
        accounts.by_shape(expected, held);
        accounts.by_pieces(expected, held);
        accounts.by_padding(expected, held);
        accounts.by_parts(expected, held);
        accounts.by_copies(expected, held);
        accounts
    }

    fn mark(&mut self, tensor: u32, how: MatchKind) {
        if let Some(slot @ None) = self.found.get_mut(tensor as usize) {
            *slot = Some(how);
        }
    }

    fn explain(&mut self, at: usize, meant: Option<u32>) {
        if let (Some(explained), Some(slot)) = (self.is_explained.get_mut(at), self.meant.get_mut(at)) {
            *explained = true;
            *slot = slot.or(meant);
        }
    }

    fn by_name(
        &mut self,
        graph: &GraphView,
        evidence: &Evidence,
        expected: &Expected,
        held: &[GraphConstant],
    ) {
        for (at, one) in held.iter().enumerate() {
            let name = graph.value_name(one.value);
            if let Some(tensor) = expected.find(name, evidence) {
                match expected.tensors.get(tensor as usize) {
                    Some(known) if known.elements == one.elements => {
                        self.mark(tensor, MatchKind::Name);
                        self.explain(at, Some(tensor));
                    }
                    // Exporters number what they make; only a name below a module is that of one tensor.
                    Some(_) if one.is_initializer && evidence.owner_by_name(name).is_some() => {
                        self.resized.push((at, tensor));
                        self.explain(at, None);
                    }
                    _ => {}
                }
            } else if expected.folded_names.contains(name) {
                self.explain(at, None);
            } else if let Some(tensor) = beginning(name, expected, evidence) {
                let is_whole =
                    expected.tensors.get(tensor as usize).is_some_and(|known| known.elements == one.elements);
                if is_whole {
                    self.mark(tensor, MatchKind::Name);
                }
                self.explain(at, is_whole.then_some(tensor));
            }
        }
    }

    fn by_content(
        &mut self,
        anchors: &Anchors,
        evidence: &Evidence,
        expected: &Expected,
        held: &[GraphConstant],
    ) {
        if evidence.parameters.len() != expected.tensors.len() {
            return;
        }
        for (at, one) in held.iter().enumerate() {
            let candidates = anchors.candidates(one.value);
            for candidate in candidates {
                let known = expected.tensors.get(candidate.0 as usize);
                if known.is_some_and(|known| known.elements == one.elements) {
                    self.mark(candidate.0, MatchKind::Content);
                    self.explain(at, anchors.parameter(one.value).map(|id| id.0));
                }
            }
        }
    }

    /// A tensor whose content was found is found.
    fn share_classes(&mut self, expected: &Expected) {
        let mut classes: HashMap<u32, MatchKind> = HashMap::new();
        for (tensor, found) in expected.tensors.iter().zip(&self.found) {
            if found.is_some() {
                classes.entry(tensor.class).or_insert(MatchKind::Content);
            }
        }
        for (tensor, found) in expected.tensors.iter().zip(&mut self.found) {
            *found = found.or_else(|| classes.get(&tensor.class).copied());
        }
    }

    /// What is left on both sides, by dimensions without their order.
    fn by_shape(&mut self, expected: &Expected, held: &[GraphConstant]) {
        let mut left: HashMap<&[u64], Vec<u32>> = HashMap::new();
        let mut left_by_size: HashMap<u64, Vec<u32>> = HashMap::new();
        let unfound = |wanted: bool| {
            let all = expected.tensors.iter().zip(&self.found).enumerate().rev();
            all.filter(move |(_, (tensor, found))| {
                found.is_none() && tensor.is_used && tensor.is_firm == wanted
            })
        };
        // The last is taken first: one that must be there before one that may be gone.
        for (number, (tensor, _)) in unfound(false).chain(unfound(true)) {
            match &tensor.dims {
                Some(dims) => left.entry(dims).or_default().push(number as u32),
                None => left_by_size.entry(tensor.elements).or_default().push(number as u32),
            }
        }
        for (at, one) in held.iter().enumerate() {
            if self.is_explained.get(at) != Some(&false) || !one.is_number() || one.elements < LEAST_ELEMENTS
            {
                continue;
            }
            let by_dims = left.get_mut(one.dims.as_slice()).and_then(Vec::pop);
            let tensor = by_dims.or_else(|| left_by_size.get_mut(&one.elements).and_then(Vec::pop));
            if let Some(tensor) = tensor {
                self.mark(tensor, MatchKind::Shape);
                self.explain(at, None);
            }
        }
    }

    /// Constants that may be weights and that nothing accounts for, the largest first.
    fn unexplained(&self, held: &[GraphConstant]) -> Vec<usize> {
        let is_open = |at: &usize| {
            let is_weight = |one: &GraphConstant| one.is_number() && one.elements >= LEAST_ELEMENTS;
            self.is_explained.get(*at) == Some(&false) && held.get(*at).is_some_and(is_weight)
        };
        let mut open: Vec<usize> = (0..held.len()).filter(is_open).collect();
        open.sort_by_key(|at| std::cmp::Reverse(held.get(*at).map_or(0, |one| one.elements)));
        open
    }

    /// Tensors of the evidence that were not found.
    fn unfound<'e>(&self, expected: &'e Expected) -> Vec<(u32, &'e Tensor)> {
        let all = (0..).zip(expected.tensors.iter().zip(&self.found));
        all.filter(|(_, (tensor, found))| found.is_none() && tensor.is_used)
            .map(|(number, (tensor, _))| (number, tensor))
            .collect()
    }

    /// Tools pack several tensors into one. What can be computed without data needs no tensor.
    fn by_pieces(&mut self, expected: &Expected, held: &[GraphConstant]) {
        for at in self.unexplained(held) {
            let Some(one) = held.get(at) else { continue };
            if expected.folded.contains(&one.dims) {
                self.explain(at, None);
                continue;
            }
            let left = self.unfound(expected);
            if let Some(pieces) = pieces::packed(&left, one) {
                pieces.into_iter().for_each(|tensor| self.mark(tensor, MatchKind::Piece));
                self.explain(at, None);
            }
        }
    }

    /// Tools pad the channels of convolutions.
    fn by_padding(&mut self, expected: &Expected, held: &[GraphConstant]) {
        // Those that must be there first.
        for is_firm in [true, false] {
            let (mut left, open) = (self.unfound(expected), self.unexplained(held));
            left.retain(|(_, tensor)| tensor.is_firm == is_firm);
            for (tensor, at) in pieces::padded(&left, held, &open) {
                self.mark(tensor, MatchKind::Piece);
                self.explain(at, None);
            }
        }
    }

    /// Tools cut a tensor into equal parts.
    fn by_parts(&mut self, expected: &Expected, held: &[GraphConstant]) {
        let mut open = self.unexplained(held);
        for (number, tensor) in self.unfound(expected) {
            if let Some(parts) = pieces::parts(tensor, held, &open) {
                self.mark(number, MatchKind::Piece);
                parts.into_iter().for_each(|at| self.explain(at, None));
                open = self.unexplained(held);
            }
        }
    }

    /// A tensor that is read several times may be there as often; of equal ones one may be left that is read as often.
    fn by_copies(&mut self, expected: &Expected, held: &[GraphConstant]) {
        let repeated = expected.tensors.iter().filter(|tensor| tensor.reads > 1);
        let sizes: HashSet<(Option<&[u64]>, u64)> =
            repeated.map(|tensor| (tensor.dims.as_deref(), tensor.elements)).collect();
        for at in self.unexplained(held) {
            let Some(one) = held.get(at) else { continue };
            if [Some(one.dims.as_slice()), None].iter().any(|dims| sizes.contains(&(*dims, one.elements))) {
                self.explain(at, None);
            }
        }
        let mut spare: HashMap<u64, usize> = HashMap::new();
        for (one, meant) in held.iter().zip(&self.meant) {
            let reads = meant
                .and_then(|tensor| expected.tensors.get(tensor as usize))
                .map_or(1, |tensor| tensor.reads);
            *spare.entry(one.elements).or_default() += one.readers.saturating_sub(reads);
        }
        for (number, tensor) in self.unfound(expected) {
            if let Some(left @ 1..) = spare.get_mut(&tensor.elements) {
                *left -= 1;
                self.mark(number, MatchKind::Content);
            }
        }
    }
}

/// The tensor whose name `name` begins with: tools make `weight_quantized` and `weight_scale` from `weight`.
pub(super) fn beginning(name: &str, expected: &Expected, evidence: &Evidence) -> Option<u32> {
    let mut name = name;
    loop {
        name = name.rsplit_once('_').map(|(beginning, _)| beginning)?;
        if let Some(found) = expected.find(name, evidence) {
            return Some(found);
        }
    }
}

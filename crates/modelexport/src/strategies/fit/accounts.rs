//! Which tensors of the graph are which of the evidence, and which of either side are left over.

use std::collections::HashMap;

use super::super::Anchors;
use super::super::evidence::Evidence;
use super::super::graph::GraphView;
use super::expected::Expected;
use super::held::Held;
use super::super::parameters::LEAST_ELEMENTS;

/// How a tensor of the evidence was found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Found {
    Name,
    Content,
    Shape,
    /// As a piece of a larger tensor of the graph, or padded.
    Piece,
}

#[derive(Debug)]
pub struct Accounts {
    /// By tensor of the evidence.
    pub found: Vec<Option<Found>>,
    /// By constant of the graph: the tensor that it is, if only one can be meant.
    pub meant: Vec<Option<u32>>,
    /// By constant of the graph: something accounts for it.
    pub is_explained: Vec<bool>,
    /// Constants of the graph that have the name of a tensor of another size, with that tensor.
    pub resized: Vec<(usize, u32)>,
}

impl Accounts {
    pub fn new(
        graph: &GraphView,
        evidence: &Evidence,
        anchors: &Anchors,
        expected: &Expected,
        held: &[Held],
    ) -> Self {
        let mut accounts = Accounts {
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
        accounts
    }

    fn mark(&mut self, tensor: u32, how: Found) {
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

    fn by_name(&mut self, graph: &GraphView, evidence: &Evidence, expected: &Expected, held: &[Held]) {
        for (at, one) in held.iter().enumerate() {
            let name = graph.value_name(one.value);
            if let Some(tensor) = expected.find(name, evidence) {
                match expected.tensors.get(tensor as usize) {
                    Some(known) if known.elements == one.elements => {
                        self.mark(tensor, Found::Name);
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
                let is_whole = expected.tensors.get(tensor as usize).is_some_and(|known| known.elements == one.elements);
                if is_whole {
                    self.mark(tensor, Found::Name);
                }
                self.explain(at, is_whole.then_some(tensor));
            }
        }
    }

    fn by_content(&mut self, anchors: &Anchors, evidence: &Evidence, expected: &Expected, held: &[Held]) {
        if evidence.parameters.len() != expected.tensors.len() {
            return;
        }
        for (at, one) in held.iter().enumerate() {
            let candidates = anchors.candidates(one.value);
            for candidate in candidates {
                let known = expected.tensors.get(candidate.0 as usize);
                if known.is_some_and(|known| known.elements == one.elements) {
                    self.mark(candidate.0, Found::Content);
                    self.explain(at, anchors.parameter(one.value).map(|id| id.0));
                }
            }
        }
    }

    /// A tensor whose content was found is found.
    fn share_classes(&mut self, expected: &Expected) {
        let mut classes: HashMap<u32, Found> = HashMap::new();
        for (tensor, found) in expected.tensors.iter().zip(&self.found) {
            if found.is_some() {
                classes.entry(tensor.class).or_insert(Found::Content);
            }
        }
        for (tensor, found) in expected.tensors.iter().zip(&mut self.found) {
            *found = found.or_else(|| classes.get(&tensor.class).copied());
        }
    }

    /// What is left on both sides, by dimensions without their order.
    fn by_shape(&mut self, expected: &Expected, held: &[Held]) {
        let mut left: HashMap<&[u64], Vec<u32>> = HashMap::new();
        let mut left_by_size: HashMap<u64, Vec<u32>> = HashMap::new();
        let unfound = |wanted: bool| {
            let all = expected.tensors.iter().zip(&self.found).enumerate().rev();
            all.filter(move |(_, (tensor, found))| found.is_none() && tensor.is_used && tensor.is_firm == wanted)
        };
        // The last is taken first: one that must be there before one that may be gone.
        for (number, (tensor, _)) in unfound(false).chain(unfound(true)) {
            match &tensor.dims {
                Some(dims) => left.entry(dims).or_default().push(number as u32),
                None => left_by_size.entry(tensor.elements).or_default().push(number as u32),
            }
        }
        for (at, one) in held.iter().enumerate() {
            if self.is_explained.get(at) != Some(&false) || !one.is_number() || one.elements < LEAST_ELEMENTS {
                continue;
            }
            let by_dims = left.get_mut(one.dims.as_slice()).and_then(Vec::pop);
            let tensor = by_dims.or_else(|| left_by_size.get_mut(&one.elements).and_then(Vec::pop));
            if let Some(tensor) = tensor {
                self.mark(tensor, Found::Shape);
                self.explain(at, None);
            }
        }
    }

    /// Tools pack tensors that follow each other into one, and pad them.
    fn by_pieces(&mut self, expected: &Expected, held: &[Held]) {
        for (at, one) in held.iter().enumerate() {
            if self.is_explained.get(at) != Some(&false) || !one.is_number() || one.elements < LEAST_ELEMENTS {
                continue;
            }
            if expected.folded.contains(&one.dims) {
                self.explain(at, None);
                continue;
            }
            let left: Vec<u32> = expected
                .tensors
                .iter()
                .zip(&self.found)
                .zip(0..)
                .filter(|((tensor, found), _)| found.is_none() && tensor.is_used)
                .map(|(_, number)| number)
                .collect();
            let pieces = packed(expected, &left, one).or_else(|| padded(expected, &left, one));
            if let Some(pieces) = pieces {
                pieces.into_iter().for_each(|tensor| self.mark(tensor, Found::Piece));
                self.explain(at, None);
            }
        }
    }
}

/// Most tensors that are packed into one.
const MAX_PACKED: usize = 6;

/// Tensors of one rank that follow each other, with other ranks between, and have the elements of `one` together.
fn packed(expected: &Expected, left: &[u32], one: &Held) -> Option<Vec<u32>> {
    let rank = |number: u32| expected.tensors.get(number as usize).and_then(|tensor| Some(tensor.dims.as_ref()?.len()));
    let elements = |number: u32| expected.tensors.get(number as usize).map_or(0, |tensor| tensor.elements);
    for (start, &first) in left.iter().enumerate() {
        let same = left.get(start..)?.iter().copied().filter(|&number| rank(number) == rank(first));
        let mut pieces = Vec::new();
        let mut sum = 0u64;
        for number in same.take(MAX_PACKED) {
            pieces.push(number);
            sum = sum.saturating_add(elements(number));
            if sum >= one.elements {
                break;
            }
        }
        if sum == one.elements && pieces.len() > 1 {
            return Some(pieces);
        }
    }
    None
}

/// Channels are padded to a multiple of these, and three channels to a block.
const LEAST_BLOCK: u64 = 8;
const MAX_BLOCK: u64 = 16;
const MAX_GROWTH: u64 = 6;

/// The weight of a convolution that is `one` with channels padded to full blocks.
fn padded(expected: &Expected, left: &[u32], one: &Held) -> Option<Vec<u32>> {
    let fits = |number: u32| {
        let tensor = expected.tensors.get(number as usize)?;
        let most = match &tensor.dims {
            Some(dims) => {
                let blocks = |size: u64| size.next_multiple_of(MAX_BLOCK);
                dims.iter().fold(1u64, |all, size| all.saturating_mul(blocks(*size)))
            }
            None => tensor.elements.saturating_mul(MAX_GROWTH),
        };
        Some(tensor.is_firm && (tensor.elements..=most).contains(&one.elements))
    };
    let is_filter = one.rank > 2 && one.elements.is_multiple_of(LEAST_BLOCK);
    let found = left.iter().copied().filter(|_| is_filter).find(|&number| fits(number) == Some(true));
    found.map(|number| vec![number])
}

/// The tensor whose name `name` begins with: tools make `weight_quantized` and `weight_scale` from `weight`.
fn beginning(name: &str, expected: &Expected, evidence: &Evidence) -> Option<u32> {
    let mut name = name;
    loop {
        name = name.rsplit_once('_').map(|(beginning, _)| beginning)?;
        if let Some(found) = expected.find(name, evidence) {
            return Some(found);
        }
    }
}

//! The search for the alignment: nodes in file order, steps in execution order, and among all alignments that keep both
//! orders the one with the best score.
//!
//! An alignment is extended node by node. A node represents a token of a later step (the tokens between are skipped, at a
//! cost), a later token of the same step, or something that the form of a step does not contain. The score of a node for a
//! step depends on its inputs: the results of the nodes that represent the step's own inputs, the weights that the step
//! reads, the inputs of the model. Only the best few alignments are followed, so the time is linear.
//!
//! Nodes that are the same in every run (tables, masks) contribute little, and in some graphs most nodes are like that. In
//! such graphs the other nodes are aligned first. Then these are aligned between them, while the others stay fixed.

use super::super::lists::Lists;
use super::contest::CandidateCells;
use super::foreign::{Foreign, ForeignNode, Operand};
use super::prepared::Prepared;
use super::reference::Source;
use super::rows::Rows;
use super::tokens::Tokens;

/// Places ahead that are tried for one operator, and readers that are tried for one operand.
const AHEAD: usize = 4;
const READERS: usize = 3;
/// So many nodes back all ways have joined.
const LAG: usize = 48;

/// Gains and prices.
const MATCH: f32 = 2.0;
const EXTRA: f32 = -0.8;
const LEADING_EXTRA: f32 = -1.0;
/// One node after the other that no form tells is less and less likely.
const MORE_EXTRA: f32 = -0.2;
const MAX_EXTRAS: u32 = 10;
/// A node that is the same in every run tells little: exporters write tables and masks in many more nodes than any form
/// has, and such a node does not stand for a step that depends on the model's inputs.
const FIXED_EXTRA: f32 = -0.1;
const FIXED_EXTRA_AWAY: f32 = -0.6;
/// From this share of nodes on (one in so many), those that are the same in every run are laid after the others.
const MANY_FIXED: usize = 16;
/// What it costs if such nodes pass over a step: those that need a node have theirs then.
const PASS: f32 = 0.05;
const FIXED_WRONG: f32 = -4.0;
const EDGE_INSIDE: f32 = 0.5;
const EDGE_NEAR: f32 = 1.5;
const EDGE_FAR: f32 = 0.7;
const EDGE_WRONG: f32 = -2.0;
const WEIGHT_ONLY: f32 = 5.0;
const WEIGHT_SHARED: f32 = 1.5;
const WEIGHT_WRONG: f32 = -3.0;
const WEIGHT_SHARED_WRONG: f32 = -1.0;
const RESULT_SAME: f32 = 1.0;
const RESULT_OTHER: f32 = -1.5;
const OUTPUT_SAME: f32 = 3.0;
const OUTPUT_OTHER: f32 = -1.0;

pub(super) const NONE: u32 = u32::MAX;

/// Where a node went.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Placed {
    pub step: u32,
    /// It stands for a token of the step's form.
    pub is_match: bool,
    /// What the node itself added to the way.
    pub gain: f32,
}

/// One way up to some node.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cell {
    pub step: u32,
    /// The next token of the step that is free.
    pub next: u32,
    /// The cell of the row before that the way comes from.
    pub back: u32,
    /// How many nodes that no form tells came last.
    pub extras: u32,
    pub score: f32,
    pub gain: f32,
}

impl Cell {
    /// Where the way puts its last node.
    pub(super) fn pin(&self) -> Option<Pin> {
        let placed = Placed { step: self.step, is_match: self.extras == 0, gain: self.gain };
        (self.step != NONE).then_some(Pin { placed, next: self.next })
    }
}

/// A node that keeps its place while others are laid around it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Pin {
    placed: Placed,
    /// The next token of the step that is free.
    next: u32,
}

impl Pin {
    /// The same so many steps and tokens further.
    pub(super) fn moved(mut self, steps: u32, tokens: u32) -> Self {
        self.placed.step = self.placed.step.wrapping_add(steps);
        self.next = self.next.wrapping_add(tokens);
        self
    }

    /// How many steps and tokens `other` is further.
    pub(super) fn distance(&self, other: &Pin) -> (u32, u32) {
        (other.placed.step.wrapping_sub(self.placed.step), other.next.wrapping_sub(self.next))
    }

    #[cfg(test)]
    pub(super) fn step(&self) -> u32 {
        self.placed.step
    }
}

/// Which nodes are laid.
#[derive(Clone, Debug)]
enum Laid {
    All,
    WithoutFixed,
    /// Those that are the same in every run, around the others.
    Around {
        pins: Vec<Option<Pin>>,
        /// By node: the step of the next pin, which is the last step that it may go to.
        limits: Vec<u32>,
    },
}

impl Laid {
    fn around(pins: Vec<Option<Pin>>, foreign: &Foreign<'_>) -> Self {
        let mut limits = vec![NONE; pins.len()];
        let mut limit = NONE;
        for ((slot, pin), node) in limits.iter_mut().zip(&pins).zip(&foreign.nodes).rev() {
            if let Some(pin) = pin.filter(|_| !node.is_fixed) {
                limit = pin.placed.step;
            }
            *slot = limit;
        }
        Laid::Around { pins, limits }
    }
}

pub(crate) struct Search<'a> {
    prepared: &'a Prepared<'a>,
    foreign: &'a Foreign<'a>,
    tokens: &'a Tokens,
    /// By weight: the steps that read it.
    weight_readers: Lists<u32>,
    laid: Laid,
    rows: Rows,
    /// By node: its step on the best way, once all ways agree on it.
    settled: Vec<u32>,
}

/// Lists that are made anew for each node, without asking for memory each time.
#[derive(Default)]
struct Scratch {
    contest: CandidateCells,
    /// The steps that the operands of the node belong to.
    read: Vec<u32>,
    /// Tokens that were tried for the node after one way.
    tried: Vec<u32>,
    /// By operator: where its places, all and the firm ones, were looked up last.
    hints: Vec<[usize; 2]>,
}

impl<'a> Search<'a> {
    pub(crate) fn new(prepared: &'a Prepared<'a>, foreign: &'a Foreign<'a>, tokens: &'a Tokens) -> Self {
        let weights = |source: &Source| match source {
            Source::Weight(weight) => Some(*weight),
            _ => None,
        };
        let last = prepared.near.iter().flatten().filter_map(weights).max();
        let weight_readers = Lists::grouped(last.map_or(0, |last| last as usize + 1), || {
            let steps = prepared.near.iter().zip(0..);
            steps.flat_map(|(near, step)| near.iter().filter_map(weights).map(move |weight| (weight, step)))
        });
        let (laid, rows) = (Laid::All, Rows::default());
        Search { prepared, foreign, tokens, weight_readers, laid, rows, settled: Vec::new() }
    }

    /// The place of each node of the foreign graph; `None` if there is nothing to place it in.
    pub(crate) fn run(mut self) -> Vec<Option<Placed>> {
        let nodes = &self.foreign.nodes;
        if nodes.iter().filter(|node| node.is_fixed).count() * MANY_FIXED >= nodes.len() {
            self.laid = Laid::WithoutFixed;
            let pins = self.lay();
            self.laid = Laid::around(pins, self.foreign);
        }
        self.lay().into_iter().map(|pin| Some(pin?.placed)).collect()
    }

    fn lay(&mut self) -> Vec<Option<Pin>> {
        let nodes = &self.foreign.nodes;
        self.rows = Rows::new(nodes.len());
        self.settled = Vec::with_capacity(nodes.len());
        let mut scratch = Scratch { hints: vec![[0; 2]; self.tokens.places.len()], ..Scratch::default() };
        let start = Cell { step: NONE, next: 0, back: NONE, extras: 0, score: 0.0, gain: 0.0 };
        for (i, node) in nodes.iter().enumerate() {
            match i.checked_sub(1) {
                None => self.place(&start, NONE, i, node, &mut scratch),
                Some(before) => {
                    for (back, cell) in self.rows.get(before).iter().enumerate() {
                        self.place(cell, back as u32, i, node, &mut scratch);
                    }
                }
            }
            let mut row = self.rows.spare();
            scratch.contest.finish(&mut row);
            self.rows.push(row);
            self.settle(i);
            // All that is looked up from here on is at most `LAG` nodes back.
            self.rows.join(LAG);
        }
        let steps = self.prepared.reference.len() as u32;
        let end = |cell: &Cell| {
            let step = if cell.step == NONE { 0 } else { cell.step + 1 };
            cell.score - self.tokens.skip(step, steps)
        };
        std::mem::take(&mut self.rows).finish(end)
    }

    /// The ways to place node `i` after the way that ends in `cell`, if it is laid now; else the way goes on as it is.
    fn place(&self, cell: &Cell, back: u32, i: usize, node: &ForeignNode, scratch: &mut Scratch) {
        let as_it_is = Cell { back, gain: 0.0, ..*cell };
        match &self.laid {
            Laid::All => self.extend(cell, back, i, node, NONE, scratch),
            Laid::WithoutFixed if !node.is_fixed => self.extend(cell, back, i, node, NONE, scratch),
            Laid::WithoutFixed => scratch.contest.add(as_it_is),
            Laid::Around { limits, .. } if node.is_fixed => {
                let limit = limits.get(i).copied().unwrap_or(NONE);
                let before = scratch.contest.entered();
                self.extend(cell, back, i, node, limit, scratch);
                if scratch.contest.entered() == before {
                    scratch.contest.add(as_it_is);
                }
            }
            Laid::Around { pins, .. } => {
                let pin = pins.get(i).copied().flatten();
                scratch.contest.add(pin.map_or(as_it_is, |pin| self.pinned(cell, back, pin)));
            }
        }
    }

    fn pinned(&self, cell: &Cell, back: u32, pin: Pin) -> Cell {
        let Pin { placed: Placed { step, is_match, gain }, next } = pin;
        let after = if cell.step == NONE { 0 } else { cell.step + 1 };
        let score = cell.score - self.skip(after.min(step), step);
        Cell { step, next, back, extras: u32::from(!is_match), score, gain }
    }

    /// All ways to place node `i` after the way that ends in `cell`, in no step after `limit`.
    fn extend(
        &self,
        cell: &Cell,
        back: u32,
        i: usize,
        node: &ForeignNode,
        limit: u32,
        scratch: &mut Scratch,
    ) {
        let Scratch { contest, read, tried, hints } = scratch;
        let operands = self.foreign.operands(i as u32);
        read.clear();
        read.extend(operands.iter().map(|operand| self.read_step(back, i, operand)));
        let read: &[u32] = read;
        let operator = self.tokens.operators.get(i).copied().unwrap_or(NONE) as usize;
        let places = self.tokens.places.get(operator).map(Vec::as_slice).unwrap_or_default();
        let firm_places = self.tokens.firm_places.get(operator).map(Vec::as_slice).unwrap_or_default();
        let mut no_hint = [0; 2];
        let [hint, firm_hint] = hints.get_mut(operator).unwrap_or(&mut no_hint);
        let (inside_end, after) = match cell.step {
            NONE => (0, 0),
            step => (self.tokens.of(step).end, step + 1),
        };
        let mut add = |step: u32, next: u32, is_match: bool, price: f32| {
            if step > limit {
                return;
            }
            let gain = self.fit(step, next, is_match, node, operands, read);
            let extras = match (is_match, node.is_fixed) {
                (true, _) => 0,
                (false, true) => cell.extras.max(1),
                (false, false) => MAX_EXTRAS.min(cell.extras + 1),
            };
            let more = if node.is_fixed { 0.0 } else { MORE_EXTRA * extras as f32 };
            let score = cell.score + gain - price + more;
            contest.add(Cell { step, next, back, extras, score, gain });
        };
        // A later token of the same step, or something more that belongs to the step.
        if cell.step != NONE {
            *hint = first_from(places, cell.next, *hint);
            if let Some(&place) = places.get(*hint).filter(|place| **place < inside_end) {
                add(cell.step, place + 1, true, self.tokens.missing(cell.next, place));
            }
            add(cell.step, cell.next, false, -self.extra(cell.step, node, EXTRA));
        }
        // A token of a later step: the next ones, those of steps that read what the node reads, those that read its
        // weights.
        let rest = self.rest(cell.next, inside_end);
        tried.clear();
        let mut jump = |place: u32| {
            if tried.contains(&place) {
                return;
            }
            tried.push(place);
            let Some(token) = self.tokens.token(place) else { return };
            let skipped = self.skip(after, token.step);
            let missing = self.tokens.missing(self.tokens.of(token.step).start, place);
            add(token.step, place + 1, true, rest + skipped + missing);
        };
        let behind = inside_end.max(cell.next);
        for (places, hint) in [(places, &mut *hint), (firm_places, firm_hint)] {
            *hint = first_from(places, behind, *hint);
            places.get(*hint..).unwrap_or_default().iter().take(AHEAD).for_each(|place| jump(*place));
        }
        for (operand, step) in operands.iter().zip(read) {
            let readers = match operand {
                Operand::Weight(weight) => self.weight_readers.get(*weight),
                Operand::Node(_) => self.prepared.readers.get(self.prepared.first(*step)),
                _ => &[],
            };
            let first = readers.partition_point(|step| *step < after);
            for step in readers.get(first..).unwrap_or_default().iter().take(READERS) {
                let tokens = self.tokens.of(*step);
                let from = first_from(places, tokens.start, *hint);
                if let Some(&place) = places.get(from).filter(|place| tokens.contains(place)) {
                    jump(place);
                }
            }
        }
        // Something that comes before the first token of the next step.
        let steps = self.prepared.reference.len() as u32;
        let mut next_step = after;
        while next_step < steps && self.tokens.of(next_step).is_empty() {
            next_step += 1;
        }
        if next_step < steps {
            let price = rest + self.skip(after, next_step) - self.extra(next_step, node, LEADING_EXTRA);
            add(next_step, self.tokens.of(next_step).start, false, price);
        }
    }

    /// The gain of a node that no form of `step` tells; `else_gain` if it differs from run to run.
    fn extra(&self, step: u32, node: &ForeignNode, else_gain: f32) -> f32 {
        match node.is_fixed {
            true if self.is_foldable(step) => FIXED_EXTRA,
            true => FIXED_EXTRA_AWAY,
            false => else_gain,
        }
    }

    fn is_foldable(&self, step: u32) -> bool {
        self.prepared.is_foldable.get(step as usize).copied().unwrap_or(false)
    }

    /// What it costs if nothing stands for the steps from `from` up to `to`.
    fn skip(&self, from: u32, to: u32) -> f32 {
        match self.laid {
            Laid::Around { .. } => to.saturating_sub(from) as f32 * PASS,
            Laid::All | Laid::WithoutFixed => self.tokens.skip(from, to),
        }
    }

    /// What it costs to leave a step before its tokens from `from` up to `to` have nodes.
    fn rest(&self, from: u32, to: u32) -> f32 {
        match self.laid {
            Laid::Around { .. } => 0.0,
            Laid::All | Laid::WithoutFixed => self.tokens.missing(from, to),
        }
    }

    /// The step that an operand of node `i` belongs to on the way that ends in cell `back` of the row before.
    fn read_step(&self, back: u32, i: usize, operand: &Operand) -> u32 {
        let is_left = |place: u32| {
            matches!(self.laid, Laid::WithoutFixed)
                && self.foreign.nodes.get(place as usize).is_some_and(|node| node.is_fixed)
        };
        match operand {
            Operand::Node(place) if !is_left(*place) => self.step_of(back, i, *place as usize),
            _ => NONE,
        }
    }

    fn step_of(&self, back: u32, i: usize, place: usize) -> u32 {
        if let Some(&step) = self.settled.get(place) {
            return step;
        }
        let (mut at, mut row) = (back, i.wrapping_sub(1));
        loop {
            let Some(cell) = self.rows.get(row).get(at as usize) else { return NONE };
            if row <= place {
                return cell.step;
            }
            at = cell.back;
            row -= 1;
        }
    }

    /// How well a node fits into a step. `next`: the token after the one that it stands for.
    fn fit(
        &self,
        step: u32,
        next: u32,
        is_match: bool,
        node: &ForeignNode,
        operands: &[Operand],
        read: &[u32],
    ) -> f32 {
        if node.is_fixed && !is_match {
            return 0.0;
        }
        let (near, far) = (self.prepared.near.get(step), self.prepared.far.get(step));
        let mut gain = if is_match { MATCH } else { 0.0 };
        let token = is_match.then(|| self.tokens.token(next.wrapping_sub(1))).flatten();
        if node.is_fixed && !self.is_foldable(step) && token.is_some_and(|token| !token.is_optional) {
            gain += FIXED_WRONG;
        }
        for (operand, read) in operands.iter().zip(read) {
            gain += match operand {
                Operand::Constant | Operand::Size => 0.0,
                Operand::Node(_) if *read == NONE => 0.0,
                Operand::Node(_) if *read == step => EDGE_INSIDE,
                Operand::Node(_) => edge(near, far, Source::Step(self.prepared.first(*read))),
                Operand::Input(input) => edge(near, far, Source::Input(*input)),
                Operand::Weight(weight) => self.weight_edge(near, far, *weight),
            };
        }
        let is_last = token.is_some_and(|token| token.is_last);
        if is_last && let Some(result) = self.foreign.result(node) {
            let results = self.prepared.reference.results(step);
            if !results.is_empty() {
                let mut known = results.iter().filter_map(|id| self.prepared.reference.fact(*id));
                let agrees = known.any(|known| known.agrees(result));
                gain += if agrees { RESULT_SAME } else { RESULT_OTHER };
            }
        }
        if let Some(output) = node.output.and_then(|output| self.prepared.outputs.get(output as usize)) {
            gain += if output.contains(&Source::Step(self.prepared.first(step))) {
                OUTPUT_SAME
            } else {
                OUTPUT_OTHER
            };
        }
        gain
    }

    fn weight_edge(&self, near: &[Source], far: &[Source], weight: u32) -> f32 {
        let readers = self.weight_readers.get(weight).len();
        let (gain, loss) =
            if readers == 1 { (WEIGHT_ONLY, WEIGHT_WRONG) } else { (WEIGHT_SHARED, WEIGHT_SHARED_WRONG) };
        if near.contains(&Source::Weight(weight)) {
            gain
        } else if far.contains(&Source::Weight(weight)) {
            gain / 2.0
        } else {
            loss
        }
    }

    /// Notes the step of the node `LAG` nodes before node `i` on the best way.
    fn settle(&mut self, i: usize) {
        let Some(place) = i.checked_sub(LAG) else { return };
        // The best cell of a row is its first.
        let step = self.step_of(0, i + 1, place);
        self.settled.push(step);
    }
}

/// The value of an edge from `source` into a step.
fn edge(near: &[Source], far: &[Source], source: Source) -> f32 {
    if near.contains(&source) {
        EDGE_NEAR
    } else if far.contains(&source) {
        EDGE_FAR
    } else {
        EDGE_WRONG
    }
}

/// The index of the first of ascending `places` that is not below `bound`, looked for from `hint` on: one node after
/// the other asks for places that lie close together.
fn first_from(places: &[u32], bound: u32, hint: usize) -> usize {
    let is_below = |i: usize| places.get(i).is_some_and(|place| *place < bound);
    let mut width = 1;
    let (start, end) = if is_below(hint) {
        while is_below(hint + width) {
            width *= 2;
        }
        (hint + width / 2, hint + width)
    } else {
        let hint = hint.min(places.len());
        while width <= hint && !is_below(hint - width) {
            width *= 2;
        }
        (hint.saturating_sub(width), hint - width / 2)
    };
    let between = places.get(start..end.min(places.len())).unwrap_or_default();
    start + between.partition_point(|place| *place < bound)
}

#[cfg(test)]
mod tests {
    use super::first_from;

    #[test]
    fn a_place_is_found_from_any_hint() {
        let places = [2, 3, 3, 8, 9, 20, 21, 40];
        for bound in 0..42 {
            let expected = places.partition_point(|place| *place < bound);
            for hint in 0..10 {
                assert_eq!(first_from(&places, bound, hint), expected, "{bound} from {hint}");
            }
        }
        assert_eq!(first_from(&[], 3, 5), 0);
    }
}

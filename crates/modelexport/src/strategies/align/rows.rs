//! The alignments that the search follows, node by node. What all of them share is stored once.

use std::collections::VecDeque;

use super::contest::WIDTH;
use super::runs::Runs;
use super::search::{Cell, Pin};

/// It is looked where the ways join when there are so many rows.
const MOST: usize = 256;

/// A set of cells of one row.
type Cells = u64;
const _: () = assert!(WIDTH <= Cells::BITS as usize);

/// A row of cells for each node, of which the first ones may be settled, and the next without the ways that ended.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Places of the nodes before the first row.
    settled: Vec<Option<Pin>>,
    old: Runs,
    rows: VecDeque<Vec<Cell>>,
    /// Rows that are no longer used, for their memory.
    spare: Vec<Vec<Cell>>,
}

impl Rows {
    /// For so many nodes.
    pub(super) fn new(nodes: usize) -> Self {
        Rows { settled: Vec::with_capacity(nodes), ..Rows::default() }
    }

    /// The row of node number `i`; empty if it is settled or old.
    pub(super) fn get(&self, i: usize) -> &[Cell] {
        let row = i.checked_sub(self.settled.len() + self.old.rows()).and_then(|i| self.rows.get(i));
        row.map(Vec::as_slice).unwrap_or_default()
    }

    /// An empty row to fill.
    pub(super) fn spare(&mut self) -> Vec<Cell> {
        self.spare.pop().unwrap_or_else(|| Vec::with_capacity(WIDTH))
    }

    pub(super) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push_back(row);
    }

    /// Settles the nodes on which all ways agree, but not the last `kept`. If they agree on none, rows become old.
    pub(super) fn join(&mut self, kept: usize) {
        if self.rows.len() < MOST {
            return;
        }
        let last = self.rows.len() - 1;
        let mut used: Cells = self.rows.back().map_or(0, |row| (0..row.len()).fold(0, |all, i| all | bit(i)));
        let mut used_before: Vec<Cells> = Vec::with_capacity(last);
        for at in (0..last).rev() {
            let after = self.rows.get(at + 1).map(Vec::as_slice).unwrap_or_default();
            let cells = after.iter().enumerate().filter(|(i, _)| used & bit(*i) != 0);
            used = cells.fold(0, |all, (_, cell)| all | bit(cell.back as usize));
            if used.count_ones() == 1 && at + kept < last {
                self.settle(at, used.trailing_zeros());
                return;
            }
            used_before.push(used);
        }
        let mut cells = Vec::with_capacity(WIDTH);
        for used in used_before.into_iter().rev().take(last.saturating_sub(kept)) {
            let Some(row) = self.rows.pop_front() else { return };
            let is_used = |i: usize| used & bit(i) != 0;
            let place = |(i, cell): (usize, &Cell)| is_used(i).then(|| (cell.back, cell.pin()));
            cells.clear();
            cells.extend(row.iter().enumerate().map(place));
            self.old.push(&cells);
            self.give_back(row);
        }
    }

    /// The places of all nodes on the way that ends best: `end` is the worth of an end, and of equal ones the first
    /// counts.
    pub(super) fn finish(mut self, end: impl Fn(&Cell) -> f32) -> Vec<Option<Pin>> {
        let Some(last) = self.rows.back() else { return self.settled };
        let mut best = 0;
        for (i, cell) in last.iter().enumerate() {
            if last.get(best).is_none_or(|best| end(cell) > end(best)) {
                best = i;
            }
        }
        self.settle(self.rows.len() - 1, best as u32);
        self.settled
    }

    /// Settles the rows up to number `last` by the way that ends there in cell `cell`.
    fn settle(&mut self, last: usize, cell: u32) {
        let (first, old) = (self.settled.len(), self.old.rows());
        self.settled.resize(first + old + last + 1, None);
        let mut at = cell;
        let places = self.settled.iter_mut().skip(first + old);
        for (row, place) in self.rows.iter().zip(places).take(last + 1).rev() {
            let Some(cell) = row.get(at as usize) else { break };
            *place = cell.pin();
            at = cell.back;
        }
        self.old.take(at, |row, pin| {
            if let Some(place) = self.settled.get_mut(first + row) {
                *place = pin;
            }
        });
        for _ in 0..=last {
            let Some(row) = self.rows.pop_front() else { return };
            self.give_back(row);
        }
    }

    fn give_back(&mut self, mut row: Vec<Cell>) {
        row.clear();
        self.spare.push(row);
    }
}

fn bit(i: usize) -> Cells {
    1u64.checked_shl(i as u32).unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(step: u32, back: u32) -> Cell {
        Cell { step, next: 0, back, extras: 0, score: 0.0, gain: 0.0 }
    }

    #[test]
    fn what_is_settled_early_is_what_the_best_way_had() {
        let nodes = 10 * MOST as u32;
        let mut rows = Rows::new(nodes as usize);
        for i in 0..nodes {
            // Two ways that part at each node and join after the next.
            let mut row = rows.spare();
            let back = u32::from(i % 3 == 1);
            row.extend([cell(10 * i, back), cell(10 * i + 1, back)]);
            rows.push(row);
            rows.join(3);
        }
        assert!(rows.rows.len() < 2 * MOST);
        let pins = rows.finish(|cell| (cell.step % 10) as f32);
        let steps: Vec<u32> = pins.iter().filter_map(|pin| pin.as_ref()).map(|pin| pin.step()).collect();
        let way = |i: u32| if i + 1 == nodes { 1 } else { u32::from((i + 1) % 3 == 1) };
        let expected: Vec<u32> = (0..nodes).map(|i| 10 * i + way(i)).collect();
        assert_eq!(steps, expected);
    }
    /// Ways that stay side by side, of which one branches off now and then and ends soon.
    #[test]
    fn ways_that_never_join_are_kept_in_little_memory() {
        let nodes = 40 * MOST as u32;
        let mut rows = Rows::new(nodes as usize);
        let step = |i: u32, way: u32| if i % 100 < 50 { 3 * i + way } else { 5 * i + 2 * way };
        for i in 0..nodes {
            let mut row = rows.spare();
            row.extend((0..4).map(|way| cell(step(i, way), way)));
            if i % 10 == 0 {
                row.push(cell(7, 2));
            }
            rows.push(row);
            rows.join(3);
        }
        assert!(rows.rows.len() < 2 * MOST && rows.settled.is_empty());
        assert!(rows.old.len() < nodes as usize / 4, "{} runs", rows.old.len());
        let pins = rows.finish(|cell| if cell.back == 2 { 1.0 } else { 0.0 });
        let steps: Vec<u32> = pins.iter().filter_map(|pin| pin.as_ref()).map(|pin| pin.step()).collect();
        assert_eq!(steps, (0..nodes).map(|i| step(i, 2)).collect::<Vec<_>>());
    }
}

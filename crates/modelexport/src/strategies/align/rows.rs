//! The ways that are followed, node by node. What all of them have in common is kept as places, without the ways.

use std::collections::VecDeque;

use super::contest::WIDTH;
use super::search::{Cell, Pin};

/// So many rows are kept at least before it is looked where the ways join.
const FEWEST: usize = 256;

/// A set of cells of one row.
type Cells = u64;
const _: () = assert!(WIDTH <= Cells::BITS as usize);

/// A row of cells for each node, of which the first ones may be settled.
#[derive(Debug, Default)]
pub(super) struct Rows {
    /// Places of the nodes before the first row.
    settled: Vec<Option<Pin>>,
    rows: VecDeque<Vec<Cell>>,
    /// Rows that are no longer used, for their memory.
    spare: Vec<Vec<Cell>>,
    /// It is looked where the ways join when there are so many rows: twice as many as were left the last time, so that
    /// the time for it is linear.
    enough: usize,
}

impl Rows {
    /// For so many nodes.
    pub(super) fn new(nodes: usize) -> Self {
        Rows { settled: Vec::with_capacity(nodes), enough: FEWEST, ..Rows::default() }
    }

    /// The row of node number `i`; empty if it is settled.
    pub(super) fn get(&self, i: usize) -> &[Cell] {
        let row = i.checked_sub(self.settled.len()).and_then(|i| self.rows.get(i));
        row.map(Vec::as_slice).unwrap_or_default()
    }

    /// An empty row to fill.
    pub(super) fn spare(&mut self) -> Vec<Cell> {
        self.spare.pop().unwrap_or_else(|| Vec::with_capacity(WIDTH))
    }

    pub(super) fn push(&mut self, row: Vec<Cell>) {
        self.rows.push_back(row);
    }

    /// Settles the nodes on which all ways agree, but not the last `kept`.
    pub(super) fn join(&mut self, kept: usize) {
        if self.rows.len() < self.enough {
            return;
        }
        let last = self.rows.len() - 1;
        let mut used: Cells = self.rows.back().map_or(0, |row| (0..row.len()).fold(0, |all, i| all | bit(i)));
        for at in (0..last).rev() {
            let after = self.rows.get(at + 1).map(Vec::as_slice).unwrap_or_default();
            let cells = after.iter().enumerate().filter(|(i, _)| used & bit(*i) != 0);
            used = cells.fold(0, |all, (_, cell)| all | bit(cell.back as usize));
            if used.count_ones() == 1 && at + kept < last {
                self.settle(at, used.trailing_zeros());
                break;
            }
        }
        self.enough = FEWEST.max(2 * self.rows.len());
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
        let first = self.settled.len();
        self.settled.resize(first + last + 1, None);
        let mut at = cell;
        for (row, place) in self.rows.iter().zip(self.settled.iter_mut().skip(first)).take(last + 1).rev() {
            let Some(cell) = row.get(at as usize) else { break };
            *place = cell.pin();
            at = cell.back;
        }
        for mut row in self.rows.drain(..=last) {
            row.clear();
            self.spare.push(row);
        }
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
        let nodes = 10 * FEWEST as u32;
        let mut rows = Rows::new(nodes as usize);
        for i in 0..nodes {
            // Two ways that part at each node and join after the next.
            let mut row = rows.spare();
            let back = u32::from(i % 3 == 1);
            row.extend([cell(10 * i, back), cell(10 * i + 1, back)]);
            rows.push(row);
            rows.join(3);
        }
        assert!(rows.rows.len() < 2 * FEWEST);
        let pins = rows.finish(|cell| (cell.step % 10) as f32);
        let steps: Vec<u32> = pins.iter().filter_map(|pin| pin.as_ref()).map(|pin| pin.step()).collect();
        let way = |i: u32| if i + 1 == nodes { 1 } else { u32::from((i + 1) % 3 == 1) };
        let expected: Vec<u32> = (0..nodes).map(|i| 10 * i + way(i)).collect();
        assert_eq!(steps, expected);
    }
}

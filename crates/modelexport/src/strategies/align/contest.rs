//! Chooses the alignments that the search continues with.

use super::search::Cell;

/// Ways that are followed at a time, and how much worse than the best one may be.
pub(super) const WIDTH: usize = 24;
const MARGIN: f32 = 24.0;

/// Slots of the table at first: more than twice what most nodes need.
const SLOTS: usize = 512;

/// Ways to place one node. Of those that reach the same place the best stays, and of equal ones the first.
#[derive(Debug, Default)]
pub(super) struct CandidateCells {
    cells: Vec<Cell>,
    /// How many were added, those that had no chance included.
    entered: usize,
    top: Option<f32>,
    /// Open addressing by step and token: the round in which a slot was filled, and the cell.
    slots: Vec<(u32, u32)>,
    round: u32,
}

impl CandidateCells {
    pub(super) fn entered(&self) -> usize {
        self.entered
    }

    pub(super) fn add(&mut self, cell: Cell) {
        self.entered += 1;
        if self.top.is_some_and(|top| cell.score < top - MARGIN) {
            return;
        }
        self.top = Some(self.top.map_or(cell.score, |top| top.max(cell.score)));
        if self.slots.len() < 2 * (self.cells.len() + 1) {
            self.grow();
        }
        let Some(slot) = self.slot(&cell) else { return };
        match self.slots.get(slot) {
            Some((round, at)) if *round == self.round => {
                if let Some(known) = self.cells.get_mut(*at as usize).filter(|known| known.score < cell.score)
                {
                    *known = cell;
                }
            }
            _ => {
                if let Some(slot) = self.slots.get_mut(slot) {
                    *slot = (self.round, self.cells.len() as u32);
                }
                self.cells.push(cell);
            }
        }
    }

    /// Puts the best cells into `row`, the best first, and makes room for the next node.
    pub(super) fn finish(&mut self, row: &mut Vec<Cell>) {
        let worst = self.top.unwrap_or(0.0) - MARGIN;
        self.cells.retain(|cell| cell.score >= worst);
        let order =
            |a: &Cell, b: &Cell| b.score.total_cmp(&a.score).then((a.step, a.next).cmp(&(b.step, b.next)));
        if self.cells.len() > WIDTH {
            self.cells.select_nth_unstable_by(WIDTH, order);
            self.cells.truncate(WIDTH);
        }
        self.cells.sort_unstable_by(order);
        row.extend_from_slice(&self.cells);
        self.cells.clear();
        (self.entered, self.top) = (0, None);
        self.next_round();
    }

    fn next_round(&mut self) {
        self.round = self.round.wrapping_add(1);
        if self.round == 0 {
            self.slots.fill((0, 0));
            self.round = 1;
        }
    }

    /// The slot that holds the place of `cell`, or the one where it goes.
    fn slot(&self, cell: &Cell) -> Option<usize> {
        let mask = self.slots.len().checked_sub(1)?;
        let mut at = (cell.step.wrapping_mul(0x9e37_79b1) ^ cell.next.wrapping_mul(0x85eb_ca77)) as usize;
        loop {
            at &= mask;
            let (round, index) = *self.slots.get(at)?;
            let known = self.cells.get(index as usize);
            if round != self.round
                || known.is_some_and(|known| (known.step, known.next) == (cell.step, cell.next))
            {
                return Some(at);
            }
            at += 1;
        }
    }

    /// Doubles the table, which is never more than half full, so that a search in it ends.
    fn grow(&mut self) {
        let slots = SLOTS.max(2 * self.slots.len());
        self.slots = vec![(0, 0); slots];
        self.round = 1;
        for i in 0..self.cells.len() {
            let slot = self.cells.get(i).and_then(|cell| self.slot(cell));
            if let Some(slot) = slot.and_then(|slot| self.slots.get_mut(slot)) {
                *slot = (1, i as u32);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cell(step: u32, next: u32, score: f32) -> Cell {
        Cell { step, next, back: 0, extras: 0, score, gain: 0.0 }
    }

    fn results(cells: &[Cell]) -> Vec<(u32, u32, f32)> {
        let mut contest = CandidateCells::default();
        let mut row = Vec::new();
        // The same contest serves node after node.
        for _ in 0..2 {
            row.clear();
            cells.iter().for_each(|cell| contest.add(*cell));
            contest.finish(&mut row);
        }
        row.iter().map(|cell| (cell.step, cell.next, cell.score)).collect()
    }

    #[test]
    fn the_best_of_each_place_stay_in_their_order() {
        let cells = [cell(3, 1, 1.0), cell(2, 9, 5.0), cell(3, 1, 2.0), cell(1, 1, 2.0), cell(4, 4, -30.0)];
        assert_eq!(results(&cells), [(2, 9, 5.0), (1, 1, 2.0), (3, 1, 2.0)]);
    }

    #[test]
    fn many_places_are_cut_to_the_best() {
        let cells: Vec<Cell> = (0..5000).map(|i| cell(i % 2500, i % 7, -(i as f32) / 1000.0)).collect();
        let found = results(&cells);
        let expected: Vec<(u32, u32, f32)> =
            (0..WIDTH as u32).map(|i| (i, i % 7, -(i as f32) / 1000.0)).collect();
        assert_eq!(found, expected);
    }
}

//! Alignments that never joined, in compressed form: along most of its length an alignment advances one step per node.

use super::search::Pin;

const NONE: u32 = u32::MAX;

/// So many runs are made at least before those that lead nowhere are given up.
const FEWEST: usize = 1024;

/// Ends of ways, and how each came there.
#[derive(Debug)]
pub(super) struct Runs {
    runs: Vec<Run>,
    /// By cell of the last row: the run that ends in it.
    ends: Vec<u32>,
    /// How many rows there are.
    rows: u32,
    /// It is looked which runs lead nowhere when there are so many: twice as many as were left the last time.
    enough: usize,
}

/// A part of a way that has no branches, and whose places follow from the first.
#[derive(Clone, Copy, Debug)]
struct Run {
    /// The run before.
    before: u32,
    /// The row that it begins in, and how many it goes through.
    start: u32,
    length: u32,
    first: Option<Pin>,
    /// What is added to step and token from row to row.
    stride: (u32, u32),
}

impl Run {
    fn pin(&self, i: u32) -> Option<Pin> {
        let (step, next) = self.stride;
        self.first.map(|first| first.moved(step.wrapping_mul(i), next.wrapping_mul(i)))
    }

    /// Goes on with `pin` if that is the next place.
    fn extend(&mut self, pin: Option<Pin>) -> bool {
        if self.length == 1
            && let (Some(first), Some(pin)) = (self.first, pin)
        {
            self.stride = first.distance(&pin);
        }
        let fits = self.pin(self.length) == pin;
        self.length += u32::from(fits);
        fits
    }
}

impl Default for Runs {
    fn default() -> Self {
        Runs { runs: Vec::new(), ends: Vec::new(), rows: 0, enough: FEWEST }
    }
}

impl Runs {
    /// How many rows there are.
    pub(super) fn rows(&self) -> usize {
        self.rows as usize
    }

    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.runs.len()
    }

    /// Adds a row: for each of its cells that a way leads through, the cell of the row before and the place.
    pub(super) fn push(&mut self, cells: &[Option<(u32, Option<Pin>)>]) {
        let mut branches = vec![0u32; self.ends.len()];
        for (back, _) in cells.iter().flatten() {
            if let Some(count) = branches.get_mut(*back as usize) {
                *count += 1;
            }
        }
        let mut ends = Vec::with_capacity(cells.len());
        for cell in cells {
            let Some((back, pin)) = cell else {
                ends.push(NONE);
                continue;
            };
            let before = self.ends.get(*back as usize).copied().unwrap_or(NONE);
            let is_alone = branches.get(*back as usize) == Some(&1);
            let run = self.runs.get_mut(before as usize).filter(|_| is_alone);
            if run.is_some_and(|run| run.extend(*pin)) {
                ends.push(before);
                continue;
            }
            ends.push(self.runs.len() as u32);
            self.runs.push(Run { before, start: self.rows, length: 1, first: *pin, stride: (0, 0) });
        }
        self.ends = ends;
        self.rows += 1;
        if self.runs.len() >= self.enough {
            self.give_up_dead_ends();
            self.enough = FEWEST.max(2 * self.runs.len());
        }
    }

    /// Calls `place` with row and place of each node on the way that ends in `cell` of the last row, and forgets all.
    pub(super) fn take(&mut self, cell: u32, mut place: impl FnMut(usize, Option<Pin>)) {
        let Runs { runs, ends, .. } = std::mem::take(self);
        let mut at = ends.get(cell as usize).copied().unwrap_or(NONE);
        while let Some(run) = runs.get(at as usize) {
            (0..run.length).for_each(|i| place((run.start + i) as usize, run.pin(i)));
            at = run.before;
        }
    }

    /// Runs that lead to no cell of the last row.
    fn give_up_dead_ends(&mut self) {
        let mut is_live = vec![false; self.runs.len()];
        for &end in &self.ends {
            let mut at = end;
            while let Some(live) = is_live.get_mut(at as usize).filter(|live| !**live) {
                *live = true;
                at = self.runs.get(at as usize).map_or(NONE, |run| run.before);
            }
        }
        let mut numbers = vec![NONE; self.runs.len()];
        let live_numbers = numbers.iter_mut().zip(&is_live).filter(|(_, live)| **live);
        live_numbers.zip(0..).for_each(|((number, _), next)| *number = next);
        let new = |old: u32| numbers.get(old as usize).copied().unwrap_or(NONE);
        self.ends.iter_mut().for_each(|end| *end = new(*end));
        // A run comes after the one before it, so that its number is known.
        let mut live = is_live.iter();
        self.runs.retain(|_| live.next() == Some(&true));
        self.runs.iter_mut().for_each(|run| run.before = new(run.before));
    }
}

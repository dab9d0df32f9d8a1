//! The summary of a run.

use crate::worker::State;

/// What became of a target.
#[derive(Default)]
pub struct Row {
    pub target: &'static str,
    pub inputs: u64,
    pub accepted: u64,
    pub slowest_micros: u64,
    pub slowest: u64,
    pub failures: usize,
    pub seconds: f64,
    /// The number of the input after the last.
    pub next: u64,
}

impl Row {
    pub fn add(&mut self, state: &State) {
        self.inputs += state.done;
        self.accepted += state.accepted;
        self.next = state.index;
        if state.slowest_micros > self.slowest_micros {
            (self.slowest_micros, self.slowest) = (state.slowest_micros, state.slowest);
        }
    }
}

pub fn text(rows: &[Row]) -> String {
    let width = rows.iter().map(|row| row.target.len()).max().unwrap_or_default();
    let mut text = format!(
        "\n{:width$}  {:>10}  {:>8}  {:>8}  {:>10}  {:>8}  {:>10}\n",
        "target", "inputs", "inputs/s", "accepted", "slowest", "failures", "go on from"
    );
    for row in rows {
        text += &format!(
            "{:width$}  {:>10}  {:>8.0}  {:>7.1}%  {:>7.1} ms  {:>8}  {:>10}\n",
            row.target,
            row.inputs,
            row.inputs as f64 / row.seconds.max(1e-9),
            100.0 * row.accepted as f64 / row.inputs.max(1) as f64,
            row.slowest_micros as f64 / 1e3,
            row.failures,
            row.next,
        );
    }
    text
}

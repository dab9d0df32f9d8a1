//! Chooses the strategy that places the most nodes of a file.

use serde::Serialize;

use modelexport_io::sidecar::Fit;

use crate::strategies::{self, Attributions, Context, Evidence, Strategy, fit};

/// What one strategy placed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct StrategyTrial {
    /// The name of the strategy.
    pub strategy: &'static str,
    /// Nodes that the evidence placed, not their neighbours.
    pub placed: u64,
    /// Nodes of the file.
    pub nodes: u64,
}

/// The strategy that was taken, and why.
#[derive(Clone, Debug)]
pub struct Choice {
    /// The strategy.
    pub strategy: Strategy,
    /// How well the evidence fits the file.
    pub fit: Fit,
    /// All that were tried, in their order; one if it was asked for.
    pub tried: Vec<StrategyTrial>,
}

/// The strategies that `tag` tries with evidence that was given to it, the one that tells most first.
pub(crate) fn candidates(evidence: &Evidence) -> Vec<Strategy> {
    let is_allowed = |strategy: &Strategy| strategy.is_allowed_by(evidence);
    let mut allowed: Vec<Strategy> = Strategy::ALL.into_iter().filter(is_allowed).collect();
    // Both lay the operators of the evidence along the nodes.
    if allowed.contains(&Strategy::FxGraph) {
        allowed.retain(|strategy| *strategy != Strategy::Htp);
    }
    allowed
}

/// What lies between two reads of parameters is right less often than what names or operators tell.
const BETWEEN_READS: f64 = 0.8;

/// Runs `candidates` and keeps the one whose evidence places the largest share of nodes; of equal ones the first.
pub(crate) fn choose(context: &Context<'_>, candidates: &[Strategy]) -> (Attributions, Choice) {
    let mut best: Option<(f64, Strategy, Attributions)> = None;
    let mut tried = Vec::new();
    for &strategy in candidates {
        let places = strategies::attribute(strategy, context);
        let placed = places.iter().filter(|place| place.method.is_evidence()).count();
        let weight = if strategy == Strategy::UsageBased { BETWEEN_READS } else { 1.0 };
        let share = weight * placed as f64 / places.len().max(1) as f64;
        tried.push(StrategyTrial {
            strategy: strategy.name(),
            placed: placed as u64,
            nodes: places.len() as u64,
        });
        let is_all = placed == places.len();
        if best.as_ref().is_none_or(|(known, ..)| share > *known) {
            best = Some((share, strategy, places));
        }
        if is_all {
            break;
        }
    }
    let (strategy, places) = match best {
        Some((_, strategy, places)) => (strategy, places),
        None => (Strategy::EnhancedSemantic, strategies::attribute(Strategy::EnhancedSemantic, context)),
    };
    let fit = fit::measure(context, &places);
    (places, Choice { strategy, fit, tried })
}

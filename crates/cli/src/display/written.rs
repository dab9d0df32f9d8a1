//! Weights that a command wrote, as every summary shows them.

use modelexport::summary::Weights;
use modelexport_io::weights::Counts;

use super::number::exact;

/// `embed (19 in the model)`.
pub fn weights_text(weights: &Weights) -> String {
    let Counts { embedded, external, shared, referenced, copied_instead, omitted } = weights.counts;
    let places = [
        (embedded, "in the model"),
        (external, "in the data file"),
        (shared, "of them shared"),
        (referenced, "left where they are"),
        (copied_instead, "copied as they cannot be referenced"),
        (omitted, "left out"),
    ];
    let places: Vec<String> = places
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, place)| format!("{} {place}", exact(*count as u64)))
        .collect();
    format!("{} ({})", weights.mode, if places.is_empty() { "none".to_owned() } else { places.join(", ") })
}

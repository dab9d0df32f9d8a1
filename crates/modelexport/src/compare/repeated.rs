//! Reports a change that most nodes share only once.

use std::collections::BTreeSet;

use super::report::Repeated;
use super::{Category, Difference, Found};
use crate::numbers::{counted, exact};

/// Fewer differences are told one by one.
const LEAST: usize = 8;

/// Takes differences that more than half of the `matched` nodes have together into one of the model.
pub(super) fn say_once(found: &mut Found, matched: usize) {
    let repeated = std::mem::take(&mut found.repeated);
    let many: Vec<(Repeated, BTreeSet<usize>)> =
        repeated.into_iter().filter(|(_, nodes)| nodes.len() >= LEAST && nodes.len() * 2 > matched).collect();
    if many.is_empty() {
        return;
    }
    let mut once = Vec::new();
    for (repeated, nodes) in &many {
        let example = found.by_module.values().flatten().find(|one| one.repeated.as_ref() == Some(repeated));
        let Some(example) = example else { continue };
        once.push(together(repeated, nodes.len(), matched, example));
    }
    let is_told = |difference: &Difference| {
        difference.repeated.as_ref().is_some_and(|repeated| many.iter().any(|(one, _)| one == repeated))
    };
    for differences in found.by_module.values_mut() {
        differences.retain(|difference| !is_told(difference));
    }
    found.by_module.retain(|_, differences| !differences.is_empty());
    found.by_module.entry(None).or_default().extend(once);
}

fn together(repeated: &Repeated, nodes: usize, matched: usize, example: &Difference) -> Difference {
    let of = match nodes == matched {
        true => format!("all {}", counted(nodes as u64, "node")),
        false => format!("{} of {}", exact(nodes as u64), counted(matched as u64, "node")),
    };
    let (category, kind, subject) = match repeated {
        Repeated::TagsRemoved => (Category::Tags, "tags removed", of),
        Repeated::TagsAdded => (Category::Tags, "tags added", of),
        Repeated::MetadataRemoved(key) => (Category::Tags, "metadata removed", format!("{of}: {key}")),
        Repeated::MetadataAdded(key) => (Category::Tags, "metadata added", format!("{of}: {key}")),
        Repeated::MetadataChanged(key) => (Category::Tags, "metadata changed", format!("{of}: {key}")),
        Repeated::Renamed => (Category::Structure, "nodes renamed", of),
        Repeated::DocString => (Category::Tags, "doc strings changed", of),
    };
    let difference = Difference::new(category, kind, subject).times(nodes);
    match repeated {
        Repeated::Renamed | Repeated::DocString | Repeated::MetadataChanged(_) => {
            let first = |text: &Option<String>| text.as_ref().map(|text| format!("{text}, …"));
            Difference { before: first(&example.before), after: first(&example.after), ..difference }
        }
        _ => difference,
    }
}

//! Suggestions for a selector that matches nothing.

use std::collections::BTreeMap;

/// So many are listed.
const SHOWN: usize = 5;

/// Names longer than this are not compared: no model has them, and the comparison takes the product of the lengths.
const LONGEST: usize = 400;

/// Texts to choose from. Those that differ only in numbers count as one, with `*` for what differs.
#[derive(Default)]
pub(super) struct Candidates {
    /// By text with `*` for its numbers: the first text, and whether there are more.
    groups: BTreeMap<String, (String, bool)>,
}

impl Candidates {
    pub(super) fn add(&mut self, text: &str) {
        if text.is_empty() || text.len() > LONGEST {
            return;
        }
        let group = without_numbers(text);
        match self.groups.get_mut(&group) {
            Some((first, several)) => *several |= first != text,
            None => {
                self.groups.insert(group, (text.to_owned(), false));
            }
        }
    }

    /// The nearest first; nothing if nothing is near.
    pub(super) fn nearest(self, wanted: &str) -> Vec<String> {
        let wanted: Vec<char> = without_numbers(wanted).to_lowercase().chars().take(LONGEST).collect();
        let mut found: Vec<(usize, String)> = Vec::new();
        for (group, (first, several)) in self.groups {
            let text: Vec<char> = group.to_lowercase().chars().collect();
            if let Some(distance) = distance(&wanted, &text) {
                found.push((distance, if several { group } else { first }));
            }
        }
        found.sort();
        found.into_iter().take(SHOWN).map(|(_, text)| text).collect()
    }
}

/// The texts that come near to one, the nearest first.
pub(crate) fn near_matches<'t>(texts: impl Iterator<Item = &'t str>, wanted: &str) -> Vec<String> {
    let mut candidates = Candidates::default();
    texts.for_each(|text| candidates.add(text));
    candidates.nearest(wanted)
}

/// Parts between dots that are numbers become `*`.
fn without_numbers(text: &str) -> String {
    let is_number = |part: &str| !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit());
    let segment = |segment: &str| {
        let parts: Vec<&str> =
            segment.split('.').map(|part| if is_number(part) { "*" } else { part }).collect();
        parts.join(".")
    };
    text.split('/').map(segment).collect::<Vec<String>>().join("/")
}

/// How far apart two texts are; `None` if they have little in common. A text that holds the other is near.
fn distance(wanted: &[char], text: &[char]) -> Option<usize> {
    let holds = |long: &[char], short: &[char]| {
        !short.is_empty() && long.windows(short.len()).any(|window| window == short)
    };
    let edits = edit_distance(wanted, text);
    if wanted.len() >= 3 && holds(text, wanted) {
        return Some(1 + (text.len() - wanted.len()) / 8);
    }
    (edits * 2 <= wanted.len().max(text.len())).then_some(edits * 2)
}

/// Levenshtein's distance, one row at a time.
fn edit_distance(a: &[char], b: &[char]) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = i;
        let mut left = i + 1;
        if let Some(first) = row.first_mut() {
            *first = left;
        }
        for (cell, to) in row.iter_mut().skip(1).zip(b) {
            let replaced = diagonal + usize::from(from != to);
            diagonal = *cell;
            left = replaced.min(left + 1).min(*cell + 1);
            *cell = left;
        }
    }
    row.last().copied().unwrap_or(0)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nearest(candidates: &[&str], wanted: &str) -> Vec<String> {
        near_matches(candidates.iter().copied(), wanted)
    }

    #[test]
    fn distances_are_those_of_levenshtein() {
        let distance =
            |a: &str, b: &str| edit_distance(&a.chars().collect::<Vec<_>>(), &b.chars().collect::<Vec<_>>());
        assert_eq!(distance("kitten", "sitting"), 3);
        assert_eq!((distance("", "abc"), distance("abc", ""), distance("same", "same")), (3, 3, 0));
    }

    #[test]
    fn slips_and_pieces_are_near_and_instances_are_one() {
        let paths = ["encoder.layer.0.attention", "encoder.layer.1.attention", "pooler", "embeddings"];
        assert_eq!(nearest(&paths, "poler"), ["pooler"]);
        assert_eq!(nearest(&paths, "attention"), ["encoder.layer.*.attention"]);
        assert_eq!(nearest(&paths, "encoder.layer.9.attention"), ["encoder.layer.*.attention"]);
        assert_eq!(nearest(&paths, "zzzzzzzzz"), [""; 0]);
        assert_eq!(nearest(&["layer.0"], "layr.0"), ["layer.0"], "one instance keeps its number");
    }
}

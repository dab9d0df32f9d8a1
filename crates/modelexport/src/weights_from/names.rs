//! Maps weights to tensors of a checkpoint with different names.

use std::collections::{BTreeMap, HashMap, HashSet};

use modelexport_graph::DType;
use modelexport_io::safetensors::{Entry, Tensors};

/// One prefix that all names of the files have more or less than those of the program.
#[derive(Default)]
pub(crate) struct Renaming {
    pub added: String,
    pub removed: String,
}

impl Renaming {
    /// The one under which most names meet; none if most meet as they are.
    pub(crate) fn between(weights: &[&str], tensors: &Tensors) -> Renaming {
        let exact = weights.iter().filter(|name| tensors.contains_key(**name)).count();
        let mut votes: BTreeMap<(bool, &str), usize> = BTreeMap::new();
        for weight in weights {
            for rest in suffixes(weight).filter(|rest| tensors.contains_key(*rest)) {
                *votes.entry((false, prefix_of(weight, rest))).or_default() += 1;
            }
        }
        let wanted: HashSet<&str> = weights.iter().copied().collect();
        for tensor in tensors.keys() {
            for rest in suffixes(tensor).filter(|rest| wanted.contains(rest)) {
                *votes.entry((true, prefix_of(tensor, rest))).or_default() += 1;
            }
        }
        // Of equal numbers the first in order, so that the outcome does not depend on chance.
        let best = votes.into_iter().rev().max_by_key(|(_, count)| *count);
        match best {
            Some(((is_added, prefix), count)) if count > exact => match is_added {
                true => Renaming { added: prefix.to_owned(), removed: String::new() },
                false => Renaming { added: String::new(), removed: prefix.to_owned() },
            },
            _ => Renaming::default(),
        }
    }

    /// The tensor for a weight: under its renamed name, or else under its own.
    pub(crate) fn find<'t>(&self, weight: &str, tensors: &'t Tensors) -> Option<(&'t str, &'t Entry)> {
        let renamed = match (self.removed.is_empty(), weight.strip_prefix(self.removed.as_str())) {
            (false, Some(rest)) => rest.to_owned(),
            _ => format!("{}{weight}", self.added),
        };
        let found = tensors.get_key_value(renamed.as_str()).or_else(|| tensors.get_key_value(weight));
        found.map(|(name, entry)| (name.as_str(), entry))
    }
}

/// What is left of a dotted name without its first parts.
fn suffixes(name: &str) -> impl Iterator<Item = &str> {
    name.match_indices('.').filter_map(move |(at, _)| name.get(at + 1..))
}

fn prefix_of<'n>(name: &'n str, rest: &str) -> &'n str {
    name.strip_suffix(rest).unwrap_or_default()
}

/// Tensors by shape and type.
///
/// A checkpoint holds one of the weights that are tied, and a capture of the meta device does not tell which are. A
/// matrix that is missing is tied if one tensor only has its shape, its type and the last part of its name.
pub(crate) struct Kinds<'t>(HashMap<Kind<'t>, Vec<(&'t str, &'t Entry)>>);

/// Shape, type and last part of the name.
type Kind<'t> = (&'t [u64], DType, &'t str);

impl<'t> Kinds<'t> {
    pub(crate) fn of(tensors: &'t Tensors) -> Kinds<'t> {
        let mut kinds: HashMap<_, Vec<_>> = HashMap::new();
        for (name, entry) in tensors {
            let key = (entry.shape.as_slice(), entry.dtype, last_part(name));
            kinds.entry(key).or_default().push((name.as_str(), entry));
        }
        Kinds(kinds)
    }

    pub(crate) fn only_one_like(
        &self,
        name: &str,
        sizes: &[u64],
        dtype: DType,
    ) -> Option<(&'t str, &'t Entry)> {
        if sizes.len() < 2 {
            return None;
        }
        match self.0.get(&(sizes, dtype, last_part(name)))?.as_slice() {
            [only] => Some(*only),
            _ => None,
        }
    }
}

fn last_part(name: &str) -> &str {
    name.rsplit('.').next().unwrap_or(name)
}

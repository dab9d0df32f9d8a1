//! Other names of tied weights: names in the capture, and names that can be inferred from it.

use std::collections::HashMap;

use modelexport_graph::DType;
use modelexport_graph::aten::Weight;
use modelexport_io::safetensors::Entry;

use super::use_of_weights::Use;

/// A capture reads a weight that has several names under one of them, and a checkpoint may hold it under another.
pub(super) struct TiedNames<'t> {
    known: HashMap<&'t str, &'t [String]>,
    unread: HashMap<(Vec<u64>, DType), Vec<String>>,
}

impl<'t> TiedNames<'t> {
    pub(super) fn new(weights: &[Weight], uses: &[Use], tied: &'t [Vec<String>]) -> TiedNames<'t> {
        let known = tied.iter().flat_map(|group| group.iter().map(|name| (name.as_str(), group.as_slice())));
        let mut unread: HashMap<_, Vec<_>> = HashMap::new();
        for (weight, uses) in weights.iter().zip(uses) {
            if !uses.is_read && weight.data.is_none() {
                let kind = (weight.sizes.clone(), weight.dtype);
                unread.entry(kind).or_default().push(weight.name.to_string());
            }
        }
        TiedNames { known: known.collect(), unread }
    }

    /// Names of the same weight, by the capture's own account.
    pub(super) fn known(&self, name: &str) -> impl Iterator<Item = &'t str> {
        self.known.get(name).into_iter().flat_map(|group| group.iter().map(String::as_str))
    }

    /// The tensor of the only weight of this shape and type that the program has and never reads: it is read under the
    /// other name.
    pub(super) fn only_unread<'e>(
        &self,
        weight: &Weight,
        find: &dyn Fn(&str) -> Option<(&'e str, &'e Entry)>,
    ) -> Option<(&'e str, &'e Entry)> {
        let names = self.unread.get(&(weight.sizes.clone(), weight.dtype))?;
        let mut found = names.iter().filter_map(|name| find(name));
        let only = found.next()?;
        found.all(|(name, _)| name == only.0).then_some(only)
    }
}

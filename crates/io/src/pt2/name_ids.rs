//! Names as numbers: each text once, in the order in which they were met.

use std::hash::BuildHasher;

use hashbrown::hash_table::{Entry, HashTable};
use modelexport_graph::Name;
use modelexport_graph::hash::NumberedNames;

/// Numbers of names, from 0 on. An archive has less than 2^32 of them: see `MAX_JSON_BYTES`.
#[derive(Default)]
pub(super) struct NameIds {
    /// A part of the hash, and the number. The hash stands here so that a table that grows need not look at the texts.
    table: HashTable<(u32, u32)>,
    hasher: NumberedNames,
    names: Vec<Name>,
}

impl NameIds {
    pub fn with_capacity(count: usize) -> Self {
        NameIds { table: HashTable::with_capacity(count), ..NameIds::default() }
    }

    pub fn len(&self) -> usize {
        self.names.len()
    }

    pub fn name(&self, id: u32) -> Option<&Name> {
        self.names.get(id as usize)
    }

    pub fn into_names(self) -> Vec<Name> {
        self.names
    }

    pub fn find(&self, text: &str) -> Option<u32> {
        let hash = self.hash(text);
        self.table.find(wide(hash), |entry| is(entry, hash, text, &self.names)).map(|(_, id)| *id)
    }

    /// The number of `text`; a new one gets the name that `make` gives for it.
    pub fn id(&mut self, text: &str, make: impl FnOnce() -> Name) -> u32 {
        let hash = self.hash(text);
        let names = &mut self.names;
        let entry = self.table.entry(wide(hash), |entry| is(entry, hash, text, names), |entry| wide(entry.0));
        match entry {
            Entry::Occupied(found) => found.get().1,
            Entry::Vacant(free) => {
                let id = names.len() as u32;
                names.push(make());
                free.insert((hash, id));
                id
            }
        }
    }

    /// The number of a name that others have, too.
    pub fn adopt(&mut self, name: Name) -> u32 {
        let hash = self.hash(&name);
        let names = &mut self.names;
        let entry =
            self.table.entry(wide(hash), |entry| is(entry, hash, &name, names), |entry| wide(entry.0));
        match entry {
            Entry::Occupied(found) => found.get().1,
            Entry::Vacant(free) => {
                let id = names.len() as u32;
                names.push(name);
                free.insert((hash, id));
                id
            }
        }
    }

    fn hash(&self, text: &str) -> u32 {
        self.hasher.hash_one(text) as u32
    }
}

fn is(&(other, id): &(u32, u32), hash: u32, text: &str, names: &[Name]) -> bool {
    other == hash && names.get(id as usize).is_some_and(|name| **name == *text)
}

/// The table takes the place from the low bits of a hash and its marks from the high ones, which neighbours must not
/// share.
fn wide(hash: u32) -> u64 {
    (u64::from(hash.wrapping_mul(0x9e37_79b9)) << 32) | u64::from(hash)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_text_has_one_number() {
        let mut ids = NameIds::default();
        let texts: Vec<String> = (0..1000).map(|i| format!("add_{i}")).collect();
        for round in 0..2 {
            for (i, text) in texts.iter().enumerate() {
                assert_eq!(ids.id(text, || text.as_str().into()), i as u32, "{round}");
                assert_eq!(ids.find(text), Some(i as u32));
            }
        }
        assert_eq!((ids.len(), ids.find("add_1000")), (1000, None));
        assert_eq!(&**ids.name(7).unwrap(), "add_7");
        assert!(ids.into_names().iter().zip(&texts).all(|(name, text)| **name == **text));
    }
}

//! Interned strings in one allocation: a graph has more names than anything else.

use std::hash::BuildHasher;

use hashbrown::HashTable;
use modelexport_graph::hash::RandomState;

/// Index into [`Texts`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TextId(pub u32);

impl TextId {
    pub const EMPTY: TextId = TextId(0);
}

/// Texts by number. Number 0 is the empty one.
#[derive(Debug)]
pub(crate) struct Texts {
    text: String,
    /// By text: where it ends. It begins where the one before ends.
    ends: Vec<usize>,
    ids: HashTable<u32>,
    hasher: RandomState,
}

impl Default for Texts {
    fn default() -> Self {
        let mut texts = Texts {
            text: String::new(),
            ends: Vec::new(),
            ids: HashTable::new(),
            hasher: RandomState::default(),
        };
        texts.add("");
        texts
    }
}

impl Texts {
    pub(crate) fn add(&mut self, text: &str) -> TextId {
        if let Some(known) = self.find(text) {
            return known;
        }
        let id = self.ends.len() as u32;
        self.text.push_str(text);
        self.ends.push(self.text.len());
        let Texts { text: all, ends, ids, hasher } = self;
        ids.insert_unique(hasher.hash_one(text), id, |&id| hasher.hash_one(get(all, ends, id)));
        TextId(id)
    }

    pub(crate) fn find(&self, text: &str) -> Option<TextId> {
        let is_it = |&id: &u32| get(&self.text, &self.ends, id) == text;
        self.ids.find(self.hasher.hash_one(text), is_it).map(|&id| TextId(id))
    }

    pub(crate) fn get(&self, id: TextId) -> &str {
        get(&self.text, &self.ends, id.0)
    }

    /// How many there are, the empty one included.
    pub(crate) fn count(&self) -> usize {
        self.ends.len()
    }

    /// Gives back memory that was taken for more texts.
    pub(crate) fn shrink(&mut self) {
        self.text.shrink_to_fit();
        self.ends.shrink_to_fit();
    }
}

fn get<'t>(text: &'t str, ends: &[usize], id: u32) -> &'t str {
    let end_of = |i: usize| ends.get(i).copied().unwrap_or(0);
    let start = (id as usize).checked_sub(1).map_or(0, end_of);
    text.get(start..end_of(id as usize)).unwrap_or_default()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number() {
        let mut texts = Texts::default();
        let names: Vec<String> = (0..1000).map(|i| format!("value_{i}")).collect();
        let ids: Vec<TextId> = names.iter().map(|name| texts.add(name)).collect();
        for (name, id) in names.iter().zip(ids) {
            assert_eq!((texts.add(name), texts.find(name), texts.get(id)), (id, Some(id), name.as_str()));
        }
        assert_eq!(texts.add(""), TextId::EMPTY);
        assert_eq!((texts.count(), texts.find("other")), (1001, None));
    }
}

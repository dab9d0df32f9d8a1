//! Interning of repeated names, such as those of operators, while a trace is read.

use std::cell::RefCell;
use std::fmt;

use modelexport_graph::Name;
use serde::Deserializer;
use serde::de::{Error, Visitor};

/// Names that are remembered at a time; one that takes the place of another costs memory, no more.
const REMEMBERED: usize = 256;

thread_local! {
    static RECENT: RefCell<Vec<Name>> = RefCell::new(vec![Name::default(); REMEMBERED]);
}

/// Reads a name.
pub(super) fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Name, D::Error> {
    deserializer.deserialize_str(NameVisitor)
}

struct NameVisitor;

impl Visitor<'_> for NameVisitor {
    type Value = Name;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a string")
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<Name, E> {
        Ok(shared(text))
    }
}

fn shared(text: &str) -> Name {
    let hash = text.bytes().fold(0u32, |hash, byte| hash.wrapping_mul(31).wrapping_add(byte.into()));
    RECENT.with_borrow_mut(|recent| match recent.get_mut(hash as usize % REMEMBERED) {
        Some(known) if **known == *text => known.clone(),
        Some(known) => {
            *known = text.into();
            known.clone()
        }
        None => text.into(),
    })
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::*;

    #[test]
    fn a_name_that_recurs_is_the_same() {
        let [first, other, again] = ["aten.add.Tensor", "self", "aten.add.Tensor"].map(shared);
        assert!(Arc::ptr_eq(&first, &again));
        assert_eq!((&*first, &*other), ("aten.add.Tensor", "self"));
        let many: Vec<Name> = (0..1000).map(|i| shared(&i.to_string())).collect();
        assert!(many.iter().enumerate().all(|(i, name)| **name == i.to_string()));
    }
}

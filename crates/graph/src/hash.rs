//! Hash maps for names and ids: a graph of a million nodes asks them some ten million times.
//!
//! The hash is seeded at random in each process, so that a file cannot be made to let its names collide.

use std::hash::{BuildHasher, Hasher};

pub use foldhash::fast::RandomState;

pub type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
pub type HashSet<K> = std::collections::HashSet<K, RandomState>;

/// For names that are met one after the other and end in numbers, `add_1`, `add_2`, as those of a long graph do.
///
/// Names that differ in their last three digits have places near each other, so that a table that is larger than the
/// processor's caches is gone through and not jumped about in. More than a thousand names are never near each other by
/// their text, and where they are is up to the seed.
#[derive(Clone, Default)]
pub struct NumberedNames(RandomState);

pub type NumberedNameSet<K> = std::collections::HashSet<K, NumberedNames>;

impl BuildHasher for NumberedNames {
    type Hasher = NumberedNameHasher;

    fn build_hasher(&self) -> NumberedNameHasher {
        NumberedNameHasher { stem: self.0.build_hasher(), number: 0 }
    }
}

pub struct NumberedNameHasher {
    stem: <RandomState as BuildHasher>::Hasher,
    number: u64,
}

/// How many of the last digits are a name's number.
const DIGITS: usize = 3;

/// The places between one number and the next. They are free for names with other stems, so that none is crowded.
const STRIDE: u64 = 64;

/// A table takes the place of a name from the low bits of its hash, and a mark that tells neighbours apart from the
/// high ones.
const PLACE: u64 = u32::MAX as u64;

/// Spreads a number over the high bits of a product.
const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

impl Hasher for NumberedNameHasher {
    fn write(&mut self, bytes: &[u8]) {
        let digits = bytes.iter().rev().take(DIGITS).take_while(|byte| byte.is_ascii_digit()).count();
        let (stem, number) = bytes.split_at(bytes.len() - digits);
        self.stem.write(stem);
        self.number = number.iter().fold(0, |number, digit| 10 * number + u64::from(digit - b'0'));
    }

    /// What ends a text.
    fn write_u8(&mut self, byte: u8) {
        self.stem.write_u8(byte);
    }

    fn finish(&self) -> u64 {
        let stem = self.stem.finish();
        let place = stem.wrapping_add(self.number * STRIDE) & PLACE;
        let mark = (stem ^ self.number).wrapping_mul(SPREAD) & !PLACE;
        mark | place
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_numbers_are_near_each_other_and_nearly_all_have_marks_of_their_own() {
        let state = NumberedNames::default();
        let hash = |number: u32| state.hash_one(format!("add_{number}"));
        let mut shared_marks = 0;
        for number in 12_000..12_999 {
            let (one, next) = (hash(number), hash(number + 1));
            assert_eq!(next.wrapping_sub(one) & PLACE, STRIDE);
            shared_marks += usize::from(one >> 57 == next >> 57);
        }
        // Which numbers meet depends on the seed; a mark that did not depend on the number would be shared by all.
        assert!(shared_marks < 50, "{shared_marks}");
    }

    #[test]
    fn a_set_tells_names_apart() {
        let mut names = NumberedNameSet::default();
        for text in ["", "1", "01", "a", "a1", "a01", "a001", "a0001", "1a", "a1a"] {
            assert!(names.insert(text));
            assert!(!names.insert(text));
        }
        assert!(names.contains("a01") && !names.contains("a00001"));
    }
}

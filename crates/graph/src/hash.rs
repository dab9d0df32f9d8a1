//! Hash maps for names and ids, with a hash that is fast for short keys.
//!
//! The hash is seeded at random in each process, so that a file cannot be made to let its names collide.

pub use foldhash::fast::RandomState;

pub type HashMap<K, V> = std::collections::HashMap<K, V, RandomState>;
pub type HashSet<K> = std::collections::HashSet<K, RandomState>;

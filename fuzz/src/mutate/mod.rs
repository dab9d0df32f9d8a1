//! What makes new inputs of old ones. A mutator that knows a format changes what it says and leaves it well-formed, so
//! that the change gets past the first check of a reader.

pub mod bytes;
pub mod json;
pub mod protobuf;
pub mod text;
pub mod zip;

use crate::random::Random;

/// A mutator of a format, or now and then one that knows nothing of it.
pub fn formatted(
    input: &mut Vec<u8>,
    random: &mut Random,
    format: impl FnOnce(&mut Vec<u8>, &mut Random) -> bool,
) {
    if random.once_in(16) || !format(input, random) {
        bytes::mutate(input, random);
    }
}

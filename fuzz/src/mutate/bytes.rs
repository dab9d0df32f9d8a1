//! Changes to bytes of which nothing is known.

use crate::random::Random;

/// Numbers at the edges of what a field can hold.
pub const EDGES: [u64; 14] = [
    0,
    1,
    2,
    0x7f,
    0x80,
    0xff,
    0x7fff,
    0xffff,
    0x7fff_ffff,
    0xffff_ffff,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0xffff_ffff_ffff_fffe,
    0xffff_ffff_ffff_ffff,
];

pub fn mutate(bytes: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..random.few() {
        change(bytes, random);
    }
}

fn change(bytes: &mut Vec<u8>, random: &mut Random) {
    let at = random.below(bytes.len());
    match random.below(8) {
        0 => bytes.insert(at, random.number() as u8),
        1 => bytes.truncate(at),
        2 => {
            let piece = slice(bytes, random).to_vec();
            bytes.splice(at..at, piece);
        }
        3 => {
            let end = at + slice(&bytes[at..], random).len();
            bytes.drain(at..end);
        }
        4 => {
            let edge = EDGES[random.below(EDGES.len())].to_le_bytes();
            let width = [1, 2, 4, 8][random.below(4)].min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&edge[..width]);
        }
        5 => {
            let piece = slice(bytes, random).to_vec();
            let width = piece.len().min(bytes.len() - at);
            bytes[at..at + width].copy_from_slice(&piece[..width]);
        }
        _ => match bytes.get_mut(at) {
            Some(byte) => *byte ^= 1 << random.below(8),
            None => bytes.push(random.number() as u8),
        },
    }
}

/// Some of the bytes, rarely many.
fn slice<'a>(bytes: &'a [u8], random: &mut Random) -> &'a [u8] {
    let start = random.below(bytes.len());
    let limit = if random.once_in(8) { 4096 } else { 32 };
    let length = random.below(limit).min(bytes.len() - start);
    &bytes[start..start + length]
}

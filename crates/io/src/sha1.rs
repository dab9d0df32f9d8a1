//! SHA-1, the hash that ONNX's `checksum` of external data is.
//!
//! It tells whether bytes are the same by accident, not whether somebody has forged them.

const BLOCK: usize = 64;

/// A hash under way.
pub struct Sha1 {
    state: [u32; 5],
    /// Bytes so far; the last, incomplete block of them is in `block`.
    length: u64,
    block: [u8; BLOCK],
}

impl Default for Sha1 {
    fn default() -> Self {
        let state = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];
        Sha1 { state, length: 0, block: [0; BLOCK] }
    }
}

impl Sha1 {
    pub fn update(&mut self, mut bytes: &[u8]) {
        while !bytes.is_empty() {
            let filled = (self.length % BLOCK as u64) as usize;
            let (part, rest) = bytes.split_at(bytes.len().min(BLOCK - filled));
            self.block.iter_mut().skip(filled).zip(part).for_each(|(to, from)| *to = *from);
            self.length += part.len() as u64;
            if filled + part.len() == BLOCK {
                self.mix();
            }
            bytes = rest;
        }
    }

    /// The hash in hexadecimal digits.
    pub fn finish(mut self) -> String {
        let bits = self.length.wrapping_mul(8);
        self.update(&[0x80]);
        while self.length % BLOCK as u64 != BLOCK as u64 - 8 {
            self.update(&[0]);
        }
        self.update(&bits.to_be_bytes());
        self.state.iter().map(|word| format!("{word:08x}")).collect()
    }

    fn mix(&mut self) {
        let mut words = [0u32; 80];
        let (given, _) = self.block.as_chunks::<4>();
        words.iter_mut().zip(given).for_each(|(word, bytes)| *word = u32::from_be_bytes(*bytes));
        for round in 16..80 {
            let pick = |back: usize| words.get(round - back).copied().unwrap_or(0);
            let word = (pick(3) ^ pick(8) ^ pick(14) ^ pick(16)).rotate_left(1);
            words.iter_mut().skip(round).take(1).for_each(|place| *place = word);
        }
        let [mut a, mut b, mut c, mut d, mut e] = self.state;
        for (round, word) in words.iter().enumerate() {
            let (choice, constant) = match round {
                0..20 => ((b & c) | (!b & d), 0x5a82_7999u32),
                20..40 => (b ^ c ^ d, 0x6ed9_eba1),
                40..60 => ((b & c) | (b & d) | (c & d), 0x8f1b_bcdc),
                _ => (b ^ c ^ d, 0xca62_c1d6),
            };
            let next = a
                .rotate_left(5)
                .wrapping_add(choice)
                .wrapping_add(e)
                .wrapping_add(constant)
                .wrapping_add(*word);
            (a, b, c, d, e) = (next, a, b.rotate_left(30), c, d);
        }
        self.state.iter_mut().zip([a, b, c, d, e]).for_each(|(sum, value)| *sum = sum.wrapping_add(value));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are those of Python's `hashlib`.
    #[test]
    fn hashes_are_those_of_the_standard() {
        let hash = |bytes: &[u8]| {
            let mut sha1 = Sha1::default();
            bytes.chunks(7).for_each(|part| sha1.update(part));
            sha1.finish()
        };
        assert_eq!(hash(b""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(hash(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(hash(&[b'a'; 200]), "e61cfffe0d9195a525fc6cf06ca2d77119c24a40");
    }
}

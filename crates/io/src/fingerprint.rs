//! Fingerprints of tensor content that do not depend on the order of elements. They identify a weight after an exporter
//! renamed, reshaped or transposed it.
//!
//! The fingerprint of a tensor consists of its element type, its number of elements, and the wrapping 64-bit sum of [`mix`]
//! over its elements. Each element is taken as its bits, zero-extended to 64. A 128-bit element (`complex128`) counts as
//! two: real part and imaginary part. The sum of a concatenation is the sum of the sums of its parts. `docs/trace.md`
//! defines the same for readers in other languages.

use modelexport_graph::DType;

/// What is left of a tensor's content once order and shape are taken away.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint {
    pub dtype: DType,
    pub elements: u64,
    pub sum: u64,
}

/// SplitMix64: every bit of the result depends on every bit of `bits`, and zero does not give zero.
#[inline]
pub fn mix(bits: u64) -> u64 {
    let mut x = bits.wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 31)
}

/// Takes a tensor's bytes piece by piece, in any order of elements.
#[derive(Clone, Debug)]
pub struct Fingerprinter {
    dtype: DType,
    /// Bytes of one summand: 1, 2, 4 or 8.
    width: usize,
    summands: u64,
    sum: u64,
    /// The beginning of a summand whose end has not come yet.
    partial: Vec<u8>,
}

impl Fingerprinter {
    /// `None` for types without whole bytes: strings, and what is narrower than a byte.
    pub fn new(dtype: DType) -> Option<Self> {
        let bytes = dtype.bits().filter(|bits| bits.is_multiple_of(8))? / 8;
        let width = bytes.min(8) as usize;
        Some(Fingerprinter { dtype, width, summands: 0, sum: 0, partial: Vec::new() })
    }

    /// The next bytes, little-endian as torch and ONNX keep them. A piece may end inside an element.
    pub fn update(&mut self, mut bytes: &[u8]) {
        if !self.partial.is_empty() {
            let missing = self.width - self.partial.len();
            let (head, rest) = bytes.split_at(missing.min(bytes.len()));
            self.partial.extend_from_slice(head);
            bytes = rest;
            if self.partial.len() < self.width {
                return;
            }
            let whole = std::mem::take(&mut self.partial);
            self.add(&whole);
        }
        let end = bytes.len() - bytes.len() % self.width;
        let (whole, rest) = bytes.split_at(end);
        self.add(whole);
        self.partial.extend_from_slice(rest);
    }

    /// Whole summands.
    fn add(&mut self, bytes: &[u8]) {
        let sum = match self.width {
            1 => bytes.iter().map(|byte| mix(u64::from(*byte))).fold(0, u64::wrapping_add),
            2 => sum_of(bytes, |bytes| u64::from(u16::from_le_bytes(bytes))),
            4 => sum_of(bytes, |bytes| u64::from(u32::from_le_bytes(bytes))),
            _ => sum_of(bytes, u64::from_le_bytes),
        };
        self.sum = self.sum.wrapping_add(sum);
        self.summands += (bytes.len() / self.width) as u64;
    }

    /// The fingerprint, or `None` if the bytes ended inside an element.
    pub fn finish(&self) -> Option<Fingerprint> {
        let per_element = self.dtype.bits()? / 8 / self.width as u64;
        let is_whole = self.partial.is_empty() && self.summands.is_multiple_of(per_element);
        let elements = self.summands / per_element;
        is_whole.then_some(Fingerprint { dtype: self.dtype, elements, sum: self.sum })
    }
}

fn sum_of<const WIDTH: usize>(bytes: &[u8], to_bits: impl Fn([u8; WIDTH]) -> u64) -> u64 {
    let (elements, _) = bytes.as_chunks::<WIDTH>();
    elements.iter().map(|element| mix(to_bits(*element))).fold(0, u64::wrapping_add)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn of(dtype: DType, pieces: &[&[u8]]) -> Option<Fingerprint> {
        let mut fingerprinter = Fingerprinter::new(dtype).expect("has whole bytes");
        for piece in pieces {
            fingerprinter.update(piece);
        }
        fingerprinter.finish()
    }

    #[test]
    fn mix_is_the_published_splitmix64() {
        // The first numbers of the reference generator with seed 0; its state grows by the constant.
        assert_eq!(mix(0), 0xe220_a839_7b1d_cdaf);
        assert_eq!(mix(0x9e37_79b9_7f4a_7c15), 0x6e78_9e6a_a1b9_65f4);
    }

    #[test]
    fn order_and_pieces_do_not_matter() {
        let values = [1.0f32, -2.5, 0.0, 1e-9];
        let bytes: Vec<u8> = values.iter().flat_map(|value| value.to_le_bytes()).collect();
        let reversed: Vec<u8> = values.iter().rev().flat_map(|value| value.to_le_bytes()).collect();
        let whole = of(DType::F32, &[&bytes]).expect("is whole");
        assert_eq!(whole.elements, 4);
        assert_eq!(of(DType::F32, &[&reversed]), Some(whole));
        for cut in 0..=bytes.len() {
            let (head, tail) = bytes.split_at(cut);
            let (middle, tail) = tail.split_at(tail.len().min(3));
            assert_eq!(of(DType::F32, &[head, middle, tail]), Some(whole), "cut at {cut}");
        }
        assert_ne!(of(DType::I32, &[&bytes]), Some(whole), "another type is another tensor");
    }

    #[test]
    fn sums_add_up() {
        let (a, b) = (of(DType::U8, &[&[1, 2]]).unwrap(), of(DType::U8, &[&[3]]).unwrap());
        assert_eq!(of(DType::U8, &[&[3, 1, 2]]).unwrap().sum, a.sum.wrapping_add(b.sum));
    }

    #[test]
    fn an_element_of_128_bits_counts_once() {
        let one = of(DType::C128, &[&[7; 16]]).expect("is whole");
        assert_eq!((one.elements, one.sum), (1, mix(0x0707_0707_0707_0707).wrapping_mul(2)));
        assert_eq!(of(DType::C128, &[&[7; 8]]), None);
        assert_eq!(of(DType::F16, &[&[7; 3]]), None);
    }

    #[test]
    fn types_without_whole_bytes_have_none() {
        assert!(Fingerprinter::new(DType::I4).is_none());
        assert!(Fingerprinter::new(DType::String).is_none());
    }
}

//! Splits boxes of an index space into smaller ones.

/// A box: its first index and its size along each axis, the last one running fastest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Block {
    pub start: Vec<u64>,
    pub sizes: Vec<u64>,
}

impl Block {
    /// Cuts the box into boxes of at most the given sizes.
    pub(super) fn parts(&self, sizes: &[u64]) -> Blocks {
        Blocks { whole: self.clone(), sizes: sizes.into(), next: Some(vec![0; sizes.len()]) }
    }
}

/// The parts of a box in the order of their first index; those at the edges are smaller.
pub(super) struct Blocks {
    whole: Block,
    sizes: Vec<u64>,
    /// First index of the next part, from that of the whole.
    next: Option<Vec<u64>>,
}

impl Blocks {
    /// Cuts an index space of the given sizes.
    pub(super) fn of(whole: &[u64], sizes: &[u64]) -> Blocks {
        Block { start: vec![0; whole.len()], sizes: whole.into() }.parts(sizes)
    }

    /// The whole, if it is in one part.
    pub(super) fn only(&self) -> Option<Block> {
        let is_one = self.whole.sizes.iter().zip(&self.sizes).all(|(whole, part)| whole <= part);
        is_one.then(|| self.whole.clone())
    }
}

impl Iterator for Blocks {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        let mut next = self.next.take()?;
        let start = self.whole.start.iter().zip(&next).map(|(start, next)| start + next).collect();
        let rest = self.whole.sizes.iter().zip(&next).map(|(size, next)| size - next);
        let sizes = rest.zip(&self.sizes).map(|(rest, &size)| rest.min(size)).collect();
        let axes = next.iter_mut().zip(&self.whole.sizes).zip(&self.sizes).rev();
        for ((position, &whole), &size) in axes {
            *position += size;
            if *position < whole {
                self.next = Some(next);
                break;
            }
            *position = 0;
        }
        Some(Block { start, sizes })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_cover_a_box_in_order() {
        let whole = Block { start: vec![10, 20], sizes: vec![2, 5] };
        let parts: Vec<_> = whole.parts(&[1, 2]).map(|part| (part.start, part.sizes)).collect();
        let expected = [
            ([10, 20], [1, 2]),
            ([10, 22], [1, 2]),
            ([10, 24], [1, 1]),
            ([11, 20], [1, 2]),
            ([11, 22], [1, 2]),
            ([11, 24], [1, 1]),
        ];
        assert_eq!(parts, expected.map(|(start, sizes)| (start.to_vec(), sizes.to_vec())));
    }

    #[test]
    fn a_box_without_axes_is_one_part() {
        assert_eq!(Blocks::of(&[], &[]).count(), 1);
        assert_eq!(Blocks::of(&[3, 4], &[3, 9]).only().unwrap().sizes, [3, 4]);
        assert_eq!(Blocks::of(&[3, 4], &[2, 4]).only(), None);
    }
}

//! Random numbers that are the same on every machine and for all time, so that a seed names an input.

/// SplitMix64.
pub struct Random(u64);

impl Random {
    pub fn new(seed: u64) -> Self {
        Random(seed)
    }

    /// The numbers for one input of a run.
    pub fn of_input(seed: u64, index: u64) -> Self {
        let mut outer = Random(seed);
        let own = outer.number() ^ index.wrapping_mul(0xd605_bbb5_8c8a_bbe5);
        Random(Random(own).number())
    }

    pub fn number(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        mixed ^ (mixed >> 31)
    }

    /// Below `end`; 0 if there is nothing below.
    pub fn below(&mut self, end: usize) -> usize {
        match end {
            0 => 0,
            _ => (self.number() % end as u64) as usize,
        }
    }

    /// True once in `times`.
    pub fn once_in(&mut self, times: usize) -> bool {
        self.below(times) == 0
    }

    pub fn choose<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len()))
    }

    /// Mostly 1, now and then many.
    pub fn few(&mut self) -> usize {
        let mut count = 1;
        while count < 16 && self.once_in(2) {
            count += 1;
        }
        count
    }
}

//! Properties of modelexport that hold for every input, whoever made it, and what makes the inputs.
//!
//! A [`Target`] is a property with its seeds and its mutator. `./run` drives all of them on stable Rust with inputs that
//! a seed determines; the programs in `fuzz_targets/` hand the same targets to libFuzzer.
#![forbid(unsafe_code)]

pub mod files;
pub mod mutate;
pub mod random;
pub mod seeds;
pub mod targets;

/// Calls as PyTorch captures them, as programs: what the tests of the operators use.
#[path = "../../crates/lower/src/test_calls/parse.rs"]
mod captured_call;
#[allow(dead_code, reason = "the tests of the lowering use more of it")]
#[path = "../../crates/lower/src/test_program.rs"]
mod test_program;

#[cfg(feature = "libfuzzer")]
pub use libfuzzer_sys;

use random::Random;

/// What became of an input. A property that does not hold is a panic.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// It was read, and everything was tried with what it says.
    Accepted,
    /// It was refused with an error.
    Refused,
}

/// A property, and where the inputs come from that it is tried on.
pub struct Target {
    /// The property, short.
    pub name: &'static str,
    /// The property in a sentence.
    pub property: &'static str,
    /// Inputs that are worth changing.
    pub seeds: fn() -> Vec<Vec<u8>>,
    pub mutate: fn(&mut Vec<u8>, &mut Random),
    /// Panics if the property does not hold.
    pub check: fn(&[u8]) -> Verdict,
}

/// The inputs of a run: each is determined by the seed of the run and its own number.
pub struct Inputs {
    target: &'static Target,
    seeds: Vec<Vec<u8>>,
    seed: u64,
}

impl Inputs {
    pub fn new(target: &'static Target, seed: u64) -> Self {
        let mut seeds = (target.seeds)();
        seeds.extend(seeds::corpus(target.name));
        Inputs { target, seeds, seed }
    }

    /// How many inputs are the seeds as they are. They come first.
    pub fn seeds(&self) -> u64 {
        self.seeds.len() as u64
    }

    /// The input with this number.
    pub fn get(&self, index: u64) -> Vec<u8> {
        if let Some(seed) = usize::try_from(index).ok().and_then(|index| self.seeds.get(index)) {
            return seed.clone();
        }
        let mut random = Random::of_input(self.seed, index);
        let mut input = random.choose(&self.seeds).cloned().unwrap_or_default();
        (self.target.mutate)(&mut input, &mut random);
        input
    }
}

/// A program for libFuzzer that tries a target.
#[cfg(feature = "libfuzzer")]
#[macro_export]
macro_rules! libfuzzer {
    ($target:ident) => {
        $crate::libfuzzer_sys::fuzz_target!(|input: &[u8]| {
            _ = ($crate::targets::$target::TARGET.check)(input);
        });

        $crate::libfuzzer_sys::fuzz_mutator!(|data: &mut [u8], size: usize, max_size: usize, seed: u32| {
            let mut random = $crate::random::Random::new(seed.into());
            if random.once_in(4) {
                return $crate::libfuzzer_sys::fuzzer_mutate(data, size, max_size);
            }
            let mut input = data[..size].to_vec();
            ($crate::targets::$target::TARGET.mutate)(&mut input, &mut random);
            let size = input.len().min(max_size);
            data[..size].copy_from_slice(&input[..size]);
            size
        });
    };
}

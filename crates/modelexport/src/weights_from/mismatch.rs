//! The differences between a checkpoint and a program.

use std::fmt;

use modelexport_graph::DType;
use modelexport_graph::aten::Weight;

/// All weights that could not be found or are not what the program takes them for.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Mismatches(pub Vec<Mismatch>);

#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Mismatch {
    /// PyTorch's name in the program.
    pub weight: String,
    pub problem: Problem,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Problem {
    /// No tensor has its name, and none can be told to be tied to it.
    Missing,
    /// It is not among what a model is saved as, so that only the capture could have it.
    NotSaved,
    /// The tensor of that name has another shape.
    Shape { expected: Vec<u64>, found: Vec<u64> },
    /// The tensor of that name has another type of elements.
    DType { expected: DType, found: DType },
    /// The tensor of that name has other bytes than the model.
    Bytes,
}

impl Mismatches {
    /// Whether some are such that only another capture helps.
    pub(crate) fn lack_contents(&self) -> bool {
        self.0.iter().any(|mismatch| mismatch.problem == Problem::NotSaved)
    }

    pub(crate) fn add(&mut self, weight: &Weight, problem: Problem) {
        self.0.push(Mismatch { weight: weight.name.to_string(), problem });
    }
}

impl fmt::Display for Mismatches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (position, Mismatch { weight, problem }) in self.0.iter().enumerate() {
            if position > 0 {
                writeln!(f)?;
            }
            match problem {
                Problem::Missing => write!(f, "  {weight}: is in none of the files")?,
                Problem::NotSaved => write!(
                    f,
                    "  {weight}: is not saved with the model and was captured without contents; capture it on the CPU, \
                     only the parameters on the meta device"
                )?,
                Problem::Shape { expected, found } => {
                    write!(f, "  {weight}: has shape {found:?} in the files, expected {expected:?}")?;
                }
                Problem::Bytes => write!(f, "  {weight}: has other bytes in the files than in the model")?,
                Problem::DType { expected, found } => {
                    write!(f, "  {weight}: has type {found} in the files, expected {expected}")?;
                }
            }
        }
        Ok(())
    }
}

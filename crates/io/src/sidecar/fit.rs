//! How well the evidence fitted the graph.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// How well the evidence and the graph of a file fitted when it was tagged.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Fit {
    /// From 0 (evidence of another model) to 1.
    #[schemars(range(min = 0.0, max = 1.0))]
    pub score: f64,
    /// Evidence with a lower score is refused.
    pub threshold: f64,
    /// The file was tagged although the score was too low.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub forced: bool,
    pub parameters: FitParameters,
    pub operators: FitOperators,
    pub interface: FitInterface,
    /// How many things tell that the evidence is of another model.
    pub contradictions: u64,
    /// The first of them, in words.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub reasons: Vec<String>,
}

impl Fit {
    pub fn is_enough(&self) -> bool {
        self.score >= self.threshold
    }
}

/// Parameters of the evidence that the model used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FitParameters {
    /// Those that the file has.
    pub found: u64,
    pub total: u64,
    pub by_name: u64,
    pub by_content: u64,
    pub by_shape: u64,
    /// As pieces of larger tensors.
    pub by_piece: u64,
    /// Those that tools may fold or merge, and that the file does not have.
    pub folded: u64,
    /// Those that the file would have.
    pub missing: u64,
    /// Weights of the file that the evidence does not have.
    pub unexplained: u64,
}

/// Nodes of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FitOperators {
    /// Those that the evidence itself placed, not their neighbours.
    pub aligned: u64,
    pub total: u64,
}

/// Outputs of the model.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FitInterface {
    /// How many the file has.
    pub outputs: u64,
    /// How many the evidence has, where it tells.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub expected_outputs: Option<u64>,
    pub agrees: bool,
}

//! ATen to ONNX.
//!
//! The road of a program through this crate, each step a module:
//!
//! 1. [`wrappers`]: graphs that run once inside a node take its place (ATen to ATen);
//! 2. [`report`]: everything that has no row in the registry is collected and told at once;
//! 3. [`functionalize`]: mutation becomes values (ATen to ATen);
//! 4. [`driver`]: every ATen node is lowered by the row of [`registry`] that fits the opset, through [`context`],
//!    which stamps each emitted node with its origin, into the graph of [`ir`]; [`shapes`] that contradict each other
//!    are refused there;
//! 5. [`passes`]: clean-up, each pass with its origin rule;
//! 6. [`finish`]: names, and the ONNX model, whose nodes are put together in `assemble`.

pub mod argument_text;
mod assemble;
pub mod builder;
pub mod context;
pub mod decompositions;
pub mod driver;
pub mod error;
pub mod evaluate;
pub mod finish;
pub mod foreign_forms;
pub mod functionalize;
mod fuse;
pub mod ir;
pub mod kernels;
pub mod literal;
pub mod ops;
pub mod passes;
pub mod promotion;
pub mod registry;
pub mod report;
pub mod schema;
pub mod shapes;
pub mod symbols;
#[cfg(test)]
pub(crate) mod test_calls;
#[cfg(test)]
pub(crate) mod test_program;
pub mod unique_names;
pub mod wrappers;

use std::collections::BTreeMap;

pub use driver::lower;
pub use error::{Error, Result};
pub use fuse::{Fuse, ParseFuseError};

/// The oldest and the newest opset that can be asked for.
pub const OPSETS: std::ops::RangeInclusive<i64> = 14..=24;

/// The opset that is produced unless another one is chosen.
pub const DEFAULT_OPSET: i64 = 20;

/// What a user can choose.
#[derive(Clone, Debug)]
pub struct Options {
    pub opset: i64,
    /// Constants that folding makes may have at most this many bytes.
    pub fold_limit: usize,
    /// Weights are copied when the model is written, so that they can be written transposed. If they are referenced
    /// where they lie, a transpose stays in the graph.
    pub weights_can_move: bool,
    /// Batch normalisation is folded into the convolution before it, which changes the convolution's weights.
    pub fold_batch_norm: bool,
    /// Which patterns of nodes become one node.
    pub fuse: Fuse,
    /// What is calculated from small parameters alone is written as a constant.
    pub fold_parameters: bool,
    /// Names for symbolic dimensions: the symbol of the program and what to write instead.
    pub dimension_names: Vec<(String, String)>,
    /// The program is given back with its graph, not without: there is no use for it but to look up where its nodes
    /// come from.
    pub keep_graph: bool,
    /// Operators of the user: an ATen target and the ONNX operator that takes its tensors.
    pub custom_operators: Vec<CustomOperator>,
    /// Torch was asked to decompose what has no row; why it did not, by target.
    pub not_decomposed: Option<BTreeMap<String, String>>,
}

impl Default for Options {
    fn default() -> Self {
        Options {
            opset: DEFAULT_OPSET,
            fold_limit: 1 << 20,
            weights_can_move: true,
            fold_batch_norm: true,
            fuse: Fuse::default(),
            fold_parameters: true,
            dimension_names: Vec::new(),
            keep_graph: false,
            custom_operators: Vec::new(),
            not_decomposed: None,
        }
    }
}

/// A rule of the user that maps a custom ATen operator to an ONNX operator of a domain of theirs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CustomOperator {
    /// `mylib.fused_attention.default`.
    pub target: String,
    pub domain: String,
    pub op_type: String,
    pub version: i64,
}

//! Types, shapes and costs of the values of ONNX graphs, as far as the graph and its operators tell.
//!
//! One table ([`outputs`]) says what each operator makes of the types of its inputs, and why an operation cannot be.
//! [`walk`] follows it from node to node through a model, its functions and the graphs inside its nodes; lowering asks
//! it about single nodes while a graph is built. What an operator does not tell stays unknown, and nothing is guessed.
//! Small integer tensors (results of `Shape`, sizes for `Reshape`) are followed with their elements, so that shapes
//! which are computed in the graph are known.

mod content;
mod control;
mod cost;
mod node;
mod operation;
mod rules;
mod size;
mod value_type;
mod walk;

pub use cost::Cost;
pub use operation::{Attributes, Operation};
pub use rules::{element_type, outputs};
pub use size::{Dims, Size, Symbol};
pub use value_type::{Form, Symbols, ValueType, dimension_names};
pub use walk::{Sizes, TypedNode, types_of_graphs, walk};

#[cfg(test)]
mod tests;

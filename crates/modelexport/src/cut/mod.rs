//! A part of a graph as a separate graph: its inputs, its outputs, and the renaming of its values.
//!
//! Graphs inside nodes (the branches of an `If`) can read values of the graph around them. Such a value counts as an input of
//! the node that contains the graph.

mod boundary;
mod called;
mod reads;
mod rename;

pub(crate) use boundary::{Boundary, boundary};
pub(crate) use called::called_functions;
pub(crate) use reads::{defined_names, for_each_read, sparse_name};
pub(crate) use rename::rename_values;

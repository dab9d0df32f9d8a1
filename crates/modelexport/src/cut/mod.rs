//! A part of a graph as a thing of its own: what it reads, what others read of it, and how its values are renamed.
//!
//! Graphs inside nodes (the branches of an `If`) see the values of the graph around them. What they take from there is
//! read by the node that holds them, so that the part which holds the node knows it.

mod boundary;
mod called;
mod reads;
mod rename;

pub(crate) use boundary::{Boundary, boundary};
pub(crate) use called::called_functions;
pub(crate) use reads::{defined_names, for_each_read, sparse_name};
pub(crate) use rename::rename_values;

//! One file for each subcommand.

pub mod export;
pub mod operators;
pub mod tree;

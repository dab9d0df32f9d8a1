//! One file for each subcommand.

pub mod analyze;
pub mod export;
pub mod operators;
pub mod strategies;
pub mod strip;
pub mod tag;
pub mod tree;

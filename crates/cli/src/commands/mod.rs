//! One file for each subcommand.

pub mod analyze;
pub mod compare;
pub mod export;
pub mod extract;
pub mod functions;
pub mod operators;
pub mod strategies;
pub mod strip;
pub mod tag;
pub mod tree;
pub mod validate;
pub mod weights;

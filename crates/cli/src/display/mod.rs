//! Formatting of results.

pub mod csv;
pub mod module;
pub mod number;
pub mod progress;
pub mod statistics;
pub mod style;
pub mod table;
pub mod text;
pub mod written;

//! The laws of the project as tests. `./test must` runs them alone, by name.
// All of this is test code; the exemption of the workspace covers only functions marked as tests.
#![allow(clippy::expect_used, clippy::panic)]

mod fixtures;
mod must_001;
mod must_002;
mod source_scan;

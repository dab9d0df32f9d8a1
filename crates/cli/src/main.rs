//! The `modelexport` binary.

use std::process::ExitCode;

/// A graph is millions of small texts and lists; the allocator of the system takes a fifth of the time for them.
/// It does without huge pages, of which a small graph would touch a few and use little.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(modelexport_cli::run(std::env::args_os()))
}

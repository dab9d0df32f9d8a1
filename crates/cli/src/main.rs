//! The `modelexport` binary.

use std::process::ExitCode;

/// A graph is millions of small texts and lists; the allocator of the system takes a fifth of the time for them. It is
/// built as its version 2 and without huge pages: version 3 keeps memory that was given back for a second, which is
/// longer than most commands run, and huge pages keep what lies between. Both showed as half of the peak.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(modelexport_cli::run(std::env::args_os()))
}

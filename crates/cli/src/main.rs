//! The `modelexport` binary.

use std::process::ExitCode;

/// A graph consists of many small strings and lists; with the system's allocator they take a fifth of the time. mimalloc is
/// built as version 2 and without huge pages: version 3 keeps freed memory for a second, which is longer than most commands
/// run, and huge pages keep the gaps between allocations. Either doubles the peak memory.
#[global_allocator]
static ALLOCATOR: mimalloc::MiMalloc = mimalloc::MiMalloc;

fn main() -> ExitCode {
    ExitCode::from(modelexport_cli::run(std::env::args_os()))
}

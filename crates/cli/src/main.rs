//! The `modelexport` binary.

use std::process::ExitCode;

fn main() -> ExitCode {
    ExitCode::from(modelexport_cli::run(std::env::args_os()))
}

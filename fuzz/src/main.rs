//! Tries the properties on inputs that a seed determines. See `./run --help`.
#![forbid(unsafe_code)]

mod arguments;
mod failure;
mod supervisor;
mod table;
mod worker;

use std::process::ExitCode;

use clap::Parser;
use modelexport_fuzz::files;

use arguments::Arguments;

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(state) = &arguments.worker {
        worker::run(&arguments, state);
        return ExitCode::SUCCESS;
    }
    let outcome = match (&arguments.input, &arguments.write_seeds) {
        (Some(input), _) => failure::reproduce(&arguments, input),
        (None, Some(folder)) => arguments.write_seeds(folder),
        (None, None) => supervisor::run(&arguments),
    };
    files::remove();
    match outcome {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::from(1),
        Err(message) => {
            eprintln!("error: {message}");
            ExitCode::from(2)
        }
    }
}

//! The `modelexport` command.

mod commands;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(
    name = "modelexport",
    version,
    about = "Export PyTorch models to ONNX and keep which module every node came from"
)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    Export(commands::export::Arguments),
    Operators(commands::operators::Arguments),
}

fn main() -> ExitCode {
    match Cli::parse().command {
        Command::Export(arguments) => commands::export::run(&arguments),
        Command::Operators(arguments) => commands::operators::run(&arguments),
    }
}

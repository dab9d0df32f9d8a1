//! The `modelexport` command.

mod arguments;
mod commands;
mod display;
mod exit;
mod failure;
mod session;

use std::process::ExitCode;

use clap::{Parser, Subcommand};

use arguments::GlobalArguments;
use session::Session;

/// Export PyTorch models to ONNX and keep which module every node came from.
///
/// A model is captured in Python with `torch.export.save(torch.export.export(model, args), "model.pt2")`; from there
/// on no Python is needed.
#[derive(Parser)]
#[command(name = "modelexport", version, after_help = EXIT_STATUS)]
struct Cli {
    #[command(flatten)]
    global: GlobalArguments,
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str =
    "Exit status: 0 fine, 1 a negative finding, 2 wrong usage or bad input, 3 I/O failed.";

#[derive(Subcommand)]
enum Command {
    Export(commands::export::Arguments),
    Tree(commands::tree::Arguments),
    Operators(commands::operators::Arguments),
}

fn main() -> ExitCode {
    let cli = Cli::parse();
    let mut session = Session::new(&cli.global);
    let result = match &cli.command {
        Command::Export(arguments) => commands::export::run(arguments, &mut session),
        Command::Tree(arguments) => commands::tree::run(arguments, &mut session),
        Command::Operators(arguments) => commands::operators::run(arguments, &mut session),
    };
    session.finish(result).into()
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }
}

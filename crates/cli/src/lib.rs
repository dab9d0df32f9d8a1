//! The `modelexport` command as a function. The binary and the Python package call it.

mod arguments;
mod commands;
mod display;
mod exit;
mod failure;
mod observer;
mod session;
mod signals;

use std::ffi::OsString;

use clap::{Parser, Subcommand};

use arguments::GlobalArguments;
use exit::ExitStatus;
use failure::Failure;
use session::Session;

pub use session::{Captured, CapturedError};

/// Export PyTorch models to ONNX and record on every node which module it came from.
///
/// Capture a model in Python with `torch.export.save(torch.export.export(model, args), "model.pt2")`. No command needs
/// Python after that.
#[derive(Parser)]
#[command(name = "modelexport", version, after_help = EXIT_STATUS)]
struct Cli {
    #[command(flatten)]
    global: GlobalArguments,
    #[command(subcommand)]
    command: Command,
}

const EXIT_STATUS: &str =
    "Exit status: 0 success, 1 negative finding, 2 wrong usage or bad input, 3 I/O error.";

#[derive(Subcommand)]
enum Command {
    Export(Box<commands::export::Arguments>),
    Tag(commands::tag::Arguments),
    Strategies(commands::strategies::Arguments),
    Tree(commands::tree::Arguments),
    Analyze(commands::analyze::Arguments),
    Validate(commands::validate::Arguments),
    Strip(commands::strip::Arguments),
    Compare(commands::compare::Arguments),
    Extract(commands::extract::Arguments),
    Functions(commands::functions::Arguments),
    Operators(commands::operators::Arguments),
    Weights(commands::weights::Arguments),
}

/// Exit status of wrong usage.
const USAGE: u8 = 2;

/// Runs the command and returns the exit status. The first argument is the name of the program.
pub fn run(arguments: impl IntoIterator<Item = OsString>) -> u8 {
    let cli = match Cli::try_parse_from(arguments) {
        Ok(cli) => cli,
        // Help and version are errors to clap.
        Err(message) => {
            let is_printed = message.print().is_ok() || message.use_stderr();
            let status = u8::try_from(message.exit_code()).unwrap_or(USAGE);
            return if is_printed { status } else { ExitStatus::Io as u8 };
        }
    };
    let mut session = Session::new(&cli.global);
    let handlers = signals::install();
    let result = handlers.map_err(Failure::of_signals).and_then(|handlers| {
        let result = dispatch(&cli.command, &mut session);
        if matches!(&result, Err(Failure::Error { .. })) {
            handlers.end_if_stopped();
        }
        result
    });
    session.finish(result) as u8
}

/// Runs the command inside another program: captures the output instead of printing it.
pub fn run_captured(arguments: impl IntoIterator<Item = OsString>) -> Captured {
    match Cli::try_parse_from(arguments) {
        Ok(cli) => {
            let mut session = Session::captured();
            let result = dispatch(&cli.command, &mut session);
            session.into_captured(result)
        }
        Err(message) if message.use_stderr() => Captured {
            status: USAGE,
            error: Some(CapturedError { message: message.to_string(), hint: None, os_code: None }),
            ..Captured::default()
        },
        Err(help) => Captured { output: help.to_string().into_bytes(), ..Captured::default() },
    }
}

fn dispatch(command: &Command, session: &mut Session) -> Result<ExitStatus, Failure> {
    match command {
        Command::Export(arguments) => commands::export::run(arguments, session),
        Command::Strategies(arguments) => commands::strategies::run(arguments, session),
        Command::Tag(arguments) => commands::tag::run(arguments, session),
        Command::Tree(arguments) => commands::tree::run(arguments, session),
        Command::Analyze(arguments) => commands::analyze::run(arguments, session),
        Command::Validate(arguments) => commands::validate::run(arguments, session),
        Command::Strip(arguments) => commands::strip::run(arguments, session),
        Command::Compare(arguments) => commands::compare::run(arguments, session),
        Command::Extract(arguments) => commands::extract::run(arguments, session),
        Command::Functions(arguments) => commands::functions::run(arguments, session),
        Command::Operators(arguments) => commands::operators::run(arguments, session),
        Command::Weights(arguments) => commands::weights::run(arguments, session),
    }
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cli::command().debug_assert();
    }

    /// The help of every command, as `docs/cli.md` shows it.
    fn reference() -> String {
        let mut text =
            "# The command line\n\nThe help text of every command. This page is generated from the code.\n"
                .to_owned();
        let mut root = Cli::command().term_width(100);
        root.build();
        let names: Vec<String> =
            root.get_subcommands().map(|command| command.get_name().to_owned()).collect();
        let mut section = |title: &str, command: &mut clap::Command| {
            let help = command.render_long_help().to_string();
            let lines: Vec<&str> = help.lines().map(str::trim_end).collect();
            text.push_str(&format!("\n## {title}\n\n```text\n{}\n```\n", lines.join("\n").trim_end()));
        };
        section("modelexport", &mut root);
        for name in names.iter().filter(|name| *name != "help") {
            let command = root.find_subcommand_mut(name).unwrap();
            section(&format!("modelexport {name}"), command);
        }
        text
    }

    /// `BLESS=1 cargo test -p modelexport_cli reference` rewrites the file.
    #[test]
    fn the_published_reference_is_fresh() {
        let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/cli.md");
        let expected = reference();
        if std::env::var_os("BLESS").is_some() {
            std::fs::write(path, &expected).unwrap();
        }
        let found = std::fs::read_to_string(path).unwrap_or_default();
        assert_eq!(
            found, expected,
            "docs/cli.md is stale: run `BLESS=1 cargo test -p modelexport_cli reference`"
        );
    }
}

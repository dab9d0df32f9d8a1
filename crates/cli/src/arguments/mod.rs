//! Arguments that several commands share.

mod policy;

use clap::{Args, ValueEnum};
use modelexport::embedding::Embed;

pub use policy::PolicyArguments;

/// Options that every command takes.
#[derive(Args)]
pub struct GlobalArguments {
    /// Print only results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print additional details
    #[arg(short, long, global = true)]
    pub verbose: bool,

    /// When to use colors; `auto` respects NO_COLOR
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// The output format of a list.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// Human-readable text
    Text,
    /// Machine-readable JSON
    Json,
    /// Comma-separated values
    Csv,
}

/// The output format of a result.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// Human-readable text
    Text,
    /// Machine-readable JSON
    Json,
}

/// Parses the value of `--embed`.
pub fn parse_embed(text: &str) -> Result<Embed, String> {
    Embed::parse(text)
        .ok_or_else(|| "expected doc-string, metadata-props, doc-string,metadata-props or none".into())
}

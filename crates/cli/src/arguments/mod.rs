//! Arguments that several commands share.

mod policy;

use clap::{Args, ValueEnum};
use modelexport::embedding::Embed;

pub use policy::PolicyArguments;

/// Options that every command takes.
#[derive(Args)]
pub struct GlobalArguments {
    /// Print nothing but results and errors
    #[arg(short, long, global = true, conflicts_with = "verbose")]
    pub quiet: bool,

    /// Print more about what is done
    #[arg(short, long, global = true)]
    pub verbose: bool,

    /// Whether to use colors; `auto` also respects NO_COLOR
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    pub color: ColorChoice,
}

#[derive(Clone, Copy, ValueEnum)]
pub enum ColorChoice {
    Auto,
    Always,
    Never,
}

/// What a list looks like.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum ListFormat {
    /// For people
    Text,
    /// For programs
    Json,
    /// For spreadsheets
    Csv,
}

/// What a result looks like.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub enum Format {
    /// For people
    Text,
    /// For programs
    Json,
}

/// What `--embed` takes.
pub fn parse_embed(text: &str) -> Result<Embed, String> {
    Embed::parse(text)
        .ok_or_else(|| "expected doc-string, metadata-props, doc-string,metadata-props or none".into())
}

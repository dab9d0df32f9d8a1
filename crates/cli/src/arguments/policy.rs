//! The options that decide which modules appear in tags.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use modelexport::TagChoice;
use modelexport::policy::Preset;
use modelexport::tags::TagFormat;

#[derive(Args)]
#[command(next_help_heading = "Tags")]
pub struct PolicyArguments {
    /// Which modules appear in tags [default: model, or the preset that the rules file extends]
    #[arg(long, value_name = "PRESET")]
    modules: Option<PresetArgument>,

    /// torch.nn classes that appear in tags even if the preset hides torch.nn; replaces the default list
    ///
    /// The default list holds the normalization layers and Embedding. An empty list (--torch-nn-exceptions=) hides all
    /// torch.nn classes.
    #[arg(long, value_name = "CLASSES", value_delimiter = ',')]
    torch_nn_exceptions: Option<Vec<String>>,

    /// A TOML file that extends the preset: include, exclude, rename (see docs/rules.md)
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// The form of tags [default: instance]
    #[arg(long, value_name = "FORM")]
    tag_format: Option<TagFormatArgument>,
}

impl PolicyArguments {
    /// What was given.
    pub fn choice(&self) -> TagChoice {
        let trimmed = |list: &Vec<String>| {
            list.iter().map(|class| class.trim().to_owned()).filter(|class| !class.is_empty()).collect()
        };
        TagChoice {
            modules: self.modules.as_ref().map(|argument| argument.0),
            torch_nn_exceptions: self.torch_nn_exceptions.as_ref().map(trimmed),
            rules: self.rules.clone(),
            tag_format: self.tag_format.as_ref().map(|argument| argument.0),
        }
    }
}

/// A preset as the command line takes it: names and summaries come from the library.
#[derive(Clone)]
struct PresetArgument(Preset);

impl ValueEnum for PresetArgument {
    fn value_variants<'a>() -> &'a [Self] {
        const { &[PresetArgument(Preset::Model), PresetArgument(Preset::HuggingFace), PresetArgument(Preset::All)] }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        Some(PossibleValue::new(self.0.name()).help(self.0.summary()))
    }
}

#[derive(Clone)]
struct TagFormatArgument(TagFormat);

impl ValueEnum for TagFormatArgument {
    fn value_variants<'a>() -> &'a [Self] {
        const { &[TagFormatArgument(TagFormat::Instance), TagFormatArgument(TagFormat::Class)] }
    }

    fn to_possible_value(&self) -> Option<PossibleValue> {
        let help = match self.0 {
            TagFormat::Instance => "one tag per module instance: /Model/Layer.0",
            TagFormat::Class => "classes only: /Model/Layer",
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

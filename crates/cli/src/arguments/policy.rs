//! Which modules show in tags.

use std::path::PathBuf;

use clap::builder::PossibleValue;
use clap::{Args, ValueEnum};
use modelexport::policy::{Policy, Preset};
use modelexport::rules::{self, Rules};
use modelexport::tags::TagFormat;
use modelexport_io::sidecar;

#[derive(Args)]
#[command(next_help_heading = "Tags")]
pub struct PolicyArguments {
    /// Which modules show in tags [default: model, or what the rules file extends]
    #[arg(long, value_name = "PRESET")]
    modules: Option<PresetArgument>,

    /// Classes of torch.nn that show although the preset hides torch.nn, instead of the usual ones
    ///
    /// The usual ones are the normalisation layers and Embedding. An empty list (--torch-nn-exceptions=) hides all.
    #[arg(long, value_name = "CLASSES", value_delimiter = ',')]
    torch_nn_exceptions: Option<Vec<String>>,

    /// A file of rules that change the preset: include, exclude, rename (see docs/rules.md)
    #[arg(long, value_name = "FILE")]
    rules: Option<PathBuf>,

    /// How tags look [default: instance]
    #[arg(long, value_name = "FORM")]
    tag_format: Option<TagFormatArgument>,
}

impl PolicyArguments {
    /// What was given, completed by what an earlier run recorded, completed by the defaults.
    pub fn resolve(
        &self,
        recorded: Option<&sidecar::Policy>,
    ) -> Result<(Policy, TagFormat), modelexport::Error> {
        let rules = self.rules.as_deref().map(rules::read).transpose()?.unwrap_or_default();
        let recorded_preset = recorded.filter(|_| rules.extends.is_none());
        let preset = self
            .modules
            .as_ref()
            .map(|argument| argument.0)
            .or_else(|| Preset::from_name(&recorded_preset?.modules));
        let exceptions = self.exceptions().or_else(|| recorded_exceptions(recorded, &rules));
        let format = self
            .tag_format
            .as_ref()
            .map(|argument| argument.0)
            .or_else(|| TagFormat::from_name(&recorded?.tag_format))
            .unwrap_or_default();
        Ok((Policy::new(preset, exceptions, rules), format))
    }

    /// What was given and nothing else, for another program to resolve.
    pub fn as_given(&self) -> serde_json::Value {
        serde_json::json!({
            "modules": self.modules.as_ref().map(|argument| argument.0.name()),
            "torch_nn_exceptions": self.exceptions(),
            "rules": self.rules,
            "tag_format": self.tag_format.as_ref().map(|argument| argument.0.name()),
        })
    }

    /// Whether the user asked for anything.
    pub fn is_given(&self) -> bool {
        self.modules.is_some()
            || self.torch_nn_exceptions.is_some()
            || self.rules.is_some()
            || self.tag_format.is_some()
    }

    fn exceptions(&self) -> Option<Vec<String>> {
        let trimmed = |list: &Vec<String>| {
            list.iter().map(|class| class.trim().to_owned()).filter(|class| !class.is_empty()).collect()
        };
        self.torch_nn_exceptions.as_ref().map(trimmed)
    }
}

fn recorded_exceptions(recorded: Option<&sidecar::Policy>, rules: &Rules) -> Option<Vec<String>> {
    let recorded = recorded.filter(|_| rules.torch_nn_exceptions.is_none());
    recorded.map(|policy| policy.torch_nn_exceptions.clone())
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
            TagFormat::Instance => "one tag for each module instance: /Model/Layer.0",
            TagFormat::Class => "classes only: /Model/Layer",
        };
        Some(PossibleValue::new(self.0.name()).help(help))
    }
}

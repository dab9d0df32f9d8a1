//! Which modules are visible in tags, as chosen by the user.

use std::path::PathBuf;

use modelexport_io::sidecar;

use crate::Error;
use crate::policy::{Policy, Preset};
use crate::rules;
use crate::tags::TagFormat;

/// A user's choice about tags. What is `None` comes from the record of an earlier run, else from the defaults.
///
/// ```
/// use modelexport::policy::Preset;
/// use modelexport::{Export, TagChoice};
///
/// # let folder = tempfile::tempdir()?;
/// # let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bert_tiny/model.pt2");
/// let mut export = Export::new(archive, folder.path().join("bert.onnx"));
/// export.tags = TagChoice { modules: Some(Preset::All), ..TagChoice::default() };
/// export.run(&mut ())?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct TagChoice {
    /// Which modules are visible.
    pub modules: Option<Preset>,
    /// Classes of `torch.nn` that are visible although the preset hides `torch.nn`; replaces the default list.
    pub torch_nn_exceptions: Option<Vec<String>>,
    /// A file of rules that change the preset.
    pub rules: Option<PathBuf>,
    /// How tags look.
    pub tag_format: Option<TagFormat>,
}

impl TagChoice {
    /// Whether anything was chosen.
    pub fn is_given(&self) -> bool {
        *self != TagChoice::default()
    }

    /// Completes the choice by what an earlier run recorded, then by the defaults.
    pub fn resolve(&self, recorded: Option<&sidecar::Policy>) -> Result<(Policy, TagFormat), Error> {
        let rules = self.rules.as_deref().map(rules::read).transpose()?.unwrap_or_default();
        let recorded_preset = recorded.filter(|_| rules.extends.is_none());
        let preset = self.modules.or_else(|| Preset::from_name(&recorded_preset?.modules));
        let recorded_exceptions = recorded.filter(|_| rules.torch_nn_exceptions.is_none());
        let exceptions = self.torch_nn_exceptions.clone();
        let exceptions = exceptions.or_else(|| Some(recorded_exceptions?.torch_nn_exceptions.clone()));
        let recorded_format = || TagFormat::from_name(&recorded?.tag_format);
        let format = self.tag_format.or_else(recorded_format).unwrap_or_default();
        Ok((Policy::new(preset, exceptions, rules), format))
    }
}

//! The rules file (`--rules rules.toml`): the user's changes to a preset. `docs/rules.md` describes the format.

mod error;
mod file;

use modelexport_graph::{Module, Name};
use modelexport_lower::CustomOperator;

use crate::pattern::{ClassPattern, ModulePattern, OperatorPattern};
use crate::policy::Preset;

pub use error::Error;
pub use file::{MAX_BYTES, parse, read};

/// What a rules file says; the default says nothing.
#[derive(Clone, Debug, Default)]
pub struct Rules {
    /// The file's name without its folder.
    pub file_name: Option<String>,
    /// The preset that the file extends.
    pub extends: Option<Preset>,
    /// The visible `torch.nn` classes; `None` keeps the default list.
    pub torch_nn_exceptions: Option<Vec<String>>,
    /// Modules that appear in tags.
    pub include: Vec<ModulePattern>,
    /// Modules that do not appear in tags.
    pub exclude: Vec<ModulePattern>,
    /// Modules that inferred tags do not cross; `None`: the rules do not say.
    pub boundaries: Option<Vec<ModulePattern>>,
    /// New names for classes.
    pub renames: Vec<Rename>,
    /// Additional tags.
    pub domain: Vec<DomainRule>,
    /// ATen operators that become ONNX operators of the user's own domain.
    pub operators: Vec<CustomOperator>,
}

impl Rules {
    /// The name that the rules give to the class of `module`; the first rename that matches counts.
    pub fn rename(&self, module: &Module) -> Option<&str> {
        self.renames.iter().find(|rename| rename.class.matches(module)).map(|rename| rename.name.as_str())
    }
}

/// Shows classes under another name.
#[derive(Clone, Debug)]
pub struct Rename {
    pub(crate) class: ClassPattern,
    /// The new name.
    pub name: String,
}

/// Adds a tag to nodes of an operator inside modules of a class.
#[derive(Clone, Debug)]
pub struct DomainRule {
    pub(crate) class: ClassPattern,
    pub(crate) operator: OperatorPattern,
    pub(crate) tag: Name,
}

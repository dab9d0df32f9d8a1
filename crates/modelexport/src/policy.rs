//! Which modules are visible in tags.
//!
//! A preset decides by the package of a module's class. Some `torch.nn` classes are exceptions. A rules file overrides both.
//! Everything about a preset is data in [`PRESETS`].

use modelexport_graph::{Module, ModuleId, ModuleTree};

use crate::rules::Rules;

/// A named choice of modules.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Preset {
    /// Every class outside `torch.nn`.
    Model,
    /// Only classes of `transformers`.
    HuggingFace,
    /// Every class.
    All,
}

struct PresetData {
    preset: Preset,
    name: &'static str,
    summary: &'static str,
    /// Packages whose classes show; empty: all packages.
    shown: &'static [&'static str],
    /// Packages whose classes do not show although `shown` has them.
    hidden: &'static [&'static str],
}

const PRESETS: [PresetData; 3] = [
    PresetData {
        preset: Preset::Model,
        name: "model",
        summary: "every class outside torch.nn",
        shown: &[],
        hidden: &["torch.nn", "torch._C", "builtins"],
    },
    PresetData {
        preset: Preset::HuggingFace,
        name: "huggingface",
        summary: "only classes of transformers",
        shown: &["transformers"],
        hidden: &[],
    },
    PresetData {
        preset: Preset::All,
        name: "all",
        summary: "every class, including torch.nn",
        shown: &[],
        hidden: &["torch._C", "builtins"],
    },
];

/// The package whose classes can be exceptions.
const EXCEPTION_PACKAGE: &str = "torch.nn";

/// Classes of `torch.nn` that show under every preset, unless the user gives another list.
pub const DEFAULT_TORCH_NN_EXCEPTIONS: [&str; 9] = [
    "BatchNorm1d",
    "BatchNorm2d",
    "BatchNorm3d",
    "LayerNorm",
    "GroupNorm",
    "InstanceNorm1d",
    "InstanceNorm2d",
    "InstanceNorm3d",
    "Embedding",
];

impl Preset {
    /// All presets.
    pub const ALL: [Preset; 3] = [Preset::Model, Preset::HuggingFace, Preset::All];

    fn data(self) -> &'static PresetData {
        let [model, hugging_face, all] = &PRESETS;
        match self {
            Preset::Model => model,
            Preset::HuggingFace => hugging_face,
            Preset::All => all,
        }
    }

    /// The name in options and rules files.
    pub fn name(self) -> &'static str {
        self.data().name
    }

    /// Which modules show, in a few words.
    pub fn summary(self) -> &'static str {
        self.data().summary
    }

    /// The preset of this name.
    pub fn from_name(name: &str) -> Option<Preset> {
        PRESETS.iter().find(|data| data.name == name).map(|data| data.preset)
    }

    fn shows(self, class: &str) -> bool {
        let data = self.data();
        let is_in = |packages: &[&str]| packages.iter().any(|package| is_inside(class, package));
        (data.shown.is_empty() || is_in(data.shown)) && !is_in(data.hidden)
    }
}

/// Whether `class` is defined in `package` or below it.
fn is_inside(class: &str, package: &str) -> bool {
    class.strip_prefix(package).is_some_and(|rest| rest.starts_with('.'))
}

/// Whether a module shows in tags, and why.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// The preset shows the class.
    ShownByPreset,
    /// A class of `torch.nn` on the list of exceptions.
    ShownAsException,
    /// A rule shows the module.
    ShownByRule,
    /// The root, which the policy by itself would not show.
    ShownAsRoot,
    /// A segment of tags that a file carries; no policy was asked.
    ShownInFile,
    /// The preset hides the class.
    HiddenByPreset,
    /// A rule hides the module.
    HiddenByRule,
    /// Nothing told the module's class, so there is no name to show.
    WithoutClass,
}

impl Verdict {
    /// Whether the module appears in tags.
    pub fn is_visible(self) -> bool {
        use Verdict::*;
        matches!(self, ShownByPreset | ShownAsException | ShownByRule | ShownAsRoot | ShownInFile)
    }

    /// Short, for output that programs read.
    pub fn name(self) -> &'static str {
        match self {
            Verdict::ShownByPreset => "shown-by-preset",
            Verdict::ShownAsException => "shown-as-exception",
            Verdict::ShownByRule => "shown-by-rule",
            Verdict::ShownAsRoot => "shown-as-root",
            Verdict::ShownInFile => "shown-in-file",
            Verdict::HiddenByPreset => "hidden-by-preset",
            Verdict::HiddenByRule => "hidden-by-rule",
            Verdict::WithoutClass => "without-class",
        }
    }
}

/// A preset, its exceptions and the user's rules.
#[derive(Clone, Debug)]
pub struct Policy {
    preset: Preset,
    torch_nn_exceptions: Vec<String>,
    rules: Rules,
}

impl Default for Policy {
    fn default() -> Self {
        Policy::new(None, None, Rules::default())
    }
}

impl Policy {
    /// What is not given comes from the rules file, else from the defaults. The list of exceptions replaces the
    /// default one; an entry is a class name (`Linear`) or a whole class (`torch.nn.modules.linear.Linear`).
    pub fn new(preset: Option<Preset>, torch_nn_exceptions: Option<Vec<String>>, rules: Rules) -> Self {
        let preset = preset.or(rules.extends).unwrap_or(Preset::Model);
        let torch_nn_exceptions = torch_nn_exceptions
            .or_else(|| rules.torch_nn_exceptions.clone())
            .unwrap_or_else(|| DEFAULT_TORCH_NN_EXCEPTIONS.map(str::to_owned).to_vec());
        Policy { preset, torch_nn_exceptions, rules }
    }

    pub(crate) fn preset(&self) -> Preset {
        self.preset
    }

    pub(crate) fn torch_nn_exceptions(&self) -> &[String] {
        &self.torch_nn_exceptions
    }

    pub(crate) fn rules(&self) -> &Rules {
        &self.rules
    }

    /// Whether `module` shows. Rules come before the preset, and `exclude` before `include`; the root shows always.
    pub fn judge(&self, id: ModuleId, module: &Module) -> Verdict {
        let verdict = self.judge_as_child(module);
        if id == ModuleId::ROOT && !verdict.is_visible() { Verdict::ShownAsRoot } else { verdict }
    }

    fn judge_as_child(&self, module: &Module) -> Verdict {
        let any = |patterns: &[crate::pattern::ModulePattern]| patterns.iter().any(|p| p.matches(module));
        if any(&self.rules.exclude) {
            Verdict::HiddenByRule
        } else if any(&self.rules.include) {
            Verdict::ShownByRule
        } else if module.class.is_empty() {
            Verdict::WithoutClass
        } else if self.preset.shows(&module.class) {
            Verdict::ShownByPreset
        } else if self.is_exception(module) {
            Verdict::ShownAsException
        } else {
            Verdict::HiddenByPreset
        }
    }

    fn is_exception(&self, module: &Module) -> bool {
        is_inside(&module.class, EXCEPTION_PACKAGE)
            && self
                .torch_nn_exceptions
                .iter()
                .any(|entry| entry == module.class_name() || **entry == *module.class)
    }

    /// Modules that tags do not spread across when they are inferred from neighbours: those that the rules name,
    /// else the children of the root.
    pub fn boundaries(&self, tree: &ModuleTree) -> Vec<ModuleId> {
        let Some(patterns) = &self.rules.boundaries else {
            return tree.get(ModuleId::ROOT).map(|root| root.children.clone()).unwrap_or_default();
        };
        tree.iter()
            .filter(|(_, module)| patterns.iter().any(|pattern| pattern.matches(module)))
            .map(|(id, _)| id)
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn judge(policy: &Policy, class: &str) -> Verdict {
        let mut tree = ModuleTree::new();
        let id = tree.insert("child");
        tree.get_mut(id).unwrap().class = class.into();
        policy.judge(id, tree.get(id).unwrap())
    }

    fn preset(preset: Preset) -> Policy {
        Policy::new(Some(preset), None, Rules::default())
    }

    #[test]
    fn each_preset_is_at_its_own_place() {
        for value in Preset::ALL {
            assert_eq!(value.data().preset, value);
            assert_eq!(Preset::from_name(value.name()), Some(value));
        }
        assert_eq!(Preset::from_name("none"), None);
    }

    #[test]
    fn presets_decide_by_package() {
        use Verdict::*;
        let cases = [
            ("torch.nn.modules.linear.Linear", HiddenByPreset, HiddenByPreset, ShownByPreset),
            ("torch.nn.modules.normalization.LayerNorm", ShownAsException, ShownAsException, ShownByPreset),
            ("transformers.models.x.Layer", ShownByPreset, ShownByPreset, ShownByPreset),
            ("__main__.Net", ShownByPreset, HiddenByPreset, ShownByPreset),
            // Named like an exception, but the user's own: no exception is needed, and none applies.
            ("my.layers.LayerNorm", ShownByPreset, HiddenByPreset, ShownByPreset),
            // Packages whose names only begin alike.
            ("torch.nnx.Linear", ShownByPreset, HiddenByPreset, ShownByPreset),
            ("transformersx.Layer", ShownByPreset, HiddenByPreset, ShownByPreset),
            ("torch._C.Function", HiddenByPreset, HiddenByPreset, HiddenByPreset),
            ("builtins.object", HiddenByPreset, HiddenByPreset, HiddenByPreset),
            ("", WithoutClass, WithoutClass, WithoutClass),
        ];
        for (class, model, hugging_face, all) in cases {
            assert_eq!(judge(&preset(Preset::Model), class), model, "model: {class}");
            assert_eq!(judge(&preset(Preset::HuggingFace), class), hugging_face, "huggingface: {class}");
            assert_eq!(judge(&preset(Preset::All), class), all, "all: {class}");
        }
    }

    #[test]
    fn given_exceptions_replace_the_default_list() {
        let list = vec!["Linear".to_owned(), "torch.nn.modules.activation.ReLU".to_owned()];
        let policy = Policy::new(None, Some(list), Rules::default());
        assert_eq!(judge(&policy, "torch.nn.modules.linear.Linear"), Verdict::ShownAsException);
        assert_eq!(judge(&policy, "torch.nn.modules.activation.ReLU"), Verdict::ShownAsException);
        assert_eq!(judge(&policy, "torch.nn.modules.normalization.LayerNorm"), Verdict::HiddenByPreset);
    }

    #[test]
    fn the_root_always_shows() {
        let mut tree = ModuleTree::new();
        let policy = preset(Preset::HuggingFace);
        tree.get_mut(ModuleId::ROOT).unwrap().class = "__main__.Net".into();
        assert_eq!(policy.judge(ModuleId::ROOT, tree.get(ModuleId::ROOT).unwrap()), Verdict::ShownAsRoot);
        tree.get_mut(ModuleId::ROOT).unwrap().class = "transformers.Model".into();
        assert_eq!(policy.judge(ModuleId::ROOT, tree.get(ModuleId::ROOT).unwrap()), Verdict::ShownByPreset);
    }
}

//! Globs that select modules by path or by class.

use globset::{GlobBuilder, GlobMatcher};
use modelexport_graph::Module;

/// Chooses modules: `encoder.layer.*.attention` by path, `class:BertLayer` by class.
#[derive(Clone, Debug)]
pub enum ModulePattern {
    Path(PathPattern),
    Class(ClassPattern),
}

impl ModulePattern {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.starts_with('/') {
            return Err(PatternError::Tag);
        }
        match text.strip_prefix("class:") {
            Some(class) => ClassPattern::parse(class).map(ModulePattern::Class),
            None => PathPattern::parse(text).map(ModulePattern::Path),
        }
    }

    pub fn matches(&self, module: &Module) -> bool {
        match self {
            ModulePattern::Path(pattern) => pattern.matches(&module.path),
            ModulePattern::Class(pattern) => pattern.matches(module),
        }
    }
}

/// A glob over module paths. `*` stands for one part of the path or a piece of it, `**` for any number of parts.
#[derive(Clone, Debug)]
pub struct PathPattern(GlobMatcher);

impl PathPattern {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        compile(&dots_as_separators(text), true).map(PathPattern)
    }

    pub fn matches(&self, path: &str) -> bool {
        self.0.is_match(dots_as_separators(path))
    }
}

/// The glob library separates at `/`; a `/` inside a name moves out of its way.
fn dots_as_separators(path: &str) -> String {
    path.replace('/', "\u{1}").replace('.', "/")
}

/// A glob over classes: over the bare name, or over `package.module.Class` if it has a dot. `*` crosses dots.
#[derive(Clone, Debug)]
pub struct ClassPattern {
    glob: GlobMatcher,
    is_qualified: bool,
}

impl ClassPattern {
    pub fn parse(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        Ok(ClassPattern { glob: compile(text, false)?, is_qualified: text.contains('.') })
    }

    /// A module without a class never matches.
    pub fn matches(&self, module: &Module) -> bool {
        let class = if self.is_qualified { &module.class } else { module.class_name() };
        !module.class.is_empty() && self.glob.is_match(class)
    }
}

/// A glob over operator names, such as `MatMul`, `com.microsoft.*` or `aten.linear.*`.
#[derive(Clone, Debug)]
pub(crate) struct OperatorPattern(GlobMatcher);

impl OperatorPattern {
    pub(crate) fn parse(text: &str) -> Result<Self, PatternError> {
        if text.is_empty() {
            return Err(PatternError::Empty);
        }
        compile(text, false).map(OperatorPattern)
    }

    pub(crate) fn matches(&self, operator: &str) -> bool {
        self.0.is_match(operator)
    }
}

fn compile(glob: &str, literal_separator: bool) -> Result<GlobMatcher, PatternError> {
    GlobBuilder::new(glob)
        .literal_separator(literal_separator)
        .backslash_escape(true)
        .build()
        .map(|glob| glob.compile_matcher())
        .map_err(|error| PatternError::Glob(error.kind().to_string()))
}

/// Why a pattern cannot be used.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PatternError {
    #[error("the pattern is empty")]
    Empty,
    #[error("{0}")]
    Glob(String),
    #[error(
        "it starts with `/` like a tag, but modules are selected before tags exist; \
         use a path (`encoder.layer.*`) or a class (`class:MyLayer`)"
    )]
    Tag,
}

#[cfg(test)]
mod tests {
    use modelexport_graph::{ModuleId, ModuleTree};

    use super::*;

    fn matches(pattern: &str, path: &str, class: &str) -> bool {
        let mut tree = ModuleTree::new();
        let id = if path.is_empty() { ModuleId::ROOT } else { tree.insert(path) };
        let module = tree.get_mut(id).unwrap();
        module.class = class.into();
        ModulePattern::parse(pattern).unwrap().matches(module)
    }

    #[test]
    fn a_star_in_a_path_is_one_part() {
        assert!(matches("encoder.layer.*.attention", "encoder.layer.11.attention", ""));
        assert!(!matches("encoder.layer.*", "encoder.layer.0.attention", ""));
        assert!(!matches("encoder", "encoder.layer", ""));
        assert!(matches("layer[12].*", "layer2.0", ""));
        assert!(matches("encoder.**", "encoder.layer.0.attention", ""));
        assert!(matches("**.attention", "encoder.layer.0.attention", ""));
        assert!(matches("a/*.x", "a/b.x", "") && !matches("a.*.x", "a/b.x", ""));
    }

    #[test]
    fn a_class_without_a_dot_is_the_bare_name() {
        assert!(matches("class:Linear", "x", "torch.nn.modules.linear.Linear"));
        assert!(matches("class:torch.nn.*", "x", "torch.nn.modules.linear.Linear"));
        assert!(!matches("class:modules.linear.Linear", "x", "torch.nn.modules.linear.Linear"));
        assert!(matches("class:{Linear,Conv*}", "x", "torch.nn.modules.conv.Conv2d"));
        assert!(!matches("class:*", "x", ""));
    }

    #[test]
    fn unusable_patterns_say_why() {
        assert_eq!(ModulePattern::parse("").unwrap_err(), PatternError::Empty);
        assert_eq!(ModulePattern::parse("class:").unwrap_err(), PatternError::Empty);
        assert_eq!(ModulePattern::parse("/Model").unwrap_err(), PatternError::Tag);
        assert!(matches!(ModulePattern::parse("a[").unwrap_err(), PatternError::Glob(_)));
    }
}

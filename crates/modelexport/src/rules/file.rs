//! The TOML form of the rules.

use std::io::Read;
use std::path::{Path, PathBuf};

use modelexport_graph::check_tag;
use modelexport_io::source;
use modelexport_lower::CustomOperator;
use serde::Deserialize;
use toml::Spanned;

use super::{DomainRule, Error, Rename, Rules};
use crate::pattern::{ClassPattern, ModulePattern, OperatorPattern};
use crate::policy::Preset;

/// Larger rules files are refused.
pub const MAX_BYTES: u64 = 1 << 20;

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct FileForm {
    extends: Option<Spanned<String>>,
    torch_nn_exceptions: Option<Vec<String>>,
    #[serde(default)]
    include: Vec<Spanned<String>>,
    #[serde(default)]
    exclude: Vec<Spanned<String>>,
    boundaries: Option<Vec<Spanned<String>>>,
    #[serde(default)]
    rename: Vec<RenameForm>,
    #[serde(default)]
    domain: Vec<DomainForm>,
    #[serde(default)]
    operator: Vec<OperatorForm>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct RenameForm {
    class: Spanned<String>,
    name: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct DomainForm {
    class: Spanned<String>,
    operator: Spanned<String>,
    tag: Spanned<String>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "kebab-case")]
struct OperatorForm {
    target: Spanned<String>,
    domain: Spanned<String>,
    op_type: Spanned<String>,
    #[serde(default = "first_version")]
    version: i64,
}

fn first_version() -> i64 {
    1
}

/// Reads a rules file.
pub fn read(path: &Path) -> Result<Rules, Error> {
    let mut bytes = Vec::new();
    source::open_regular(path)?
        .take(MAX_BYTES + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| Error::Read { file: path.to_owned(), source })?;
    if bytes.len() as u64 > MAX_BYTES {
        return Err(Error::TooLarge { file: path.to_owned(), limit: MAX_BYTES });
    }
    let text = std::str::from_utf8(&bytes)
        .map_err(|error| Error::NotUtf8 { file: path.to_owned(), offset: error.valid_up_to() })?;
    parse(text, path)
}

/// Reads rules from text; `file` is for messages and for [`Rules::file_name`].
pub fn parse(text: &str, file: &Path) -> Result<Rules, Error> {
    let place = TextPosition { file, text };
    let form: FileForm = toml::from_str(text).map_err(|error| {
        let (line, column) = place.position(error.span().map_or(0, |span| span.start));
        Error::Format { file: file.to_owned(), line, column, reason: error.message().to_owned() }
    })?;
    let patterns = |key: &'static str, values: &[Spanned<String>]| -> Result<Vec<ModulePattern>, Error> {
        values.iter().map(|value| place.value(key, value, ModulePattern::parse)).collect()
    };
    Ok(Rules {
        file_name: file.file_name().map(|name| name.to_string_lossy().into_owned()),
        extends: form.extends.as_ref().map(|name| place.value("extends", name, parse_preset)).transpose()?,
        torch_nn_exceptions: form.torch_nn_exceptions,
        include: patterns("include", &form.include)?,
        exclude: patterns("exclude", &form.exclude)?,
        boundaries: form.boundaries.map(|values| patterns("boundaries", &values)).transpose()?,
        renames: form.rename.iter().map(|rename| place.rename(rename)).collect::<Result<_, _>>()?,
        domain: form.domain.iter().map(|rule| place.domain(rule)).collect::<Result<_, _>>()?,
        operators: form.operator.iter().map(|rule| place.operator(rule)).collect::<Result<_, _>>()?,
    })
}

struct TextPosition<'a> {
    file: &'a Path,
    text: &'a str,
}

impl TextPosition<'_> {
    /// Line and column, from 1, of a byte offset.
    fn position(&self, offset: usize) -> (usize, usize) {
        let before = self.text.get(..offset).unwrap_or(self.text);
        let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
        let line = before.matches('\n').count() + 1;
        (line, before.get(line_start..).unwrap_or_default().chars().count() + 1)
    }

    fn value<T, E: std::fmt::Display>(
        &self,
        key: &'static str,
        value: &Spanned<String>,
        parse: impl FnOnce(&str) -> Result<T, E>,
    ) -> Result<T, Error> {
        let text = value.get_ref();
        parse(text).map_err(|reason| {
            let (line, column) = self.position(value.span().start);
            let file: PathBuf = self.file.to_owned();
            Error::Value { file, line, column, key, value: text.clone(), reason: reason.to_string() }
        })
    }

    fn rename(&self, form: &RenameForm) -> Result<Rename, Error> {
        Ok(Rename {
            class: self.value("class", &form.class, ClassPattern::parse)?,
            name: self.value("name", &form.name, parse_name)?,
        })
    }

    fn domain(&self, form: &DomainForm) -> Result<DomainRule, Error> {
        Ok(DomainRule {
            class: self.value("class", &form.class, ClassPattern::parse)?,
            operator: self.value("operator", &form.operator, OperatorPattern::parse)?,
            tag: self.value("tag", &form.tag, |tag| check_tag(tag).map(|()| tag.into()))?,
        })
    }

    fn operator(&self, form: &OperatorForm) -> Result<CustomOperator, Error> {
        Ok(CustomOperator {
            target: self.value("target", &form.target, parse_target)?,
            domain: self.value("domain", &form.domain, parse_identifier)?,
            op_type: self.value("op-type", &form.op_type, parse_identifier)?,
            version: form.version,
        })
    }
}

fn parse_target(target: &str) -> Result<String, &'static str> {
    match target.split('.').collect::<Vec<_>>().as_slice() {
        [namespace, name, overload] if [namespace, name, overload].iter().all(|part| !part.is_empty()) => {
            Ok(target.to_owned())
        }
        _ => Err("expected namespace.operator.overload, such as mylib.fused_norm.default"),
    }
}

fn parse_identifier(text: &str) -> Result<String, &'static str> {
    if text.is_empty() || text.chars().any(|c| c.is_control() || c.is_whitespace()) {
        return Err("it cannot be empty or have blanks");
    }
    Ok(text.to_owned())
}

fn parse_preset(name: &str) -> Result<Preset, String> {
    let known = || Preset::ALL.map(|preset| format!("`{}`", preset.name())).join(", ");
    Preset::from_name(name).ok_or_else(|| format!("no such preset; there are {}", known()))
}

fn parse_name(name: &str) -> Result<String, &'static str> {
    if name.is_empty() {
        return Err("a name cannot be empty");
    }
    if name.contains(['/', '.']) || name.chars().any(char::is_control) {
        return Err("a name cannot have `/`, `.` or control characters: it is one segment of a tag");
    }
    Ok(name.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> String {
        parse(text, Path::new("rules.toml")).map(|_| "accepted".to_owned()).unwrap_or_else(|e| e.to_string())
    }

    #[test]
    fn an_empty_file_says_nothing() {
        let rules = parse("", Path::new("dir/rules.toml")).unwrap();
        assert_eq!(rules.file_name.as_deref(), Some("rules.toml"));
        assert!(rules.extends.is_none() && rules.include.is_empty() && rules.boundaries.is_none());
    }

    #[test]
    fn format_errors_have_a_line() {
        assert_eq!(
            message("extends = \"all\"\nincldue = []\n"),
            "rules.toml: line 2, column 1: unknown field `incldue`, expected one of `extends`, \
             `torch-nn-exceptions`, `include`, `exclude`, `boundaries`, `rename`, `domain`, `operator`"
        );
        assert_eq!(
            message("include = [\n  1,\n]"),
            "rules.toml: line 2, column 3: invalid type: integer `1`, expected a string"
        );
        assert_eq!(
            message("[[rename]]\nclass = \"A\"\n"),
            "rules.toml: line 1, column 1: missing field `name`"
        );
        assert!(message("include = [").starts_with("rules.toml: line 1, column "));
        assert!(
            message("extends = \"all\"\nextends = \"all\"").starts_with("rules.toml: line 2, column 1: dup")
        );
    }

    #[test]
    fn values_without_meaning_have_a_line() {
        assert_eq!(
            message("# Ω\nextends = \"hf\""),
            "rules.toml: line 2, column 11: extends \"hf\": no such preset; there are `model`, `huggingface`, `all`"
        );
        assert_eq!(
            message("exclude = [\"a\", \"b[\"]"),
            "rules.toml: line 1, column 17: exclude \"b[\": unclosed character class; missing ']'"
        );
        assert_eq!(
            message("[[rename]]\nclass = \"A\"\nname = \"a.b\""),
            "rules.toml: line 3, column 8: name \"a.b\": a name cannot have `/`, `.` or control characters: \
             it is one segment of a tag"
        );
        assert_eq!(
            message("[[domain]]\nclass = \"A\"\noperator = \"MatMul\"\ntag = \"x\""),
            "rules.toml: line 4, column 7: tag \"x\": does not start with /"
        );
    }

    #[test]
    fn unreadable_files_are_told_apart() {
        let folder = tempfile::tempdir().unwrap();
        let path = |name: &str| folder.path().join(name);
        assert!(matches!(read(&path("missing.toml")), Err(Error::Open(source::Error::Open { .. }))));
        assert!(matches!(read(folder.path()), Err(Error::Open(source::Error::NotRegular { .. }))));
        std::fs::write(path("latin1.toml"), b"# caf\xe9").unwrap();
        assert!(matches!(read(&path("latin1.toml")), Err(Error::NotUtf8 { offset: 5, .. })));
        std::fs::write(path("large.toml"), vec![b'#'; MAX_BYTES as usize + 1]).unwrap();
        assert!(matches!(read(&path("large.toml")), Err(Error::TooLarge { .. })));
    }
}

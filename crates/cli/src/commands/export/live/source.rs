//! Whether SOURCE is a live model, and which kind.

use std::path::Path;

/// A model that only Python can load.
#[derive(Debug, PartialEq, Eq)]
pub struct LiveModel {
    pub kind: Kind,
    pub text: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A folder with a configuration and weights, or an id such as `organisation/name`.
    HuggingFace,
    /// `package.module:factory`.
    Factory,
}

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Kind::HuggingFace => "hugging_face",
            Kind::Factory => "factory",
        }
    }
}

/// The live model that `source` names; `None` if it is a file, or looks like one that is missing.
pub fn model_of(source: &Path) -> Option<LiveModel> {
    let text = source.to_str()?;
    let kind = if source.is_dir() {
        Kind::HuggingFace
    } else if source.exists() {
        return None;
    } else if is_factory(text) {
        Kind::Factory
    } else if is_id(text) {
        Kind::HuggingFace
    } else {
        return None;
    };
    Some(LiveModel { kind, text: text.to_owned() })
}

fn is_factory(text: &str) -> bool {
    let is_dotted = |part: &str| part.split('.').all(is_identifier);
    text.split_once(':').is_some_and(|(module, name)| is_dotted(module) && is_dotted(name))
}

fn is_identifier(part: &str) -> bool {
    let mut characters = part.chars();
    characters.next().is_some_and(|first| first.is_alphabetic() || first == '_')
        && characters.all(|character| character.is_alphanumeric() || character == '_')
}

/// `name` or `organisation/name`, as Hugging Face allows them. What ends like a model file is a file.
fn is_id(text: &str) -> bool {
    let is_part = |part: &str| {
        part.starts_with(|first: char| first.is_ascii_alphanumeric() || first == '_')
            && part.chars().all(|character| character.is_ascii_alphanumeric() || "._-".contains(character))
    };
    let parts: Vec<&str> = text.split('/').collect();
    let ends_like_a_file = [".pt2", ".onnx", ".pt", ".pth", ".zip", ".json", ".safetensors"]
        .iter()
        .any(|ending| text.ends_with(ending));
    parts.len() <= 2 && parts.into_iter().all(is_part) && !ends_like_a_file
}

#[cfg(test)]
mod tests {
    use super::*;

    fn kind(text: &str) -> Option<Kind> {
        model_of(Path::new(text)).map(|model| model.kind)
    }

    #[test]
    fn names_that_are_no_files_are_models() {
        assert_eq!(kind("my_package.models:make"), Some(Kind::Factory));
        assert_eq!(kind("models:Zoo.tiny"), Some(Kind::Factory));
        assert_eq!(kind("some-organisation/some-model-v1.5"), Some(Kind::HuggingFace));
        assert_eq!(kind("some-model"), Some(Kind::HuggingFace));
    }

    #[test]
    fn files_are_files_also_when_they_are_missing() {
        for file in ["missing.pt2", "folder/missing.pt2", "./missing", "/no/such/model", "a/b/c", "m.onnx"] {
            assert_eq!(kind(file), None, "{file}");
        }
        assert_eq!(kind(concat!(env!("CARGO_MANIFEST_DIR"), "/Cargo.toml")), None);
        assert_eq!(kind(env!("CARGO_MANIFEST_DIR")), Some(Kind::HuggingFace));
    }
}

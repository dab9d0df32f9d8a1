//! The JSON in the `doc_string` of a tagged node.

use modelexport_graph::{Method, Name};
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

/// The JSON in a node's `doc_string`. Its keys and their order are a contract with tools that read them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct DocString {
    /// The node's tags, its own first.
    pub hierarchy_tags: Vec<Name>,
    /// The node's own tag.
    #[serde(default)]
    pub hierarchy_path: Name,
    /// The number of tags.
    #[serde(default)]
    pub hierarchy_count: usize,
    /// The name of the [`Method`] by which the module was found.
    #[serde(default)]
    pub hierarchy_method: String,
    /// The text that stood there before.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub doc_string: Option<String>,
}

impl DocString {
    /// Of a node whose `doc_string` was `earlier`.
    pub fn new(tags: Vec<Name>, path: &Name, method: Method, earlier: Option<&str>) -> Self {
        DocString {
            hierarchy_count: tags.len(),
            hierarchy_tags: tags,
            hierarchy_path: path.clone(),
            hierarchy_method: method.name().to_owned(),
            doc_string: earlier.map(str::to_owned),
        }
    }

    /// `None` if the text is another program's: anything but a JSON object with `hierarchy_tags`.
    pub fn parse(text: &str) -> Option<DocString> {
        if !text.starts_with('{') {
            return None;
        }
        serde_json::from_str(text).ok()
    }

    /// The text that is written.
    pub fn to_text(&self) -> String {
        // Strings and a number always serialise.
        serde_json::to_string(self).unwrap_or_default()
    }
}

/// The part of a [`DocString`] that [`replaced_text`] reads.
#[derive(Deserialize)]
struct Replacement {
    #[serde(rename = "hierarchy_tags")]
    _tags: IgnoredAny,
    #[serde(default, deserialize_with = "present")]
    doc_string: Option<String>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

/// The text that a [`DocString`] replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Replaced {
    /// There was no `doc_string`.
    Nothing,
    Text(String),
}

/// The text that a `doc_string` of modelexport replaced; `None` if the `doc_string` is another program's.
pub(crate) fn replaced_text(payload: &[u8]) -> Option<Replaced> {
    if payload.first() != Some(&b'{') {
        return None;
    }
    let parsed: Replacement = serde_json::from_str(std::str::from_utf8(payload).ok()?).ok()?;
    Some(parsed.doc_string.map_or(Replaced::Nothing, Replaced::Text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_doc_string_of_modelexport_is_json_with_tags() {
        let parsed = |text: &str| replaced_text(text.as_bytes());
        assert_eq!(parsed(r#"{"hierarchy_tags":[],"hierarchy_path":"/M"}"#), Some(Replaced::Nothing));
        let with_text = r#"{"hierarchy_tags":["/M"],"doc_string":"a\u0000b"}"#;
        assert_eq!(parsed(with_text), Some(Replaced::Text("a\0b".into())));
        assert_eq!(parsed(r#"{"hierarchy_tags":[],"doc_string":""}"#), Some(Replaced::Text(String::new())));
        let foreign = [
            "",
            "text",
            "{}",
            r#"{"doc_string":"a"}"#,
            r#"{"hierarchy_tags":[],"doc_string":null}"#,
            r#"{"hierarchy_tags":[],"doc_string":"a","doc_string":"b"}"#,
            r#"{"hierarchy_tags":[]} and more"#,
        ];
        for text in foreign {
            assert_eq!(parsed(text), None, "{text}");
        }
        assert_eq!(replaced_text(b"{\"hierarchy_tags\":[\"\xff\"]}"), None);
    }
}

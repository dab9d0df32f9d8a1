//! How our tags are told from what stood in the file before.
//!
//! * A `doc_string` is ours if it is a JSON object with `hierarchy_tags`. Text that it replaced is its `doc_string`.
//! * Entries of `metadata_props` are ours if their key begins with [`OWN_PREFIX`].
//! * Keys that other tools write as well (`namespace`, `pkg.torch.onnx.*`) are ours where they come after the first
//!   entry with the prefix: new entries are written at the end, those with the prefix first.

use serde::Deserialize;
use serde::de::IgnoredAny;

/// Keys with this prefix are nobody else's.
pub const OWN_PREFIX: &str = "modelexport.";

/// Keys that we write and other tools too.
pub fn is_shared_key(key: &str) -> bool {
    key == "namespace" || key.starts_with("pkg.torch.onnx.")
}

/// The parts of our `doc_string` that matter here.
#[derive(Deserialize)]
struct OurText {
    #[serde(rename = "hierarchy_tags")]
    _tags: IgnoredAny,
    #[serde(default, deserialize_with = "present")]
    doc_string: Option<String>,
}

fn present<'de, D: serde::Deserializer<'de>>(deserializer: D) -> Result<Option<String>, D::Error> {
    String::deserialize(deserializer).map(Some)
}

/// What our text says about the text that it replaced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Replaced {
    /// There was no `doc_string`.
    Nothing,
    Text(String),
}

/// `None` if a `doc_string` is not ours.
pub(super) fn our_text(payload: &[u8]) -> Option<Replaced> {
    if payload.first() != Some(&b'{') {
        return None;
    }
    let parsed: OurText = serde_json::from_str(std::str::from_utf8(payload).ok()?).ok()?;
    Some(parsed.doc_string.map_or(Replaced::Nothing, Replaced::Text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn our_text_is_json_with_tags() {
        let parsed = |text: &str| our_text(text.as_bytes());
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
        assert_eq!(our_text(b"{\"hierarchy_tags\":[\"\xff\"]}"), None);
    }

    #[test]
    fn shared_keys_are_those_of_torch() {
        assert!(is_shared_key("namespace") && is_shared_key("pkg.torch.onnx.name_scopes"));
        assert!(!is_shared_key("namespaces") && !is_shared_key("pkg.torch"));
    }
}

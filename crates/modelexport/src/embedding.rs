//! What a tagged node stores in the ONNX file, `doc_string` and `metadata_props`, and how to remove it.

use modelexport_graph::Name;
use modelexport_graph::onnx::{Metadata, Node};
use modelexport_io::onnx::{DocString, OWN_PREFIX, is_shared_key};

use crate::torch_scopes::Entries;

/// Key of a node's tag.
pub(crate) const TAG: &str = "modelexport.tag";
/// Key of the path of a node's deepest module.
pub(crate) const MODULE: &str = "modelexport.module";
/// Key of the call numbers of a node's modules, from the root down: `0,0,1` is the second call of the deepest one.
/// Nodes of first calls have none.
pub(crate) const CALLS: &str = "modelexport.calls";

/// Key of the calls whose equal nodes became one: a JSON list such as `["layers.0","layers.0@1","layers.1"]`.
pub(crate) const SHARED: &str = "modelexport.shared";

/// Key of the modules whose nodes were fused into one: a JSON list of paths.
pub(crate) const FUSED: &str = "modelexport.fused";

/// Where tags are embedded.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Embed {
    /// Tags go into `doc_string` as JSON.
    pub doc_string: bool,
    /// Tags go into `metadata_props`, one entry each.
    pub metadata_props: bool,
}

impl Embed {
    /// Tags go into both places.
    pub const BOTH: Embed = Embed { doc_string: true, metadata_props: true };
    /// Tags stay out of the nodes.
    pub const NONE: Embed = Embed { doc_string: false, metadata_props: false };

    /// What [`Embed::parse`] reads.
    pub fn name(self) -> &'static str {
        match (self.doc_string, self.metadata_props) {
            (true, true) => "doc-string,metadata-props",
            (true, false) => "doc-string",
            (false, true) => "metadata-props",
            (false, false) => "none",
        }
    }

    /// `none`, or a list such as `doc-string,metadata-props`.
    pub fn parse(text: &str) -> Option<Embed> {
        if text == "none" {
            return Some(Embed::NONE);
        }
        text.split(',').try_fold(Embed::NONE, |embed, place| match place.trim() {
            "doc-string" => Some(Embed { doc_string: true, ..embed }),
            "metadata-props" => Some(Embed { metadata_props: true, ..embed }),
            _ => None,
        })
    }
}

impl Default for Embed {
    fn default() -> Self {
        Embed::BOTH
    }
}

/// Takes tags out of the `doc_string` and puts back what stood there. Whether there were any.
pub(crate) fn remove_doc_string(node: &mut Node) -> bool {
    match DocString::parse(&node.doc_string) {
        Some(ours) => {
            node.doc_string = ours.doc_string.unwrap_or_default();
            true
        }
        None => false,
    }
}

/// Entries to put after those that are `there`: tag, module, and those of torch's entries that are not there yet.
pub(crate) fn entries(there: &[(String, String)], tag: &str, module: &str, torch: Entries) -> Metadata {
    let missing = torch.into_iter().filter(|(key, _)| get(there, key).is_none());
    let mut entries = vec![(TAG.to_owned(), tag.to_owned()), (MODULE.to_owned(), module.to_owned())];
    entries.extend(missing.map(|(key, value)| (key.to_owned(), value)));
    entries
}

/// Adds which calls of its modules a node belongs to. First calls need no word.
pub(crate) fn set_calls(metadata: &mut Metadata, calls: &[u32]) {
    metadata.extend(calls_text(calls).map(|text| (CALLS.to_owned(), text)));
}

/// Which calls of its modules a node belongs to, if not all are first calls.
pub(crate) fn calls_text(calls: &[u32]) -> Option<String> {
    let numbers = || calls.iter().map(u32::to_string).collect::<Vec<String>>();
    calls.iter().any(|&call| call > 0).then(|| numbers().join(","))
}

/// The call numbers that a node carries; empty if it has none that can be read.
pub(crate) fn calls(metadata: &Metadata) -> Vec<u32> {
    let numbers = get(metadata, CALLS).map(|text| text.split(',').map(str::parse).collect());
    numbers.and_then(Result::ok).unwrap_or_default()
}

/// The calls that a node stands for, if there are several.
pub(crate) fn shared_text(calls: &[(Name, u32)]) -> Option<String> {
    if calls.is_empty() {
        return None;
    }
    let shown = |(path, call): &(Name, u32)| match call {
        0 => path.to_string(),
        call => format!("{path}@{call}"),
    };
    let calls: Vec<String> = calls.iter().map(shown).collect();
    // Strings always serialise.
    Some(serde_json::to_string(&calls).unwrap_or_default())
}

/// The modules that a fused node does the work of, if there are any.
pub(crate) fn fused_text(modules: &[Name]) -> Option<String> {
    // Strings always serialise.
    (!modules.is_empty()).then(|| serde_json::to_string(modules).unwrap_or_default())
}

/// Paths of the modules that a fused node does the work of; empty for all others.
pub(crate) fn fused(metadata: &Metadata) -> Vec<String> {
    get(metadata, FUSED).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default()
}

/// Path and number of the calls that a node stands for; empty if it has none that can be read.
pub(crate) fn shared(metadata: &Metadata) -> Vec<(String, u32)> {
    let calls: Vec<String> =
        get(metadata, SHARED).and_then(|text| serde_json::from_str(text).ok()).unwrap_or_default();
    let split = |text: String| match text.rsplit_once('@').map(|(path, call)| (path.to_owned(), call.parse()))
    {
        Some((path, Ok(call))) => (path, call),
        _ => (text, 0),
    };
    calls.into_iter().map(split).collect()
}

/// Removes what [`entries`] gave: our own keys, and torch's where they come after these. Whether there were any.
pub(crate) fn remove_metadata(metadata: &mut Metadata) -> bool {
    let before = metadata.len();
    let mut is_after_ours = false;
    metadata.retain(|(key, _)| {
        let is_own = key.starts_with(OWN_PREFIX);
        is_after_ours |= is_own;
        !(is_own || (is_after_ours && is_shared_key(key)))
    });
    metadata.len() < before
}

/// The value of `key`.
pub(crate) fn get<'a>(metadata: &'a [(String, String)], key: &str) -> Option<&'a str> {
    metadata.iter().find(|(found, _)| found == key).map(|(_, value)| value.as_str())
}

#[cfg(test)]
mod tests {
    use modelexport_graph::Method;

    use super::*;
    use crate::torch_scopes::{CLASS_HIERARCHY, NAME_SCOPES, NAMESPACE};

    fn torch() -> Entries {
        [(NAMESPACE, "n".into()), (CLASS_HIERARCHY, "c".into()), (NAME_SCOPES, "s".into())]
    }

    fn keys(metadata: &Metadata) -> Vec<&str> {
        metadata.iter().map(|(key, _)| key.as_str()).collect()
    }

    #[test]
    fn places_to_embed_are_a_list_or_none() {
        assert_eq!(Embed::parse("doc-string,metadata-props"), Some(Embed::BOTH));
        assert_eq!(Embed::parse("metadata-props"), Some(Embed { doc_string: false, metadata_props: true }));
        assert_eq!(Embed::parse("none"), Some(Embed::NONE));
        assert_eq!(Embed::parse("doc-string,none"), None);
        assert_eq!(Embed::parse(""), None);
    }

    #[test]
    fn the_doc_string_is_one_line_of_json_in_a_fixed_order() {
        let before = "said\n\"before\"";
        let tags: [Name; 2] = ["/M/A".into(), "/domain/x".into()];
        let text = DocString::new(tags.to_vec(), &tags[0], Method::Direct, Some(before)).to_text();
        let expected = r#"{"hierarchy_tags":["/M/A","/domain/x"],"hierarchy_path":"/M/A","hierarchy_count":2,"hierarchy_method":"direct","doc_string":"said\n\"before\""}"#;
        assert_eq!(text, expected);
        let mut node = Node { doc_string: text, ..Node::default() };
        assert!(remove_doc_string(&mut node));
        assert_eq!(node.doc_string, before);
        assert!(!remove_doc_string(&mut node));
    }

    #[test]
    fn other_json_is_kept_as_text() {
        let text =
            DocString::new(vec!["/M".into()], &"/M".into(), Method::Direct, Some(r#"{"note": 1}"#)).to_text();
        assert!(text.ends_with(r#","doc_string":"{\"note\": 1}"}"#));
    }

    #[test]
    fn metadata_is_added_and_removed_without_a_trace() {
        for before in [
            vec![],
            vec![("note".to_owned(), "x".to_owned())],
            vec![(NAMESPACE.to_owned(), "theirs".to_owned()), (NAME_SCOPES.to_owned(), "theirs".to_owned())],
        ] {
            let mut metadata = before.clone();
            metadata.extend(entries(&before, "/M/A", "a", torch()));
            assert_eq!(get(&metadata, TAG), Some("/M/A"));
            assert_eq!(get(&metadata, CLASS_HIERARCHY), Some("c"));
            assert!(remove_metadata(&mut metadata));
            assert_eq!(metadata, before);
        }
    }

    #[test]
    fn only_later_calls_are_written_down() {
        let mut metadata = Metadata::new();
        metadata.extend(entries(&[], "/M", "", torch()));
        set_calls(&mut metadata, &[0, 0]);
        assert_eq!((get(&metadata, CALLS), calls(&metadata)), (None, vec![]));
        set_calls(&mut metadata, &[0, 12, 1]);
        assert_eq!((get(&metadata, CALLS), calls(&metadata)), (Some("0,12,1"), vec![0, 12, 1]));
        remove_metadata(&mut metadata);
        assert_eq!(metadata, []);
        assert!(calls(&vec![(CALLS.to_owned(), "0,x".to_owned())]).is_empty());
    }

    #[test]
    fn calls_that_share_a_node_are_read_back() {
        let mut metadata = Metadata::new();
        assert_eq!((shared_text(&[]), shared(&metadata)), (None, vec![]));
        let text = shared_text(&[("a.0".into(), 0), ("a.0".into(), 2), ("".into(), 0)]);
        metadata.extend(text.map(|text| (SHARED.to_owned(), text)));
        assert_eq!(get(&metadata, SHARED), Some(r#"["a.0","a.0@2",""]"#));
        assert_eq!(shared(&metadata), [("a.0".to_owned(), 0), ("a.0".to_owned(), 2), (String::new(), 0)]);
    }

    #[test]
    fn fused_modules_are_read_back() {
        let mut metadata = Metadata::new();
        assert_eq!((fused_text(&[]), fused(&metadata)), (None, Vec::<String>::new()));
        let text = fused_text(&["conv".into(), "norm".into()]);
        metadata.extend(text.map(|text| (FUSED.to_owned(), text)));
        assert_eq!(fused(&metadata), ["conv", "norm"]);
        metadata[0].1 = "not a list".into();
        assert_eq!(fused(&metadata), Vec::<String>::new());
    }

    #[test]
    fn entries_of_torch_stay_as_torch_wrote_them() {
        let there = vec![(NAMESPACE.to_owned(), "theirs".to_owned())];
        let added = entries(&there, "/M", "", torch());
        assert_eq!(keys(&added), [TAG, MODULE, CLASS_HIERARCHY, NAME_SCOPES]);
    }
}

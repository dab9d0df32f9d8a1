//! Adding and removing tags moves nothing else.

use std::cell::RefCell;

use proptest::prelude::*;

use super::*;
use crate::onnx::schema::{entry, function, graph, model, node};
use crate::onnx::test_bytes::*;

fn spliced(bytes: &[u8], edit: &mut dyn FnMut(&NodeView<'_>) -> NodeEdit) -> Vec<u8> {
    let (sources, id) = source_of(bytes);
    let mut spliced = splice(&sources, id, edit).unwrap();
    let result = spliced.to_vec().unwrap();
    assert_eq!(result.len() as u64, spliced.len());
    result
}

fn stripped(bytes: &[u8]) -> Vec<u8> {
    let (sources, id) = source_of(bytes);
    strip(&sources, id).unwrap().to_vec().unwrap()
}

/// Tags as the tagger writes them.
fn usual_tags(view: &NodeView<'_>) -> NodeEdit {
    let mut text = serde_json::json!({ "hierarchy_tags": [format!("/M/{}", view.key.index)] });
    if let Some(earlier) = view.doc_string {
        text["doc_string"] = earlier.into();
    }
    NodeEdit::Tag(NodeTags {
        doc_string: Some(text.to_string()),
        metadata: vec![("namespace".into(), "n".into()), ("modelexport.tag".into(), "/M".into())],
    })
}

fn entry_of(key: &str, value: &str) -> Vec<u8> {
    field(node::METADATA_PROPS, [field(entry::KEY, key), field(entry::VALUE, value)].concat())
}

fn model_of_node(more: impl AsRef<[u8]>) -> Vec<u8> {
    model_of(graph_of(&[node_of("Add", more)]))
}

const USUAL_TEXT: &str = r#"{"hierarchy_tags":["/M/0"]}"#;

#[test]
fn tags_are_appended_to_a_plain_node() {
    let bytes = model_of_node(field(node::INPUT, "x"));
    let tags =
        [field(node::DOC_STRING, USUAL_TEXT), entry_of("modelexport.tag", "/M"), entry_of("namespace", "n")];
    let expected = model_of_node([field(node::INPUT, "x"), tags.concat()].concat());
    let tagged = spliced(&bytes, &mut usual_tags);
    assert_eq!(tagged, expected);
    assert_eq!(stripped(&tagged), bytes);
}

#[test]
fn earlier_text_is_shown_to_the_tagger_and_comes_back_to_its_place() {
    let bytes = model_of_node([field(node::DOC_STRING, b"a\xff\n"), field(node::INPUT, "x")].concat());
    let mut seen = None;
    let tagged = spliced(&bytes, &mut |view| {
        seen = view.doc_string.map(str::to_owned);
        usual_tags(view)
    });
    assert_eq!(*crate::onnx::names::to_bytes(&seen.unwrap()), *b"a\xff\n");
    assert!(!contains(&tagged, "modelexport.splice"), "the place of the text needs no record");
    assert_eq!(stripped(&tagged), bytes);
}

fn contains(bytes: &[u8], text: &str) -> bool {
    bytes.windows(text.len()).any(|window| window == text.as_bytes())
}

#[test]
fn an_empty_doc_string_comes_back_even_if_the_tagger_drops_it() {
    let bytes = model_of_node(field(node::DOC_STRING, ""));
    let tagged = spliced(&bytes, &mut |view| {
        assert_eq!(view.doc_string, Some(""));
        NodeEdit::Tag(NodeTags { doc_string: Some(USUAL_TEXT.into()), ..Default::default() })
    });
    assert!(contains(&tagged, "modelexport.splice"));
    assert_eq!(stripped(&tagged), bytes);
}

#[test]
fn entries_of_others_stay_and_replaced_ones_come_back() {
    let theirs = [entry_of("namespace", "theirs"), entry_of("pkg.torch.onnx.fx_node", "f")].concat();
    let bytes = model_of_node([theirs, field(node::INPUT, "x")].concat());
    let tagged = spliced(&bytes, &mut |view| {
        let keys: Vec<_> = view.metadata.iter().map(|(key, _)| key.as_str()).collect();
        assert_eq!(keys, ["namespace", "pkg.torch.onnx.fx_node"]);
        let metadata = vec![("modelexport.tag".into(), "/M".into())];
        NodeEdit::Tag(NodeTags { doc_string: None, metadata })
    });
    assert!(!contains(&tagged, "modelexport.splice"));
    assert_eq!(stripped(&tagged), bytes);
    let replaced = spliced(&bytes, &mut usual_tags);
    assert!(contains(&replaced, "modelexport.splice"));
    let key = field(entry::KEY, "namespace");
    assert_eq!(replaced.windows(key.len()).filter(|window| *window == key).count(), 1);
    assert_eq!(stripped(&replaced), bytes);
}

#[test]
fn an_entry_with_the_same_value_is_not_written_again() {
    let bytes = model_of_node(entry_of("namespace", "n"));
    let metadata = vec![("namespace".to_owned(), "n".to_owned())];
    let tags = NodeTags { doc_string: None, metadata };
    assert_eq!(spliced(&bytes, &mut |_| NodeEdit::Tag(tags.clone())), bytes);
}

#[test]
fn padded_lengths_around_a_node_are_remembered() {
    let inner = padded(graph::NODE, node_of("Relu", []), 2, 3);
    let attribute = graph_attribute(inner);
    let outer = padded(graph::NODE, node_of("If", attribute), 1, 2);
    let main = padded(model::GRAPH, outer, 1, 5);
    let bytes = [number(model::IR_VERSION, 3), main, field(100, [])].concat();
    let tagged = spliced(&bytes, &mut usual_tags);
    assert!(contains(&tagged, r#""widths":[[0,2],[1,5]]"#), "on the outer node, the first that is tagged");
    assert!(contains(&tagged, r#""widths":[[0,3]]"#));
    assert_eq!(stripped(&tagged), bytes);
    let only_inner = spliced(&bytes, &mut |view| match view.key.index {
        0 => NodeEdit::Keep,
        _ => usual_tags(view),
    });
    assert_eq!(stripped(&only_inner), bytes);
}

#[test]
fn nodes_are_counted_as_the_reader_visits_them() {
    let inner = graph_of(&[node_of("b", []), node_of("c", graph_attribute(graph_of(&[node_of("d", [])])))]);
    let main = graph_of(&[node_of("a", graph_attribute(inner)), node_of("e", [])]);
    // A function before the graph: the order in the file does not matter.
    let bytes = [function_of("f", "g"), model_of(main), function_of("h", "i")].concat();
    let mut keys = Vec::new();
    let tagged = spliced(&bytes, &mut |view| {
        keys.push((view.key.function, view.key.index));
        let place = format!("{:?}/{}", view.key.function, view.key.index);
        let metadata = vec![("modelexport.tag".into(), place)];
        NodeEdit::Tag(NodeTags { doc_string: None, metadata })
    });
    let main_keys = (0..5).map(|index| (None, index));
    let expected: Vec<_> = [(Some(0), 0)].into_iter().chain(main_keys).chain([(Some(1), 0)]).collect();
    assert_eq!(keys, expected.repeat(2), "the walk that measures asks as the one that writes does");
    let model = crate::onnx::read_bytes("tagged", tagged).unwrap().model;
    let mut index = 0;
    model.graph.for_each_node(&mut |node| {
        assert_eq!(node.metadata, [("modelexport.tag".to_owned(), format!("None/{index}"))]);
        index += 1;
    });
    assert_eq!(index, 5);
    assert_eq!(model.functions[1].nodes[0].metadata[0].1, "Some(1)/0");
}

#[test]
fn a_file_that_is_not_changed_is_one_piece() {
    let (sources, id) = source_of(&model_of(graph_of(&[node_of("a", []), node_of("b", [])])));
    let mut untouched = splice(&sources, id, |_| NodeEdit::Keep).unwrap();
    assert!(untouched.is_original());
    let mut pieces = 0;
    let mut count = |_: Piece<'_>| {
        pieces += 1;
        Ok(())
    };
    untouched.copy(&mut count).unwrap();
    assert_eq!(pieces, 1);
    assert!(strip(&sources, id).unwrap().is_original());
    assert!(!splice(&sources, id, usual_tags).unwrap().is_original());
}

#[test]
fn large_files_are_spliced_in_place_of_being_loaded() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let head = model_of_node([]);
    let hole = 20u64 << 30;
    let mut bytes = head.clone();
    crate::onnx::wire::put_varint(&mut bytes, 100 << 3 | 2);
    crate::onnx::wire::put_varint(&mut bytes, hole);
    std::fs::write(&path, &bytes).unwrap();
    let length = bytes.len() as u64 + hole;
    std::fs::File::options().write(true).open(&path).unwrap().set_len(length).unwrap();
    let mut sources = Sources::new();
    let id = sources.add_file(&path).unwrap();
    let mut result = splice(&sources, id, usual_tags).unwrap();
    assert!(result.len() > length);
    let mut last = 0;
    let mut note = |piece: Piece<'_>| {
        last = if let Piece::Original { length, .. } = piece { length } else { 0 };
        Ok(())
    };
    result.copy(&mut note).unwrap();
    assert!(last > hole, "{last}");
}

#[test]
fn tags_that_push_a_file_over_the_limit_are_refused() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let mut bytes = model_of_node([]);
    crate::onnx::wire::put_varint(&mut bytes, 100 << 3 | 2);
    let hole = MAX_MESSAGE - bytes.len() as u64 - 5;
    crate::onnx::wire::put_varint(&mut bytes, hole);
    std::fs::write(&path, &bytes).unwrap();
    std::fs::File::options().write(true).open(&path).unwrap().set_len(MAX_MESSAGE).unwrap();
    let mut sources = Sources::new();
    let id = sources.add_file(&path).unwrap();
    let error = splice(&sources, id, usual_tags).unwrap_err();
    assert!(matches!(error, Error::TooLarge { cap: MAX_MESSAGE, .. }), "{error}");
    assert!(error.to_string().contains("external data"), "{error}");
    splice(&sources, id, |_| NodeEdit::Keep).unwrap();
}

#[test]
fn broken_files_are_errors_with_a_place() {
    let (sources, id) = source_of(&[model_of_node([0x32, 0x7f]), field(100, [0; 200])].concat());
    let error = strip(&sources, id).unwrap_err();
    assert!(matches!(error, Error::Overrun { .. }), "{error}");
    assert_eq!(error.at().unwrap().path, "graph.node[0]");
    let (sources, id) = source_of(&model_of(nested(5_000)));
    assert!(matches!(strip(&sources, id).unwrap_err(), Error::NestedTooDeep { .. }));
    let (sources, id) = source_of(&number(model::IR_VERSION, 3));
    assert!(matches!(strip(&sources, id).unwrap_err(), Error::Missing { field: "graph", .. }));
    let (sources, id) = source_of(b"PK\x03\x04....");
    assert!(matches!(strip(&sources, id).unwrap_err(), Error::NotOnnx { .. }));
}

#[test]
fn a_record_that_lies_does_no_harm() {
    for record in [
        r#"{"removed":[[18446744073709551615,{"hex":"ff"}],[0,{"hex":""}],[0,{"hex":"x"}]]}"#,
        r#"{"widths":[[0,18446744073709551615],[99,3]]}"#,
        r#"{"doc_string":true,"keys":["namespace"]}"#,
    ] {
        let bytes =
            model_of_node([entry_of("modelexport.splice", record), entry_of("namespace", "n")].concat());
        let result = stripped(&bytes);
        assert!(!contains(&result, "modelexport.splice"), "{record}");
    }
}

/// Widths for tag and length: most of the time as short as can be.
fn widths() -> impl Strategy<Value = (u64, u64)> {
    prop_oneof![4 => Just((1, 1)), 1 => (1u64..4, 1u64..6)]
}

fn any_field(numbers: Vec<u32>, payload: impl Strategy<Value = Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    (prop::sample::select(numbers), payload, widths())
        .prop_map(|(number, payload, (tag, length))| padded(number, payload, tag, length))
}

fn text() -> impl Strategy<Value = Vec<u8>> {
    let texts = [&b""[..], b"said before", b"a\0\xff", b"{\"note\":1}", "\u{10fe99}".as_bytes()];
    prop::sample::select(texts.map(<[u8]>::to_vec).to_vec())
}

fn metadata_entry() -> impl Strategy<Value = Vec<u8>> {
    let key = prop::sample::select(vec!["namespace", "pkg.torch.onnx.name_scopes", "other", ""]);
    let parts = prop::sample::subsequence(vec![0, 1, 2, 3], 0..4).prop_shuffle();
    (key, text(), parts).prop_map(|(key, value, parts)| {
        let part = |i| match i {
            0 => field(entry::KEY, key),
            1 => field(entry::VALUE, &value),
            2 => padded(entry::VALUE, &value, 1, 2),
            _ => vec![0xff],
        };
        parts.into_iter().map(part).collect::<Vec<_>>().concat()
    })
}

fn any_node() -> impl Strategy<Value = Vec<u8>> {
    let leaf_fields = || {
        prop_oneof![
            any_field(vec![node::OP_TYPE, node::INPUT, 60], text()),
            any_field(vec![node::DOC_STRING], text()),
            any_field(vec![node::METADATA_PROPS], metadata_entry()),
            any_field(vec![node::ATTRIBUTE], text().prop_map(|text| field(4, text))),
            (1u32..12, 0u64..3).prop_map(|(field, value)| number(field, value)),
        ]
    };
    let leaf = prop::collection::vec(leaf_fields(), 0..5).prop_map(|fields| fields.concat()).boxed();
    leaf.prop_recursive(2, 12, 3, move |inner| {
        let body = any_graph(inner);
        let attribute = (any_field(vec![6, 11], body), 0u64..12)
            .prop_map(|(value, kind)| [value, if kind == 0 { vec![] } else { number(20, kind) }].concat());
        let attributes = prop::collection::vec(any_field(vec![node::ATTRIBUTE], attribute), 0..2);
        let fields = prop::collection::vec(leaf_fields(), 0..4);
        (fields, attributes, any::<bool>()).prop_map(|(fields, attributes, first)| {
            let (fields, attributes) = (fields.concat(), attributes.concat());
            if first { [attributes, fields].concat() } else { [fields, attributes].concat() }
        })
    })
}

fn any_graph(nodes: impl Strategy<Value = Vec<u8>> + 'static) -> impl Strategy<Value = Vec<u8>> {
    let nodes = any_field(vec![graph::NODE, function::NODE, 60], nodes);
    prop::collection::vec(nodes, 0..4).prop_map(|fields| fields.concat())
}

fn any_model() -> impl Strategy<Value = Vec<u8>> {
    let main = any_field(vec![model::GRAPH], any_graph(any_node()));
    let fields = any_field(vec![model::GRAPH, model::FUNCTIONS, 60], any_graph(any_node()));
    (prop::collection::vec(fields, 0..3), main).prop_map(|(fields, main)| [fields.concat(), main].concat())
}

#[derive(Clone, Copy, Debug)]
enum Choice {
    Keep,
    Strip,
    Usual,
    TextWithoutEarlier,
    ForeignText,
    OwnEntry,
    SharedEntry,
    AnyEntry,
}

fn choices() -> impl Strategy<Value = Vec<Choice>> {
    use Choice::*;
    let all = vec![Keep, Strip, Usual, TextWithoutEarlier, ForeignText, OwnEntry, SharedEntry, AnyEntry];
    prop::collection::vec(prop::sample::select(all), 1..6)
}

fn choose(choice: Choice, view: &NodeView<'_>) -> NodeEdit {
    let entry = |key: &str| NodeTags { metadata: vec![(key.into(), "new".into())], ..Default::default() };
    let text = |text: &str| NodeTags { doc_string: Some(text.into()), ..Default::default() };
    NodeEdit::Tag(match choice {
        Choice::Keep => return NodeEdit::Keep,
        Choice::Strip => return NodeEdit::Strip,
        Choice::Usual => return usual_tags(view),
        Choice::TextWithoutEarlier => text(USUAL_TEXT),
        Choice::ForeignText => text("not ours by its form"),
        Choice::OwnEntry => entry("modelexport.tag"),
        Choice::SharedEntry => entry("namespace"),
        Choice::AnyEntry => entry("other"),
    })
}

proptest! {
    #[test]
    fn stripping_gives_back_every_byte(bytes in any_model(), first in choices(), second in choices()) {
        let (sources, id) = source_of(&bytes);
        // Random bytes may make a broken model; whole ones must come back.
        prop_assume!(strip(&sources, id).is_ok());
        prop_assert!(strip(&sources, id).unwrap().is_original());
        let views = RefCell::new(Vec::new());
        let edit = |choices: &[Choice], view: &NodeView<'_>| {
            views.borrow_mut().push((view.key, view.doc_string.map(str::to_owned), view.metadata.to_vec()));
            choose(choices[view.key.index % choices.len()], view)
        };
        let tagged = spliced(&bytes, &mut |view| edit(&first, view));
        prop_assert_eq!(&stripped(&tagged), &bytes);
        let seen_first = views.take();
        let again = spliced(&tagged, &mut |view| edit(&first, view));
        prop_assert_eq!(&again, &tagged, "tagging twice is tagging once");
        prop_assert_eq!(&views.take(), &seen_first, "tags are not shown to the tagger");
        let retagged = spliced(&tagged, &mut |view| edit(&second, view));
        prop_assert_eq!(&stripped(&retagged), &bytes);
    }
}

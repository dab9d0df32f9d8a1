use std::sync::Arc;

use modelexport_io::onnx::{self, NodeEdit, NodeTags, NodeView};
use modelexport_io::source::Sources;

use crate::mutate::{self, protobuf};
use crate::{Target, Verdict, files, seeds};

pub static TARGET: Target = Target {
    name: "onnx_strip_undoes_tag",
    property: "A file without tags of ours is the same after its nodes were tagged and stripped, and can be read in between.",
    seeds: seeds::models,
    mutate: |input, random| mutate::formatted(input, random, protobuf::mutate),
    check,
};

const FILE: &str = "model.onnx";

fn check(input: &[u8]) -> Verdict {
    let (sources, id) = in_memory(input);
    let mut stripped = match onnx::strip(&sources, id) {
        Ok(stripped) => stripped,
        Err(error) => {
            files::assert_names(&error.to_string(), FILE);
            return Verdict::Refused;
        }
    };
    let is_untagged = stripped.is_original();
    let without = stripped.to_vec().expect("what was measured can be copied");
    assert_eq!(without.len() as u64, stripped.len(), "the length is told before the bytes");
    if !is_untagged {
        return Verdict::Accepted;
    }
    assert!(without == input, "a file that is said to be the original is another");
    let mut tagged = match onnx::splice(&sources, id, tags) {
        Ok(tagged) => tagged,
        Err(error) => {
            files::assert_names(&error.to_string(), FILE);
            return Verdict::Refused;
        }
    };
    let tagged = tagged.to_vec().expect("what was measured can be copied");
    let (tagged_sources, tagged_id) = in_memory(&tagged);
    let mut back = onnx::strip(&tagged_sources, tagged_id).expect("a tagged file can be stripped");
    assert!(back.to_vec().expect("what was measured can be copied") == input, "strip does not undo tag");
    if onnx::read_source(&sources, id).is_ok() {
        onnx::read_source(&tagged_sources, tagged_id).expect("tags leave a model readable");
    }
    Verdict::Accepted
}

fn in_memory(bytes: &[u8]) -> (Sources, modelexport_graph::SourceId) {
    let mut sources = Sources::new();
    let id = sources.add_memory(FILE, Arc::new(bytes.to_vec()));
    (sources, id)
}

/// Tags in the form that the tagger writes them; every third node stays without.
fn tags(view: &NodeView<'_>) -> NodeEdit {
    if view.key.index % 3 == 2 {
        return NodeEdit::Keep;
    }
    let mut text = serde_json::json!({ "hierarchy_tags": [format!("/Model/{}", view.key.index)] });
    if let Some(earlier) = view.doc_string {
        text["doc_string"] = earlier.into();
    }
    let metadata =
        [("namespace", "n"), ("pkg.torch.onnx.name_scopes", "['']"), ("modelexport.tag", "/Model")];
    NodeEdit::Tag(NodeTags {
        doc_string: Some(text.to_string()),
        metadata: metadata.map(|(key, value)| (key.to_owned(), value.to_owned())).to_vec(),
    })
}

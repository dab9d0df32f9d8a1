//! `modelexport compare` as users run it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::Folder;

fn text(folder: &Folder, arguments: &[&str]) -> String {
    let output = folder.run(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn tags_that_are_gone_are_said_once() {
    let folder = Folder::with(&["bert_tiny"]);
    folder.json(&["strip", "bert_tiny.onnx", "-o", "plain.onnx"]);
    assert_eq!(
        text(&folder, &["compare", "bert_tiny.onnx", "plain.onnx"]),
        "model\n  tags removed           all 76 nodes\n\n0 differences of structure, 1 of tags, 0 of weights\n"
    );
    assert_eq!(
        text(&folder, &["compare", "plain.onnx", "bert_tiny.onnx"]),
        "model\n  tags added             all 76 nodes\n\n0 differences of structure, 1 of tags, 0 of weights\n"
    );
    let told = folder.json(&["compare", "bert_tiny.onnx", "plain.onnx"]);
    assert_eq!(told["summary"], serde_json::json!({"structure": 0, "tags": 1, "weights": 0}));
    assert_eq!(
        told["model"],
        serde_json::json!([
            {"category": "tags", "kind": "tags removed", "subject": "all 76 nodes", "count": 76}
        ])
    );
    assert_eq!(told["modules"], serde_json::json!([]));
    let csv = text(&folder, &["compare", "bert_tiny.onnx", "plain.onnx", "--format", "csv"]);
    assert_eq!(csv.lines().count(), 2, "{csv}");
    folder
        .run(&["compare", "bert_tiny.onnx", "plain.onnx", "--fail-on", "structure,weights"])
        .assert()
        .success();
    folder.run(&["compare", "bert_tiny.onnx", "plain.onnx", "--fail-on", "tags"]).assert().code(1);
}

/// The small weights of a program are written transposed, those that stay in it are not.
#[test]
fn weights_of_another_layout_are_no_other_weights() {
    let folder = Folder::with(&["bert_tiny"]);
    let program = common::repository().join("fixtures/bert_tiny/model.pt2");
    std::fs::copy(program, folder.path("model.pt2")).unwrap();
    folder.json(&["export", "model.pt2", "-o", "referenced.onnx", "--weights", "reference"]);
    let told = folder.json(&["compare", "bert_tiny.onnx", "referenced.onnx"]);
    assert_eq!(told["summary"]["weights"], 0, "{told}");
    let modules = told["modules"].as_array().unwrap();
    let query =
        modules.iter().find(|module| module["path"] == "encoder.layer.0.attention.self.query").unwrap();
    let weight =
        query["differences"].as_array().unwrap().iter().find(|one| one["kind"] == "weight layout changed");
    assert_eq!(
        weight.unwrap()["after"],
        serde_json::json!("float32[32, 32], the same numbers, transposed"),
        "{query}"
    );
    // Without the numbers nobody can tell, and nothing is said.
    let untold = folder.json(&["compare", "bert_tiny.onnx", "referenced.onnx", "--no-weights"]);
    assert!(!untold.to_string().contains("the same numbers"), "{untold}");
}

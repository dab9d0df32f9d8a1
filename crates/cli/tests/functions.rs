//! `modelexport functions` as users run it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Folder, failure, fixtures};

#[test]
fn functions_then_inline_is_the_identity() {
    for fixture in fixtures() {
        let folder = Folder::with(&[&fixture]);
        let before = format!("{fixture}.onnx");
        for (i, choice) in
            [&["--all"][..], &["--all", "--min-instances", "2"], &["depth:1"]].iter().enumerate()
        {
            let (made, back) = (format!("made{i}.onnx"), format!("back{i}.onnx"));
            folder.json(&[&["functions", &before, "-o", &made], *choice].concat());
            folder.json(&["functions", &made, "--inline", "-o", &back]);
            assert!(folder.bytes(&back) == folder.bytes(&before), "{fixture} {choice:?}");
        }
    }
}

#[test]
fn equal_modules_share_a_function_that_takes_their_weights() {
    let folder = Folder::with(&["bert_tiny"]);
    let summary = folder.json(&["functions", "bert_tiny.onnx", "class:BertLayer", "-o", "layers.onnx"]);
    let function = &summary["functions"][0];
    assert_eq!(function["name"], "BertLayer");
    let calls: Vec<&str> =
        function["calls"].as_array().unwrap().iter().map(|call| call["module"].as_str().unwrap()).collect();
    assert_eq!(calls, ["encoder.layer.0", "encoder.layer.1"]);
    let model = folder.model("layers.onnx");
    assert_eq!(model.functions.len(), 1);
    let function = &model.functions[0];
    assert!(
        function.inputs.iter().any(|name| &**name == "attention.output.dense.bias"),
        "{:?}",
        function.inputs
    );
    let call = model.graph.nodes.iter().filter(|node| &*node.op_type == "BertLayer").nth(1).unwrap();
    let module = call.metadata.iter().find(|(key, _)| key == "modelexport.module");
    assert_eq!(module.unwrap().1, "encoder.layer.1");
    assert_eq!(call.inputs.len(), function.inputs.len());
}

#[test]
fn data_files_beside_the_output_are_shared_and_others_come_along() {
    let folder = Folder::with(&["bert_tiny"]);
    folder.run(&["weights", "bert_tiny.onnx", "--external", "-o", "split.onnx"]).assert().success();
    let summary = folder.json(&["functions", "split.onnx", "--all", "-o", "beside.onnx"]);
    assert_ne!(summary["weights"]["referenced"], 0);
    assert!(!folder.path("beside.onnx.data").exists());
    let hashes = |model: &str| folder.json(&["weights", model, "--hash"])["weights"].clone();
    assert_eq!(hashes("beside.onnx"), hashes("split.onnx"));

    std::fs::create_dir(folder.path("elsewhere")).unwrap();
    let summary = folder.json(&["functions", "split.onnx", "--all", "-o", "elsewhere/whole.onnx"]);
    assert_eq!(summary["weights"]["referenced"], 0);

    std::fs::remove_file(folder.path("split.onnx.data")).unwrap();
    let (code, message) = failure(&folder, &["functions", "split.onnx", "--all", "-o", "lost.onnx"]);
    assert_eq!(code, 3);
    assert!(message.contains("split.onnx.data"), "{message}");
}

#[test]
fn functions_nest_as_modules_do() {
    let folder = Folder::with(&["bert_tiny"]);
    folder.json(&["functions", "bert_tiny.onnx", "class:BertLayer,class:BertAttention", "-o", "nested.onnx"]);
    let model = folder.model("nested.onnx");
    let names: Vec<&str> = model.functions.iter().map(|function| &*function.name).collect();
    assert_eq!(names, ["BertAttention", "BertLayer"]);
    assert!(model.functions[1].nodes.iter().any(|node| &*node.op_type == "BertAttention"));
    assert!(!model.graph.nodes.iter().any(|node| &*node.op_type == "BertAttention"));
}

#[test]
fn a_selector_or_all_or_inline_is_needed() {
    let folder = Folder::with(&["bert_tiny"]);
    let (status, message) = failure(&folder, &["functions", "bert_tiny.onnx", "-o", "x.onnx"]);
    assert_eq!(status, 2);
    assert!(message.contains("SELECTOR"), "{message}");
}

#[test]
fn the_sidecar_tells_of_calls_and_of_nodes_in_functions() {
    let folder = Folder::with(&["bert_tiny"]);
    folder.json(&["functions", "bert_tiny.onnx", "--all", "-o", "made.onnx"]);
    folder.run(&["validate", "made.onnx"]).assert().success();
    folder.json(&["functions", "made.onnx", "--inline", "-o", "back.onnx"]);
    folder.run(&["validate", "back.onnx"]).assert().success();
}

#[test]
fn functions_never_take_the_place_of_the_model_that_they_are_made_from() {
    let folder = Folder::with(&["bert_tiny"]);
    let before = folder.bytes("bert_tiny.onnx");
    for choice in ["--all", "--inline"] {
        let arguments = ["functions", "bert_tiny.onnx", choice, "-o", "bert_tiny.onnx", "--overwrite"];
        assert_eq!(
            failure(&folder, &arguments),
            (
                2,
                "error: bert_tiny.onnx: is the model that is read, which is never replaced, even with \
                 --overwrite\nhint: choose another name for the output\n"
                    .to_owned()
            )
        );
    }
    assert!(folder.bytes("bert_tiny.onnx") == before);
}

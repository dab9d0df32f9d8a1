//! `modelexport extract` as users run it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Folder, failure};
use serde_json::Value;

fn names(values: &Value) -> Vec<&str> {
    values.as_array().unwrap().iter().map(|value| value["name"].as_str().unwrap()).collect()
}

#[test]
fn a_layer_has_the_values_at_its_border_as_inputs_and_outputs() {
    let folder = Folder::with(&["bert_tiny"]);
    let summary = folder.json(&["extract", "bert_tiny.onnx", "encoder.layer.0", "-o", "layer.onnx"]);
    let manifest = &summary["manifest"];
    assert_eq!(names(&manifest["inputs"]), ["embeddings.output", "and"]);
    assert_eq!(names(&manifest["outputs"]), ["encoder.layer.0.output"]);
    let input = &manifest["inputs"][0];
    assert_eq!((&input["dtype"], &input["shape"]), (&"float32".into(), &serde_json::json!([2, 12, 32])));
    assert_eq!(input["producer"]["module"], "embeddings.LayerNorm");
    let model = folder.model("layer.onnx");
    let inputs: Vec<&str> = model.graph.inputs.iter().map(|input| &*input.name).collect();
    assert_eq!(inputs, ["embeddings.output", "and"]);
    assert!(
        model.graph.initializers.iter().any(|tensor| tensor.name.starts_with("encoder.layer.0.attention"))
    );
    assert!(!model.graph.initializers.iter().any(|tensor| tensor.name.starts_with("encoder.layer.1")));
    let tree = folder.json(&["tree", "layer.onnx"]);
    assert_eq!(tree["totals"]["nodes"], manifest["nodes"], "{tree}");
}

#[test]
fn the_root_is_the_whole_model() {
    for fixture in ["bert_tiny", "shared_module", "cond"] {
        let folder = Folder::with(&[fixture]);
        folder.json(&["extract", &format!("{fixture}.onnx"), ".", "-o", "root.onnx"]);
        assert_eq!(folder.bytes("root.onnx"), folder.bytes(&format!("{fixture}.onnx")), "{fixture}");
        let sidecar = |name: &str| String::from_utf8(folder.bytes(name)).unwrap();
        assert_eq!(
            sidecar("root_hierarchy.json").matches("op_type").count(),
            sidecar(&format!("{fixture}_hierarchy.json")).matches("op_type").count()
        );
    }
}

#[test]
fn a_module_that_was_called_twice_is_cut_call_by_call() {
    let folder = Folder::with(&["shared_module"]);
    let arguments = ["extract", "shared_module.onnx", "recurrent", "-o", "cut.onnx"];
    let (status, message) = failure(&folder, &arguments);
    assert_eq!(status, 2);
    assert_eq!(
        message,
        "error: shared_module.onnx: module `recurrent` was called 2 times (calls 0, 1): choose one call\n\
         hint: use --call N, or select a module above that contains all calls\n"
    );
    let (status, message) = failure(&folder, &[&arguments[..], &["--call", "2"]].concat());
    assert_eq!(
        (status, &*message),
        (2, "error: shared_module.onnx: module `recurrent` has no call 2; it has 0, 1\n")
    );
    let first = folder.json(&[&arguments[..], &["--call", "0"]].concat());
    assert_eq!(names(&first["manifest"]["inputs"]), ["embedding.output"]);
    let second = folder.json(&[&arguments[..], &["--call", "1", "--overwrite"]].concat());
    assert_eq!(names(&second["manifest"]["inputs"]), ["recurrent.output"]);
    assert_eq!(second["manifest"]["modules"][0]["call"], 1);
}

#[test]
fn what_cannot_be_cut_is_an_error_with_its_reason() {
    let folder = Folder::with(&["not_executed", "bert_tiny"]);
    let (status, message) =
        failure(&folder, &["extract", "bert_tiny.onnx", "encoder.layer.0.output.dropout", "-o", "x.onnx"]);
    assert_eq!(status, 2);
    assert!(
        message.starts_with(
            "error: bert_tiny.onnx: module `encoder.layer.0.output.dropout` ran but has no nodes"
        ),
        "{message}"
    );
    let (status, message) =
        failure(&folder, &["extract", "bert_tiny.onnx", "encoder.layr.0", "-o", "x.onnx"]);
    assert_eq!(status, 2);
    assert!(message.starts_with("error: bert_tiny.onnx: "), "{message}");
    assert!(message.contains("near matches: encoder.layer"), "{message}");
    assert!(!folder.path("x.onnx").exists());
}

#[test]
fn weights_can_stay_where_they_are() {
    let folder = Folder::with(&["bert_tiny"]);
    let arguments =
        ["extract", "bert_tiny.onnx", "encoder.layer.1", "-o", "layer.onnx", "--weights", "reference"];
    let summary = folder.json(&arguments);
    assert!(summary["weights"]["referenced"].as_u64().unwrap() > 0, "{summary}");
    let again = ["extract", "layer.onnx", "encoder.layer.1.output", "-o", "part.onnx", "--weights", "embed"];
    let part = folder.json(&again);
    assert_eq!(part["weights"]["referenced"], 0);
    let (status, message) = failure(&folder, &["extract", "layer.onnx", ".", "-o", "part.onnx"]);
    assert_eq!(status, 2);
    assert!(message.contains("use --overwrite to replace it"), "{message}");
}

#[test]
fn a_part_never_takes_the_place_of_the_whole() {
    let folder = Folder::with(&["bert_tiny"]);
    let before = folder.bytes("bert_tiny.onnx");
    std::fs::hard_link(folder.path("bert_tiny.onnx"), folder.path("hard.onnx")).unwrap();
    std::os::unix::fs::symlink("bert_tiny.onnx", folder.path("soft.onnx")).unwrap();
    let refused = |output: &str, is: &str| {
        for overwrite in [&[][..], &["--overwrite"]] {
            let arguments = ["extract", "bert_tiny.onnx", "encoder", "-o", output];
            assert_eq!(
                failure(&folder, &[&arguments[..], overwrite].concat()),
                (
                    2,
                    format!(
                        "error: {output}: is {is}, which is never replaced, even with --overwrite\n\
                         hint: choose another name for the output\n"
                    )
                )
            );
        }
    };
    refused("bert_tiny.onnx", "the model that is read");
    for other in ["./bert_tiny.onnx", "hard.onnx", "soft.onnx"] {
        refused(other, "the same file as bert_tiny.onnx, the model that is read");
    }
    let arguments =
        ["extract", "bert_tiny.onnx", "encoder", "-o", "x.onnx", "--manifest=hard.onnx", "--overwrite"];
    let (status, message) = failure(&folder, &arguments);
    assert_eq!(status, 2);
    assert!(message.starts_with("error: hard.onnx: is the same file as bert_tiny.onnx"), "{message}");
    assert!(folder.bytes("bert_tiny.onnx") == before && !folder.path("x.onnx").exists());
}

#[test]
fn the_manifest_is_written_beside_the_model_or_where_asked() {
    let folder = Folder::with(&["shared_module"]);
    folder.json(&["extract", "shared_module.onnx", "head", "-o", "head.onnx", "--manifest"]);
    let manifest: Value = serde_json::from_slice(&folder.bytes("head_manifest.json")).unwrap();
    assert_eq!(names(&manifest["inputs"]), ["final.output"]);
    folder.json(&["extract", "shared_module.onnx", "head", "-o", "h.onnx", "--manifest", "m.json"]);
    let same: Value = serde_json::from_slice(&folder.bytes("m.json")).unwrap();
    assert_eq!(same, manifest);
}

#[test]
fn fused_modules_are_named_with_the_node_that_does_their_work() {
    let folder = Folder::with(&["resnet_tiny"]);
    let (status, message) = failure(&folder, &["extract", "resnet_tiny.onnx", "conv1.0", "-o", "x.onnx"]);
    assert_eq!(status, 2);
    assert!(message.contains("was fused with nodes of `conv1.1`"), "{message}");
    let (status, message) = failure(&folder, &["extract", "resnet_tiny.onnx", "conv1.1", "-o", "x.onnx"]);
    assert_eq!(status, 2);
    assert!(message.contains("has no node of its own: it was fused into the node `"), "{message}");
    assert!(message.contains("` of `conv1.0`"), "{message}");
    let both = folder.json(&["extract", "resnet_tiny.onnx", "layer1.0", "-o", "both.onnx"]);
    assert_eq!(names(&both["manifest"]["outputs"]), ["layer1.0.output"]);
}

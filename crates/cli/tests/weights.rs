//! `modelexport weights`: where weights are, whether they are right, and how they get elsewhere.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Folder, failure, repository};

const MODEL: &str = "bert_tiny.onnx";

/// A safetensors file with the weights of a model that has them in its data file.
fn checkpoint(folder: &Folder, model: &str, target: &str) {
    let listed = folder.json(&["weights", model]);
    let data = folder.bytes(&format!("{model}.data"));
    let (mut header, mut bytes) = (Vec::new(), Vec::new());
    for weight in listed["weights"].as_array().unwrap() {
        let Some(offset) = weight["offset"].as_u64() else { continue };
        let length = weight["bytes"].as_u64().unwrap();
        let start = bytes.len();
        bytes.extend_from_slice(&data[offset as usize..(offset + length) as usize]);
        header.push(format!(
            r#"{}:{{"dtype":"F32","shape":{},"data_offsets":[{start},{}]}}"#,
            weight["name"],
            weight["shape"],
            bytes.len()
        ));
    }
    let header = format!("{{{}}}", header.join(","));
    let file = [&(header.len() as u64).to_le_bytes()[..], header.as_bytes(), &bytes].concat();
    std::fs::write(folder.path(target), file).unwrap();
}

/// The elements of all weights, wherever they are, by name.
fn hashes(folder: &Folder, model: &str) -> Vec<(String, String)> {
    let listed = folder.json(&["weights", model, "--hash"]);
    let weights = listed["weights"].as_array().unwrap().iter();
    weights.map(|weight| (weight["name"].to_string(), weight["sha1"].to_string())).collect()
}

#[test]
fn weights_go_round_through_all_forms_unchanged() {
    let folder = Folder::with(&["bert_tiny"]);
    let before = hashes(&folder, MODEL);
    folder.run(&["weights", MODEL, "--external", "-o", "external.onnx"]).assert().success();
    std::fs::create_dir(folder.path("hub")).unwrap();
    checkpoint(&folder, "external.onnx", "hub/any_name.safetensors");
    folder.run(&["weights", "external.onnx", "--reference", "hub", "-o", "small.onnx"]).assert().success();
    folder.run(&["weights", "small.onnx", "--embed", "-o", "whole.onnx"]).assert().success();
    for model in ["external.onnx", "small.onnx", "whole.onnx"] {
        assert_eq!(hashes(&folder, model), before, "{model}");
    }
    assert_eq!(folder.bytes("whole.onnx"), folder.bytes(MODEL));
    let small = folder.json(&["weights", "small.onnx"]);
    let mut places =
        small["weights"].as_array().unwrap().iter().filter_map(|weight| weight["location"].as_str());
    assert!(places.all(|place| place == "hub/any_name.safetensors"));
    assert!(!folder.path("small.onnx.data").exists());
}

#[test]
fn a_reference_must_have_the_same_bytes() {
    let folder = Folder::with(&["bert_tiny"]);
    folder.run(&["weights", MODEL, "--external", "-o", "external.onnx"]).assert().success();
    checkpoint(&folder, "external.onnx", "model.safetensors");
    let mut bytes = folder.bytes("model.safetensors");
    *bytes.last_mut().unwrap() ^= 1;
    std::fs::write(folder.path("model.safetensors"), bytes).unwrap();
    let (code, said) =
        failure(&folder, &["weights", "external.onnx", "--reference", ".", "-o", "small.onnx"]);
    assert_eq!(code, 2);
    assert!(said.contains("does not match the model; 1 weight differ"), "{said}");
    assert!(said.contains("has other bytes in the files than in the model"), "{said}");
    assert!(!folder.path("small.onnx").exists());
}

#[test]
fn a_data_file_that_is_gone_or_short_is_a_finding() {
    let folder = Folder::with(&["bert_tiny"]);
    folder.run(&["weights", MODEL, "--external", "-o", "external.onnx"]).assert().success();
    let data = folder.path("external.onnx.data");
    let bytes = std::fs::read(&data).unwrap();
    std::fs::write(&data, &bytes[..bytes.len() - 4]).unwrap();
    let output = folder.run(&["weights", "external.onnx"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(String::from_utf8_lossy(&output.stdout).ends_with("1 with a problem\n"));
    std::fs::remove_file(&data).unwrap();
    let output = folder.run(&["weights", "external.onnx", "--format", "json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let outside = told["weights"].as_array().unwrap().iter().filter(|weight| !weight["location"].is_null());
    assert!(told["fine"] == false && outside.clone().count() > 0);
    assert!(outside.clone().all(|weight| weight["problem"].is_string()));
}

#[test]
fn nothing_is_replaced_unless_asked() {
    let folder = Folder::with(&["bert_tiny"]);
    let before = folder.bytes(MODEL);
    let (code, said) = failure(&folder, &["weights", MODEL, "--external"]);
    assert_eq!(code, 2);
    assert!(said.contains("exists already"), "{said}");
    assert_eq!(folder.bytes(MODEL), before);
    folder.run(&["weights", MODEL, "--external", "--overwrite"]).assert().success();
    assert!(folder.path("bert_tiny.onnx.data").exists());
}

#[test]
fn a_folder_without_files_is_told() {
    let folder = Folder::with(&["bert_tiny"]);
    std::fs::create_dir(folder.path("empty")).unwrap();
    let (code, said) = failure(&folder, &["weights", MODEL, "--reference", "empty", "-o", "small.onnx"]);
    assert_eq!(code, 2);
    assert!(said.contains("empty: is a folder without safetensors files"), "{said}");
}

/// The archive itself can be what a model refers to, if it lies in its folder.
#[test]
fn references_into_an_archive_are_relative() {
    let folder = Folder::with(&[]);
    std::fs::create_dir(folder.path("sub")).unwrap();
    std::fs::copy(repository().join("fixtures/bert_tiny/model.pt2"), folder.path("sub/model.pt2")).unwrap();
    let arguments = ["export", "sub/model.pt2", "-o", "m.onnx", "--weights", "reference"];
    folder.run(&arguments).assert().success();
    let listed = folder.json(&["weights", "m.onnx"]);
    let mut places =
        listed["weights"].as_array().unwrap().iter().filter_map(|weight| weight["location"].as_str());
    assert!(listed["fine"] == true && places.all(|place| place == "sub/model.pt2"));
}

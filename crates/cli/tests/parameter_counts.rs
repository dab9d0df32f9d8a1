//! Parameters are counted alike by every command, whatever was made of the file.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use common::{Folder, fixtures, repository};
use serde_json::Value;

/// The parameters that `tree`, `analyze` and the sidecar of a file tell, which must be one number.
fn parameters(folder: &Folder, stem: &str) -> u64 {
    let file = format!("{stem}.onnx");
    let tree = folder.json(&["tree", &file])["totals"]["parameters"].as_u64().unwrap();
    let analysis = folder.json(&["analyze", &file]);
    assert_eq!(analysis["totals"]["parameters"]["elements"], tree, "{file}");
    let sidecar: Value = serde_json::from_slice(&folder.bytes(&format!("{stem}_hierarchy.json"))).unwrap();
    assert_eq!(sidecar["statistics"]["parameters"], tree, "{file}");
    tree
}

#[test]
fn exports_functions_and_tags_have_the_parameters_of_the_program() {
    for fixture in fixtures() {
        let folder = Folder::with(&[&fixture]);
        let program = repository().join("fixtures").join(&fixture).join("model.pt2");
        let known = folder.json(&["tree", program.to_str().unwrap()]);
        let known = known["totals"]["parameters"].as_u64().unwrap();
        let file = format!("{fixture}.onnx");
        assert_eq!(parameters(&folder, &fixture), known, "{fixture}");
        folder.json(&["functions", &file, "--all", "-o", "functions.onnx"]);
        assert_eq!(parameters(&folder, "functions"), known, "{fixture}");
        folder.json(&["tag", &file, "--from", &file, "-o", "tagged.onnx"]);
        assert_eq!(parameters(&folder, "tagged"), known, "{fixture}");
        folder.json(&["extract", &file, ".", "-o", "root.onnx"]);
        assert_eq!(parameters(&folder, "root"), known, "{fixture}");
        // Nothing is folded where weights stay in the program.
        std::fs::copy(&program, folder.path("model.pt2")).unwrap();
        folder.json(&["export", "model.pt2", "-o", "unfolded.onnx", "--weights", "reference"]);
        assert_eq!(parameters(&folder, "unfolded"), known, "{fixture}");
    }
}

#[test]
fn a_part_has_the_parameters_of_its_modules() {
    let folder = Folder::with(&["bert_tiny", "shared_module"]);
    // The position embedding is a constant in the file, and its module has no node.
    for (file, module) in
        [("bert_tiny", "embeddings"), ("bert_tiny", "encoder.layer.1"), ("shared_module", "head")]
    {
        let tree = folder.json(&["tree", &format!("{file}.onnx")]);
        let modules = tree["modules"].as_array().unwrap();
        let known = modules.iter().find(|found| found["path"] == module).unwrap();
        let known = known["parameters"]["total"].as_u64().unwrap();
        assert!(known > 0);
        folder.json(&["extract", &format!("{file}.onnx"), module, "-o", "part.onnx", "--overwrite"]);
        assert_eq!(parameters(&folder, "part"), known, "{module}");
    }
}

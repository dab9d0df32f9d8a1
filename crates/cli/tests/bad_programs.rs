//! `modelexport export` of archives whose program makes no sense: exit status 2, nothing written, and a message that
//! says where.
#![allow(clippy::unwrap_used)]

mod archive;

use std::path::{Path, PathBuf};

use archive::Archive;
use assert_cmd::Command;
use serde_json::{Value, json};

/// Three layers: `0` (linear), `1` (relu), `2` (linear).
fn fixture() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures/plain_linear_relu/model.pt2")
}

/// What the command says of the fixture after `spoil` has changed its program and the list of its weights.
fn message(spoil: impl FnOnce(&mut Value, &mut Value)) -> String {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::read(&fixture());
    let mut program = archive.json("model/models/model.json");
    let mut weights = archive.json("model/data/weights/model_weights_config.json");
    spoil(&mut program["graph_module"]["graph"], &mut weights["config"]);
    archive.set_json("model/models/model.json", &program);
    archive.set_json("model/data/weights/model_weights_config.json", &weights);
    archive.write(&folder.path().join("bad.pt2"));
    let mut command = Command::cargo_bin("modelexport").unwrap();
    let output =
        command.current_dir(folder.path()).args(["export", "bad.pt2", "-o", "out.onnx"]).output().unwrap();
    assert_eq!(output.status.code(), Some(2), "{}", String::from_utf8_lossy(&output.stderr));
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 1, "nothing is written");
    String::from_utf8(output.stderr).unwrap()
}

#[test]
fn the_fixture_itself_is_good() {
    let folder = tempfile::tempdir().unwrap();
    Archive::read(&fixture()).write(&folder.path().join("good.pt2"));
    let mut command = Command::cargo_bin("modelexport").unwrap();
    command.current_dir(folder.path()).args(["export", "good.pt2", "-o", "out.onnx"]).assert().success();
}

#[test]
fn shapes_that_contradict_each_other() {
    let message = message(|graph, _| graph["tensor_values"]["linear"]["sizes"][1] = json!({"as_int": 15}));
    assert_eq!(
        message,
        "error: bad.pt2: node `linear` (aten.linear.default) in module `0`: shapes that contradict each other: argument \
         `input` is float32[3, 8], argument `weight` is float32[16, 8], argument `bias` is float32[16], the result is \
         float32[3, 15]\n"
    );
}

#[test]
fn an_argument_of_another_shape() {
    let message =
        message(|graph, _| graph["nodes"][2]["inputs"][0]["arg"]["as_tensor"]["name"] = json!("p_0_bias"));
    assert_eq!(
        message,
        "error: bad.pt2: node `linear_1` (aten.linear.default) in module `2`: shapes that contradict each other: \
         `linear_1` has shape [3, 4] and shape [4]\n"
    );
}

/// Exit status and both streams of an export whose program has the number 7 as an output, alone or behind the others.
fn with_constant_output(is_alone: bool) -> (Option<i32>, String, String) {
    let folder = tempfile::tempdir().unwrap();
    let mut archive = Archive::read(&fixture());
    let mut program = archive.json("model/models/model.json");
    let module = &mut program["graph_module"];
    let number = json!({"as_int": 7});
    let spec = json!({"user_output": {"arg": number}});
    for (list, output) in [("/graph/outputs", number), ("/signature/output_specs", spec)] {
        let list = module.pointer_mut(list).and_then(Value::as_array_mut).unwrap();
        if is_alone {
            list.clear();
        }
        list.push(output);
    }
    archive.set_json("model/models/model.json", &program);
    archive.write(&folder.path().join("m.pt2"));
    let mut command = Command::cargo_bin("modelexport").unwrap();
    let arguments = ["export", "m.pt2", "-o", "m.onnx", "--format", "json"];
    let output = command.current_dir(folder.path()).args(arguments).output().unwrap();
    let text = |bytes| String::from_utf8(bytes).unwrap();
    (output.status.code(), text(output.stdout), text(output.stderr))
}

#[test]
fn outputs_that_are_the_same_in_every_run() {
    let refused = "error: m.pt2: its outputs are the same in every run (the integer 7), and an ONNX model must have one \
                   that is not\n";
    assert_eq!(with_constant_output(true), (Some(2), String::new(), refused.to_owned()));
    let (status, told, _) = with_constant_output(false);
    let told: Value = serde_json::from_str(&told).unwrap();
    assert_eq!((status, &told["constant_outputs"]), (Some(0), &json!([{"position": 1, "value": 7}])));
}

#[test]
fn a_missing_weight() {
    let message = message(|_, weights| {
        weights.as_object_mut().unwrap().remove("2.weight");
    });
    assert_eq!(
        message,
        "error: bad.pt2: weight \"2.weight\" is in the graph but not in the archive's weights or constants; it is read \
         by node \"linear_1\" (aten.linear.default) in module \"2\", argument \"weight\"\n"
    );
}

#[test]
fn a_dangling_value() {
    let message =
        message(|graph, _| graph["nodes"][1]["inputs"][0]["arg"]["as_tensor"]["name"] = json!("nowhere"));
    assert_eq!(
        message,
        "error: bad.pt2: node \"relu\" (aten.relu.default) in module \"1\", argument \"self\": the value \"nowhere\" is \
         not defined before its use\n"
    );
}

#[test]
fn an_argument_of_another_kind() {
    let message = message(|graph, _| graph["nodes"][2]["inputs"][1]["arg"] = json!({"as_ints": [4, 16]}));
    assert_eq!(
        message,
        "error: bad.pt2: node `linear_1` (aten.linear.default) in module `2`: argument `weight`: expected a tensor, \
         found the integers [4, 16]\n"
    );
}

#[test]
fn an_unknown_element_type() {
    let message = message(|graph, _| graph["tensor_values"]["relu"]["dtype"] = json!(99));
    assert_eq!(
        message,
        "error: bad.pt2: node \"relu\" (aten.relu.default) in module \"1\", result 0: unknown element type 99; it needs \
         a newer modelexport\n"
    );
}

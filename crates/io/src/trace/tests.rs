//! The format matches the schema, the examples can be read, and each contradiction has its message.

use std::path::Path;

use serde_json::json;

use super::*;

/// A root that calls `act` twice on its input plus a parameter.
fn sample() -> serde_json::Value {
    json!({
        "schema_version": SCHEMA_VERSION,
        "generator": {"name": "modelexport", "version": "0.1.0"},
        "torch_version": "2.15.0",
        "modules": [
            {"path": "", "class": "pkg.Model", "executed": true, "order": 0, "calls": 1, "parameters": [
                {"name": "bias", "kind": "parameter", "shape": [2], "dtype": "float32",
                 "fingerprint": "00000000000000ff"},
                {"name": "again", "kind": "parameter", "shape": [2], "dtype": "float32", "tied_to": "bias"}
            ]},
            {"path": "act", "class": "torch.nn.modules.activation.ReLU", "aliases": ["other"],
             "executed": true, "order": 1, "calls": 2, "parameters": []},
            {"path": "unused", "class": "torch.nn.modules.activation.ReLU",
             "executed": false, "order": null, "calls": 0, "parameters": []}
        ],
        "tensors": [
            {"shape": [3, 2], "dtype": "float32", "storage": 0, "origin": {"input": "x"}},
            {"shape": [2], "dtype": "float32", "storage": 1, "origin": {"parameter": "bias"}},
            {"shape": [3, 2], "dtype": "float32", "storage": 2, "origin": {"op": 0}},
            {"shape": [3, 2], "dtype": "float32", "storage": 3, "origin": {"op": 1}},
            {"shape": [3, 2], "dtype": "float32", "storage": 3, "origin": {"op": 2}}
        ],
        "calls": [
            {"module": 0, "number": 0, "parent": null},
            {"module": 1, "number": 0, "parent": 0},
            {"module": 1, "number": 1, "parent": 0}
        ],
        "ops": [
            {"target": "aten.add.Tensor", "call": 0, "arguments": {"alpha": 2}, "outputs": [2],
             "inputs": [{"argument": "self", "tensor": 0}, {"argument": "other", "tensor": 1}]},
            {"target": "aten.relu.default", "call": 1, "outputs": [3],
             "inputs": [{"argument": "self", "tensor": 2}]},
            {"target": "aten.relu_.default", "call": 2, "outputs": [4], "mutates": [3],
             "inputs": [{"argument": "self", "tensor": 3}]}
        ],
        "inputs": [{"name": "x", "tensor": 0}],
        "outputs": [{"name": "output", "tensor": 4}]
    })
}

fn parse_json(value: &serde_json::Value) -> Result<Trace, Error> {
    parse(value.to_string().as_bytes(), Path::new("trace.json"))
}

/// The message for the sample with one place changed.
fn message(pointer: &str, changed: serde_json::Value) -> String {
    let mut value = sample();
    *value.pointer_mut(pointer).expect("the sample has the place") = changed;
    let text = parse_json(&value).expect_err("is a contradiction").to_string();
    text.strip_prefix("trace.json: ").expect("names the file").to_owned()
}

#[test]
fn what_is_read_is_what_was_written() {
    let trace = parse_json(&sample()).expect("is valid");
    assert_eq!(trace.modules[0].parameters[0].fingerprint, Some(FingerprintSum(255)));
    assert_eq!(*trace.tensors.get(4).expect("is there").origin, Origin::Op(2));
    assert_eq!(trace.ops.get(0).expect("is there").arguments["alpha"], 2);
    let again = serde_json::to_value(&trace).expect("serialises");
    assert_eq!(parse_json(&again).expect("is valid"), trace);
}

#[test]
fn contradictions_are_located() {
    let cases = [
        ("/modules", json!([]), "modules: is empty; the first is the root"),
        (
            "/modules/1/path",
            json!(""),
            "modules[1]: the first module is the root, and only the root has an empty path",
        ),
        ("/modules/2/path", json!("other"), "modules[2]: a second module with the path \"other\""),
        (
            "/modules/2/executed",
            json!(true),
            "modules[2]: `executed`, `order` and `calls` contradict each other",
        ),
        ("/modules/1/calls", json!(3), "modules[1]: has 3 calls; 2 are listed"),
        (
            "/modules/0/parameters/1/tied_to",
            json!("lost"),
            "modules[0]: \"again\" is tied to \"lost\", which is not listed before",
        ),
        (
            "/modules/0/parameters/1/name",
            json!("bias"),
            "modules[0]: a second parameter with the name \"bias\"",
        ),
        ("/calls/0/module", json!(1), "calls[0]: the first call is that of the root"),
        ("/calls/0/parent", json!(0), "calls[0]: the first call is that of the root and has no parent"),
        ("/calls/1/parent", json!(null), "calls[1]: only the first call may be without a parent"),
        ("/calls/1/parent", json!(1), "calls[1]: its parent 1 does not come before it"),
        ("/calls/1/module", json!(9), "calls[1]: there is no module 9"),
        ("/calls/2/number", json!(5), "calls[2]: is call 5 of its module; expected 1"),
        ("/ops/0/call", json!(9), "ops[0]: there is no call 9"),
        ("/ops/0/inputs/0/tensor", json!(9), "ops[0]: there is no tensor 9"),
        ("/ops/0/inputs/0/tensor", json!(3), "ops[0]: reads tensor 3, which operator 1 makes later"),
        ("/ops/2/mutates/0", json!(9), "ops[2]: there is no tensor 9"),
        ("/ops/1/outputs/0", json!(9), "ops[1]: there is no tensor 9"),
        ("/ops/1/outputs/0", json!(null), "tensors[3]: operator 1 does not make it"),
        ("/tensors/3/origin", json!({"op": 0}), "tensors[3]: operator 0 is said to make it; operator 1 does"),
        ("/tensors/0/origin", json!({"input": "y"}), "tensors[0]: there is no input \"y\""),
        ("/tensors/1/origin", json!({"parameter": "y"}), "tensors[1]: no module has a parameter \"y\""),
        (
            "/tensors/1/origin",
            json!({"parameter": "again"}),
            "tensors[1]: \"again\" is tied to another; the first name is expected",
        ),
        ("/inputs/0/tensor", json!(9), "inputs[0]: there is no tensor 9"),
        ("/outputs/0/tensor", json!(9), "outputs[0]: there is no tensor 9"),
    ];
    for (pointer, changed, expected) in cases {
        assert_eq!(message(pointer, changed.clone()), expected, "{pointer} = {changed}");
    }
}

#[test]
fn a_fingerprint_is_sixteen_digits() {
    for bad in ["ff", "+0000000000000ff", "00000000000000fg"] {
        let text = message("/modules/0/parameters/0/fingerprint", json!(bad));
        let expected = format!("invalid value: string {bad:?}, expected 16 hexadecimal digits");
        assert!(text.ends_with(&expected), "{text}");
    }
}

#[test]
fn another_major_version_is_named() {
    match parse(br#"{"schema_version":"2.0","layers":[]}"#, Path::new("trace.json")) {
        Err(Error::Version { what: "trace", found, .. }) => assert_eq!(found, "2.0"),
        other => panic!("{other:?}"),
    }
}

/// `BLESS=1 cargo test -p modelexport_io` rewrites the file.
#[test]
fn published_schema_is_fresh() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/trace.schema.json");
    let expected = json_schema().expect("serialises");
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(path, &expected).expect("docs can be written");
    }
    let found = std::fs::read_to_string(path).unwrap_or_default();
    assert_eq!(found, expected, "docs/trace.schema.json is stale: run `BLESS=1 cargo test trace`");
}

/// The traces of the fixtures are PyTorch's own account.
#[test]
fn traces_of_the_fixtures_can_be_read() {
    let fixtures = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures"));
    let trace = read(&fixtures.join("shared_module/trace.json")).expect("is valid");
    let called_twice = trace.modules.iter().filter(|module| module.calls > 1).count();
    assert!(called_twice > 0, "the fixture is there for modules that are called several times");
    for case in ["bert_tiny", "cond", "resnet_tiny"] {
        read(&fixtures.join(case).join("trace.json")).expect(case);
    }
}

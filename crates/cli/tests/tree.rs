//! `modelexport tree` as users run it.
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::path::Path;
use std::process::Stdio;

use assert_cmd::Command;
use common::{fixtures, repository};
use modelexport_graph::onnx::{Graph, Model, Node, OpsetImport};
use modelexport_io::onnx::{self, Chunk};

fn modelexport(arguments: &[&str]) -> Command {
    let mut command = Command::cargo_bin("modelexport").unwrap();
    command.current_dir(repository()).args(arguments);
    command
}

/// What the command prints; it must succeed.
fn stdout(arguments: &[&str]) -> String {
    let output = modelexport(arguments).output().unwrap();
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

/// Exit status and stderr; nothing may stand on stdout.
fn failure(arguments: &[&str]) -> (i32, String) {
    let output = modelexport(arguments).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

#[test]
fn every_fixture_has_its_tree() {
    let fixtures = fixtures();
    assert!(fixtures.len() >= 10, "{fixtures:?}");
    for name in fixtures {
        let file = format!("fixtures/{name}/model.pt2");
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("{name}.text"), stdout(&["tree", &file]));
            insta::assert_snapshot!(format!("{name}.json"), stdout(&["tree", &file, "--format", "json"]));
        });
    }
}

/// The last line of the totals: how many operations are tagged.
fn tagged_operations(arguments: &[&str]) -> u64 {
    let arguments = [&["tree", "--format", "json"], arguments].concat();
    let document: serde_json::Value = serde_json::from_str(&stdout(&arguments)).unwrap();
    document["totals"]["tagged_operations"].as_u64().unwrap()
}

#[test]
fn a_plain_model_has_no_tagged_operations_under_the_hugging_face_preset() {
    let plain = "fixtures/plain_linear_relu/model.pt2";
    assert_eq!(tagged_operations(&[plain, "--modules", "huggingface"]), 0);
    assert_eq!(tagged_operations(&[plain, "--modules", "all"]), 3);
    let norms = "fixtures/norm_embedding/model.pt2";
    assert_ne!(tagged_operations(&[norms, "--modules", "huggingface"]), 0);
    assert_eq!(tagged_operations(&[norms, "--modules", "huggingface", "--torch-nn-exceptions="]), 0);
    let text = stdout(&["tree", plain, "--modules", "huggingface"]);
    assert!(
        text.contains("no operation is tagged: --modules huggingface selects none of the classes"),
        "{text}"
    );
}

#[test]
fn a_file_of_torch_tells_its_modules() {
    insta::assert_snapshot!(stdout(&["tree", "crates/cli/tests/data/torch_written.onnx"]));
}

/// `(path, class, tag)` of the modules of which something ran.
fn executed_modules(file: &str) -> Vec<(String, String, String)> {
    let document: serde_json::Value =
        serde_json::from_str(&stdout(&["tree", file, "--format", "json"])).unwrap();
    let text = |module: &serde_json::Value, key: &str| module[key].as_str().unwrap().to_owned();
    let mut modules: Vec<_> = document["modules"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|module| module["nodes"]["own"].as_u64() > Some(0))
        .map(|module| (text(module, "path"), text(module, "class"), text(module, "tag")))
        .collect();
    modules.sort();
    modules
}

#[test]
fn an_exported_file_tells_the_modules_of_its_program() {
    let folder = tempfile::tempdir().unwrap();
    for name in ["not_executed", "plain_linear_relu"] {
        let program = format!("fixtures/{name}/model.pt2");
        let exported = folder.path().join(format!("{name}.onnx"));
        let exported = exported.to_str().unwrap();
        modelexport(&["export", &program, "-o", exported]).assert().success();
        let captured = executed_modules(&program);
        let with_sidecar = executed_modules(exported);
        std::fs::remove_file(folder.path().join(format!("{name}_hierarchy.json"))).unwrap();
        let without_sidecar = executed_modules(exported);
        assert_eq!(with_sidecar, without_sidecar, "{name}");
        // Some ATen nodes need no ONNX node (dropout), so some modules have none left.
        assert!(!with_sidecar.is_empty());
        for module in &with_sidecar {
            assert!(captured.contains(module), "{name}: {module:?}");
        }
    }
}

#[test]
fn depth_and_bare_tags() {
    let arguments = ["tree", "fixtures/llama_tiny/model.pt2", "--depth", "2", "--tag-format", "class"];
    insta::assert_snapshot!(stdout(&arguments));
}

#[test]
fn a_rules_file_changes_the_tags() {
    let folder = tempfile::tempdir().unwrap();
    let rules = folder.path().join("rules.toml");
    let text =
        "extends = 'all'\nexclude = ['class:*Norm']\n[[rename]]\nclass = '*MLP'\nname = 'FeedForward'\n";
    std::fs::write(&rules, text).unwrap();
    let arguments =
        ["tree", "fixtures/llama_tiny/model.pt2", "--depth", "3", "--rules", rules.to_str().unwrap()];
    insta::assert_snapshot!(stdout(&arguments));
}

#[test]
fn bad_input_is_exit_2_and_io_is_exit_3() {
    assert_eq!(
        failure(&["tree", "no/such/model.pt2"]),
        (3, "error: no/such/model.pt2: cannot open: No such file or directory (os error 2)\n".to_owned())
    );
    assert_eq!(
        failure(&["tree", "fixtures"]),
        (2, "error: fixtures: is a folder; only a regular file can be read\n".to_owned())
    );
    let folder = tempfile::tempdir().unwrap();
    let text = folder.path().join("text.pt2");
    std::fs::write(&text, "not an archive").unwrap();
    let (status, message) = failure(&["tree", text.to_str().unwrap()]);
    assert_eq!(status, 2);
    assert!(
        message.ends_with("text.pt2: is not a zip archive; a .pt2 file is written by torch.export.save\n")
    );
    let rules = folder.path().join("rules.toml");
    std::fs::write(&rules, "# mine\nextends = 'models'\n").unwrap();
    let (status, message) =
        failure(&["tree", "fixtures/bert_tiny/model.pt2", "--rules", rules.to_str().unwrap()]);
    assert_eq!(status, 2);
    let expected = "rules.toml: line 2, column 11: extends \"models\": no such preset; \
                    there are `model`, `huggingface`, `all`\n";
    assert!(message.ends_with(expected), "{message}");
    assert_eq!(failure(&["tree"]).0, 2);
    assert_eq!(failure(&["tree", "x.pt2", "--modules", "everything"]).0, 2);
}

fn write_onnx(path: &Path, nodes: Vec<Node>) {
    let model = Model {
        ir_version: 10,
        opset_imports: vec![OpsetImport { version: 20, ..OpsetImport::default() }],
        graph: Graph { name: "g".into(), nodes, ..Graph::default() },
        ..Model::default()
    };
    let chunks = onnx::encode(&model).unwrap();
    let bytes = chunks.into_iter().flat_map(|chunk| match chunk {
        Chunk::Bytes(bytes) => bytes,
        Chunk::View { .. } => panic!("no weights"),
    });
    std::fs::write(path, bytes.collect::<Vec<u8>>()).unwrap();
}

fn node(name: &str, metadata: &[(&str, &str)]) -> Node {
    let metadata = metadata.iter().map(|(key, value)| ((*key).to_owned(), (*value).to_owned())).collect();
    Node { name: name.into(), op_type: "Relu".into(), metadata, ..Node::default() }
}

#[test]
fn an_onnx_file_without_a_word_about_modules_gets_advice() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    write_onnx(&path, vec![node("a", &[])]);
    let (status, message) = failure(&["tree", path.to_str().unwrap()]);
    assert_eq!(status, 2);
    let expected = "model.onnx: no node records its module: the file has no metadata of modelexport, torch \
                    or winml, and there is no sidecar ";
    assert!(message.contains(expected), "{message}");
    assert!(message.contains("\nhint: export the model with `modelexport export model.pt2`"), "{message}");
}

#[test]
fn names_cannot_command_the_terminal() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    let scopes = [
        ("pkg.torch.onnx.name_scopes", r"['', 'a\x1b[2Jb', 'op']"),
        ("pkg.torch.onnx.class_hierarchy", "['m.Net', 'm.Evil\u{202e}\u{9b}', 'aten.relu.default']"),
    ];
    write_onnx(&path, vec![node("a", &scopes)]);
    for format in ["text", "json"] {
        let printed = stdout(&["tree", path.to_str().unwrap(), "--format", format]);
        assert!(!printed.contains(['\u{1b}', '\u{202e}', '\u{9b}']), "{printed:?}");
    }
}

#[test]
fn a_sidecar_of_another_kind_is_left_aside() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("model.onnx");
    write_onnx(&path, vec![node("a", &[("winml.hierarchy.tag", "/Net/Block.0")])]);
    std::fs::write(folder.path().join("model_hierarchy.json"), r#"{"node_tags": {}}"#).unwrap();
    let output = modelexport(&["tree", path.to_str().unwrap()]).output().unwrap();
    assert_eq!(output.status.code(), Some(0));
    let warning = String::from_utf8(output.stderr).unwrap();
    assert!(warning.starts_with("warning: "), "{warning}");
    assert!(warning.ends_with("missing field `schema_version`; the sidecar is ignored\n"), "{warning}");
    assert!(String::from_utf8(output.stdout).unwrap().contains("/Net/Block.0"));
    let quiet = modelexport(&["tree", "-q", path.to_str().unwrap()]).output().unwrap();
    assert_eq!(String::from_utf8(quiet.stderr).unwrap(), "");
}

#[test]
fn a_reader_that_leaves_is_told_by_the_status_alone() {
    let mut child = std::process::Command::new(assert_cmd::cargo::cargo_bin!("modelexport"))
        .current_dir(repository())
        .args(["tree", "fixtures/resnet_tiny/model.pt2", "--format", "json"])
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), output.stderr.as_slice()), (Some(3), &b""[..]));
}

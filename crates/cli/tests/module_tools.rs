//! `analyze`, `validate` and `strip` as users run them.
#![allow(clippy::unwrap_used, clippy::panic)]

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use modelexport_io::onnx;

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// Runs the command in `folder`: exit status, stdout, stderr.
fn run(folder: &Path, arguments: &[&str]) -> (i32, String, String) {
    let output =
        Command::cargo_bin("modelexport").unwrap().current_dir(folder).args(arguments).output().unwrap();
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    (output.status.code().unwrap(), text(output.stdout), text(output.stderr))
}

fn stdout(folder: &Path, arguments: &[&str]) -> String {
    let (status, stdout, stderr) = run(folder, arguments);
    assert_eq!(status, 0, "{arguments:?}: {stderr}");
    stdout
}

/// A folder with the export of a fixture as `m.onnx`.
fn exported(name: &str) -> tempfile::TempDir {
    exported_with(name, &[])
}

fn exported_with(name: &str, options: &[&str]) -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    let program = repository().join(format!("fixtures/{name}/model.pt2"));
    let arguments = ["export", program.to_str().unwrap(), "-o", "m.onnx", "-q"];
    stdout(folder.path(), &[&arguments[..], options].concat());
    folder
}

const FORMATS: [&str; 6] = ["summary", "detailed", "json", "csv", "model-explorer", "graphml"];

#[test]
fn every_format_of_the_analysis() {
    for name in ["plain_linear_relu", "cond", "shared_module"] {
        let folder = exported(name);
        for format in FORMATS {
            let text = stdout(folder.path(), &["analyze", "m.onnx", "--format", format]);
            insta::with_settings!({ prepend_module_to_snapshot => false }, {
                insta::assert_snapshot!(format!("analyze.{name}.{format}"), text);
            });
        }
    }
    let folder = exported("bert_tiny");
    for arguments in
        [&[][..], &["--by", "class"], &["--by", "op", "--top", "3"], &["--module", "class:BertLayer"]]
    {
        let text = stdout(folder.path(), &[&["analyze", "m.onnx"], arguments].concat());
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("analyze.bert_tiny{}", arguments.join("_").replace(':', "_")), text);
        });
    }
    assert_eq!(
        stdout(folder.path(), &["analyze", "m.onnx", "--format", "text"]),
        stdout(folder.path(), &["analyze", "m.onnx", "--format", "summary"])
    );
}

#[test]
fn graphs_for_other_tools_are_whole() {
    for name in ["bert_tiny", "cond", "lstm_tiny", "moe_tiny"] {
        let folder = exported(name);
        let nodes = onnx::read(&folder.path().join("m.onnx")).unwrap().model;
        let mut count = 0;
        nodes.for_each_node(&mut |_| count += 1);
        let text = stdout(folder.path(), &["analyze", "m.onnx", "--format", "model-explorer"]);
        let document: serde_json::Value = serde_json::from_str(&text).unwrap();
        let mut operations = 0;
        for graph in document["graphs"].as_array().unwrap() {
            let nodes = graph["nodes"].as_array().unwrap();
            let ids: Vec<&str> = nodes.iter().map(|node| node["id"].as_str().unwrap()).collect();
            for node in nodes {
                operations += usize::from(!node["attrs"].as_array().unwrap().is_empty());
                for edge in node["incomingEdges"].as_array().unwrap() {
                    assert!(ids.contains(&edge["sourceNodeId"].as_str().unwrap()), "{name}: {edge}");
                }
            }
        }
        assert_eq!(operations, count, "{name}");
        let graphml = stdout(folder.path(), &["analyze", "m.onnx", "--format", "graphml"]);
        assert_eq!(graphml.matches("<data key=\"kind\">operation</data>").count(), count, "{name}");
        assert_eq!(graphml.matches("<node ").count(), graphml.matches("</node>").count());
        assert_eq!(graphml.matches("<graph ").count(), graphml.matches("</graph>").count());
    }
}

#[test]
fn bad_selectors_list_what_is_near() {
    let folder = exported("bert_tiny");
    let (status, out, error) = run(folder.path(), &["analyze", "m.onnx", "--module", "encoder.layr.*"]);
    assert_eq!((status, out.as_str()), (2, ""));
    assert!(
        error.contains("selector \"encoder.layr.*\": no module matches; near matches: encoder.layer.*"),
        "{error}"
    );
    assert_eq!(run(folder.path(), &["analyze", "m.onnx", "--module", "depth:x"]).0, 2);
    assert_eq!(run(folder.path(), &["analyze", "none.onnx"]).0, 3);
    assert_eq!(run(folder.path(), &["analyze", "m.onnx", "--dim", "batch"]).0, 2);
}

#[test]
fn a_size_for_a_dimension_that_is_not_there_is_an_error() {
    let folder = exported("dynamic_batch_seq");
    let failed = |dim: &str, format: &str| {
        let arguments = ["analyze", "m.onnx", "--dim", "s48=2", "--dim", dim, "--format", format];
        let (status, out, message) = run(folder.path(), &arguments);
        assert_eq!((status, &*out), (2, ""));
        message
    };
    for format in ["summary", "json", "graphml", "model-explorer"] {
        assert_eq!(failed("s28=8", format), "error: m.onnx: no dimension \"s28\"; near matches: s27, s48\n");
    }
    assert_eq!(
        failed("sequence=8", "csv"),
        "error: m.onnx: no dimension \"sequence\"; there are 2*s27, s27, s27//4, s48\n"
    );
    let named = exported_with("dynamic_batch_seq", &["--dim-name", "tokens:0=batch"]);
    let (status, _, message) = run(named.path(), &["analyze", "m.onnx", "--dim", "bacth=8"]);
    assert_eq!((status, &*message), (2, "error: m.onnx: no dimension \"bacth\"; near matches: batch\n"));
    assert_eq!(run(named.path(), &["analyze", "m.onnx", "--dim", "batch=8"]).0, 0);
    let fixed = exported("bert_tiny");
    let (status, _, message) = run(fixed.path(), &["analyze", "m.onnx", "--dim", "batch=8"]);
    assert_eq!(
        (status, &*message),
        (2, "error: m.onnx: no dimension \"batch\": all dimensions of the file have fixed sizes\n")
    );
}

#[test]
fn an_export_is_made_from_a_program_and_beside_it() {
    let folder = exported("plain_linear_relu");
    let (status, out, message) = run(folder.path(), &["export", "m.onnx", "-o", "y.onnx"]);
    assert_eq!((status, &*out), (2, ""));
    assert_eq!(
        message,
        "error: m.onnx: is already an ONNX file; `modelexport tag m.onnx -o y.onnx` adds tags to it\n"
    );
    assert!(!folder.path().join("y.onnx").exists());
    let program = folder.path().join("model.pt2");
    std::fs::copy(repository().join("fixtures/plain_linear_relu/model.pt2"), &program).unwrap();
    let before = std::fs::read(&program).unwrap();
    let (status, _, message) =
        run(folder.path(), &["export", "model.pt2", "-o", "./model.pt2", "--overwrite"]);
    assert_eq!(status, 2);
    assert_eq!(
        message,
        "error: ./model.pt2: is the same file as model.pt2, the program that is read, which is never replaced, \
         even with --overwrite\nhint: choose another name for the output\n"
    );
    assert!(std::fs::read(&program).unwrap() == before);
    let (status, _, message) = run(folder.path(), &["export", "none.onnx", "-o", "y.onnx"]);
    assert_eq!(status, 3);
    assert!(message.starts_with("error: none.onnx: cannot open"), "{message}");
}

#[test]
fn findings_have_a_place_and_an_exit_status() {
    let folder = exported("bert_tiny");
    let clean = stdout(folder.path(), &["validate", "m.onnx"]);
    assert_eq!(clean, "m.onnx: 76 nodes in 48 modules, no findings\n");
    let sidecar = folder.path().join("m_hierarchy.json");
    let text =
        std::fs::read_to_string(&sidecar).unwrap().replace("\"op_type\":\"Softmax\"", "\"op_type\":\"Else\"");
    std::fs::write(&sidecar, text).unwrap();
    for format in ["text", "json", "csv"] {
        let (status, out, _) = run(folder.path(), &["validate", "m.onnx", "--format", format]);
        assert_eq!(status, 1, "{out}");
        insta::with_settings!({ prepend_module_to_snapshot => false }, {
            insta::assert_snapshot!(format!("validate.{format}"), out);
        });
    }
    let repaired = stdout(folder.path(), &["validate", "m.onnx", "--repair"]);
    assert_eq!(
        repaired,
        "repaired m_hierarchy.json: rebuilt from the file\nm.onnx: 76 nodes in 48 modules, no findings\n"
    );
    assert_eq!(run(folder.path(), &["validate", "m.onnx", "-o", "x.onnx"]).0, 2, "-o without --repair");
}

#[test]
fn stripping_a_tagged_file_gives_the_file_from_before() {
    let folder = tempfile::tempdir().unwrap();
    let original = repository().join("crates/cli/tests/data/torch_written.onnx");
    let bytes = std::fs::read(&original).unwrap();
    std::fs::write(folder.path().join("torch.onnx"), &bytes).unwrap();
    // Nodes of torch's file that say where they come from get tags of ours, as a tagger writes them.
    let mut sources = modelexport_io::source::Sources::new();
    let id = sources.add_file(&original).unwrap();
    let spliced = onnx::splice(&sources, id, |view| {
        let text = serde_json::json!({ "hierarchy_tags": ["/M"], "hierarchy_path": "/M" });
        let metadata = vec![("modelexport.tag".to_owned(), format!("/M{}", view.key.index))];
        onnx::NodeEdit::Tag(onnx::NodeTags { doc_string: Some(text.to_string()), metadata })
    });
    let tagged = spliced.unwrap().to_vec().unwrap();
    assert_ne!(tagged, bytes);
    std::fs::write(folder.path().join("tagged.onnx"), tagged).unwrap();
    let text = stdout(folder.path(), &["strip", "tagged.onnx", "-o", "plain.onnx"]);
    assert!(text.contains("19 of 19 nodes had some"), "{text}");
    assert_eq!(std::fs::read(folder.path().join("plain.onnx")).unwrap(), bytes);
    assert_eq!(run(folder.path(), &["strip", "tagged.onnx", "-o", "plain.onnx"]).0, 2, "it exists");
    stdout(folder.path(), &["strip", "tagged.onnx", "-o", "plain.onnx", "--overwrite", "--all-metadata"]);
    let cleaned = std::fs::read(folder.path().join("plain.onnx")).unwrap();
    let holds = |text: &str| cleaned.windows(text.len()).any(|window| window == text.as_bytes());
    assert!(!holds("pkg.torch") && !holds("namespace") && !holds("modelexport."));
    let mut nodes = 0;
    onnx::read(&folder.path().join("plain.onnx")).unwrap().model.for_each_node(&mut |_| nodes += 1);
    assert_eq!(nodes, 19);
}

#[test]
fn stripping_in_place_takes_the_sidecar_along() {
    let folder = exported("plain_linear_relu");
    let text = stdout(folder.path(), &["strip", "m.onnx", "-o", "m.onnx", "--overwrite", "--format", "json"]);
    let done: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(done["removed_sidecar"], "m_hierarchy.json");
    assert!(!folder.path().join("m_hierarchy.json").exists());
    let (status, out, _) = run(folder.path(), &["validate", "m.onnx"]);
    assert!(status == 1 && out.contains("[no-tags]"), "{out}");
}

#[test]
fn a_file_that_is_tagged_into_another_folder_takes_its_weights_along() {
    let folder = exported("resnet_tiny");
    stdout(folder.path(), &["weights", "m.onnx", "--external", "-o", "split.onnx"]);
    // So large that it is copied by threads of their own.
    let mut data = std::fs::read(folder.path().join("split.onnx.data")).unwrap();
    data.resize(10 << 20, 7);
    std::fs::write(folder.path().join("split.onnx.data"), &data).unwrap();
    std::fs::create_dir(folder.path().join("elsewhere")).unwrap();
    stdout(folder.path(), &["tag", "split.onnx", "-o", "elsewhere/tagged.onnx"]);
    assert!(std::fs::read(folder.path().join("elsewhere/split.onnx.data")).unwrap() == data);
}

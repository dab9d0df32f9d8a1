//! No command replaces what it reads, what that names, or what it writes besides, by whatever path or link.
#![allow(clippy::unwrap_used)]

mod common;

use std::collections::BTreeMap;

use common::{Folder, failure, repository};

/// A tagged model `m.onnx` with a data file, the program that it was made of, and files that commands take besides.
fn folder() -> Folder {
    let folder = Folder::with(&[]);
    let program = repository().join("fixtures/bert_tiny/model.pt2");
    std::fs::copy(program, folder.path("m.pt2")).unwrap();
    folder.run(&["export", "m.pt2", "-o", "m.onnx", "--weights", "external"]).assert().success();
    std::fs::write(folder.path("rules.toml"), "extends = \"all\"\n").unwrap();
    std::os::unix::fs::symlink(".", folder.path("link")).unwrap();
    folder
}

/// All files with their contents.
fn contents(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let entries = std::fs::read_dir(folder.path(".")).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.file_type().unwrap().is_file());
    files
        .map(|entry| (entry.file_name().into_string().unwrap(), std::fs::read(entry.path()).unwrap()))
        .collect()
}

/// The command with `--overwrite` is refused with `message` and changes nothing.
fn refused(folder: &Folder, arguments: &[&str], message: &str) {
    let before = contents(folder);
    let (status, said) = failure(folder, &[arguments, &["--overwrite"]].concat());
    let expected = format!(
        "error: {message}, which is never replaced, even with --overwrite\n\
         hint: choose another name for the output\n"
    );
    assert_eq!((status, said), (2, expected), "{arguments:?}");
    assert!(contents(folder) == before, "{arguments:?}");
}

/// Commands that write `{}`, a model made of `m.onnx`.
const COMMANDS: [&[&str]; 7] = [
    &["weights", "m.onnx", "--embed"],
    &["weights", "m.onnx", "--external"],
    &["tag", "m.onnx"],
    &["strip", "m.onnx"],
    &["extract", "m.onnx", "encoder.layer.0"],
    &["functions", "m.onnx", "--all"],
    &["functions", "m.onnx", "--inline"],
];

#[test]
fn the_data_of_a_model_is_no_output() {
    let folder = folder();
    for command in COMMANDS {
        refused(
            &folder,
            &[command, &["-o", "m.onnx.data"]].concat(),
            "m.onnx.data: is a data file of m.onnx",
        );
        for spelling in ["./m.onnx.data", "link/m.onnx.data"] {
            let message = format!("{spelling}: is the same file as m.onnx.data, a data file of m.onnx");
            refused(&folder, &[command, &["-o", spelling]].concat(), &message);
        }
    }
    std::fs::hard_link(folder.path("m.onnx.data"), folder.path("twin")).unwrap();
    for command in COMMANDS {
        let message = "twin: is the same file as m.onnx.data, a data file of m.onnx";
        refused(&folder, &[command, &["-o", "twin"]].concat(), message);
    }
}

#[test]
fn a_data_file_that_is_not_there_keeps_its_name() {
    let folder = folder();
    std::fs::remove_file(folder.path("m.onnx.data")).unwrap();
    refused(&folder, &["tag", "m.onnx", "-o", "m.onnx.data"], "m.onnx.data: is a data file of m.onnx");
    let message = "link/m.onnx.data: is the same file as m.onnx.data, a data file of m.onnx";
    refused(&folder, &["tag", "m.onnx", "-o", "link/m.onnx.data"], message);
}

#[test]
fn a_repair_does_not_replace_the_data() {
    let folder = folder();
    std::fs::write(folder.path("m_hierarchy.json"), "{}").unwrap();
    let command = ["validate", "m.onnx", "--repair", "-o", "m.onnx.data"];
    refused(&folder, &command, "m.onnx.data: is a data file of m.onnx");
}

/// The data file of the output is that of the input.
#[test]
fn a_new_data_file_does_not_replace_that_of_another_model() {
    let folder = folder();
    std::fs::rename(folder.path("m.onnx"), folder.path("other.onnx")).unwrap();
    for command in [
        &["weights", "other.onnx", "--external"][..],
        &["extract", "other.onnx", "encoder.layer.0", "--weights", "external"],
        &["functions", "other.onnx", "--all", "--weights", "external"],
    ] {
        let message = "m.onnx.data: is a data file of other.onnx";
        refused(&folder, &[command, &["-o", "m.onnx"]].concat(), message);
    }
}

#[test]
fn the_source_is_no_output() {
    let folder = folder();
    for command in [["extract", "m.onnx", "encoder.layer.0"], ["functions", "m.onnx", "--all"]] {
        refused(&folder, &[&command[..], &["-o", "m.onnx"]].concat(), "m.onnx: is the model that is read");
    }
    refused(&folder, &["export", "m.pt2", "-o", "m.pt2"], "m.pt2: is the program that is read");
    let message = "link/m.pt2: is the same file as ./m.pt2, the program that is read";
    refused(&folder, &["export", "./m.pt2", "-o", "link/m.pt2"], message);
    std::fs::hard_link(folder.path("m.pt2"), folder.path("twin.onnx")).unwrap();
    let message = "twin.onnx: is the same file as m.pt2, the program that is read";
    refused(&folder, &["export", "m.pt2", "-o", "twin.onnx"], message);
    // Another name of the model is another file, which would lose its data.
    std::fs::hard_link(folder.path("m.onnx"), folder.path("n.onnx")).unwrap();
    let message = "n.onnx: is the same file as m.onnx, the model that is read";
    for command in COMMANDS {
        refused(&folder, &[command, &["-o", "n.onnx"]].concat(), message);
    }
}

#[test]
fn a_sidecar_and_a_data_file_do_not_replace_the_source() {
    let folder = folder();
    std::fs::rename(folder.path("m.pt2"), folder.path("a_hierarchy.json")).unwrap();
    let message = "a_hierarchy.json: is the program that is read";
    refused(&folder, &["export", "a_hierarchy.json", "-o", "a.onnx"], message);
    std::fs::rename(folder.path("a_hierarchy.json"), folder.path("b.onnx.data")).unwrap();
    let command = ["export", "b.onnx.data", "-o", "b.onnx", "--weights", "external"];
    refused(&folder, &command, "b.onnx.data: is the program that is read");
    // The sidecar of the output would be that of the source.
    let message = "m_hierarchy.json: is the sidecar of m.onnx";
    refused(&folder, &["tag", "m.onnx", "-o", "m.tagged"], message);
    refused(&folder, &["extract", "m.onnx", "encoder.layer.0", "-o", "m.layer"], message);
    refused(&folder, &["weights", "m.onnx", "--embed", "-o", "m_hierarchy.json"], message);
}

#[test]
fn evidence_and_rules_are_no_outputs() {
    let folder = folder();
    folder.run(&["strip", "m.onnx", "-o", "plain.onnx"]).assert().success();
    let evidence = |given: &[&'static str]| [&["tag", "plain.onnx"], given].concat();
    let message = "m.pt2: is the evidence that is read";
    refused(&folder, &evidence(&["--evidence", "m.pt2", "-o", "m.pt2"]), message);
    let message = "m.onnx: is the evidence that is read";
    refused(&folder, &evidence(&["--from", "m.onnx", "-o", "m.onnx"]), message);
    let message = "m_hierarchy.json: is the evidence that is read";
    refused(&folder, &evidence(&["--from", "m_hierarchy.json", "-o", "m.onnx"]), message);
    let message = "rules.toml: is the rules file that is read";
    refused(&folder, &["tag", "m.onnx", "--rules", "rules.toml", "-o", "rules.toml"], message);
    refused(&folder, &["export", "m.pt2", "--rules", "rules.toml", "-o", "rules.toml"], message);
    // What evidence names is not replaced, either.
    folder.run(&["weights", "plain.onnx", "--embed", "-o", "whole.onnx"]).assert().success();
    let message = "m.onnx.data: is a data file of m.onnx";
    refused(&folder, &["tag", "whole.onnx", "--from", "m.onnx", "-o", "m.onnx.data"], message);
}

#[test]
fn shards_are_no_outputs() {
    let folder = folder();
    std::fs::write(folder.path("model.safetensors"), [&8u64.to_le_bytes()[..], b"{}      "].concat())
        .unwrap();
    let message = "model.safetensors: is a file that holds weights";
    let command = ["weights", "m.onnx", "--reference", "model.safetensors", "-o", "model.safetensors"];
    refused(&folder, &command, message);
    let message = "model.safetensors: is the same file as ./model.safetensors, a file that holds weights";
    refused(&folder, &["weights", "m.onnx", "--reference", ".", "-o", "model.safetensors"], message);
}

#[test]
fn two_outputs_are_two_files() {
    let folder = folder();
    for manifest in ["link/layer.onnx", "link/layer_hierarchy.json", "link/layer.onnx.data"] {
        let before = contents(&folder);
        let command = ["extract", "m.onnx", "encoder.layer.0", "-o", "layer.onnx", "--weights", "external"];
        let (status, said) = failure(&folder, &[&command[..], &["--manifest", manifest]].concat());
        let other = manifest.trim_start_matches("link/");
        let expected = format!("error: {manifest}: is the same file as {other}, which is written, too\n");
        assert_eq!(status, 2);
        assert!(said.starts_with(&expected), "{said}");
        assert!(contents(&folder) == before);
    }
}

/// The operations whose result may take the place of the model that it is made of.
#[test]
fn in_place_stays_possible() {
    let folder = folder();
    let in_place: [&[&str]; 5] = [
        &["tag", "m.onnx"],
        &["weights", "m.onnx", "--embed"],
        &["weights", "m.onnx", "--external"],
        &["weights", "./m.onnx", "--external"],
        &["strip", "m.onnx"],
    ];
    let hashes = |folder: &Folder| {
        let listed = folder.json(&["weights", "m.onnx", "--hash"]);
        assert_eq!(listed["fine"], true);
        let weights = listed["weights"].as_array().unwrap().iter();
        weights.map(|weight| weight["sha1"].to_string()).collect::<Vec<_>>()
    };
    let before = hashes(&folder);
    for command in in_place {
        folder.run(&[command, &["-o", "link/m.onnx", "--overwrite"]].concat()).assert().success();
        assert_eq!(hashes(&folder), before, "{command:?}");
    }
    assert!(!folder.path("m_hierarchy.json").exists());
}

#[test]
fn strip_leaves_the_sidecar_of_another_model() {
    let folder = folder();
    folder.run(&["strip", "m.onnx", "-o", "m.plain"]).assert().success();
    assert!(folder.path("m_hierarchy.json").exists());
}

#[test]
fn the_files_of_a_live_model_are_no_outputs() {
    let folder = folder();
    std::fs::create_dir(folder.path("hub")).unwrap();
    for name in ["config.json", "model.safetensors", "model.onnx"] {
        std::fs::write(folder.path(&format!("hub/{name}")), "{}").unwrap();
    }
    std::fs::write(folder.path("models.py"), "").unwrap();
    for (source, output, message) in [
        ("hub", "hub/model.safetensors", "hub/model.safetensors: is a file that the model is made of"),
        (
            "hub",
            "link/hub/config.json",
            "link/hub/config.json: is the same file as hub/config.json, a file that the model is made of",
        ),
        (
            "models:make",
            "models.py",
            "models.py: is the same file as ./models.py, a file that the model is made of",
        ),
    ] {
        refused(&folder, &["export", source, "-o", output, "--python", "none"], message);
    }
    // What was exported before may be exported again.
    let command = ["export", "hub", "-o", "hub/model.onnx", "--overwrite", "--python", "none/python"];
    assert!(failure(&folder, &command).1.contains("none/python: there is no such Python"));
}

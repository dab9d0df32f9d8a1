//! Real processes that are interrupted, killed, or in each other's way.
#![cfg(unix)]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::process::ExitStatusExt;
use std::process::{Child, Command, ExitStatus, Stdio};
use std::time::Duration;

use modelexport_graph::onnx::{Graph, Model, OpsetImport, Tensor, TensorData};
use modelexport_io::onnx;
use rustix::process::{Pid, Signal, kill_process};

use common::{Folder, repository};

/// Bytes of weights that take long enough to be copied.
const LARGE: u64 = 1 << 30;

/// The visible and the hidden files of a folder, without those below `in`.
fn files(folder: &Folder) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(folder.path("")).unwrap().map(|entry| entry.unwrap());
    let files = entries.filter(|entry| entry.path().is_file());
    files.map(|file| (file.file_name().into_string().unwrap(), fs::read(file.path()).unwrap())).collect()
}

fn start(folder: &Folder, arguments: &[&str]) -> Child {
    let program = assert_cmd::cargo::cargo_bin("modelexport");
    // A shell ignores some signals in what it runs in the background, and the tests may run there.
    let mut command = Command::new("env");
    command.arg("--default-signal").arg(program);
    command.current_dir(folder.path("")).args(arguments).stdout(Stdio::null()).stderr(Stdio::piped());
    command.spawn().unwrap()
}

fn send(child: &Child, signal: Signal) {
    kill_process(Pid::from_child(child), signal).unwrap();
}

/// A folder with a small old model, and a large one below `in` whose data file is a hole.
fn folder_with_large_input() -> Folder {
    let folder = Folder::with(&["norm_embedding"]);
    folder.run(&["weights", "norm_embedding.onnx", "--external", "-o", "m.onnx"]).assert().success();
    fs::create_dir(folder.path("in")).unwrap();
    let entries = [("location", "m.onnx.data".into()), ("offset", "0".into()), ("length", LARGE.to_string())];
    let weight = Tensor {
        name: "w".into(),
        dims: vec![(LARGE / 4) as i64],
        data_type: 1,
        data: TensorData::External(entries.map(|(key, value)| (key.to_owned(), value)).to_vec()),
        ..Tensor::default()
    };
    let graph = Graph { name: "g".into(), initializers: vec![weight], ..Graph::default() };
    let opset_imports = vec![OpsetImport { version: 20, ..OpsetImport::default() }];
    let model = Model { ir_version: 10, graph, opset_imports, ..Model::default() };
    let mut bytes = Vec::new();
    for chunk in onnx::encode(&model).unwrap() {
        let onnx::Chunk::Bytes(part) = chunk else { panic!("its weights are elsewhere") };
        bytes.extend_from_slice(&part);
    }
    fs::write(folder.path("in/m.onnx"), bytes).unwrap();
    fs::File::create(folder.path("in/m.onnx.data")).unwrap().set_len(LARGE).unwrap();
    folder
}

const CONVERT: [&str; 6] = ["weights", "in/m.onnx", "--external", "-o", "m.onnx", "--overwrite"];

/// Waits until the process writes.
fn wait_for_temporary(folder: &Folder, child: &mut Child) {
    let is_writing = || {
        let mut entries = fs::read_dir(folder.path("")).unwrap();
        entries.any(|entry| entry.unwrap().file_name().to_string_lossy().starts_with('.'))
    };
    while !is_writing() {
        assert!(child.try_wait().unwrap().is_none(), "it ended before it wrote");
        std::thread::sleep(Duration::from_millis(1));
    }
}

#[test]
fn a_signal_leaves_the_old_files_and_ends_the_process_by_itself() {
    let folder = folder_with_large_input();
    let old = files(&folder);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        for delay in [0, 20, 100] {
            let mut child = start(&folder, &CONVERT);
            wait_for_temporary(&folder, &mut child);
            std::thread::sleep(Duration::from_millis(delay));
            send(&child, signal);
            let ended = child.wait_with_output().unwrap();
            assert_eq!(ended.status.signal(), Some(signal.as_raw()), "{signal:?} after {delay} ms");
            assert_eq!(ended.stderr, b"");
            assert!(files(&folder) == old, "{signal:?} after {delay} ms: {:?}", files(&folder).keys());
        }
    }
}

#[test]
fn a_signal_before_anything_is_written_ends_the_process_at_once() {
    let folder = folder_with_large_input();
    let old = files(&folder);
    for signal in [Signal::INT, Signal::TERM, Signal::HUP] {
        let child = start(&folder, &["weights", "in/m.onnx", "--hash"]);
        std::thread::sleep(Duration::from_millis(50));
        send(&child, signal);
        let ended = child.wait_with_output().unwrap();
        assert_eq!(ended.status.signal(), Some(signal.as_raw()));
        assert!(files(&folder) == old);
    }
}

#[test]
fn signals_that_the_parent_ignores_stay_ignored() {
    let folder = Folder::with(&["norm_embedding"]);
    let program = assert_cmd::cargo::cargo_bin("modelexport");
    let script =
        r#"trap '' HUP; "$0" weights norm_embedding.onnx --external -o m.onnx & kill -HUP $!; wait $!"#;
    let mut shell = Command::new("sh");
    shell.current_dir(folder.path("")).args(["-c", script]).arg(program).stdout(Stdio::null());
    assert_eq!(shell.status().unwrap().code(), Some(0));
    assert!(folder.path("m.onnx").exists());
}

fn program(fixture: &str) -> String {
    repository().join("fixtures").join(fixture).join("model.pt2").display().to_string()
}

fn export_of(fixture: &str) -> Vec<String> {
    let rest = ["-o", "m.onnx", "--weights", "external", "--overwrite"].map(str::to_owned);
    [&["export".to_owned(), program(fixture)], rest.as_slice()].concat()
}

fn start_export(folder: &Folder, fixture: &str) -> Child {
    let arguments = export_of(fixture);
    start(folder, &arguments.iter().map(String::as_str).collect::<Vec<_>>())
}

/// The names and hashes of the weights of the model at the target, all of which are found.
fn weights(folder: &Folder) -> Vec<(String, String)> {
    let told = folder.json(&["weights", "m.onnx", "--hash"]);
    let weights = told["weights"].as_array().unwrap().iter();
    let text = |value: &serde_json::Value| value.as_str().unwrap().to_owned();
    weights.map(|weight| (text(&weight["name"]), text(&weight["sha1"]))).collect()
}

fn weights_of(fixture: &str) -> Vec<(String, String)> {
    let folder = Folder::with(&[]);
    assert!(start_export(&folder, fixture).wait().unwrap().success());
    assert!(folder.path("m.onnx.data").exists());
    weights(&folder)
}

/// Findings of `validate`, but for those that the sidecar is of the other model.
fn findings(folder: &Folder) -> Vec<String> {
    let output = folder.run(&["validate", "m.onnx", "--format", "json"]).output().unwrap();
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = told["findings"].as_array().unwrap().iter();
    let serious = findings.filter(|finding| finding["severity"] != "note");
    let checks = serious.map(|finding| finding["check"].as_str().unwrap().to_owned());
    checks.filter(|check| !check.starts_with("sidecar")).collect()
}

#[test]
fn a_kill_at_any_moment_leaves_a_model_with_its_own_weights() {
    let fixtures = ["bert_tiny", "llama_tiny"];
    let known = fixtures.map(weights_of);
    let folder = Folder::with(&[]);
    assert!(start_export(&folder, fixtures[0]).wait().unwrap().success());
    let mut kills = 0;
    for round in 0..24 {
        let mut child = start_export(&folder, fixtures[1 - round % 2]);
        if round % 3 > 0 {
            wait_for_temporary(&folder, &mut child);
        }
        std::thread::sleep(Duration::from_micros(round as u64 * 1700 % 23_000));
        child.kill().unwrap();
        kills += usize::from(child.wait().unwrap().signal() == Some(9));
        assert!(known.contains(&weights(&folder)), "round {round}");
        assert_eq!(findings(&folder), [""; 0], "round {round}");
    }
    assert!(kills > 0);
    assert!(start_export(&folder, fixtures[0]).wait().unwrap().success());
    let names: Vec<_> = files(&folder).into_keys().collect();
    assert_eq!(names, ["m.onnx", "m.onnx.data", "m_hierarchy.json"]);
}

#[test]
fn sixteen_writers_of_one_target_never_mix() {
    let fixtures = ["bert_tiny", "llama_tiny", "resnet_tiny", "moe_tiny"];
    let known = fixtures.map(weights_of);
    let folder = Folder::with(&[]);
    for _ in 0..2 {
        let writers: Vec<Child> = (0..16).map(|writer| start_export(&folder, fixtures[writer % 4])).collect();
        let ended: Vec<ExitStatus> = writers.into_iter().map(|mut writer| writer.wait().unwrap()).collect();
        assert!(ended.iter().all(ExitStatus::success), "{ended:?}");
        assert!(known.contains(&weights(&folder)));
        folder.run(&["validate", "m.onnx"]).assert().success();
        let names: Vec<_> = files(&folder).into_keys().collect();
        assert_eq!(names, ["m.onnx", "m.onnx.data", "m_hierarchy.json"]);
    }
}

#[test]
fn validate_notices_the_sidecar_of_another_model() {
    let folder = Folder::with(&["bert_tiny", "llama_tiny"]);
    fs::rename(folder.path("llama_tiny_hierarchy.json"), folder.path("bert_tiny_hierarchy.json")).unwrap();
    let output = folder.run(&["validate", "bert_tiny.onnx", "--format", "json"]).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    let told: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    let findings = told["findings"].as_array().unwrap();
    assert!(findings.iter().any(|finding| finding["check"].as_str().unwrap().starts_with("sidecar")));
}

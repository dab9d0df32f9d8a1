//! A result that cannot be printed is an I/O error of every command.
#![cfg(target_os = "linux")]
#![allow(clippy::unwrap_used, clippy::panic)]

mod common;

use std::fs::File;
use std::process::{Command, Stdio};

use common::{Folder, repository};

const COMMANDS: &[&[&str]] = &[
    &["--help"],
    &["--version"],
    &["tree", "m.onnx"],
    &["analyze", "m.onnx"],
    &["validate", "m.onnx"],
    &["validate", "m.onnx", "--repair", "-o", "repaired.onnx", "--overwrite"],
    &["compare", "m.onnx", "m.onnx"],
    &["operators", "list"],
    &["strategies", "m.onnx"],
    &["weights", "m.onnx"],
    &["weights", "m.onnx", "--external", "-o", "external.onnx", "--overwrite"],
    &["strip", "m.onnx", "-o", "stripped.onnx", "--overwrite"],
    &["tag", "m.onnx", "-o", "tagged.onnx", "--overwrite", "--force"],
    &["extract", "m.onnx", "head", "-o", "part.onnx", "--overwrite"],
    &["functions", "m.onnx", "--all", "-o", "functions.onnx", "--overwrite"],
    &["export", "model.pt2", "-o", "exported.onnx", "--overwrite"],
];

#[test]
fn every_command_says_that_its_result_could_not_be_printed() {
    let folder = Folder::with(&["shared_module"]);
    std::fs::rename(folder.path("shared_module.onnx"), folder.path("m.onnx")).unwrap();
    let sidecar = folder.path("m_hierarchy.json");
    std::fs::rename(folder.path("shared_module_hierarchy.json"), sidecar).unwrap();
    std::fs::copy(repository().join("fixtures/shared_module/model.pt2"), folder.path("model.pt2")).unwrap();
    for arguments in COMMANDS {
        let run = |stdout: Stdio| {
            let mut command = Command::new(assert_cmd::cargo::cargo_bin("modelexport"));
            command.current_dir(folder.path("")).args(*arguments).stdin(Stdio::null()).stdout(stdout);
            let output = command.output().unwrap();
            (output.status.code(), String::from_utf8(output.stderr).unwrap())
        };
        let (status, stderr) = run(Stdio::null());
        assert_eq!(status, Some(0), "{arguments:?}: {stderr}");
        let (status, stderr) = run(File::options().write(true).open("/dev/full").unwrap().into());
        assert_eq!(status, Some(3), "{arguments:?}: {stderr}");
        let (reader, writer) = std::io::pipe().unwrap();
        drop(reader);
        let (status, stderr) = run(writer.into());
        assert_eq!(status, Some(3), "{arguments:?}: {stderr}");
        assert!(!stderr.contains("error"), "a reader that has enough is told nothing: {stderr}");
    }
}

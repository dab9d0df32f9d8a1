//! A folder with exported fixtures, and the command run in it.
#![allow(dead_code)]

use std::path::{Path, PathBuf};

use assert_cmd::Command;
use modelexport_graph::onnx::Model;
use modelexport_io::onnx;

pub fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().unwrap()
}

/// The names of all fixtures.
pub fn fixtures() -> Vec<String> {
    let mut names: Vec<String> = std::fs::read_dir(repository().join("fixtures"))
        .unwrap()
        .map(|entry| entry.unwrap())
        .filter(|entry| entry.path().join("model.pt2").is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

/// A folder that is gone when it is dropped.
pub struct Folder(tempfile::TempDir);

impl Folder {
    /// With an exported ONNX file of each fixture.
    pub fn with(fixtures: &[&str]) -> Folder {
        let folder = Folder(tempfile::tempdir().unwrap());
        for fixture in fixtures {
            let program = repository().join("fixtures").join(fixture).join("model.pt2");
            let target = format!("{fixture}.onnx");
            folder.run(&["export", program.to_str().unwrap(), "-o", &target]).assert().success();
        }
        folder
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn bytes(&self, name: &str) -> Vec<u8> {
        std::fs::read(self.path(name)).unwrap()
    }

    pub fn model(&self, name: &str) -> Model {
        onnx::read(&self.path(name)).unwrap().model
    }

    pub fn run(&self, arguments: &[&str]) -> Command {
        let mut command = Command::cargo_bin("modelexport").unwrap();
        command.current_dir(self.0.path()).args(arguments);
        command
    }

    /// The command with `--format json`; it must succeed.
    pub fn json(&self, arguments: &[&str]) -> serde_json::Value {
        let output = self.run(&[arguments, &["--format", "json"]].concat()).output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
        serde_json::from_slice(&output.stdout).unwrap()
    }
}

/// Exit status and stderr; nothing may stand on stdout.
pub fn failure(folder: &Folder, arguments: &[&str]) -> (i32, String) {
    let output = folder.run(arguments).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout), "");
    (output.status.code().unwrap(), String::from_utf8(output.stderr).unwrap())
}

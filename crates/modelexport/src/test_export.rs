//! Exports of fixtures, for tests.

use std::path::{Path, PathBuf};

use modelexport_graph::onnx::Model;
use modelexport_io::output::{Settings, Transaction};
use modelexport_io::pt2;
use modelexport_io::weights::WeightsMode;

use crate::embedding::Embed;
use crate::export::{self, Exported};
use crate::policy::Policy;
use crate::tags::TagFormat;

fn options(policy: Policy, tag_format: TagFormat) -> export::Options {
    export::Options {
        lower: modelexport_lower::Options::default(),
        policy,
        tag_format,
        embed: Embed::BOTH,
        source_info: false,
    }
}

fn exported(program: &Path, options: &export::Options) -> (Exported, modelexport_io::source::Sources) {
    let archive = pt2::read(program).unwrap();
    let source = export::source_of(program, &archive.program);
    let exported = export::export(archive.program, &archive.sources, source, options).unwrap();
    (exported, archive.sources)
}

/// The tagged model of a captured program, in memory.
pub(crate) fn model(program: &Path) -> Model {
    exported(program, &options(Policy::default(), TagFormat::Instance)).0.model
}

/// The captured program of a fixture.
pub(crate) fn captured(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/{name}/model.pt2"))
}

/// A fixture, exported to `folder` as `m.onnx` with its sidecar.
pub(crate) fn fixture_with(folder: &Path, name: &str, policy: Policy, tag_format: TagFormat) -> PathBuf {
    let (exported, sources) = exported(&captured(name), &options(policy, tag_format));
    let path = folder.join("m.onnx");
    let transaction = Transaction::begin(&path, Settings { overwrite: true, ..Settings::default() }).unwrap();
    export::write(transaction, exported, &sources, WeightsMode::Embed, &mut |_| ()).unwrap();
    path
}

pub(crate) fn fixture(folder: &Path, name: &str) -> PathBuf {
    fixture_with(folder, name, Policy::default(), TagFormat::Instance)
}

/// The names of all fixtures.
pub(crate) fn fixtures() -> Vec<String> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../fixtures");
    let entries = std::fs::read_dir(folder).unwrap().map(|entry| entry.unwrap());
    let mut names: Vec<String> = entries
        .filter(|entry| entry.path().join("model.pt2").is_file())
        .map(|entry| entry.file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

//! Exports of fixtures, for tests.

use std::path::{Path, PathBuf};

use modelexport_graph::onnx::Model;
use modelexport_io::pt2;

use crate::embedding::Embed;
use crate::export::{self, Export, Lowered};
use crate::policy::Policy;
use crate::tag_choice::TagChoice;
use crate::tags::TagFormat;

/// The tagged model of a captured program, in memory.
pub(crate) fn model(program: &Path) -> Model {
    let archive = pt2::read(program).unwrap();
    let source = export::source_of(program, &archive.program);
    let options = export::Options {
        lower: modelexport_lower::Options::default(),
        policy: Policy::default(),
        tag_format: TagFormat::Instance,
        embed: Embed::BOTH,
        source_info: false,
    };
    let Lowered { mut model, mut sidecar, context } =
        export::lower(archive.program, &archive.sources, source, &options).unwrap();
    context.embed(&mut model, &mut sidecar);
    model
}

/// The captured program of a fixture.
pub(crate) fn captured(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/{name}/model.pt2"))
}

/// A fixture, exported to `folder` as `m.onnx` with its sidecar.
pub(crate) fn fixture_with(folder: &Path, name: &str, tags: TagChoice) -> PathBuf {
    let path = folder.join("m.onnx");
    let mut export = Export { tags, ..Export::new(captured(name), &path) };
    export.target.overwrite = true;
    export.run(&mut ()).unwrap();
    path
}

pub(crate) fn fixture(folder: &Path, name: &str) -> PathBuf {
    fixture_with(folder, name, TagChoice::default())
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

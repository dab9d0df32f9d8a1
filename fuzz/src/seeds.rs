//! Inputs to begin with: the fixtures of the repository, made small, and the files in `corpus/`.

use std::path::{Path, PathBuf};

use modelexport::Export;
use modelexport::embedding::Embed;
use modelexport::export::Source;
use modelexport_io::weights::WeightsMode;

use crate::files;
use crate::mutate::json::Json;
use crate::mutate::zip::Zip;

/// Larger programs take so long that few inputs would be tried.
const MAX_PROGRAM: usize = 24 << 10;

fn repository() -> &'static Path {
    Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))
}

/// The committed inputs of a target.
pub fn corpus(target: &str) -> Vec<Vec<u8>> {
    sorted(&repository().join("fuzz/corpus").join(target)).iter().map(|path| files::read(path)).collect()
}

fn sorted(folder: &Path) -> Vec<PathBuf> {
    let Ok(entries) = std::fs::read_dir(folder) else { return Vec::new() };
    let mut paths: Vec<PathBuf> = entries.flatten().map(|entry| entry.path()).collect();
    paths.sort();
    paths
}

/// A file beside each fixture that has it.
fn fixtures(file: &str) -> Vec<PathBuf> {
    let folders = sorted(&repository().join("fixtures"));
    folders.into_iter().map(|folder| folder.join(file)).filter(|path| path.is_file()).collect()
}

/// Captured programs without their example inputs and stack traces.
pub fn archives() -> Vec<Zip> {
    let archives = fixtures("model.pt2").into_iter().filter_map(|path| {
        let mut zip = Zip::read(&files::read(&path))?;
        zip.0.retain(|(name, _)| !name.ends_with(".pt"));
        let (_, program) = zip.0.iter_mut().find(|(name, _)| name.ends_with("models/model.json"))?;
        let mut json = Json::parse(program)?;
        json.remove("stack_trace");
        *program = json.to_string().into_bytes();
        (program.len() <= MAX_PROGRAM).then_some(zip)
    });
    archives.collect()
}

/// Exported models: with tags and without, with weights inside and beside.
pub fn models() -> Vec<Vec<u8>> {
    let folder = files::folder("seeds");
    let archive = folder.join("seed.pt2");
    let output = folder.join("seed.onnx");
    let mut models = Vec::new();
    for zip in archives() {
        files::write(&archive, &zip.write());
        for (embed, weights) in [
            (Embed::NONE, WeightsMode::Embed),
            (Embed::BOTH, WeightsMode::External),
            (Embed::NONE, WeightsMode::None),
        ] {
            let mut export = Export::new(&archive, &output);
            (export.embed, export.weights, export.target.overwrite) = (embed, weights, true);
            if export.run(&mut ()).is_ok() {
                models.push(files::read(&output));
            }
        }
    }
    files::clear(&folder);
    models
}

/// Sidecars of exported models and traces of their runs.
pub fn documents() -> Vec<Vec<u8>> {
    let folder = files::folder("seeds");
    let (archive, output) = (folder.join("seed.pt2"), folder.join("seed.onnx"));
    let mut documents: Vec<Vec<u8>> = fixtures("trace.json").iter().map(|path| files::read(path)).collect();
    documents.retain(|trace| trace.len() <= 2 * MAX_PROGRAM);
    for zip in archives() {
        files::write(&archive, &zip.write());
        let mut export = Export::of(Source::Archive(archive.clone()), modelexport::Target::new(&output));
        (export.returns_sidecar, export.target.overwrite) = (true, true);
        documents.extend(export.run(&mut ()).ok().map(|exported| exported.sidecar));
    }
    files::clear(&folder);
    documents
}

/// A fixture, exported into `folder`.
pub fn exported_fixture(name: &str, folder: &Path) -> PathBuf {
    let output = folder.join("model.onnx");
    let mut export = Export::new(repository().join("fixtures").join(name).join("model.pt2"), &output);
    export.target.overwrite = true;
    export.run(&mut ()).expect("a fixture can be exported");
    output
}

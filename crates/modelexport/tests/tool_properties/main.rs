//! What holds for every model: the commands on modules lose nothing, find nothing where nothing is, and undo each other.
#![allow(
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test that cannot go on should stop"
)]

mod random_model;

use std::path::{Path, PathBuf};

use modelexport::compare::{self, compare};
use modelexport::extract::{self, extract};
use modelexport::tagged_file::TaggedFile;
use modelexport::{analyze, functions, strip, validate};
use modelexport_graph::ModuleId;
use modelexport_graph::onnx::Model;
use modelexport_io::onnx::{self, Chunk};
use modelexport_io::sidecar;
use proptest::prelude::*;
use random_model::{Made, classes, make};

fn bytes(model: &Model) -> Vec<u8> {
    let mut bytes = Vec::new();
    for chunk in onnx::encode(model).unwrap() {
        let Chunk::Bytes(part) = chunk else { panic!("all weights are in memory") };
        bytes.extend_from_slice(&part);
    }
    bytes
}

/// A folder with the tagged model as `m.onnx` and its sidecar.
fn written(made: &Made) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("m.onnx");
    let (model, told) = made.tagged();
    std::fs::write(&path, bytes(&model)).unwrap();
    std::fs::write(sidecar::path_beside(&path), told.to_bytes().unwrap()).unwrap();
    (folder, path)
}

fn all_modules(file: &TaggedFile) -> Vec<ModuleId> {
    file.hierarchy.tree.iter().map(|(id, _)| id).collect()
}

/// The modules of which one call left nodes; those of several need a number.
fn calls_of(file: &TaggedFile, id: ModuleId) -> Vec<Option<u32>> {
    match file.hierarchy.tree.get(id).unwrap().calls {
        0 | 1 => vec![None],
        calls => (0..calls).map(Some).collect(),
    }
}

fn findings(path: &Path) -> Vec<validate::Finding> {
    validate::validate(path).unwrap().findings
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_found_in_a_model_that_was_exported(classes in classes()) {
        let (_folder, path) = written(&make(&classes));
        prop_assert_eq!(findings(&path), vec![]);
        std::fs::remove_file(sidecar::path_beside(&path)).unwrap();
        prop_assert_eq!(findings(&path), vec![]);
    }

    #[test]
    fn an_analysis_counts_every_node(classes in classes()) {
        let made = make(&classes);
        let (_folder, path) = written(&made);
        let analysis = analyze::analyze(&path, &analyze::Options::default()).unwrap();
        let mut nodes = 0;
        made.model.for_each_node(&mut |_| nodes += 1);
        prop_assert_eq!(analysis.totals.attributed_nodes, nodes);
        prop_assert_eq!(analysis.totals.coverage, 1.0);
    }

    #[test]
    fn a_file_compared_with_itself_has_no_differences(classes in classes()) {
        let (_folder, path) = written(&make(&classes));
        let open = || TaggedFile::open(&path).unwrap();
        let comparison = compare(&mut open(), &mut open(), &compare::Options::default());
        prop_assert!(comparison.equal, "{:?}", comparison);
        prop_assert!(comparison.model.is_empty() && comparison.modules.is_empty());
    }

    #[test]
    fn the_root_cut_out_is_the_whole_model(classes in classes()) {
        let (_folder, path) = written(&make(&classes));
        let file = TaggedFile::open(&path).unwrap();
        let cut = extract(&file, &[ModuleId::ROOT], &extract::Options::default()).unwrap();
        prop_assert_eq!(bytes(&cut.model), std::fs::read(&path).unwrap());
    }

    #[test]
    fn every_call_cut_out_is_a_whole_model(classes in classes()) {
        let (folder, path) = written(&make(&classes));
        let file = TaggedFile::open(&path).unwrap();
        for id in all_modules(&file) {
            for call in calls_of(&file, id) {
                let options = extract::Options { call, ..extract::Options::default() };
                let cut = match extract(&file, &[id], &options) {
                    Ok(cut) => cut,
                    // Nobody reads what it makes.
                    Err(extract::Error::NoOutputs { .. }) => continue,
                    Err(other) => return Err(TestCaseError::fail(other.to_string())),
                };
                let part = folder.path().join("part.onnx");
                std::fs::write(&part, bytes(&cut.model)).unwrap();
                prop_assert_eq!(findings(&part), vec![], "{:?} call {:?}", id, call);
                let made: usize = cut.model.graph.nodes.iter().map(|node| node.outputs.len()).sum();
                prop_assert!(made >= cut.manifest.outputs.len());
            }
        }
    }

    #[test]
    fn functions_put_in_place_again_are_the_model_from_before(classes in classes(), least in 1usize..4) {
        let (folder, path) = written(&make(&classes));
        let file = TaggedFile::open(&path).unwrap();
        let options = functions::Options { min_instances: least };
        let converted = functions::convert(&file, &all_modules(&file), &options).unwrap();
        for function in &converted.report.functions {
            prop_assert!(function.calls.len() >= least);
        }
        let target = folder.path().join("functions.onnx");
        std::fs::write(&target, bytes(&converted.model)).unwrap();
        prop_assert_eq!(findings(&target), vec![]);
        let mut back = TaggedFile::open(&target).unwrap().model;
        functions::inline(&mut back).unwrap();
        prop_assert_eq!(bytes(&back), std::fs::read(&path).unwrap());
    }

    #[test]
    fn a_tagged_file_without_its_tags_is_the_original(classes in classes(), said in "\\PC{0,12}") {
        let mut made = make(&classes);
        // What somebody else noted stays.
        let first = &mut made.model.graph.nodes[0];
        first.doc_string = said.clone();
        first.metadata = vec![("namespace".into(), said.clone()), ("note".into(), said)];
        let (folder, path) = written(&made);
        let target = folder.path().join("plain.onnx");
        strip::strip(&path, &target, &strip::Options::default()).unwrap();
        prop_assert_eq!(std::fs::read(&target).unwrap(), bytes(&made.model));
    }
}

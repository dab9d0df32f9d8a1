use modelexport_graph::onnx::Model;

use super::*;
use crate::policy::Preset;
use crate::tag_choice::TagChoice;
use crate::tags::TagFormat;
use crate::test_export::{fixture, fixture_with};

/// `(node, module, tag of the module, calls)` of every node.
fn placed(file: &TaggedFile) -> Vec<(String, String, String, Vec<u32>)> {
    let mut nodes = Vec::new();
    let mut visit = |node: &Node| {
        let scope = file.scope(node).unwrap();
        let module = file.module(node).unwrap();
        let path = file.hierarchy.tree.get(module).unwrap().path.to_string();
        let tag = file.tags.tag(module).to_string();
        nodes.push((node.name.to_string(), path, tag, file.hierarchy.scopes.calls(scope)));
    };
    Model::for_each_node(&file.model, &mut visit);
    nodes
}

#[test]
fn a_file_tells_the_same_with_its_sidecar_and_without() {
    let rules_folder = tempfile::tempdir().unwrap();
    let rules = rules_folder.path().join("r.toml");
    std::fs::write(&rules, "exclude = ['class:BertLayer']").unwrap();
    let default = TagChoice::default;
    let cases = [
        ("shared_module", default()),
        ("bert_tiny", default()),
        ("bert_tiny", TagChoice { modules: Some(Preset::All), ..default() }),
        ("bert_tiny", TagChoice { tag_format: Some(TagFormat::Class), ..default() }),
        ("bert_tiny", TagChoice { torch_nn_exceptions: Some(Vec::new()), ..default() }),
        ("bert_tiny", TagChoice { rules: Some(rules), ..default() }),
        ("cond", default()),
    ];
    for (fixture, tags) in cases {
        let folder = tempfile::tempdir().unwrap();
        let path = fixture_with(folder.path(), fixture, tags);
        let with = TaggedFile::open(&path).unwrap();
        for node in &with.sidecar.as_ref().unwrap().nodes {
            let found = placed(&with).into_iter().find(|(name, ..)| **name == *node.name).unwrap();
            assert_eq!((&*found.1, &*found.2), (&*node.module, &*node.path), "{fixture}");
        }
        std::fs::remove_file(sidecar::path_beside(&path)).unwrap();
        let without = TaggedFile::open(&path).unwrap();
        assert!(without.sidecar.is_none() && without.sidecar_problem.is_none());
        assert_eq!(placed(&with), placed(&without), "{fixture}");
    }
}

#[test]
fn the_calls_of_a_shared_module_are_told_apart() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "shared_module");
    let file = TaggedFile::open(&path).unwrap();
    let later = placed(&file).into_iter().filter(|(.., calls)| calls.iter().any(|&call| call > 0)).count();
    assert!(later > 0);
    for (_, module) in file.hierarchy.tree.iter().filter(|(_, module)| module.calls > 1) {
        let mut found: Vec<u32> = placed(&file)
            .iter()
            .filter(|node| *node.1 == *module.path)
            .filter_map(|node| node.3.last().copied())
            .collect();
        found.dedup();
        assert_eq!(found, (0..module.calls).collect::<Vec<u32>>(), "{}", module.path);
    }
}

#[test]
fn a_file_that_says_nothing_is_refused_unless_any_will_do() {
    let folder = tempfile::tempdir().unwrap();
    let path = fixture(folder.path(), "plain_linear_relu");
    std::fs::remove_file(sidecar::path_beside(&path)).unwrap();
    let mut sources = Sources::new();
    let id = sources.add_file(&path).unwrap();
    let stripped = onnx::strip(&sources, id).unwrap().to_vec().unwrap();
    std::fs::write(&path, stripped).unwrap();
    assert!(matches!(TaggedFile::open(&path), Err(Error::NoHierarchy { .. })));
    let file = TaggedFile::open_any(&path).unwrap();
    assert!(file.records_no_modules());
    let mut nodes = 0;
    file.model.for_each_node(&mut |node| {
        assert!(file.module(node).is_none());
        nodes += 1;
    });
    assert_eq!(nodes, file.hierarchy.unattributed_nodes);
}

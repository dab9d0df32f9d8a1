//! The part of a sidecar that tells of some of its nodes.

use std::collections::{BTreeMap, HashMap, HashSet};

use modelexport_graph::onnx::Model;
use modelexport_io::sidecar::{NodeCount, Sidecar, Statistics};

use crate::tagged_file::TaggedFile;

/// The nodes of `model` and their modules, with all modules above these.
pub(super) fn subset(whole: &Sidecar, model: &Model, file: &TaggedFile) -> Sidecar {
    let mut left = HashSet::new();
    let mut all_nodes = 0;
    model.for_each_node(&mut |node| {
        all_nodes += 1;
        left.insert(node.name.clone());
    });
    let nodes: Vec<_> = whole.nodes.iter().filter(|node| left.contains(&node.name)).cloned().collect();

    let parents: HashMap<&str, Option<&str>> =
        whole.modules.iter().map(|module| (&*module.path, module.parent.as_deref())).collect();
    let mut counts: HashMap<&str, NodeCount> = HashMap::new();
    let mut by_method: BTreeMap<String, u64> = BTreeMap::new();
    let mut tagged_operations = 0;
    for node in &nodes {
        *by_method.entry(node.method.name().to_owned()).or_default() += 1;
        let module = file.hierarchy.tree.find(&node.module);
        tagged_operations += u64::from(module.is_some_and(|module| file.tags.is_chosen(module)));
        if let Some((path, _)) = parents.get_key_value(&*node.module) {
            counts.entry(path).or_default().own += 1;
        }
        let mut at = parents.get_key_value(&*node.module);
        while let Some((path, parent)) = at {
            counts.entry(path).or_default().total += 1;
            at = parent.and_then(|parent| parents.get_key_value(parent));
        }
    }
    let modules: Vec<_> = whole
        .modules
        .iter()
        .filter(|module| counts.contains_key(&*module.path))
        .map(|module| {
            let mut module = module.clone();
            module.nodes = counts.get(&*module.path).copied().unwrap_or_default();
            module
        })
        .collect();
    let statistics = Statistics {
        modules: modules.len() as u64,
        executed_modules: modules.iter().filter(|module| module.executed).count() as u64,
        visible_modules: modules.iter().filter(|module| module.visible).count() as u64,
        nodes: all_nodes,
        attributed_nodes: nodes.len() as u64,
        coverage: if all_nodes == 0 { 1.0 } else { nodes.len() as f64 / all_nodes as f64 },
        tagged_operations,
        by_method,
        seconds: None,
        fit: None,
    };
    Sidecar { modules, nodes, statistics, ..whole.clone() }
}

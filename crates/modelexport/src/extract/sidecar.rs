//! The part of a sidecar that describes some of its nodes.

use std::collections::{BTreeMap, HashMap, HashSet};

use modelexport_graph::module_tree::Parameter;
use modelexport_graph::onnx::Model;
use modelexport_graph::{ModuleId, Name};
use modelexport_io::sidecar::{NodeCount, Sidecar, Statistics};

use crate::parameter_counts;
use crate::tagged_file::TaggedFile;

/// The nodes of `model` and their modules, with all modules above these, and all below the `chosen` ones. Of the others'
/// parameters only those are listed that the model holds.
pub(super) fn subset(whole: &Sidecar, model: &Model, chosen: &[ModuleId], file: &TaggedFile) -> Sidecar {
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
    let tree = &file.hierarchy.tree;
    let is_chosen = |path: &str| {
        tree.find(path).is_some_and(|id| tree.chain(id).iter().any(|above| chosen.contains(above)))
    };
    let above: HashSet<ModuleId> = chosen.iter().flat_map(|&id| tree.chain(id)).collect();
    let is_above = |path: &str| tree.find(path).is_some_and(|id| above.contains(&id));
    let held: HashSet<&Name> = model.graph.initializers.iter().map(|tensor| &tensor.name).collect();
    let modules: Vec<_> = whole
        .modules
        .iter()
        .filter_map(|module| {
            let (nodes, is_chosen) = (counts.get(&*module.path), is_chosen(&module.path));
            if nodes.is_none() && !is_chosen && !is_above(&module.path) {
                return None;
            }
            let mut module = module.clone();
            module.nodes = nodes.copied().unwrap_or_default();
            module.parameters.retain(|parameter| is_chosen || held.contains(&parameter.name));
            Some(module)
        })
        .collect();
    let parameters: Vec<Parameter> =
        modules.iter().flat_map(|module| &module.parameters).map(Parameter::from).collect();
    let statistics = Statistics {
        modules: modules.len() as u64,
        executed_modules: modules.iter().filter(|module| module.executed).count() as u64,
        visible_modules: modules.iter().filter(|module| module.visible).count() as u64,
        parameters: parameter_counts::distinct(&parameters, false).elements,
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

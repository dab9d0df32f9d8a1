//! A node that reads a parameter belongs to the module that owns it, to one below, or to one above that uses it.

use std::collections::{HashMap, HashSet};

use modelexport_graph::onnx::Node;
use modelexport_graph::{ModuleId, ModuleTree};

use super::super::finding::{Findings, Group, Severity, place_of};
use crate::tagged_file::TaggedFile;

pub(in super::super) fn check(file: &TaggedFile, findings: &mut Findings) {
    let tree = &file.hierarchy.tree;
    let owners = owners(file);
    let mut readers: HashMap<&str, Vec<&Node>> = HashMap::new();
    file.model.graph.for_each_node(&mut |node| {
        for input in node.inputs.iter().filter(|input| owners.contains_key(&***input)) {
            readers.entry(input).or_default().push(node);
        }
    });
    // A parameter that its owner reads, too, is shared: others may read it.
    let is_read_at_home = |name: &str, owner: ModuleId| {
        let is_at_home =
            |node: &&Node| file.module(node).is_none_or(|module| is_related(tree, owner, module));
        readers.get(name).is_some_and(|nodes| nodes.iter().any(is_at_home))
    };
    // A module that reads none of its parameters does not count: it has no nodes, or works with copies of them.
    let at_home: HashSet<ModuleId> = owners
        .iter()
        .filter(|&(name, &owner)| is_read_at_home(name, owner))
        .map(|(_, &owner)| owner)
        .collect();
    for tensor in &file.model.graph.initializers {
        let Some(&owner) = owners.get(&*tensor.name).filter(|owner| at_home.contains(owner)) else {
            continue;
        };
        if is_read_at_home(&tensor.name, owner) {
            continue;
        }
        let owner_path = tree.get(owner).map(|module| module.path.clone()).unwrap_or_default();
        for node in readers.get(&*tensor.name).into_iter().flatten() {
            let module = file.module(node).and_then(|module| tree.get(module));
            let message = format!(
                "reads the parameter {:?} of module {owner_path:?}, but belongs to {:?}",
                tensor.name,
                module.map(|module| module.path.clone()).unwrap_or_default()
            );
            findings.add(Group::Consistency, "parameter-owner", Severity::Warning, place_of(node), message);
        }
    }
}

/// The modules that parameters are named after.
fn owners(file: &TaggedFile) -> HashMap<&str, ModuleId> {
    let owner = |name: &str| file.hierarchy.tree.find(name.rsplit_once('.')?.0);
    let tensors = file.model.graph.initializers.iter();
    tensors.filter_map(|tensor| Some((&*tensor.name, owner(&tensor.name)?))).collect()
}

fn is_related(tree: &ModuleTree, a: ModuleId, b: ModuleId) -> bool {
    let common = tree.lowest_common_ancestor(a, b);
    common == a || common == b
}

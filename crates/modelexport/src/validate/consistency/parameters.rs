//! A node that reads a parameter belongs to the module that owns it, to one below, or to one above that uses it.

use std::collections::HashMap;

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
    for tensor in &file.model.graph.initializers {
        let (Some(&owner), Some(readers)) = (owners.get(&*tensor.name), readers.get(&*tensor.name)) else {
            continue;
        };
        let is_at_home =
            |node: &&&Node| file.module(node).is_none_or(|module| is_related(tree, owner, module));
        // A parameter that its owner reads, too, is shared: others may read it.
        if readers.iter().any(|node| is_at_home(&node)) {
            continue;
        }
        let owner_path = tree.get(owner).map(|module| module.path.clone()).unwrap_or_default();
        for node in readers {
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

/// The modules that parameters are named after. A module without any nodes does not count: its parameters are used by
/// others on purpose.
fn owners(file: &TaggedFile) -> HashMap<&str, ModuleId> {
    let tree = &file.hierarchy.tree;
    let mut has_nodes: Vec<bool> = file.hierarchy.own_nodes.iter().map(|&nodes| nodes > 0).collect();
    has_nodes.resize(tree.len(), false);
    for id in (1..tree.len()).rev() {
        let parent = tree.get(ModuleId(id as u32)).and_then(|module| module.parent);
        let below = has_nodes.get(id).copied().unwrap_or(false);
        if let Some(above) = parent.and_then(|parent| has_nodes.get_mut(parent.0 as usize)) {
            *above |= below;
        }
    }
    let mut owners = HashMap::new();
    for tensor in &file.model.graph.initializers {
        let path = tensor.name.rsplit_once('.').map(|(path, _)| path);
        let owner = path.and_then(|path| tree.find(path));
        if let Some(owner) = owner.filter(|owner| has_nodes.get(owner.0 as usize) == Some(&true)) {
            owners.insert(&*tensor.name, owner);
        }
    }
    owners
}

fn is_related(tree: &ModuleTree, a: ModuleId, b: ModuleId) -> bool {
    let common = tree.lowest_common_ancestor(a, b);
    common == a || common == b
}

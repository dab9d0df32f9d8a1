//! Modules that were added, removed or changed their class.

use std::collections::{BTreeMap, BTreeSet};

use modelexport_graph::onnx::Node;
use modelexport_graph::{ModuleId, Name};

use super::matching::{Matching, all_nodes};
use super::{Difference, Found};
use crate::tagged_file::TaggedFile;

/// A module that ran: its class and the number of its calls.
type Executed = (Name, u32);

pub(super) fn compare(before: &TaggedFile, after: &TaggedFile, matching: &Matching, found: &mut Found) {
    let (old, new) = (executed(before), executed(after));
    let (old_nodes, new_nodes) = (all_nodes(&before.model), all_nodes(&after.model));
    let untold = untold((before, &old_nodes), (after, &new_nodes), &matching.to_after);
    for (path, (class, calls)) in &old {
        match new.get(path) {
            None if untold.contains(path) => {}
            None => found.removed.push(path.clone()),
            Some((other, other_calls)) => {
                let subject = if path.is_empty() { "(root)" } else { path };
                // A file without a sidecar may know no class.
                if class != other && !class.is_empty() && !other.is_empty() {
                    let difference = Difference::structure("class changed", subject);
                    found.push(Some(path.clone()), difference.from(&**class).to(&**other));
                }
                if calls != other_calls {
                    let difference = Difference::structure("calls changed", subject);
                    found.push(
                        Some(path.clone()),
                        difference.from(calls.to_string()).to(other_calls.to_string()),
                    );
                }
            }
        }
    }
    let untold = self::untold((after, &new_nodes), (before, &old_nodes), &matching.to_before);
    let added = new.keys().filter(|path| !old.contains_key(*path) && !untold.contains(*path));
    found.added.extend(added.cloned());
}

/// Modules of one file that have nodes of which the other file does not tell the module, and all modules above them:
/// they are not gone.
fn untold(
    (file, nodes): (&TaggedFile, &[&Node]),
    (other, others): (&TaggedFile, &[&Node]),
    partners: &[Option<usize>],
) -> BTreeSet<Name> {
    let mut modules: BTreeSet<ModuleId> = BTreeSet::new();
    for (node, partner) in nodes.iter().zip(partners) {
        let partner = partner.and_then(|partner| others.get(partner));
        if let (Some(module), Some(partner)) = (file.module(node), partner)
            && other.module(partner).is_none()
        {
            modules.insert(module);
        }
    }
    let tree = &file.hierarchy.tree;
    let above: BTreeSet<ModuleId> = modules.into_iter().flat_map(|module| tree.chain(module)).collect();
    above.into_iter().filter_map(|module| tree.get(module)).map(|module| module.path.clone()).collect()
}

/// Modules of which nodes are left, and those around them. What left no node differs by who told of it only.
fn executed(file: &TaggedFile) -> BTreeMap<Name, Executed> {
    let tree = &file.hierarchy.tree;
    let mut has_nodes = vec![false; tree.len()];
    for (id, _) in tree.iter() {
        if file.hierarchy.own_nodes.get(id.0 as usize).is_some_and(|count| *count > 0) {
            for above in tree.chain(id) {
                if let Some(slot) = has_nodes.get_mut(above.0 as usize) {
                    *slot = true;
                }
            }
        }
    }
    let ran = tree.iter().zip(has_nodes).filter(|(_, has_nodes)| *has_nodes).map(|((_, module), _)| module);
    ran.map(|module| (module.path.clone(), (module.class.clone(), module.calls))).collect()
}

//! Modules that came, went or changed their class.

use std::collections::BTreeMap;

use modelexport_graph::Name;

use super::{Difference, Found};
use crate::tagged_file::TaggedFile;

/// A module that ran: its class and the number of its calls.
type Executed = (Name, u32);

pub(super) fn compare(before: &TaggedFile, after: &TaggedFile, found: &mut Found) {
    let (old, new) = (executed(before), executed(after));
    for (path, (class, calls)) in &old {
        match new.get(path) {
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
    found.added.extend(new.keys().filter(|path| !old.contains_key(*path)).cloned());
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

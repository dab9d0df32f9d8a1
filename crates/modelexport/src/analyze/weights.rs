//! Which module each weight of the main graph belongs to.

use std::collections::HashMap;

use modelexport_graph::ModuleId;

use crate::hierarchy;
use crate::tagged_file::TaggedFile;

/// Weights by name.
pub(super) struct Owners<'a> {
    /// With whether it is a parameter.
    by_name: HashMap<&'a str, (ModuleId, bool)>,
}

impl<'a> Owners<'a> {
    /// A weight belongs to the module that lists it as its parameter or buffer, else to the deepest module that holds
    /// all nodes which read it.
    pub(super) fn new(file: &'a TaggedFile) -> Self {
        let mut by_name: HashMap<&str, (ModuleId, bool)> = HashMap::new();
        let readers = hierarchy::readers(&file.model, &file.hierarchy);
        for tensor in &file.model.graph.initializers {
            let reader = readers.get(&tensor.name).copied().flatten();
            by_name.insert(&tensor.name, (reader.unwrap_or(ModuleId::ROOT), false));
        }
        for (id, module) in file.hierarchy.tree.iter() {
            for parameter in &module.parameters {
                by_name.insert(&parameter.name, (id, !parameter.is_buffer));
            }
        }
        Owners { by_name }
    }

    pub(super) fn of(&self, name: &str) -> (ModuleId, bool) {
        self.by_name.get(name).copied().unwrap_or((ModuleId::ROOT, false))
    }
}

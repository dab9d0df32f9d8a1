//! Which module each weight of the main graph belongs to, and whether it holds parameters.

use std::cmp::Reverse;
use std::collections::{HashMap, HashSet};

use modelexport_graph::{ModuleId, Name};

use crate::hierarchy;
use crate::parameter_counts::{first_name, with_below};
use crate::tagged_file::TaggedFile;
use crate::tensors;

/// Weights by name.
pub(super) struct Owners<'a> {
    /// With whether it holds parameters.
    by_name: HashMap<&'a str, (ModuleId, bool)>,
}

impl<'a> Owners<'a> {
    /// A weight belongs to the module that lists it as its parameter or buffer, else to the deepest module that holds
    /// all nodes which read it. There it holds parameters if the module and those below it have as many of which no
    /// weight has the name: one that was quantised, transposed or packed has a name of its own.
    pub(super) fn new(file: &'a TaggedFile) -> Self {
        let mut by_name: HashMap<&str, (ModuleId, bool)> = HashMap::new();
        for (id, module) in file.hierarchy.tree.iter() {
            for parameter in &module.parameters {
                by_name.insert(&parameter.name, (id, !parameter.is_buffer));
            }
        }
        let readers = hierarchy::readers(&file.model, &file.hierarchy);
        let initializers = &file.model.graph.initializers;
        let mut others: Vec<_> =
            initializers.iter().filter(|tensor| !by_name.contains_key(&*tensor.name)).collect();
        // The largest first: of a quantised weight and its scales the weight.
        others.sort_by_key(|tensor| Reverse(tensors::elements(tensor)));
        let mut unnamed = Unnamed::new(file);
        for tensor in others {
            let reader = readers.get(&tensor.name).copied().flatten().unwrap_or(ModuleId::ROOT);
            let holds_parameters = hierarchy::looks_like_a_weight(tensor)
                && unnamed.take(reader, tensors::elements(tensor), file);
            by_name.insert(&tensor.name, (reader, holds_parameters));
        }
        Owners { by_name }
    }

    pub(super) fn of(&self, name: &str) -> (ModuleId, bool) {
        self.by_name.get(name).copied().unwrap_or((ModuleId::ROOT, false))
    }
}

/// By module: elements of parameters that no weight is named after, of the module and all below it.
struct Unnamed(Vec<u64>);

impl Unnamed {
    fn new(file: &TaggedFile) -> Self {
        let tree = &file.hierarchy.tree;
        let held: HashSet<&Name> = file.model.graph.initializers.iter().map(|tensor| &tensor.name).collect();
        let trained = || {
            let parameters =
                tree.iter().flat_map(|(id, module)| module.parameters.iter().map(move |p| (id, p)));
            parameters.filter(|(_, parameter)| !parameter.is_buffer)
        };
        // A tensor with several names is held if one of them is.
        let mut done: HashSet<&Name> = trained()
            .filter(|(_, parameter)| held.contains(&parameter.name))
            .map(|(_, parameter)| first_name(parameter))
            .collect();
        let mut own = vec![0u64; tree.len()];
        for (id, parameter) in trained() {
            if done.insert(first_name(parameter))
                && let Some(own) = own.get_mut(id.0 as usize)
            {
                *own = own.saturating_add(parameter.elements);
            }
        }
        Unnamed(with_below(tree, &own, &[]))
    }

    /// Takes so many elements from a module, if it and all above it have them.
    fn take(&mut self, module: ModuleId, elements: u64, file: &TaggedFile) -> bool {
        let chain = file.hierarchy.tree.chain(module);
        let has_enough = |id: &ModuleId| self.0.get(id.0 as usize).is_some_and(|left| *left >= elements);
        if elements == 0 || !chain.iter().all(has_enough) {
            return false;
        }
        for id in chain {
            if let Some(left) = self.0.get_mut(id.0 as usize) {
                *left -= elements;
            }
        }
        true
    }
}

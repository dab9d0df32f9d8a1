//! Differences between two files, module by module.
//!
//! Nodes are matched by name, then by their position within their module, then by what they compute. A node with a new name or
//! a new module was renamed or moved, not removed and added. Values are equal if matched nodes produce them, whatever their
//! names are. Weights are compared as streams, and not read at all if both files point at the same bytes. Weights with the
//! same numbers are equal, whatever their name and layout. A change that most nodes share is reported once.

mod conversion;
mod elements;
mod layout;
mod matching;
mod modules;
mod nodes;
mod repeated;
mod report;
mod values;
mod weights;

use std::collections::{BTreeMap, BTreeSet};

use modelexport_graph::{ModuleId, Name};

use crate::tagged_file::TaggedFile;
use matching::Matching;
use report::Repeated;

pub use report::{Category, Comparison, Difference, ModuleChanges, Status, Summary};

/// What a user can choose.
#[derive(Clone, Copy, Debug)]
pub struct Options {
    /// Compare the numbers of weights, not only their names, types and shapes.
    pub weight_values: bool,
}

impl Default for Options {
    fn default() -> Self {
        Options { weight_values: true }
    }
}

/// The differences from `before` to `after`. Looks for external data beside both files.
pub fn compare(before: &mut TaggedFile, after: &mut TaggedFile, options: &Options) -> Comparison {
    let weights = weights::compare(before, after, options.weight_values);
    let matching = Matching::new(before, after, weights.renamed);
    let mut found = Found::default();
    values::compare(before, after, &matching, &mut found);
    modules::compare(before, after, &matching, &mut found);
    nodes::compare(before, after, &matching, &mut found);
    for (weight, difference) in weights.differences {
        found.push(owner_of_weight(before, after, &weight), difference);
    }
    repeated::say_once(&mut found, matching.to_after.iter().flatten().count());
    found.finish(before, after)
}

/// Differences by module path; `None` for those of the model as a whole.
#[derive(Default)]
struct Found {
    by_module: BTreeMap<Option<Name>, Vec<Difference>>,
    /// The node before that is looked at, and for differences that may be many of one kind, their nodes.
    node: usize,
    repeated: BTreeMap<Repeated, BTreeSet<usize>>,
    added: Vec<Name>,
    removed: Vec<Name>,
}

impl Found {
    fn push(&mut self, module: Option<Name>, difference: Difference) {
        if let Some(repeated) = &difference.repeated {
            self.repeated.entry(repeated.clone()).or_default().insert(self.node);
        }
        self.by_module.entry(module).or_default().push(difference);
    }

    fn finish(mut self, before: &TaggedFile, after: &TaggedFile) -> Comparison {
        let model = self.by_module.remove(&None).unwrap_or_default();
        let mut paths: Vec<Name> = self.by_module.keys().flatten().cloned().collect();
        paths.extend(self.added.iter().chain(&self.removed).cloned());
        // In the order of the tree, so that a reader meets the modules as the model runs them.
        paths.sort_by_key(|path| {
            let place = |file: &TaggedFile| file.hierarchy.tree.find(path).map(|id| id.0);
            (place(before).or_else(|| place(after)), path.clone())
        });
        paths.dedup();
        let modules = paths
            .into_iter()
            .map(|path| {
                let status = match (self.added.contains(&path), self.removed.contains(&path)) {
                    (true, _) => Status::Added,
                    (_, true) => Status::Removed,
                    _ => Status::Changed,
                };
                let class = |file: &TaggedFile| {
                    let module = file.hierarchy.tree.find(&path).and_then(|id| file.hierarchy.tree.get(id));
                    module.map(|module| module.class.clone())
                };
                let class = class(after).or_else(|| class(before)).unwrap_or_else(|| "".into());
                let differences = self.by_module.remove(&Some(path.clone())).unwrap_or_default();
                ModuleChanges { path, class, status, differences }
            })
            .collect();
        Comparison::new(before, after, model, modules)
    }
}

/// The module that a weight is named after, else that of the whole model.
fn owner_of_weight(before: &TaggedFile, after: &TaggedFile, weight: &str) -> Option<Name> {
    let (path, _) = weight.rsplit_once('.')?;
    let known = |file: &TaggedFile| file.hierarchy.tree.find(path).is_some();
    (known(before) || known(after)).then(|| path.into())
}

/// The path of a module.
fn path_of(file: &TaggedFile, module: Option<ModuleId>) -> Option<Name> {
    file.hierarchy.tree.get(module?).map(|module| module.path.clone())
}

#[cfg(test)]
mod tests;

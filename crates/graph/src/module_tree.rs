//! The tree of `nn.Module` instances.

use std::collections::HashMap;
use std::collections::hash_map::Entry;

use crate::Name;

/// Modules nested deeper than this are no model's; see [`ModuleTree::insert`].
pub const MAX_DEPTH: usize = 128;

/// Index into [`ModuleTree`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ModuleId(pub u32);

impl ModuleId {
    pub const ROOT: ModuleId = ModuleId(0);
}

/// One module instance.
#[derive(Clone, Debug, PartialEq)]
pub struct Module {
    /// Qualified path, `encoder.layer.0`; the root's is empty.
    pub path: Name,
    /// Other paths under which the model holds the same instance, as far as they are known.
    pub aliases: Vec<Name>,
    /// `package.module.Class`; empty if nothing told it (a module known only by a parameter's name).
    pub class: Name,
    /// `None` for the root only.
    pub parent: Option<ModuleId>,
    pub children: Vec<ModuleId>,
    /// Its own parameters and buffers, not those of modules below.
    pub parameters: Vec<Parameter>,
    /// Position in the order of first execution; `None`: not executed.
    pub order: Option<u32>,
    pub calls: u32,
}

impl Module {
    /// The class without its package.
    pub fn class_name(&self) -> &str {
        self.class.rsplit('.').next().unwrap_or(&self.class)
    }

    /// The last part of the path.
    pub fn attribute(&self) -> &str {
        self.path.rsplit('.').next().unwrap_or(&self.path)
    }
}

/// A parameter or buffer as its owner knows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Qualified: `encoder.layer.0.attention.self.query.weight`.
    pub name: Name,
    pub elements: u64,
    pub bytes: u64,
    /// A buffer or constant, not trained.
    pub is_buffer: bool,
    /// The name of an earlier one, if both are one tensor.
    pub tied_to: Option<Name>,
}

/// All modules, the root first, parents before children.
#[derive(Clone, Debug)]
pub struct ModuleTree {
    modules: Vec<Module>,
    by_path: HashMap<Name, ModuleId>,
}

impl Default for ModuleTree {
    fn default() -> Self {
        Self::new()
    }
}

impl ModuleTree {
    /// A tree that holds only a root without a class.
    pub fn new() -> Self {
        let mut tree = ModuleTree { modules: Vec::new(), by_path: HashMap::new() };
        tree.push("".into(), None);
        tree
    }

    fn push(&mut self, path: Name, parent: Option<ModuleId>) -> ModuleId {
        let id = ModuleId(self.modules.len() as u32);
        self.by_path.insert(path.clone(), id);
        self.modules.push(Module {
            path,
            aliases: Vec::new(),
            class: "".into(),
            parent,
            children: Vec::new(),
            parameters: Vec::new(),
            order: None,
            calls: 0,
        });
        if let Some(parent) = parent.and_then(|parent| self.modules.get_mut(parent.0 as usize)) {
            parent.children.push(id);
        }
        id
    }

    /// The module at `path`, made with all its ancestors if it is not there yet.
    ///
    /// A path of more than [`MAX_DEPTH`] parts is hung under the root as it is: its ancestors would take memory that
    /// grows with the square of its length.
    pub fn insert(&mut self, path: &str) -> ModuleId {
        if let Some(&id) = self.by_path.get(path) {
            return id;
        }
        if path.split('.').nth(MAX_DEPTH).is_some() {
            return self.push(path.into(), Some(ModuleId::ROOT));
        }
        let mut parent = ModuleId::ROOT;
        for (end, _) in path.match_indices('.').chain([(path.len(), "")]) {
            let Some(ancestor) = path.get(..end) else { continue };
            parent = match self.by_path.get(ancestor) {
                Some(&id) => id,
                None => self.push(ancestor.into(), Some(parent)),
            };
        }
        parent
    }

    /// Notes another path of a module that is there. A path that is taken stays what it is.
    pub fn add_alias(&mut self, id: ModuleId, path: &Name) {
        if let (Some(module), Entry::Vacant(place)) =
            (self.modules.get_mut(id.0 as usize), self.by_path.entry(path.clone()))
        {
            place.insert(id);
            module.aliases.push(path.clone());
        }
    }

    /// The module at `path`, which may be any of its paths.
    pub fn find(&self, path: &str) -> Option<ModuleId> {
        self.by_path.get(path).copied()
    }

    pub fn get(&self, id: ModuleId) -> Option<&Module> {
        self.modules.get(id.0 as usize)
    }

    pub fn get_mut(&mut self, id: ModuleId) -> Option<&mut Module> {
        self.modules.get_mut(id.0 as usize)
    }

    pub fn len(&self) -> usize {
        self.modules.len()
    }

    /// Never true: there is always a root.
    pub fn is_empty(&self) -> bool {
        self.modules.is_empty()
    }

    pub fn iter(&self) -> impl Iterator<Item = (ModuleId, &Module)> + '_ {
        self.modules.iter().enumerate().map(|(i, module)| (ModuleId(i as u32), module))
    }

    /// From the root down to `id`.
    pub fn chain(&self, id: ModuleId) -> Vec<ModuleId> {
        let mut chain = vec![id];
        let mut at = id;
        while let Some(parent) = self.get(at).and_then(|module| module.parent) {
            chain.push(parent);
            at = parent;
        }
        chain.reverse();
        chain
    }

    /// The deepest module that holds both.
    pub fn lowest_common_ancestor(&self, a: ModuleId, b: ModuleId) -> ModuleId {
        if a == b {
            return a;
        }
        let (left, right) = (self.chain(a), self.chain(b));
        let shared = left.iter().zip(&right).take_while(|(x, y)| x == y).last();
        shared.map_or(ModuleId::ROOT, |(id, _)| *id)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ancestors_are_made_on_the_way() {
        let mut tree = ModuleTree::new();
        let deep = tree.insert("encoder.layer.0");
        assert_eq!(tree.len(), 4);
        assert_eq!(tree.insert("encoder.layer.0"), deep);
        let names: Vec<&str> =
            tree.chain(deep).iter().filter_map(|id| tree.get(*id)).map(|module| &*module.path).collect();
        assert_eq!(names, ["", "encoder", "encoder.layer", "encoder.layer.0"]);
        let sibling = tree.insert("encoder.norm");
        assert_eq!(Some(tree.lowest_common_ancestor(deep, sibling)), tree.find("encoder"));
        assert_eq!(tree.find("encoder").and_then(|id| tree.get(id)).map(|m| m.children.len()), Some(2));
    }

    #[test]
    fn an_instance_is_found_by_each_of_its_paths() {
        let mut tree = ModuleTree::new();
        let (block, head) = (tree.insert("block.fc"), tree.insert("head"));
        tree.add_alias(block, &"again.fc".into());
        tree.add_alias(block, &"head".into());
        assert_eq!(
            (tree.find("again.fc"), tree.find("head"), tree.find("again")),
            (Some(block), Some(head), None)
        );
        assert_eq!(tree.get(block).map(|module| module.aliases.clone()), Some(vec!["again.fc".into()]));
        assert_eq!((tree.insert("again.fc"), tree.len()), (block, 4));
    }

    #[test]
    fn a_path_without_end_is_one_module() {
        let mut tree = ModuleTree::new();
        let deepest = vec!["a"; MAX_DEPTH].join(".");
        tree.insert(&deepest);
        assert_eq!(tree.len(), 1 + MAX_DEPTH);
        let deeper = format!("{deepest}.a");
        let id = tree.insert(&deeper);
        assert_eq!(tree.len(), 2 + MAX_DEPTH);
        assert_eq!(tree.get(id).and_then(|module| module.parent), Some(ModuleId::ROOT));
        assert_eq!(tree.insert(&deeper), id);
    }
}

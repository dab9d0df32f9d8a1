//! Scopes in the names that the TorchScript exporter gives to nodes: `/encoder/layer.0/attention/self/query/MatMul`.
//!
//! Each part names a called module by the end of its path, from the last part that is not a number: `layer.0` for
//! `encoder.layer.0`. Containers that are not called are missing, so a part may be several levels below the previous one. If a
//! container is called, its children repeat its name: `/layer1/layer1.0/Conv`. A second call of a module is named `relu_1`. An
//! instance with several paths appears under one of them, whichever it was called by.

use std::borrow::Cow;
use std::collections::HashMap;

use modelexport_graph::{Module, ModuleId, ModuleTree};

/// What a name told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ParsedScope {
    pub module: ModuleId,
    /// Every part was understood, and only this module can be meant.
    pub is_whole: bool,
}

/// Modules by what scopes call them.
pub(crate) struct ScopeNames<'a> {
    tree: &'a ModuleTree,
    /// See [`all_paths`]. Ids are of this tree, but for those of [`ParsedScope`].
    paths: &'a ModuleTree,
    /// By [`ModuleId`].
    places: Vec<SubtreeRange>,
    /// In the order of [`SubtreeRange::start`].
    by_name: HashMap<&'a str, Vec<ModuleId>>,
    /// Scopes that were understood before: nodes of one module share them.
    known: HashMap<String, Scope>,
}

/// Where a module is in the tree: those below it have their start between its start and its end.
#[derive(Clone, Copy, Debug, Default)]
struct SubtreeRange {
    start: u32,
    end: u32,
    depth: u32,
}

/// The modules that a scope may mean.
#[derive(Clone, Debug)]
struct Scope {
    modules: Vec<ModuleId>,
    is_whole: bool,
}

impl<'a> ScopeNames<'a> {
    /// `paths` are [`all_paths`] of `tree`.
    pub(crate) fn new(tree: &'a ModuleTree, paths: &'a ModuleTree) -> Self {
        let (order, places) = places(paths);
        let mut by_name: HashMap<&str, Vec<ModuleId>> = HashMap::new();
        for id in order.into_iter().skip(1) {
            if let Some(module) = paths.get(id) {
                by_name.entry(scope_name(module)).or_default().push(id);
            }
        }
        ScopeNames { tree, paths, places, by_name, known: HashMap::new() }
    }

    fn place(&self, id: ModuleId) -> SubtreeRange {
        self.places.get(id.0 as usize).copied().unwrap_or_default()
    }

    /// The module that a node's name tells; `None` if the name has no scope.
    pub(crate) fn module(&mut self, node_name: &str) -> Option<ParsedScope> {
        let (scope, _operation) = node_name.strip_prefix('/')?.rsplit_once('/').unwrap_or_default();
        if scope.is_empty() {
            return Some(ParsedScope { module: ModuleId::ROOT, is_whole: true });
        }
        if !self.known.contains_key(scope) {
            let understood = self.understand(scope);
            self.known.insert(scope.to_owned(), understood);
        }
        let Scope { modules, is_whole } = self.known.get(scope)?;
        let meant: Vec<ModuleId> = modules.iter().filter_map(|&path| self.meant(path)).collect();
        let common = meant.iter().copied().reduce(|a, b| self.tree.lowest_common_ancestor(a, b))?;
        let is_whole = *is_whole && meant.iter().all(|&module| module == common);
        // A name of slashes that says nothing about this model is no scope.
        (common != ModuleId::ROOT || is_whole).then_some(ParsedScope { module: common, is_whole })
    }

    /// The module that is at a path.
    fn meant(&self, path: ModuleId) -> Option<ModuleId> {
        self.tree.find(&self.paths.get(path)?.path)
    }

    /// The first part of a node's scope that is no module of the tree, with what stands before it. The last part does
    /// not count, nor what follows an operator: tools add names of their own to those of nodes.
    pub(crate) fn unknown_part<'n>(&self, node_name: &'n str) -> Option<&'n str> {
        let (scope, _operation) = node_name.strip_prefix('/')?.rsplit_once('/')?;
        let (inner, _last) = scope.rsplit_once('/')?;
        let mut modules = vec![ModuleId::ROOT];
        let mut end = 0;
        for part in inner.split('/') {
            end += part.len() + 1;
            modules = self.part(&modules, part);
            if modules.is_empty() {
                return node_name
                    .get(..end)
                    .filter(|_| !part.starts_with(|first: char| first.is_ascii_uppercase()));
            }
        }
        None
    }

    fn understand(&self, scope: &str) -> Scope {
        let mut understood = Scope { modules: vec![ModuleId::ROOT], is_whole: true };
        for part in scope.split('/') {
            let next = self.part(&understood.modules, part);
            match next.is_empty() {
                false => understood.modules = next,
                true => understood.is_whole = false,
            }
        }
        understood
    }

    /// The modules that `part` may mean below one of `above`: the nearest; else one from elsewhere that is called
    /// here, if there is only one of that name.
    fn part(&self, above: &[ModuleId], part: &str) -> Vec<ModuleId> {
        let spellings = [Some(part), without_call_number(part)];
        for spelling in spellings.into_iter().flatten() {
            let named = self.by_name.get(spelling).map(Vec::as_slice).unwrap_or_default();
            let nearest: Vec<ModuleId> = above.iter().flat_map(|&above| self.nearest(named, above)).collect();
            if !nearest.is_empty() {
                return nearest;
            }
        }
        // modelexport names an indexed module by its index alone where the container was called.
        let indexed: Vec<ModuleId> = above.iter().filter_map(|&above| self.indexed(above, part)).collect();
        if !indexed.is_empty() {
            return indexed;
        }
        for spelling in spellings.into_iter().flatten() {
            let named = self.by_name.get(spelling).map(Vec::as_slice).unwrap_or_default();
            if let [first, others @ ..] = named
                && others.iter().all(|&other| self.meant(other) == self.meant(*first))
            {
                return vec![*first];
            }
        }
        Vec::new()
    }

    fn indexed(&self, above: ModuleId, part: &str) -> Option<ModuleId> {
        let children = &self.paths.get(above).filter(|_| is_number(part))?.children;
        children.iter().copied().find(|&id| self.paths.get(id).is_some_and(|child| child.attribute() == part))
    }

    /// Those of `named` that are nearest below `above`; modules that ran come first.
    fn nearest(&self, named: &[ModuleId], above: ModuleId) -> Vec<ModuleId> {
        let SubtreeRange { start, end, .. } = self.place(above);
        let first = named.partition_point(|&id| self.place(id).start <= start);
        let last = named.partition_point(|&id| self.place(id).start < end);
        let below = named.get(first..last).unwrap_or_default();
        let rank = |id: ModuleId| {
            let is_executed = self.paths.get(id).is_some_and(|module| module.order.is_some());
            (!is_executed, self.place(id).depth)
        };
        let best = below.iter().map(|&id| rank(id)).min();
        below.iter().copied().filter(|&id| Some(rank(id)) == best).collect()
    }
}

/// A tree of all paths of the modules: one that the model holds under several is there as often.
pub(crate) fn all_paths(tree: &ModuleTree) -> Cow<'_, ModuleTree> {
    if tree.iter().all(|(_, module)| module.aliases.is_empty()) {
        return Cow::Borrowed(tree);
    }
    let mut paths = ModuleTree::new();
    for (_, module) in tree.iter() {
        for path in [&module.path].into_iter().chain(&module.aliases) {
            let id = paths.insert(path);
            if let Some(entry) = paths.get_mut(id) {
                entry.order = module.order;
            }
        }
    }
    Cow::Owned(paths)
}

/// All modules, each right before those below it, and their places.
fn places(tree: &ModuleTree) -> (Vec<ModuleId>, Vec<SubtreeRange>) {
    let mut places = vec![SubtreeRange::default(); tree.len()];
    let mut order = Vec::with_capacity(tree.len());
    let mut stack = vec![(ModuleId::ROOT, 0)];
    while let Some((id, depth)) = stack.pop() {
        if let Some(place) = places.get_mut(id.0 as usize) {
            *place = SubtreeRange { start: order.len() as u32, end: order.len() as u32 + 1, depth };
        }
        order.push(id);
        let children = tree.get(id).map(|module| module.children.as_slice()).unwrap_or_default();
        stack.extend(children.iter().rev().map(|&child| (child, depth + 1)));
    }
    for &id in order.iter().rev() {
        let end = places.get(id.0 as usize).map_or(0, |place| place.end);
        let parent = tree.get(id).and_then(|module| module.parent);
        if let Some(place) = parent.and_then(|parent| places.get_mut(parent.0 as usize)) {
            place.end = place.end.max(end);
        }
    }
    (order, places)
}

/// What scopes call a module: the end of its path from the last part that is no number.
fn scope_name(module: &Module) -> &str {
    let mut start = module.path.len();
    for part in module.path.rsplit('.') {
        start = start.saturating_sub(part.len());
        if !is_number(part) {
            break;
        }
        start = start.saturating_sub(1);
    }
    module.path.get(start..).unwrap_or(&module.path)
}

fn is_number(part: &str) -> bool {
    !part.is_empty() && part.bytes().all(|byte| byte.is_ascii_digit())
}

/// `relu` for `relu_1`.
fn without_call_number(part: &str) -> Option<&str> {
    part.rsplit_once('_').filter(|(_, number)| is_number(number)).map(|(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn found(paths: &[&str], name: &str) -> Option<(String, bool)> {
        let mut tree = ModuleTree::new();
        for path in paths {
            tree.insert(path);
        }
        found_in(&tree, name)
    }

    fn found_in(tree: &ModuleTree, name: &str) -> Option<(String, bool)> {
        let found = ScopeNames::new(tree, &all_paths(tree)).module(name)?;
        Some((tree.get(found.module).unwrap().path.to_string(), found.is_whole))
    }

    fn whole(path: &str) -> Option<(String, bool)> {
        Some((path.to_owned(), true))
    }

    #[test]
    fn parts_are_the_ends_of_paths() {
        let paths = ["encoder.layer.0.attention.self.query", "encoder.layer.1.attention.self.query"];
        assert_eq!(
            found(&paths, "/encoder/layer.1/attention/self/query/MatMul"),
            whole("encoder.layer.1.attention.self.query")
        );
        assert_eq!(found(&paths, "/encoder/layer.0/Add_2"), whole("encoder.layer.0"));
        assert_eq!(found(&paths, "/Constant"), whole(""));
        assert_eq!(found(&paths, "Identity_3"), None);
    }

    #[test]
    fn a_called_container_is_repeated_by_its_children() {
        let paths = ["layer1.0.conv1", "layer1.0.downsample.0", "layer2.0.conv1", "layer2.1.conv1"];
        assert_eq!(found(&paths, "/layer1/layer1.0/conv1/Conv"), whole("layer1.0.conv1"));
        assert_eq!(
            found(&paths, "/layer1/layer1.0/downsample/downsample.0/Conv"),
            whole("layer1.0.downsample.0")
        );
        assert_eq!(found(&["0.1.fc"], "/0/0.1/fc/MatMul"), whole("0.1.fc"));
    }

    #[test]
    fn a_container_that_is_not_called_does_not_show() {
        let paths = ["stages.first.block", "stages.second.other"];
        assert_eq!(found(&paths, "/block/Conv"), whole("stages.first.block"));
        assert_eq!(found(&["a.x.fc", "b.x.fc"], "/x/fc/MatMul"), None, "either may be meant");
    }

    #[test]
    fn calls_are_numbered_unless_the_name_has_the_number() {
        assert_eq!(found(&["layer.relu"], "/layer/relu_1/Relu"), whole("layer.relu"));
        assert_eq!(found(&["relu", "relu_1"], "/relu_1/Relu"), whole("relu_1"));
    }

    #[test]
    fn an_instance_may_show_under_each_of_its_paths() {
        let mut tree = ModuleTree::new();
        let conv = tree.insert("blocks.0.pos.conv");
        tree.insert("blocks.1.fc");
        tree.add_alias(tree.find("blocks.0.pos").unwrap(), &"blocks.1.pos".into());
        tree.add_alias(conv, &"blocks.1.pos.conv".into());
        for name in
            ["/blocks.0/pos/conv/Conv", "/blocks.1/pos/conv/Conv", "/pos/conv/Conv", "/other/conv/Conv"]
        {
            assert_eq!(
                found_in(&tree, name).map(|(path, _)| path),
                Some("blocks.0.pos.conv".into()),
                "{name}"
            );
        }
        assert_eq!(found_in(&tree, "/blocks.1/pos/Add"), whole("blocks.0.pos"));
        assert_eq!(found_in(&tree, "/blocks.1/fc/Gemm"), whole("blocks.1.fc"));
    }

    #[test]
    fn a_module_from_elsewhere_and_a_part_that_is_none() {
        let paths = ["decoder.proj", "shared.embed"];
        assert_eq!(found(&paths, "/decoder/embed/Gather"), whole("shared.embed"));
        assert_eq!(found(&paths, "/decoder/nowhere/Gather"), Some(("decoder".to_owned(), false)));
        assert_eq!(found(&paths, "/some/path/Gather"), None);
    }
}

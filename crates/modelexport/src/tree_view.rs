//! What `modelexport tree` shows: one row a module, in the order of the tree.

use modelexport_graph::{ModuleId, ModuleTree, Name};

use crate::hierarchy::{Hierarchy, SharedParameter};
use crate::policy::Verdict;
use crate::tags::Tags;

/// All modules with their figures.
#[derive(Clone, Debug)]
pub struct TreeView {
    /// Each module right before the modules below it.
    pub rows: Vec<Row>,
    pub executed_modules: u64,
    pub visible_modules: u64,
    /// Nodes whose tag ends in a module that the policy chose.
    pub tagged_operations: u64,
}

#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    pub id: ModuleId,
    /// 0 for the root.
    pub depth: usize,
    pub path: Name,
    pub class: Name,
    pub parent: Option<Name>,
    pub tag: Name,
    pub verdict: Verdict,
    /// Position in the order of first execution.
    pub order: Option<u32>,
    pub calls: u32,
    /// Whether the module or one below it executed.
    pub any_executed: bool,
    /// Elements of trained parameters. One that is shared counts once.
    pub parameters: Count,
    /// Elements of buffers and constants.
    pub buffers: Count,
    pub nodes: Count,
    /// Whether it is the last child of its parent.
    pub is_last: bool,
}

/// A figure of a module itself, and of it with all modules below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    pub own: u64,
    pub total: u64,
}

impl TreeView {
    pub fn new(hierarchy: &Hierarchy, tags: &Tags) -> Self {
        let tree = &hierarchy.tree;
        let sum = |is_buffer: bool| {
            let own = |module: &modelexport_graph::Module| {
                let wanted = module.parameters.iter().filter(|parameter| parameter.is_buffer == is_buffer);
                wanted.fold(0u64, |sum, parameter| sum.saturating_add(parameter.elements))
            };
            tree.iter().map(|(_, module)| own(module)).collect::<Vec<u64>>()
        };
        let figures = Figures {
            parameters: totals(tree, &sum(false), &repeats(tree, &hierarchy.shared_parameters)),
            buffers: totals(tree, &sum(true), &[]),
            nodes: totals(tree, &hierarchy.own_nodes, &[]),
            any_executed: any_executed(tree),
        };
        let rows = rows(tree, tags, &figures);
        let chosen = rows.iter().filter(|row| tags.is_chosen(row.id));
        TreeView {
            executed_modules: rows.iter().filter(|row| row.order.is_some()).count() as u64,
            visible_modules: rows.iter().filter(|row| row.verdict.is_visible()).count() as u64,
            tagged_operations: chosen.map(|row| row.nodes.own).sum(),
            rows,
        }
    }
}

/// By [`ModuleId`].
struct Figures {
    parameters: Vec<Count>,
    buffers: Vec<Count>,
    nodes: Vec<Count>,
    any_executed: Vec<bool>,
}

fn rows(tree: &ModuleTree, tags: &Tags, figures: &Figures) -> Vec<Row> {
    fn at<T: Copy + Default>(values: &[T], id: ModuleId) -> T {
        values.get(id.0 as usize).copied().unwrap_or_default()
    }
    let mut rows = Vec::with_capacity(tree.len());
    let mut stack = vec![(ModuleId::ROOT, 0, true)];
    while let Some((id, depth, is_last)) = stack.pop() {
        let Some(module) = tree.get(id) else { continue };
        let path_of = |id| tree.get(id).map(|module| module.path.clone());
        rows.push(Row {
            id,
            depth,
            path: module.path.clone(),
            class: module.class.clone(),
            parent: module.parent.and_then(path_of),
            tag: tags.tag(id).clone(),
            verdict: tags.verdict(id),
            order: module.order,
            calls: module.calls,
            any_executed: at(&figures.any_executed, id),
            parameters: at(&figures.parameters, id),
            buffers: at(&figures.buffers, id),
            nodes: at(&figures.nodes, id),
            is_last,
        });
        let children = module.children.iter().rev().enumerate();
        stack.extend(children.map(|(from_end, &child)| (child, depth + 1, from_end == 0)));
    }
    rows
}

/// Sums over everything below. `repeated` lists elements that the sum of a module holds once too often.
fn totals(tree: &ModuleTree, own: &[u64], repeated: &[(ModuleId, u64)]) -> Vec<Count> {
    // Signed and wide, because a repeat is taken off where the repeated elements are not added yet.
    let mut sums: Vec<i128> = own.iter().map(|&own| i128::from(own)).collect();
    for &(module, elements) in repeated {
        if let Some(sum) = sums.get_mut(module.0 as usize) {
            *sum -= i128::from(elements);
        }
    }
    for (id, parent) in children_first(tree) {
        let below = sums.get(id.0 as usize).copied().unwrap_or_default();
        if let Some(sum) = sums.get_mut(parent.0 as usize) {
            *sum += below;
        }
    }
    let total = |sum: i128| u64::try_from(sum.max(0)).unwrap_or(u64::MAX);
    own.iter().zip(sums).map(|(&own, sum)| Count { own, total: total(sum) }).collect()
}

fn any_executed(tree: &ModuleTree) -> Vec<bool> {
    let mut executed: Vec<bool> = tree.iter().map(|(_, module)| module.order.is_some()).collect();
    for (id, parent) in children_first(tree) {
        let below = executed.get(id.0 as usize).copied().unwrap_or_default();
        if let Some(above) = executed.get_mut(parent.0 as usize) {
            *above |= below;
        }
    }
    executed
}

/// Every module but the root with its parent, modules below before those above.
fn children_first(tree: &ModuleTree) -> impl Iterator<Item = (ModuleId, ModuleId)> + '_ {
    (1..tree.len() as u32).rev().filter_map(|id| Some((ModuleId(id), tree.get(ModuleId(id))?.parent?)))
}

/// For each shared parameter the modules whose sum meets it again.
///
/// With the owners in the order of the tree, every owner after the first is met again in exactly those modules that
/// hold it and the owner before it; the deepest of these is enough, as sums go up from there.
fn repeats(tree: &ModuleTree, shared: &[SharedParameter]) -> Vec<(ModuleId, u64)> {
    if shared.is_empty() {
        return Vec::new();
    }
    let mut position = vec![0usize; tree.len()];
    let mut stack = vec![ModuleId::ROOT];
    let mut next = 0;
    while let Some(id) = stack.pop() {
        if let Some(position) = position.get_mut(id.0 as usize) {
            *position = next;
            next += 1;
        }
        stack.extend(tree.get(id).into_iter().flat_map(|module| module.children.iter().rev()));
    }
    let mut repeats = Vec::new();
    for parameter in shared {
        let mut owners = parameter.owners.clone();
        owners.sort_by_key(|owner| position.get(owner.0 as usize).copied());
        for (first, second) in owners.iter().zip(owners.iter().skip(1)) {
            repeats.push((tree.lowest_common_ancestor(*first, *second), parameter.elements));
        }
    }
    repeats
}

#[cfg(test)]
mod tests {
    use modelexport_graph::module_tree::Parameter;

    use super::*;
    use crate::hierarchy::Evidence;
    use crate::policy::Policy;
    use crate::tags::TagFormat;

    fn view(paths: &[(&str, u64)], shared: &[(&[&str], u64)]) -> TreeView {
        let mut tree = ModuleTree::new();
        for (path, elements) in paths {
            let id = tree.insert(path);
            let parameter = Parameter { name: "p".into(), elements: *elements, bytes: 0, is_buffer: false };
            tree.get_mut(id).unwrap().parameters.push(parameter);
        }
        let own_nodes = (0..tree.len() as u64).collect();
        let find = |path: &&str| tree.find(path).unwrap();
        let shared_parameters = shared
            .iter()
            .map(|(owners, elements)| SharedParameter {
                owners: owners.iter().map(find).collect(),
                elements: *elements,
            })
            .collect();
        let tags = Tags::new(&tree, &Policy::default(), TagFormat::Instance);
        let hierarchy = Hierarchy {
            tree,
            scopes: Default::default(),
            own_nodes,
            unattributed_nodes: 0,
            shared_parameters,
            evidence: Evidence::default(),
            recorded_tags: Vec::new(),
            tags_only: None,
        };
        TreeView::new(&hierarchy, &tags)
    }

    fn parameters(view: &TreeView) -> Vec<(&str, u64, u64)> {
        view.rows.iter().map(|row| (&*row.path, row.parameters.own, row.parameters.total)).collect()
    }

    #[test]
    fn rows_follow_the_tree_and_sum_up() {
        let view = view(&[("a.x", 1), ("b", 10), ("a.y", 100)], &[]);
        assert_eq!(
            parameters(&view),
            [("", 0, 111), ("a", 0, 101), ("a.x", 1, 1), ("a.y", 100, 100), ("b", 10, 10)]
        );
        let shape: Vec<(usize, bool)> = view.rows.iter().map(|row| (row.depth, row.is_last)).collect();
        assert_eq!(shape, [(0, true), (1, false), (2, false), (2, true), (1, true)]);
    }

    #[test]
    fn shared_parameters_count_once_where_they_meet() {
        // `a.x`, `a.y` and `b` hold the same 5 elements, `c` is apart.
        let view = view(&[("a.x", 5), ("c", 7), ("b", 5), ("a.y", 5)], &[(&["b", "a.y", "a.x"], 5)]);
        assert_eq!(
            parameters(&view),
            [("", 0, 12), ("a", 0, 5), ("a.x", 5, 5), ("a.y", 5, 5), ("c", 7, 7), ("b", 5, 5)]
        );
    }
}

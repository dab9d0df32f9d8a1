//! The rows of `modelexport tree`: one per module, in the order of the tree.

use modelexport_graph::{ModuleId, ModuleTree, Name};

use crate::hierarchy::Hierarchy;
use crate::parameter_counts::{Counts, children_first, with_below};
use crate::policy::Verdict;
use crate::tags::Tags;

/// All modules with their figures.
#[derive(Clone, Debug)]
pub struct TreeView {
    /// Each module right before the modules below it.
    pub rows: Vec<Row>,
    /// Modules that ran.
    pub executed_modules: u64,
    /// Modules that show in tags.
    pub visible_modules: u64,
    /// Nodes whose tag ends in a module that the policy chose.
    pub tagged_operations: u64,
}

/// A module and its figures.
#[derive(Clone, Debug, PartialEq)]
pub struct Row {
    /// The module.
    pub id: ModuleId,
    /// 0 for the root.
    pub depth: usize,
    /// The path of the module.
    pub path: Name,
    /// The full name of its class.
    pub class: Name,
    /// The path of the parent.
    pub parent: Option<Name>,
    /// The tag of the module.
    pub tag: Name,
    /// Whether the module shows in tags, and why.
    pub verdict: Verdict,
    /// Position in the order of first execution.
    pub order: Option<u32>,
    /// How often it was called.
    pub calls: u32,
    /// Whether the module or one below it executed.
    pub any_executed: bool,
    /// Elements of trained parameters. One that is shared counts once.
    pub parameters: Count,
    /// Elements of buffers and constants.
    pub buffers: Count,
    /// Nodes that belong to it.
    pub nodes: Count,
    /// Whether it is the last child of its parent.
    pub is_last: bool,
}

/// A figure of a module itself, and of it with all modules below.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// The figure of the module itself.
    pub own: u64,
    /// The figure of the module and all modules below it.
    pub total: u64,
}

impl TreeView {
    /// Lists the modules of `hierarchy` in the order of the tree.
    pub fn new(hierarchy: &Hierarchy, tags: &Tags) -> Self {
        let tree = &hierarchy.tree;
        let node_totals = with_below(tree, &hierarchy.own_nodes, &[]);
        let nodes = hierarchy.own_nodes.iter().zip(node_totals);
        let figures = Figures {
            parameters: Counts::of_parameters(tree),
            buffers: Counts::of_buffers(tree),
            nodes: nodes.map(|(&own, total)| Count { own, total }).collect(),
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
    parameters: Counts,
    buffers: Counts,
    nodes: Vec<Count>,
    any_executed: Vec<bool>,
}

fn rows(tree: &ModuleTree, tags: &Tags, figures: &Figures) -> Vec<Row> {
    fn at<T: Copy + Default>(values: &[T], id: ModuleId) -> T {
        values.get(id.0 as usize).copied().unwrap_or_default()
    }
    let elements =
        |counts: &Counts, id| Count { own: counts.own(id).elements, total: counts.total(id).elements };
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
            parameters: elements(&figures.parameters, id),
            buffers: elements(&figures.buffers, id),
            nodes: at(&figures.nodes, id),
            is_last,
        });
        let children = module.children.iter().rev().enumerate();
        stack.extend(children.map(|(from_end, &child)| (child, depth + 1, from_end == 0)));
    }
    rows
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

#[cfg(test)]
mod tests {
    use modelexport_graph::module_tree::Parameter;

    use super::*;
    use crate::hierarchy::Evidence;
    use crate::policy::Policy;
    use crate::tags::TagFormat;

    fn view(paths: &[(&str, u64)]) -> TreeView {
        let mut tree = ModuleTree::new();
        for (path, elements) in paths {
            let id = tree.insert(path);
            let name = format!("{path}.p").into();
            let parameter =
                Parameter { name, elements: *elements, bytes: 0, is_buffer: false, tied_to: None };
            tree.get_mut(id).unwrap().parameters.push(parameter);
        }
        let own_nodes = (0..tree.len() as u64).collect();
        let tags = Tags::new(&tree, &Policy::default(), TagFormat::Instance);
        let hierarchy = Hierarchy {
            tree,
            scopes: Default::default(),
            own_nodes,
            unattributed_nodes: 0,
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
        let view = view(&[("a.x", 1), ("b", 10), ("a.y", 100)]);
        assert_eq!(
            parameters(&view),
            [("", 0, 111), ("a", 0, 101), ("a.x", 1, 1), ("a.y", 100, 100), ("b", 10, 10)]
        );
        let shape: Vec<(usize, bool)> = view.rows.iter().map(|row| (row.depth, row.is_last)).collect();
        assert_eq!(shape, [(0, true), (1, false), (2, false), (2, true), (1, true)]);
    }
}

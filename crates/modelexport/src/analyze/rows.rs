//! The rows of an analysis: modules, classes or operators.

use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet};

use modelexport_graph::{ModuleId, ModuleTree, Name};
use modelexport_inference::Cost;
use serde::Serialize;

use super::figures::{Collected, Figures};
use super::{By, Options};
use crate::selector::depths;
use crate::tagged_file::TaggedFile;

/// One list, by what was asked for.
#[derive(Clone, Debug, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Rows {
    /// Rows by module.
    Modules(Vec<ModuleRow>),
    /// Rows by class.
    Classes(Vec<ClassRow>),
    /// Rows by operator.
    Operators(Vec<OperatorRow>),
}

impl Rows {
    /// Counts the rows.
    pub fn len(&self) -> usize {
        match self {
            Rows::Modules(rows) => rows.len(),
            Rows::Classes(rows) => rows.len(),
            Rows::Operators(rows) => rows.len(),
        }
    }

    /// Tells whether there is no row.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Parts of the whole file, from 0 to 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize)]
pub struct Share {
    /// Share of the nodes.
    pub nodes: f64,
    /// Share of the elements of parameters.
    pub parameters: f64,
    /// Share of the multiply-adds.
    pub multiply_adds: f64,
    /// Share of the bytes of values.
    pub activation_bytes: f64,
}

impl Share {
    fn of(part: &Figures, whole: &Figures) -> Share {
        let share = |part: u64, whole: u64| if whole == 0 { 0.0 } else { part as f64 / whole as f64 };
        Share {
            nodes: share(part.nodes, whole.nodes),
            parameters: share(part.parameters.elements, whole.parameters.elements),
            multiply_adds: share(part.multiply_adds, whole.multiply_adds),
            activation_bytes: share(part.activation_bytes, whole.activation_bytes),
        }
    }
}

/// A module and its figures.
#[derive(Clone, Debug, Serialize)]
pub struct ModuleRow {
    /// The path of the module.
    pub path: Name,
    /// The full name of its class.
    pub class: Name,
    /// The tag of the module.
    pub tag: Name,
    /// Whether the module itself is a segment of tags.
    pub visible: bool,
    /// The path of the parent.
    pub parent: Option<Name>,
    /// Steps from the root, which has 0.
    pub depth: usize,
    /// Whether the module ran.
    pub executed: bool,
    /// How often it was called.
    pub calls: u32,
    /// Share of its nodes, with those below, that say themselves where they come from.
    pub coverage: f64,
    /// How the modules of most of its nodes were found.
    pub method: Option<&'static str>,
    /// Of `total`.
    pub share: Share,
    /// Figures of the module without those below it.
    pub own: Figures,
    /// Figures of the module and all modules below it.
    pub total: Figures,
}

/// A class and the figures of its modules.
#[derive(Clone, Debug, Serialize)]
pub struct ClassRow {
    /// The full name of the class.
    pub class: Name,
    /// Modules of this class.
    pub instances: u64,
    /// Of `total`.
    pub share: Share,
    /// Figures of these modules without those below them.
    pub own: Figures,
    /// With all modules below. An instance inside another of the same class counts once.
    pub total: Figures,
}

/// An operator and the cost of its nodes.
#[derive(Clone, Debug, Serialize)]
pub struct OperatorRow {
    /// The operator, with its domain if that is not ONNX's own.
    pub operator: Name,
    /// Number of its nodes.
    pub nodes: u64,
    /// Modules that have such nodes themselves.
    pub modules: u64,
    /// Share of all nodes, from 0 to 1.
    pub share: f64,
    /// Multiply-adds that could be counted.
    pub multiply_adds: u64,
    /// Nodes whose multiply-adds could not be counted.
    pub unknown_multiply_adds: u64,
    /// Bytes of the values that its nodes produce.
    pub activation_bytes: u64,
    /// Nodes with an output of unknown size.
    pub unknown_activations: u64,
}

/// Which modules are looked at.
pub(super) struct Scope<'a> {
    selected: Option<&'a [ModuleId]>,
    /// By [`ModuleId`]: levels below the nearest selected module, or below the root if none was selected.
    levels: Vec<Option<usize>>,
}

impl<'a> Scope<'a> {
    pub(super) fn new(file: &TaggedFile, selected: Option<&'a [ModuleId]>) -> Self {
        let tree = &file.hierarchy.tree;
        let mut levels: Vec<Option<usize>> = vec![None; tree.len()];
        for &id in selected.unwrap_or(&[ModuleId::ROOT]) {
            if let Some(level) = levels.get_mut(id.0 as usize) {
                *level = Some(0);
            }
        }
        for (id, module) in tree.iter() {
            let above = module.parent.and_then(|parent| levels.get(parent.0 as usize).copied().flatten());
            if let Some(level @ None) = levels.get_mut(id.0 as usize) {
                *level = above.map(|above| above + 1);
            }
        }
        Scope { selected, levels }
    }

    /// Whether a module is selected or lies below one that is.
    pub(super) fn holds(&self, id: ModuleId) -> bool {
        self.level(id).is_some()
    }

    fn level(&self, id: ModuleId) -> Option<usize> {
        self.levels.get(id.0 as usize).copied().flatten()
    }

    /// Selected modules stand alone unless a depth is asked for; the whole tree is shown as a tree.
    fn shows(&self, id: ModuleId, depth: Option<usize>) -> bool {
        let deepest = depth.unwrap_or(if self.selected.is_some() { 0 } else { usize::MAX });
        self.level(id).is_some_and(|level| level <= deepest)
    }
}

pub(super) fn rows(file: &TaggedFile, collected: &Collected, scope: &Scope<'_>, options: &Options) -> Rows {
    match options.by {
        By::Module => Rows::Modules(modules(file, collected, scope, options)),
        By::Class => {
            Rows::Classes(top(classes(file, collected, scope), options.top, |row| weight(&row.total)))
        }
        By::Op => Rows::Operators(top(operators(file, collected, scope), options.top, |row| {
            (row.multiply_adds, row.nodes, 0)
        })),
    }
}

/// What rows are ordered by: multiply-adds, then parameters, then nodes.
fn weight(figures: &Figures) -> (u64, u64, u64) {
    (figures.multiply_adds, figures.parameters.elements, figures.nodes)
}

/// The largest first; rows of one size keep their order.
fn top<T>(mut rows: Vec<T>, count: Option<usize>, weight: impl Fn(&T) -> (u64, u64, u64)) -> Vec<T> {
    rows.sort_by_key(|row| Reverse(weight(row)));
    rows.truncate(count.unwrap_or(usize::MAX));
    rows
}

fn modules(file: &TaggedFile, collected: &Collected, scope: &Scope<'_>, options: &Options) -> Vec<ModuleRow> {
    let tree = &file.hierarchy.tree;
    let depths = depths(tree);
    let whole = collected.total(ModuleId::ROOT);
    let shown = in_order(tree).into_iter().filter(|id| scope.shows(*id, options.depth));
    let row = |id: ModuleId| {
        let module = tree.get(id)?;
        let total = collected.total(id);
        Some(ModuleRow {
            path: module.path.clone(),
            class: module.class.clone(),
            tag: file.tags.tag(id).clone(),
            visible: file.tags.is_visible(id),
            parent: module.parent.and_then(|parent| tree.get(parent)).map(|parent| parent.path.clone()),
            depth: depths.get(id.0 as usize).copied().unwrap_or(0),
            executed: module.order.is_some(),
            calls: module.calls,
            coverage: total.coverage(),
            method: total.methods.iter().max_by_key(|(_, nodes)| **nodes).map(|(method, _)| *method),
            share: Share::of(total, whole),
            own: collected.own(id).clone(),
            total: total.clone(),
        })
    };
    let rows: Vec<ModuleRow> = shown.filter_map(row).collect();
    match options.top {
        Some(_) => top(rows, options.top, |row| weight(&row.total)),
        None => rows,
    }
}

/// Each module right before the modules below it.
fn in_order(tree: &ModuleTree) -> Vec<ModuleId> {
    let mut order = Vec::with_capacity(tree.len());
    let mut stack = vec![ModuleId::ROOT];
    while let Some(id) = stack.pop() {
        order.push(id);
        stack.extend(tree.get(id).into_iter().flat_map(|module| module.children.iter().rev()));
    }
    order
}

fn classes(file: &TaggedFile, collected: &Collected, scope: &Scope<'_>) -> Vec<ClassRow> {
    let tree = &file.hierarchy.tree;
    let whole = collected.total(ModuleId::ROOT);
    let mut rows: BTreeMap<&Name, ClassRow> = BTreeMap::new();
    for (id, module) in tree.iter().filter(|(id, _)| scope.holds(*id)) {
        let row = rows.entry(&module.class).or_insert_with(|| ClassRow {
            class: module.class.clone(),
            instances: 0,
            share: Share::default(),
            own: Figures::default(),
            total: Figures::default(),
        });
        row.instances += 1;
        row.own.add(collected.own(id));
        let above = tree.chain(id);
        let is_inside = above.iter().rev().skip(1).any(|&above| {
            scope.holds(above) && tree.get(above).is_some_and(|above| above.class == module.class)
        });
        if !is_inside {
            row.total.add(collected.total(id));
        }
    }
    let mut own: BTreeMap<&Name, Vec<ModuleId>> = BTreeMap::new();
    let mut inside: BTreeMap<&Name, Vec<ModuleId>> = BTreeMap::new();
    for (id, module) in tree.iter().filter(|(id, _)| scope.holds(*id)) {
        own.entry(&module.class).or_default().push(id);
        // The classes of the module and of those around it, each once.
        let around = tree.chain(id).into_iter().filter(|above| scope.holds(*above));
        let classes: BTreeSet<&Name> =
            around.filter_map(|above| tree.get(above)).map(|module| &module.class).collect();
        classes.into_iter().for_each(|class| inside.entry(class).or_default().push(id));
    }
    let counted = |(class, mut row): (&Name, ClassRow)| {
        row.own.count(tree, own.remove(class).unwrap_or_default());
        row.total.count(tree, inside.remove(class).unwrap_or_default());
        ClassRow { share: Share::of(&row.total, whole), ..row }
    };
    rows.into_iter().map(counted).collect()
}

fn operators(file: &TaggedFile, collected: &Collected, scope: &Scope<'_>) -> Vec<OperatorRow> {
    let mut nodes: BTreeMap<&Name, (u64, u64)> = BTreeMap::new();
    let modules = file.hierarchy.tree.iter().map(|(id, _)| id).filter(|id| scope.holds(*id));
    for id in modules {
        for (operator, count) in &collected.own(id).operators {
            let known = nodes.entry(operator).or_default();
            *known = (known.0 + count, known.1 + 1);
        }
    }
    let mut costs: BTreeMap<&Name, Cost> = BTreeMap::new();
    for (_, operator, cost) in collected.costs().filter(|(module, ..)| scope.holds(*module)) {
        let known = costs.entry(operator).or_default();
        *known = known.plus(cost);
    }
    let all = collected.total(ModuleId::ROOT).nodes;
    let row = |(operator, (nodes, modules)): (&Name, (u64, u64))| {
        let cost = costs.get(operator).copied().unwrap_or_default();
        OperatorRow {
            operator: operator.clone(),
            nodes,
            modules,
            share: if all == 0 { 0.0 } else { nodes as f64 / all as f64 },
            multiply_adds: cost.multiply_adds,
            unknown_multiply_adds: cost.unknown_multiply_adds,
            activation_bytes: cost.activation_bytes,
            unknown_activations: cost.unknown_activations,
        }
    };
    nodes.into_iter().map(row).collect()
}

//! Counts the contents of each module in one walk over the file.

use std::collections::{BTreeMap, HashSet};

use modelexport_graph::onnx::{AttributeValue, Model, Node, Tensor};
use modelexport_graph::{ModuleId, ModuleTree, Name};
use modelexport_inference::{Cost, Sizes, walk};
use serde::Serialize;

use super::OperatorCounts;
use super::weights::Owners;
use crate::hierarchy;
use crate::parameter_counts::{self, Amount, Counts};
use crate::tagged_file::TaggedFile;
use crate::tagger::operator_name;
use crate::tensors;

/// Parameters of modules.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Parameters {
    /// Tensors of the model; one that is tied counts once.
    pub count: u64,
    /// Elements of these, whatever the file holds of them.
    pub elements: u64,
    /// Bytes of the tensors of the file that hold them.
    pub bytes: u64,
}

impl Parameters {
    /// Those of the model, in the bytes that are known already.
    fn set(&mut self, amount: Amount) {
        (self.count, self.elements) = (amount.tensors, amount.elements);
    }
}

/// A number of tensors of the file.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Tensors {
    /// Number of tensors.
    pub count: u64,
    /// Number of their elements.
    pub elements: u64,
    /// Number of their bytes.
    pub bytes: u64,
}

impl Tensors {
    fn add(&mut self, tensor: &Tensor) {
        self.plus(Tensors { count: 1, elements: tensors::elements(tensor), bytes: tensors::bytes(tensor) });
    }

    fn plus(&mut self, other: Tensors) {
        self.count += other.count;
        self.elements = self.elements.saturating_add(other.elements);
        self.bytes = self.bytes.saturating_add(other.bytes);
    }
}

/// Figures of a module, a class, an operator or a file.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Figures {
    /// Number of nodes.
    pub nodes: u64,
    /// Nodes of which nothing tells where they come from; they count for the root.
    #[serde(skip_serializing_if = "is_zero")]
    pub unattributed_nodes: u64,
    /// Nodes that carry a word about their module themselves, or are listed in the sidecar.
    pub marked_nodes: u64,
    /// Nodes by operator.
    pub operators: OperatorCounts,
    /// How the modules of the nodes were found.
    pub methods: BTreeMap<&'static str, u64>,
    /// Parameters of the modules.
    pub parameters: Parameters,
    /// What the file holds beside parameters: buffers, scales and other constants.
    pub constants: Tensors,
    /// Multiply-adds of matrix products, convolutions, recurrent layers and attention.
    pub multiply_adds: u64,
    /// Nodes that have multiply-adds that could not be counted.
    pub unknown_multiply_adds: u64,
    /// Bytes of all values that nodes produce.
    pub activation_bytes: u64,
    /// Nodes with an output of unknown size.
    pub unknown_activations: u64,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

impl Figures {
    /// Adds all but the number of parameters: what is tied counts once, which only [`Figures::count`] can tell.
    pub(super) fn add(&mut self, other: &Figures) {
        self.nodes += other.nodes;
        self.unattributed_nodes += other.unattributed_nodes;
        self.marked_nodes += other.marked_nodes;
        for (operator, nodes) in &other.operators {
            *self.operators.entry(operator.clone()).or_default() += nodes;
        }
        for (method, nodes) in &other.methods {
            *self.methods.entry(method).or_default() += nodes;
        }
        self.parameters.bytes = self.parameters.bytes.saturating_add(other.parameters.bytes);
        self.constants.plus(other.constants);
        let (mine, theirs) = (self.cost(), other.cost());
        self.set_cost(mine.plus(theirs));
    }

    /// Counts the parameters of these modules, each without those below it.
    pub(super) fn count(&mut self, tree: &ModuleTree, modules: impl IntoIterator<Item = ModuleId>) {
        self.parameters.set(parameter_counts::of_modules(tree, modules));
    }

    fn cost(&self) -> Cost {
        Cost {
            multiply_adds: self.multiply_adds,
            unknown_multiply_adds: self.unknown_multiply_adds,
            activation_bytes: self.activation_bytes,
            unknown_activations: self.unknown_activations,
        }
    }

    fn set_cost(&mut self, cost: Cost) {
        self.multiply_adds = cost.multiply_adds;
        self.unknown_multiply_adds = cost.unknown_multiply_adds;
        self.activation_bytes = cost.activation_bytes;
        self.unknown_activations = cost.unknown_activations;
    }

    /// Share of the nodes that are marked, from 0 to 1; 1 without nodes.
    pub fn coverage(&self) -> f64 {
        if self.nodes == 0 { 1.0 } else { self.marked_nodes as f64 / self.nodes as f64 }
    }
}

/// Figures of every module and every operator of every module.
pub(super) struct Collected {
    own: Vec<Figures>,
    total: Vec<Figures>,
    /// Cost of the nodes of a module, by operator.
    costs: BTreeMap<(ModuleId, Name), Cost>,
    none: Figures,
}

impl Collected {
    pub(super) fn new(file: &TaggedFile, sizes: &Sizes) -> Self {
        let mut collected = Collected {
            own: vec![Figures::default(); file.hierarchy.tree.len()],
            total: Vec::new(),
            costs: BTreeMap::new(),
            none: Figures::default(),
        };
        collected.add_nodes(file);
        collected.add_weights(file);
        collected.add_costs(file, sizes);
        collected.total = totals(file, &collected.own);
        let counts = Counts::of_parameters(&file.hierarchy.tree);
        for (id, _) in file.hierarchy.tree.iter() {
            if let Some(own) = collected.own.get_mut(id.0 as usize) {
                own.parameters.set(counts.own(id));
            }
            if let Some(total) = collected.total.get_mut(id.0 as usize) {
                total.parameters.set(counts.total(id));
            }
        }
        collected
    }

    pub(super) fn own(&self, module: ModuleId) -> &Figures {
        self.own.get(module.0 as usize).unwrap_or(&self.none)
    }

    pub(super) fn total(&self, module: ModuleId) -> &Figures {
        self.total.get(module.0 as usize).unwrap_or(&self.none)
    }

    pub(super) fn costs(&self) -> impl Iterator<Item = (ModuleId, &Name, Cost)> {
        self.costs.iter().map(|((module, operator), cost)| (*module, operator, *cost))
    }

    fn of(&mut self, module: ModuleId) -> &mut Figures {
        match self.own.get_mut(module.0 as usize) {
            Some(figures) => figures,
            None => &mut self.none,
        }
    }

    fn add_nodes(&mut self, file: &TaggedFile) {
        let listed: HashSet<&str> =
            file.sidecar.iter().flat_map(|sidecar| &sidecar.nodes).map(|node| &*node.name).collect();
        file.model.for_each_node(&mut |node| {
            let figures = self.of(module_of(file, node));
            figures.nodes += 1;
            *figures.operators.entry(operator_name(node)).or_default() += 1;
            match &node.origin {
                Some(origin) => *figures.methods.entry(origin.method.name()).or_default() += 1,
                None => figures.unattributed_nodes += 1,
            }
            let is_marked = hierarchy::is_marked(node) || listed.contains(&*node.name);
            figures.marked_nodes += u64::from(is_marked && node.origin.is_some());
            for tensor in constants(node) {
                figures.constants.add(tensor);
            }
        });
    }

    fn add_weights(&mut self, file: &TaggedFile) {
        let owners = Owners::new(file);
        for tensor in &file.model.graph.initializers {
            let (module, is_parameter) = owners.of(&tensor.name);
            let figures = self.of(module);
            if is_parameter {
                let bytes = &mut figures.parameters.bytes;
                *bytes = bytes.saturating_add(tensors::bytes(tensor));
            } else {
                figures.constants.add(tensor);
            }
        }
    }

    fn add_costs(&mut self, file: &TaggedFile, sizes: &Sizes) {
        let model: &Model = &file.model;
        walk(model, sizes, &mut |typed| {
            let module = module_of(file, typed.node);
            let figures = self.of(module);
            let cost = figures.cost().plus(typed.cost);
            figures.set_cost(cost);
            let known = self.costs.entry((module, operator_name(typed.node))).or_default();
            *known = known.plus(typed.cost);
        });
    }
}

/// The module of a node; the root if nothing tells.
pub(super) fn module_of(file: &TaggedFile, node: &Node) -> ModuleId {
    file.module(node).unwrap_or(ModuleId::ROOT)
}

/// Tensors in the attributes of a node, and weights of graphs inside it.
fn constants(node: &Node) -> impl Iterator<Item = &Tensor> {
    let attributes = node.attributes.iter().flat_map(|attribute| match &attribute.value {
        AttributeValue::Tensor(tensor) => std::slice::from_ref(&**tensor),
        AttributeValue::Tensors(tensors) => tensors.as_slice(),
        _ => &[],
    });
    attributes.chain(node.subgraphs().flat_map(|graph| &graph.initializers))
}

/// Sums over everything below, but for the number of parameters. Parents come before children in the tree.
fn totals(file: &TaggedFile, own: &[Figures]) -> Vec<Figures> {
    let mut totals = own.to_vec();
    for id in (1..totals.len()).rev() {
        let parent = file.hierarchy.tree.get(ModuleId(id as u32)).and_then(|module| module.parent);
        let (above, below) = totals.split_at_mut(id);
        let parent = parent.and_then(|parent| above.get_mut(parent.0 as usize));
        if let (Some(parent), Some(child)) = (parent, below.first()) {
            parent.add(child);
        }
    }
    totals
}

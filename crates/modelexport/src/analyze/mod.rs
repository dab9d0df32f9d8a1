//! `analyze`: the size and cost of each module of a tagged file.
//!
//! Nodes, operators, weights, multiply-adds and activations are counted for each module itself (`own`) and with all modules
//! below it (`total`). Every node and every weight counts for exactly one module, so the total of the root is that of the
//! file. Parameters are counted as in the PyTorch model.

mod figures;
pub mod graphml;
pub mod model_explorer;
mod rows;
mod weights;
mod wiring;

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use modelexport_graph::Name;
use modelexport_inference::{Sizes, dimension_names};
use serde::Serialize;

use crate::Error;
use crate::diagnosis::{Diagnosis, Facts};
use crate::tagged_file::TaggedFile;
use figures::Collected;

pub use figures::{Figures, Parameters, Tensors};
pub use rows::{ClassRow, ModuleRow, OperatorRow, Rows, Share};

/// What the rows of an analysis are.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum By {
    /// One row for each module.
    #[default]
    Module,
    /// One row for each class.
    Class,
    /// One row for each operator.
    Op,
}

/// What a user can choose.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// A selector: only these modules, and what is below them.
    pub module: Option<String>,
    /// What the rows stand for.
    pub by: By,
    /// Modules down to this depth: below the selected ones, else below the root.
    pub depth: Option<usize>,
    /// Only the largest rows, the largest first.
    pub top: Option<usize>,
    /// Sizes of named dimensions, for the estimates; 1 for those that are not listed.
    pub sizes: BTreeMap<String, u64>,
}

/// The result.
#[derive(Clone, Debug, Serialize)]
pub struct Analysis {
    /// The path of the file.
    pub file: String,
    /// The program that wrote the file.
    pub producer: String,
    /// Opset of ONNX's own operators.
    pub opset: Option<i64>,
    /// The selector, if one was given: totals and rows are those of its modules, shares those of the whole file.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub selector: Option<String>,
    /// Figures of the whole file or of the chosen modules.
    pub totals: Totals,
    /// Sizes that dimensions with a name were counted with.
    pub sizes: BTreeMap<String, u64>,
    /// What told where nodes come from, with the number of nodes.
    pub evidence: BTreeMap<&'static str, u64>,
    /// How much the tags say, and what to do about it.
    pub diagnosis: Diagnosis,
    /// What the rows stand for.
    pub by: By,
    /// The rows themselves.
    #[serde(flatten)]
    pub rows: Rows,
}

/// Of the whole file, or of the modules that were selected.
#[derive(Clone, Debug, Serialize)]
pub struct Totals {
    /// Modules that were chosen.
    pub modules: u64,
    /// Chosen modules that ran.
    pub executed_modules: u64,
    /// Modules that show in tags.
    pub visible_modules: u64,
    /// Depth of the deepest module that has nodes; the root is at 0.
    pub depth: usize,
    /// Nodes that belong to a module of which something is known.
    pub attributed_nodes: u64,
    /// `attributed_nodes / nodes`, from 0 to 1; 1 without nodes.
    pub coverage: f64,
    /// Nodes whose tag ends in a module that the policy chose.
    pub tagged_operations: u64,
    /// Figures of all chosen modules together.
    #[serde(flatten)]
    pub figures: Figures,
}

/// Analyses the file at `path`.
pub fn analyze(path: &Path, options: &Options) -> Result<Analysis, Error> {
    let file = TaggedFile::open_any(path)?;
    analyze_file(&file, options)
}

/// Analyses a file that is open.
pub fn analyze_file(file: &TaggedFile, options: &Options) -> Result<Analysis, Error> {
    check_sizes(file, &options.sizes)?;
    let selected = options.module.as_deref().map(|selector| file.select(selector)).transpose()?;
    let sizes = Sizes::Given(options.sizes.clone());
    let collected = Collected::new(file, &sizes);
    let scope = rows::Scope::new(file, selected.as_deref());
    let totals = totals(file, &collected, &scope);
    let rows = rows::rows(file, &collected, &scope, options);
    let opset = file.model.opset_imports.iter().find(|import| matches!(&*import.domain, "" | "ai.onnx"));
    Ok(Analysis {
        file: file.path.display().to_string(),
        producer: file.producer(),
        opset: opset.map(|import| import.version),
        selector: options.module.clone(),
        totals,
        sizes: named_sizes(file, options),
        evidence: file.hierarchy.evidence.iter().map(|(kind, nodes)| (kind.name(), nodes)).collect(),
        diagnosis: diagnosis(file, &collected),
        by: options.by,
        rows,
    })
}

fn totals(file: &TaggedFile, collected: &Collected, scope: &rows::Scope<'_>) -> Totals {
    let tree = &file.hierarchy.tree;
    let depths = crate::selector::depths(tree);
    let mut totals = Totals {
        modules: 0,
        executed_modules: 0,
        visible_modules: 0,
        depth: 0,
        attributed_nodes: 0,
        coverage: 1.0,
        tagged_operations: 0,
        figures: Figures::default(),
    };
    for (id, module) in tree.iter().filter(|(id, _)| scope.holds(*id)) {
        let own = collected.own(id);
        totals.modules += 1;
        totals.executed_modules += u64::from(module.order.is_some());
        totals.visible_modules += u64::from(file.tags.is_visible(id));
        if own.nodes > 0 {
            totals.depth = totals.depth.max(depths.get(id.0 as usize).copied().unwrap_or(0));
        }
        if file.tags.is_chosen(id) {
            totals.tagged_operations += own.nodes - own.unattributed_nodes;
        }
        totals.figures.add(own);
    }
    totals.figures.count(tree, tree.iter().map(|(id, _)| id).filter(|id| scope.holds(*id)));
    totals.attributed_nodes = totals.figures.nodes - totals.figures.unattributed_nodes;
    if totals.figures.nodes > 0 {
        totals.coverage = totals.attributed_nodes as f64 / totals.figures.nodes as f64;
    }
    totals
}

/// Whether the file has all dimensions that sizes were given for.
pub fn check_sizes(file: &TaggedFile, sizes: &BTreeMap<String, u64>) -> Result<(), Error> {
    let graph = &file.model.graph;
    let values = [&graph.inputs, &graph.outputs, &graph.value_infos];
    let known: BTreeSet<String> = values.into_iter().flat_map(|infos| dimension_names(infos)).collect();
    match sizes.keys().find(|name| !known.contains(*name)) {
        None => Ok(()),
        Some(name) => {
            let near = crate::selector::near_matches(known.iter().map(String::as_str), name);
            Err(Error::Dimension {
                path: file.path.clone(),
                name: name.clone(),
                near,
                known: known.into_iter().collect(),
            })
        }
    }
}

/// The named dimensions of the inputs with the sizes that they count as.
fn named_sizes(file: &TaggedFile, options: &Options) -> BTreeMap<String, u64> {
    let mut sizes = options.sizes.clone();
    for name in dimension_names(&file.model.graph.inputs) {
        sizes.entry(name).or_insert(1);
    }
    sizes
}

fn diagnosis(file: &TaggedFile, collected: &Collected) -> Diagnosis {
    let tree = &file.hierarchy.tree;
    let own = |id| collected.own(id);
    let chosen = tree.iter().filter(|(id, _)| file.tags.is_chosen(*id));
    let hidden = tree.iter().filter(|(id, module)| module.order.is_some() && !file.tags.is_visible(*id));
    let facts = Facts {
        nodes: tree.iter().map(|(id, _)| own(id).nodes).sum(),
        untold_nodes: file.hierarchy.unattributed_nodes,
        tagged_operations: chosen.map(|(id, _)| own(id).nodes - own(id).unattributed_nodes).sum(),
        chosen_modules: tree.iter().skip(1).filter(|(id, _)| file.tags.is_visible(*id)).count(),
        hidden_classes: hidden.map(|(_, module)| module.class_name().to_owned()).collect(),
        policy: file.tags.policy(),
    };
    facts.diagnose()
}

/// Operators and how many nodes each has.
pub type OperatorCounts = BTreeMap<Name, u64>;

#[cfg(test)]
mod tests;

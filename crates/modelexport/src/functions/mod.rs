//! Modules as ONNX local functions, and back.
//!
//! The nodes of a module call become a call of a function, and functions nest as modules do. Calls with the same nodes share
//! one function; weights and values that differ are inputs. The nodes of a function have the names and metadata of its first
//! call. The other calls store how theirs differ (see `template`), so [`inline`] restores every node.

mod arrange;
mod build;
mod error;
mod exported;
mod file;
mod inline;
mod key;
mod record;
mod sidecar;
mod template;
mod texts;

use modelexport_graph::onnx::Model;
use modelexport_graph::{ModuleId, Name};
use serde::Serialize;

use crate::tagged_file::TaggedFile;

pub use error::Error;
pub use exported::Modules;
pub(crate) use exported::convert_exported;
pub use file::{Direction, Functions, Outcome, Summary};
pub use inline::{Inlined, inline};
pub(crate) use sidecar::sidecar_for;

/// What a user can choose.
#[derive(Clone, Debug)]
pub struct Options {
    /// Functions with fewer calls are not made; their nodes stay where they are.
    pub min_instances: usize,
}

impl Default for Options {
    fn default() -> Self {
        Options { min_instances: 1 }
    }
}

/// A model whose modules are functions.
#[derive(Debug)]
pub struct Converted {
    /// The model with functions.
    pub model: Model,
    /// What became of the modules.
    pub report: Report,
}

/// What became of the modules.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Report {
    /// The functions that were made.
    pub functions: Vec<FunctionReport>,
    /// Modules that stay as they were, and why.
    pub left: Vec<UnconvertedCall>,
    /// Nodes of the main graph before and after; nodes of functions are counted by the functions.
    pub nodes_before: usize,
    /// Nodes of the main graph afterwards.
    pub nodes_after: usize,
}

/// A function that was made of modules.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct FunctionReport {
    /// The domain of the function.
    pub domain: Name,
    /// The name of the function.
    pub name: Name,
    /// The class of the modules.
    pub class: Name,
    /// Nodes in the function, calls of other functions among them.
    pub nodes: usize,
    /// Number of its inputs.
    pub inputs: usize,
    /// Number of its outputs.
    pub outputs: usize,
    /// The modules that call it, one entry a call.
    pub calls: Vec<CallReport>,
}

/// One call of a module.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct CallReport {
    /// The path of the module.
    pub module: Name,
    /// The number of the call; the first is 0.
    pub call: u32,
}

/// A module call that did not become a function.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct UnconvertedCall {
    /// The path of the module.
    pub module: Name,
    /// The number of the call; the first is 0.
    pub call: u32,
    /// Why its nodes stay where they are.
    pub reason: String,
}

/// Makes functions of the calls of `modules`. The root is never one.
pub fn convert(file: &TaggedFile, modules: &[ModuleId], options: &Options) -> Result<Converted, Error> {
    let mut left = Vec::new();
    let mut candidates = arrange::candidates(file, modules, &mut left);
    let mut arrangement = arrange::arrange(file, &mut candidates, &mut left);
    if options.min_instances > 1 {
        let rare = build::rare_calls(file, &arrangement, options.min_instances)?;
        if !rare.is_empty() {
            for scope in rare {
                candidates.remove(scope);
                let reason = format!("its function would have fewer than {} calls", options.min_instances);
                left.push(arrange::left(file, scope, &reason));
            }
            arrangement = arrange::arrange(file, &mut candidates, &mut left);
        }
    }
    let nodes_before = file.model.graph.nodes.len();
    let built = build::build(file, &arrangement)?;
    let report =
        Report { functions: built.reports, left, nodes_before, nodes_after: built.model.graph.nodes.len() };
    Ok(Converted { model: built.model, report })
}

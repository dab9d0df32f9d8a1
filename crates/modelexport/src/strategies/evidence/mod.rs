//! What is known about the model besides the ONNX file: read once, shared by all strategies.
//!
//! Every kind of evidence provides the module tree, the calls and the parameters. A trace and a captured program also provide
//! every operator with its call. A tagged ONNX file and a sidecar provide the nodes of the file that was tagged.

mod calls;
mod from_onnx;
mod from_program;
mod from_scopes;
mod from_sidecar;
mod from_trace;
mod load;
mod parameters;

use std::collections::HashMap;

use modelexport_graph::{ModuleId, ModuleTree, Name, ScopeId, Scopes};
use modelexport_io::{pt2, sidecar};

use super::align::reference::Reference;
use super::graph::{GraphView, NodeId, TextId};
use crate::tags::Tags;

pub use calls::Calls;
pub(crate) use from_onnx::from_hierarchy;
pub use from_onnx::{from_itself, from_onnx as of_tagged};
pub use from_scopes::from_scopes;
pub(crate) use from_sidecar::from_sidecar as of_sidecar;
pub use load::load;
pub use parameters::{ParameterFact, ParameterId, Parameters, sorted_dims};

/// What kind of file evidence came from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EvidenceFormat {
    /// What `TracingHierarchyBuilder` wrote.
    Trace,
    /// A captured program (`.pt2`).
    Program,
    /// A sidecar.
    Sidecar,
    /// An ONNX file whose nodes say where they come from.
    Onnx,
    /// The names of the nodes of an ONNX file that says nothing else.
    Scopes,
}

impl EvidenceFormat {
    /// The name in messages and in JSON.
    pub fn name(self) -> &'static str {
        match self {
            EvidenceFormat::Trace => "trace",
            EvidenceFormat::Program => "pt2",
            EvidenceFormat::Sidecar => "sidecar",
            EvidenceFormat::Onnx => "onnx",
            EvidenceFormat::Scopes => "scopes",
        }
    }
}

/// Everything that strategies may use besides the graph.
#[derive(Debug)]
pub struct Evidence {
    /// What kind of file it came from.
    pub format: EvidenceFormat,
    pub(crate) modules: ModuleTree,
    pub(crate) scopes: Scopes,
    calls: Calls,
    pub(crate) parameters: Parameters,
    /// The operators of the model in the order of execution; empty if the evidence does not tell them.
    pub ops: Vec<OpFact>,
    /// The operators of a forward pass, or the nodes of a captured program, as steps for strategies that align them.
    pub run: Option<Reference>,
    /// The captured program without its graph: where its weights lie.
    pub program: Option<pt2::Archive>,
    /// The nodes of a file that was tagged before.
    pub original: Option<Original>,
    /// The policy that an earlier run recorded.
    pub policy: Option<sidecar::Policy>,
    /// The tags, if the evidence tells only these: there are no paths and classes to make others from.
    pub tags_only: Option<Tags>,
    pub(crate) torch_version: Option<String>,
    /// The data files that the evidence names, if it is an ONNX file.
    pub(crate) data_locations: Vec<String>,
}

/// One operator that ran and made a tensor.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct OpFact {
    /// What ran: an ATen operator, or an ONNX one where the evidence is an ONNX file.
    pub target: Name,
    pub(crate) call: ScopeId,
    /// The parameters that it read.
    pub parameters: Vec<ParameterId>,
}

/// A file that was tagged before.
#[derive(Debug)]
pub struct Original {
    /// `None` if there is only a sidecar.
    pub graph: Option<OriginalGraph>,
    /// Where the nodes that a sidecar lists come from by their name; `None` for names that occur twice.
    pub nodes: HashMap<Name, Option<ScopeId>>,
    /// How often a sidecar lists each operator.
    pub operators: HashMap<Name, u64>,
    /// Modules in which a sidecar lists operators that multiply by weights.
    pub products: HashMap<ModuleId, u64>,
}

impl Original {
    /// Where the only node of this name comes from.
    pub fn call(&self, name: &str) -> Option<ScopeId> {
        match &self.graph {
            Some(graph) => graph.call_by_name(name),
            None => self.nodes.get(name).copied().flatten(),
        }
    }
}

/// The graph of a file that was tagged before.
#[derive(Debug)]
pub struct OriginalGraph {
    pub(crate) view: GraphView,
    /// By [`NodeId`].
    calls: Vec<Option<ScopeId>>,
    /// By text: the only node of that name.
    by_name: Vec<Option<NodeId>>,
}

impl OriginalGraph {
    /// `calls`: where its nodes come from.
    pub fn new(view: GraphView, calls: Vec<Option<ScopeId>>) -> Self {
        let mut by_name = vec![None; view.text_count()];
        let mut is_taken = vec![false; view.text_count()];
        for (id, entry) in view.nodes().filter(|(_, entry)| entry.name != TextId::EMPTY) {
            let at = entry.name.0 as usize;
            if let (Some(node), Some(is_taken)) = (by_name.get_mut(at), is_taken.get_mut(at)) {
                *node = (!*is_taken).then_some(id);
                *is_taken = true;
            }
        }
        OriginalGraph { view, calls, by_name }
    }

    pub(crate) fn call(&self, id: NodeId) -> Option<ScopeId> {
        self.calls.get(id.0 as usize).copied().flatten()
    }

    fn call_by_name(&self, name: &str) -> Option<ScopeId> {
        let name = self.view.find_text(name)?;
        self.call(self.by_name.get(name.0 as usize).copied().flatten()?)
    }
}

impl Evidence {
    pub(crate) fn new(format: EvidenceFormat, modules: ModuleTree, mut scopes: Scopes) -> Self {
        let calls = Calls::new(&modules, &mut scopes);
        Evidence {
            format,
            modules,
            scopes,
            calls,
            parameters: Parameters::default(),
            ops: Vec::new(),
            run: None,
            program: None,
            original: None,
            policy: None,
            tags_only: None,
            torch_version: None,
            data_locations: Vec::new(),
        }
    }

    /// Lets go of what only strategies use. Modules, calls and names of steps stay, for the tags.
    pub fn keep_modules(&mut self) {
        self.ops = Vec::new();
        self.parameters = Parameters::default();
        if let Some(run) = &mut self.run {
            run.keep_steps();
        }
        self.program = None;
        self.original = None;
    }

    pub(crate) fn calls(&self) -> &Calls {
        &self.calls
    }

    /// The first call of a module, for strategies that know only the module.
    pub fn call_of(&self, module: ModuleId) -> ScopeId {
        self.calls.of(module)
    }

    /// The module that a parameter's name says holds it: the deepest whose path the name begins with.
    pub fn owner_by_name(&self, parameter: &str) -> Option<ModuleId> {
        let mut path = parameter;
        while let Some((above, _)) = path.rsplit_once('.') {
            if let Some(module) = self.modules.find(above) {
                return Some(module);
            }
            path = above;
        }
        None
    }
}

//! The foreign route: finds the modules of the nodes in an ONNX file of another exporter.
//!
//! ```text
//! model.onnx ─► GraphView ──┐
//!                           ├─► strategy ─► Draft ─► auxiliary ─► one Attribution per node ─► tagger
//! trace, .pt2, sidecar, … ──┘
//!            Evidence
//! ```
//!
//! A strategy reads the graph and the evidence and places as many nodes as it can: a [`Draft`]. The remaining nodes are
//! placed by one rule for all strategies ([`auxiliary`]), so every node has an [`Attribution`] in the end. The graph never
//! changes.

mod align;
mod auxiliary;
mod contents;
mod enhanced_semantic;
pub mod evidence;
mod facts;
pub(crate) mod fit;
mod fx_graph;
pub(crate) mod graph;
mod htp;
mod lists;
mod parameters;
mod retag;
mod usage_based;

use std::num::NonZeroU32;

use modelexport_graph::onnx::{AtenSource, Origin};
use modelexport_graph::{Method, ModuleId, ScopeId};

use align::reference::Reference;
pub use evidence::Evidence;
pub use graph::{GraphBuilder, GraphView, NodeId, ValueId};
pub use parameters::Anchors;

/// Where a node comes from, as a strategy found it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// The module call. Where only the module is known, its first call: [`Evidence::call_of`].
    pub call: ScopeId,
    pub(crate) method: Method,
    /// From 0 (a guess) to 1 (certain).
    pub confidence: f32,
    /// The modules of the nodes that a fused node stands for; empty for all others.
    pub fused: Box<[ModuleId]>,
    /// The step of [`Evidence::run`] that it stands for, where that is known and has a name.
    pub step: Option<StepNumber>,
}

/// The number of a step.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepNumber(NonZeroU32);

impl StepNumber {
    /// `None` for step 0.
    pub fn new(step: u32) -> Option<Self> {
        step.checked_add(1).and_then(NonZeroU32::new).map(StepNumber)
    }

    pub(crate) fn get(self) -> u32 {
        self.0.get() - 1
    }
}

impl Attribution {
    /// A node of `call`.
    pub fn new(call: ScopeId, method: Method, confidence: f32) -> Self {
        Attribution { call, method, confidence, fused: Box::default(), step: None }
    }

    /// The same for the tagger. `run` is what the step is of.
    pub fn origin(&self, run: Option<&Reference>) -> Origin {
        let source = self.step.and_then(|number| {
            let step = run?.step(number.get())?;
            Some(AtenSource { name: step.name.clone()?, target: run?.target(step.target)?.clone() })
        });
        let fused = self.fused.to_vec();
        Origin { scope: self.call, source, method: self.method, confidence: self.confidence, fused }
    }
}

/// What a strategy could tell, by [`NodeId`]; `None` for what it leaves to others.
pub type Draft = Vec<Option<Attribution>>;

/// One attribution for each node, by [`NodeId`].
pub type Attributions = Vec<Attribution>;

/// What a strategy goes by.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub(crate) graph: &'a GraphView,
    pub(crate) evidence: &'a Evidence,
    /// Which parameters the initializers of the graph are.
    pub anchors: &'a Anchors,
    /// Modules that inferred tags do not spread across.
    pub boundaries: &'a [ModuleId],
}

/// What is known of a live model whose ONNX file torch wrote.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LiveEvidence {
    /// A trace of one forward pass.
    Trace,
    /// The captured program.
    Program,
}

impl LiveEvidence {
    /// The name in the Python package.
    pub fn name(self) -> &'static str {
        match self {
            LiveEvidence::Trace => "trace",
            LiveEvidence::Program => "program",
        }
    }
}

/// The ways to find out where nodes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strategy {
    /// Aligns the trace of a forward pass with the graph.
    Htp,
    /// Matches the captured graph with the graph.
    FxGraph,
    /// Reads scope names and parameter names.
    EnhancedSemantic,
    /// Follows parameters to their readers and producers.
    UsageBased,
    /// Takes the tags of the file that this one was made from.
    Retag,
}

impl Strategy {
    /// The one that tells most first.
    pub const ALL: [Strategy; 5] =
        [Strategy::Retag, Strategy::FxGraph, Strategy::Htp, Strategy::EnhancedSemantic, Strategy::UsageBased];

    /// The name in options and in the sidecar.
    pub fn name(self) -> &'static str {
        match self {
            Strategy::Htp => "htp",
            Strategy::FxGraph => "fx_graph",
            Strategy::EnhancedSemantic => "enhanced_semantic",
            Strategy::UsageBased => "usage_based",
            Strategy::Retag => "retag",
        }
    }

    /// What it goes by, in a few words.
    pub fn summary(self) -> &'static str {
        match self {
            Strategy::Htp => "the operators of one forward pass, aligned with the nodes",
            Strategy::FxGraph => "the captured ATen graph, aligned with the nodes",
            Strategy::EnhancedSemantic => "metadata, scope names and parameter names in the file",
            Strategy::UsageBased => "which module reads which parameter",
            Strategy::Retag => "the tagged file that this one was made from",
        }
    }

    /// What the export of a live model hands to the strategy beside torch's ONNX file; `None` if it has nothing for it.
    pub fn live_evidence(self) -> Option<LiveEvidence> {
        match self {
            Strategy::Htp | Strategy::EnhancedSemantic | Strategy::UsageBased => Some(LiveEvidence::Trace),
            Strategy::FxGraph => Some(LiveEvidence::Program),
            Strategy::Retag => None,
        }
    }

    /// The strategy of this name.
    pub fn from_name(name: &str) -> Option<Strategy> {
        Strategy::ALL.into_iter().find(|strategy| strategy.name() == name)
    }

    /// Whether the evidence has what the strategy goes by.
    pub fn is_allowed_by(self, evidence: &Evidence) -> bool {
        match self {
            Strategy::Htp => evidence.run.is_some(),
            Strategy::FxGraph => evidence.program.is_some() && evidence.run.is_some(),
            Strategy::EnhancedSemantic => true,
            Strategy::UsageBased => !evidence.parameters.is_empty(),
            Strategy::Retag => evidence.original.is_some(),
        }
    }

    /// Whether it goes by names and metadata inside the file, so that it is lost without them.
    pub fn reads_names(self) -> bool {
        matches!(self, Strategy::EnhancedSemantic | Strategy::Retag)
    }

    /// The evidence that the strategy needs, in words.
    pub fn needs(self) -> &'static str {
        match self {
            Strategy::Htp => "a trace of a forward pass or a captured program (.pt2)",
            Strategy::FxGraph => "a captured program (.pt2)",
            Strategy::EnhancedSemantic => "any evidence",
            Strategy::UsageBased => "evidence that lists parameters",
            Strategy::Retag => "a tagged ONNX file or a sidecar",
        }
    }

    /// Where the nodes come from, as far as the strategy itself can tell.
    fn draft(self, context: &Context<'_>) -> Draft {
        match self {
            Strategy::Htp => htp::draft(context),
            Strategy::FxGraph => fx_graph::draft(context),
            Strategy::EnhancedSemantic => enhanced_semantic::draft(context),
            Strategy::UsageBased => usage_based::draft(context),
            Strategy::Retag => retag::draft(context),
        }
    }
}

/// One attribution for each node of the graph.
pub fn attribute(strategy: Strategy, context: &Context<'_>) -> Attributions {
    auxiliary::complete(context.graph, context.evidence, strategy.draft(context))
}

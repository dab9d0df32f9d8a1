//! The foreign route: which module the nodes of an ONNX file come from that another exporter wrote.
//!
//! ```text
//! model.onnx ─► GraphView ──┐
//!                           ├─► strategy ─► Draft ─► auxiliary ─► one Attribution a node ─► tagger
//! trace, .pt2, sidecar, … ──┘
//!            Evidence
//! ```
//!
//! A strategy looks at the graph and at evidence that was read once, and says where nodes come from as far as it can
//! tell: a [`Draft`]. What is left over is filled in by one rule for all strategies ([`auxiliary`]), so that every
//! node has an [`Attribution`] in the end. The graph is never changed.

pub mod align;
pub mod auxiliary;
mod enhanced_semantic;
pub mod evidence;
mod fx_graph;
pub mod graph;
mod htp;
pub mod parameters;
mod retag;
mod usage_based;

use modelexport_graph::onnx::{AtenSource, Origin};
use modelexport_graph::{Method, ModuleId, ScopeId};

pub use evidence::Evidence;
pub use graph::{GraphView, NodeId, ValueId};
pub use parameters::Anchors;

/// Where a node comes from, as a strategy found it.
#[derive(Clone, Debug, PartialEq)]
pub struct Attribution {
    /// The module call. Where only the module is known, its first call: [`Evidence::call_of`].
    pub call: ScopeId,
    pub method: Method,
    /// From 0 (a guess) to 1 (certain).
    pub confidence: f32,
    /// The modules of the nodes that a fused node stands for; empty for all others.
    pub fused: Vec<ModuleId>,
    /// The ATen node that it was made for, where that is known.
    pub source: Option<AtenSource>,
}

impl Attribution {
    pub fn new(call: ScopeId, method: Method, confidence: f32) -> Self {
        Attribution { call, method, confidence, fused: Vec::new(), source: None }
    }
}

impl From<Attribution> for Origin {
    fn from(found: Attribution) -> Self {
        let Attribution { call, method, confidence, fused, source } = found;
        Origin { scope: call, source, method, confidence, fused }
    }
}

/// What a strategy could tell, by [`NodeId`]; `None` for what it leaves to others.
pub type Draft = Vec<Option<Attribution>>;

/// One attribution for each node, by [`NodeId`].
pub type Attributions = Vec<Attribution>;

/// What a strategy goes by.
#[derive(Clone, Copy, Debug)]
pub struct Context<'a> {
    pub graph: &'a GraphView<'a>,
    pub evidence: &'a Evidence,
    /// Which parameters the initializers of the graph are.
    pub anchors: &'a Anchors,
    /// Modules that inferred tags do not spread across.
    pub boundaries: &'a [ModuleId],
}

/// The ways to find out where nodes come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Strategy {
    Htp,
    FxGraph,
    EnhancedSemantic,
    UsageBased,
    Retag,
}

impl Strategy {
    /// The one that tells most first.
    pub const ALL: [Strategy; 5] =
        [Strategy::Retag, Strategy::FxGraph, Strategy::Htp, Strategy::EnhancedSemantic, Strategy::UsageBased];

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
            Strategy::Htp => "the operators of one forward pass, projected onto the nodes",
            Strategy::FxGraph => "the captured ATen graph, laid along the nodes",
            Strategy::EnhancedSemantic => "metadata, scope names and parameter names in the file",
            Strategy::UsageBased => "who reads which parameter, and what leads there",
            Strategy::Retag => "the tagged file that this one was made from",
        }
    }

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

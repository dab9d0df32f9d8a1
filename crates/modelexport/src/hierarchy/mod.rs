//! The modules of a model file and the nodes that belong to each, whatever kind of file it is.

mod evidence;
mod from_onnx;
mod from_program;
mod initializers;
mod load;
pub(crate) mod node_claim;
mod quantised;
mod tag_tree;

use modelexport_graph::{ModuleId, ModuleTree, Name, Scopes};

use crate::tags::Tags;

pub use evidence::{Evidence, EvidenceKind};
pub(crate) use from_onnx::Reading;
pub use from_onnx::{PlacedGraph, from_onnx, read_onnx};
pub use from_program::from_program;
pub(crate) use initializers::looks_like_a_weight;
pub use initializers::readers;
pub use load::{FileKind, Loaded, load};
pub use node_claim::{WINML_DEPTH, WINML_TAG, is_marked, stack_module};
pub(crate) use quantised::Quantised;

/// Modules with their nodes.
#[derive(Clone, Debug)]
pub struct Hierarchy {
    /// The modules.
    pub tree: ModuleTree,
    pub(crate) scopes: Scopes,
    /// By [`ModuleId`]: nodes that ran in the module itself.
    pub own_nodes: Vec<u64>,
    /// Nodes of which nothing tells where they ran.
    pub unattributed_nodes: u64,
    /// What told where the nodes ran.
    pub evidence: Evidence,
    /// Tags that the file's nodes carry, with their module and how many nodes have them.
    pub recorded_tags: Vec<RecordedTag>,
    /// The tags, if the file tells only these: there are no paths and classes to make others from.
    pub tags_only: Option<Tags>,
}

/// A tag that nodes of a module carry.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedTag {
    pub(crate) module: ModuleId,
    pub(crate) tag: Name,
    pub(crate) nodes: u64,
}

impl Hierarchy {
    /// There are nodes, and nothing in the file tells their modules.
    pub fn records_no_modules(&self) -> bool {
        self.evidence.is_empty() && self.unattributed_nodes > 0
    }

    /// Nodes that ran in a known module.
    pub fn attributed_nodes(&self) -> u64 {
        self.own_nodes.iter().sum()
    }

    /// Nodes whose tag in the file is neither the one that `tags` gives nor that of auxiliary operations.
    pub fn nodes_tagged_otherwise(&self, tags: &Tags) -> u64 {
        let differs = |recorded: &&RecordedTag| {
            recorded.tag != *tags.tag(recorded.module) && recorded.tag != *tags.auxiliary()
        };
        self.recorded_tags.iter().filter(differs).map(|recorded| recorded.nodes).sum()
    }
}

//! `enhanced_semantic`: what the ONNX file itself says, with the module tree to understand it.
//!
//! For each node the first that tells: metadata (modelexport's, torch's, winml's), the scope in the node's name, the
//! parameters that it reads. The rest is left to the neighbours.

mod scope_names;
mod tag_names;

use modelexport_graph::onnx::Node;
use modelexport_graph::{Method, ModuleId};

use super::evidence::Evidence;
use super::usage_based::reader;
use super::{Attribution, Context, Draft};
use crate::hierarchy::node_claim::Claim;
use scope_names::ScopeNames;
use tag_names::TagNames;

/// Confidence in metadata, in a scope that was understood to its end, and in one that names a module further up.
const METADATA: f32 = 1.0;
const WHOLE_SCOPE: f32 = 0.95;
const PART_OF_SCOPE: f32 = 0.6;

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let evidence = context.evidence;
    let mut scope_names = ScopeNames::new(&evidence.modules);
    let mut tag_names = TagNames::new(evidence);
    let by_name = |node: &Node, scope_names: &mut ScopeNames<'_>| {
        let found = scope_names.module(&node.name)?;
        let confidence = if found.is_whole { WHOLE_SCOPE } else { PART_OF_SCOPE };
        Some(Attribution::new(evidence.call_of(found.module), Method::Scope, confidence))
    };
    let nodes = context.graph.nodes();
    let found = nodes.map(|(id, entry)| {
        let claimed = claimed_module(entry.node, evidence, &mut tag_names)
            .map(|module| Attribution::new(evidence.call_of(module), Method::Scope, METADATA));
        claimed.or_else(|| by_name(entry.node, &mut scope_names)).or_else(|| reader(context, id))
    });
    found.collect()
}

/// The module that a node's metadata names.
fn claimed_module(node: &Node, evidence: &Evidence, tags: &mut TagNames<'_>) -> Option<ModuleId> {
    if node.metadata.is_empty() && node.doc_string.is_empty() {
        return None;
    }
    let claim = Claim::of(node);
    let deepest = claim.stack.and_then(|(_, mut frames)| frames.pop()).map(|frame| frame.path);
    let path = claim.module.or(deepest);
    path.and_then(|path| nearest(evidence, &path)).or_else(|| tags.module(&claim.tag?))
}

/// The module at `path`, or the nearest above it that the evidence knows.
fn nearest(evidence: &Evidence, path: &str) -> Option<ModuleId> {
    let mut path = path;
    loop {
        if let Some(module) = evidence.modules.find(path) {
            return Some(module);
        }
        // A second call is written `path@1` in places.
        let first_call = path.rsplit_once('@').filter(|(_, call)| call.bytes().all(|b| b.is_ascii_digit()));
        path = match first_call {
            Some((without, _)) => without,
            None => path.rsplit_once('.').map(|(above, _)| above)?,
        };
    }
}

//! `enhanced_semantic`: uses what the ONNX file itself records, interpreted with the module tree.
//!
//! For each node the first available source is used: metadata (modelexport's, torch's, winml's), the scope in the node's name,
//! the parameters that it reads. Other nodes are placed by their neighbors.

pub(super) mod scope_names;
mod tag_names;

use modelexport_graph::{Method, ModuleId};

use super::evidence::Evidence;
use super::graph::NodeId;
use super::usage_based::reader;
use super::{Attribution, Context, Draft};
use scope_names::{ScopeNames, all_paths};
use tag_names::TagNames;

/// Confidence in metadata, in a scope that was understood to its end, and in one that names a module further up.
const METADATA: f32 = 1.0;
const WHOLE_SCOPE: f32 = 0.95;
const PART_OF_SCOPE: f32 = 0.6;

pub(super) fn draft(context: &Context<'_>) -> Draft {
    let evidence = context.evidence;
    let paths = all_paths(&evidence.modules);
    let mut scope_names = ScopeNames::new(&evidence.modules, &paths);
    let mut tag_names = TagNames::new(evidence);
    let by_name = |id: NodeId, scope_names: &mut ScopeNames<'_>| {
        let found = scope_names.module(context.graph.name(id))?;
        let confidence = if found.is_whole { WHOLE_SCOPE } else { PART_OF_SCOPE };
        Some(Attribution::new(evidence.call_of(found.module), Method::Scope, confidence))
    };
    let found = context.graph.node_ids().map(|id| {
        let claimed = claimed_module(context, id, &mut tag_names)
            .map(|module| Attribution::new(evidence.call_of(module), Method::Scope, METADATA));
        claimed.or_else(|| by_name(id, &mut scope_names)).or_else(|| reader(context, id))
    });
    found.collect()
}

/// The module that a node's metadata names.
fn claimed_module(context: &Context<'_>, id: NodeId, tags: &mut TagNames<'_>) -> Option<ModuleId> {
    let mark = context.graph.mark(id)?;
    let by_path = mark.path.and_then(|path| nearest(context.evidence, context.graph.text(path)));
    by_path.or_else(|| tags.module(context.graph.text(mark.tag?)))
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

//! The sidecar of a model whose modules became functions, or nodes again.

use std::collections::HashMap;

use modelexport_graph::Name;
use modelexport_graph::onnx::Model;
use modelexport_io::sidecar::{self, Sidecar};

use crate::embedding::Embed;
use crate::hierarchy::from_onnx;
use crate::tagged_file::TaggedFile;
use crate::tagger::{self, Options};
use crate::tags::Tags;

/// The sidecar of `model`, which was made from `file`, if that has one. Sets the origins of the nodes.
pub(crate) fn sidecar_for(model: &mut Model, file: &TaggedFile) -> Option<Sidecar> {
    file.sidecar.as_ref().map(|before| sidecar_after(model, before, &file.tags))
}

/// The sidecar of `model`, which was made from one that `before` describes. What that says of a node stays; calls, and
/// nodes that were not there, are described by what they carry. Sets the origins of the nodes.
pub(super) fn sidecar_after(model: &mut Model, before: &Sidecar, tags: &Tags) -> Sidecar {
    let hierarchy = from_onnx(model, Some(before));
    let options =
        Options { embed: Embed::NONE, strategy: before.strategy.clone(), source: before.source.clone() };
    let mut after = tagger::describe(model, &hierarchy.tree, &hierarchy.scopes, tags, &options);
    let known: HashMap<&Name, &sidecar::Node> = before.nodes.iter().map(|node| (&node.name, node)).collect();
    for node in &mut after.nodes {
        if let Some(told) = known.get(&node.name).filter(|told| told.op_type == node.op_type) {
            *node = (*told).clone();
        }
    }
    after.policy = before.policy.clone();
    after
}

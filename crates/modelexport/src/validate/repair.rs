//! Mending what has one right answer.
//!
//! A node knows its module, and the module its tag: where the texts of a node disagree with that, they are written
//! anew. A sidecar that disagrees with the file is made again from the file. Nothing else of the file changes.

use std::collections::{BTreeSet, HashMap};
use std::path::Path;

use modelexport_graph::onnx::Node;
use modelexport_io::onnx::DocString;
use modelexport_io::onnx::{self, NodeEdit, NodeTags, OWN_PREFIX, is_shared_key};
use modelexport_io::sidecar::{self, Sidecar};
use modelexport_io::spliced_file;
use serde::Serialize;

use super::finding::place_of;
use super::{Report, validate_file};
use crate::Error;
use crate::embedding::{self, Embed};
use crate::inputs::Inputs;
use crate::sidecar_file;
use crate::tagged_file::TaggedFile;
use crate::tagger;
use crate::target::Target;
use crate::tensors::external_locations;

/// What was done, and what is left.
#[derive(Clone, Debug, Serialize)]
pub struct Repaired {
    /// The file that was written.
    pub output: String,
    /// Nodes whose tags were written anew.
    pub nodes: Vec<String>,
    /// The sidecar that was made again.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub sidecar: Option<String>,
    /// The findings before.
    pub before: Report,
    /// The findings that are left.
    pub after: Report,
}

/// Mends the file at `path` into `output`, which may be the same file. Without anything to mend, nothing is written.
pub fn repair(path: &Path, output: &Path, overwrite: bool) -> Result<Repaired, Error> {
    let is_in_place = path == output;
    let file = TaggedFile::open_any(path)?;
    let before = validate_file(&file);
    let broken: BTreeSet<&str> = before
        .findings
        .iter()
        .filter(|finding| finding.repairable && !finding.check.starts_with("sidecar"))
        .map(|finding| finding.place.as_str())
        .collect();
    let needs_sidecar = before.findings.iter().any(|finding| finding.repairable);
    if !needs_sidecar && is_in_place {
        let after = before.clone();
        let output = output.display().to_string();
        return Ok(Repaired { output, nodes: Vec::new(), sidecar: None, before, after });
    }
    let has_sidecar = file.sidecar.is_some() || file.sidecar_problem.is_some();
    let mut inputs = Inputs::in_place();
    inputs.add_model(path);
    inputs.add_data(path, &external_locations(&file.model));
    let target = Target::new(output).overwrite(overwrite || is_in_place);
    let mut transaction =
        if has_sidecar { target.begin_with_sidecar(&inputs)? } else { target.begin(&inputs)? };
    let (edits, names) = edits(&file, &broken);
    let written = has_sidecar.then(|| sidecar::path_beside(output));
    if has_sidecar {
        sidecar_file::stage(&mut transaction, &new_sidecar(&file))?;
    }
    let mut spliced = onnx::splice(&file.sources, file.source, |view| {
        edits.get(&view.key).map_or(NodeEdit::Keep, |tags: &Edit| tags.apply(view.doc_string))
    })?;
    spliced_file::stage(&mut transaction, &mut spliced, file.source, &file.sources, &mut |_| ())?;
    transaction.commit()?;
    let after = validate_file(&TaggedFile::open_any(output)?);
    let sidecar = written.filter(|_| needs_sidecar).map(|beside| beside.display().to_string());
    Ok(Repaired { output: output.display().to_string(), nodes: names, sidecar, before, after })
}

/// New texts of a node.
struct Edit {
    /// Without the text that stood there before.
    doc_string: Option<DocString>,
    metadata: Vec<(String, String)>,
}

impl Edit {
    fn apply(&self, earlier: Option<&str>) -> NodeEdit {
        let doc_string = self.doc_string.clone().map(|mut doc_string| {
            doc_string.doc_string = earlier.map(str::to_owned);
            // Strings and a number always serialise.
            serde_json::to_string(&doc_string).unwrap_or_default()
        });
        NodeEdit::Tag(NodeTags { doc_string, metadata: self.metadata.clone() })
    }
}

/// The new texts of nodes at broken places, by their place in the file, and the names of these nodes.
fn edits(file: &TaggedFile, broken: &BTreeSet<&str>) -> (HashMap<onnx::NodeKey, Edit>, Vec<String>) {
    let mut edits = HashMap::new();
    let mut names = Vec::new();
    let mut visit = |function: Option<usize>, index: usize, node: &Node| {
        let place = place_of(node);
        if let Some(edit) = broken.contains(place.as_str()).then(|| edit(file, node)).flatten() {
            edits.insert(onnx::NodeKey { function, index }, edit);
            names.push(place);
        }
    };
    let mut index = 0;
    file.model.graph.for_each_node(&mut |node| {
        visit(None, index, node);
        index += 1;
    });
    for (function, body) in file.model.functions.iter().enumerate() {
        let mut index = 0;
        body.for_each_node(&mut |node| {
            visit(Some(function), index, node);
            index += 1;
        });
    }
    (edits, names)
}

/// The same texts with the tag of the node's module; `None` if the module is not known.
fn edit(file: &TaggedFile, node: &Node) -> Option<Edit> {
    let module = file.module(node)?;
    let tag = file.tags.tag(module).clone();
    let doc_string = DocString::parse(&node.doc_string).map(|earlier| {
        let mut tags = vec![tag.clone()];
        let others = earlier.hierarchy_tags.iter().filter(|other| {
            // Tags that rules added begin elsewhere; the one that was wrong goes.
            **other != earlier.hierarchy_path && modelexport_graph::check_tag(other).is_ok()
        });
        tags.extend(others.filter(|other| **other != tag).cloned());
        DocString {
            hierarchy_count: tags.len(),
            hierarchy_tags: tags,
            hierarchy_path: tag.clone(),
            hierarchy_method: earlier.hierarchy_method,
            doc_string: None,
        }
    });
    let first_own = node.metadata.iter().position(|(key, _)| key.starts_with(OWN_PREFIX));
    let ours = node.metadata.iter().enumerate().filter(|(i, (key, _))| {
        key.starts_with(OWN_PREFIX) || (is_shared_key(key) && first_own.is_some_and(|first| *i > first))
    });
    let metadata = ours.map(|(_, (key, value))| {
        let value = if key == embedding::TAG { tag.to_string() } else { value.clone() };
        (key.clone(), value)
    });
    // What stood in a record is found again by the splice itself.
    let metadata = metadata.filter(|(key, _)| key != onnx::RECORD_KEY).collect();
    Some(Edit { doc_string, metadata })
}

/// The sidecar of the file as it is, with what only the old one knows.
fn new_sidecar(file: &TaggedFile) -> Sidecar {
    let earlier = file.sidecar.as_ref();
    let unknown = || sidecar::Source { kind: "onnx".to_owned(), file: None, torch_version: None };
    let options = tagger::Options {
        embed: Embed::NONE,
        strategy: earlier.map_or_else(|| "native".to_owned(), |earlier| earlier.strategy.clone()),
        source: earlier.map_or_else(unknown, |earlier| earlier.source.clone()),
    };
    let hierarchy = &file.hierarchy;
    let mut made = tagger::describe(&file.model, &hierarchy.tree, &hierarchy.scopes, &file.tags, &options);
    let known: HashMap<&str, &sidecar::Node> =
        earlier.iter().flat_map(|earlier| &earlier.nodes).map(|node| (&*node.name, node)).collect();
    for node in &mut made.nodes {
        if let Some(earlier) = known.get(&*node.name) {
            node.source = earlier.source.clone();
            node.confidence = earlier.confidence;
            let added = earlier.tags.iter().filter(|tag| **tag != earlier.path && **tag != node.path);
            node.tags.extend(added.cloned());
        }
    }
    if let Some(earlier) = earlier {
        made.generator = earlier.generator.clone();
        made.policy = earlier.policy.clone();
    }
    made
}

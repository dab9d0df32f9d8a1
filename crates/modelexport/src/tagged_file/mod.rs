//! An ONNX file with the module of every node, whoever tagged it.
//!
//! Every command that works on modules starts from it. Nodes of the graph, of graphs inside nodes and of functions have their
//! [`Origin`](modelexport_graph::onnx::Origin) set. Weights stay in their files.

mod recorded_tags;

use std::path::{Path, PathBuf};

use modelexport_graph::onnx::{Model, Node};
use modelexport_graph::{ModuleId, ScopeId, SourceId};
use modelexport_io::onnx;
use modelexport_io::sidecar::{self, Sidecar};
use modelexport_io::source::Sources;

use crate::Error;
use crate::hierarchy::{Hierarchy, from_onnx};
use crate::selector::Selector;
use crate::tags::Tags;

/// A tagged model in memory, without its weights.
///
/// ```
/// use modelexport::{Export, TaggedFile};
///
/// # let folder = tempfile::tempdir()?;
/// # let archive = concat!(env!("CARGO_MANIFEST_DIR"), "/../../fixtures/bert_tiny/model.pt2");
/// # let model = folder.path().join("bert.onnx");
/// # Export::new(archive, &model).run(&mut ())?;
/// let file = TaggedFile::open(&model)?;
/// for id in file.select("encoder.layer.*")? {
///     println!("{}", file.tags.tag(id));
/// }
/// file.model.for_each_node(&mut |node| {
///     let module = file.module(node).and_then(|id| file.hierarchy.tree.get(id));
///     println!("{}: {:?}", node.name, module.map(|module| &module.path));
/// });
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Debug)]
pub struct TaggedFile {
    /// The path of the file.
    pub path: PathBuf,
    /// Nodes whose module is known have an origin: a scope of [`Hierarchy::scopes`] and the method.
    pub model: Model,
    /// Where stored tensors lie. External ones are not looked for.
    pub sources: Sources,
    /// The file itself, as one of `sources`.
    pub source: SourceId,
    /// The modules of the model, and the calls that its nodes belong to.
    pub hierarchy: Hierarchy,
    /// The tags that the file was written with, as far as it tells; else those of the default policy.
    pub tags: Tags,
    /// The sidecar beside the file, if there is one that can be read.
    pub sidecar: Option<Sidecar>,
    /// Why the sidecar beside the file could not be used.
    pub sidecar_problem: Option<sidecar::Error>,
}

impl TaggedFile {
    /// Reads a file that says where its nodes come from: by modelexport's entries, torch's, winml's or its sidecar.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let file = Self::open_any(path)?;
        match file.records_no_modules() {
            false => Ok(file),
            true => Err(Error::NoHierarchy { path: path.to_owned(), sidecar: sidecar::path_beside(path) }),
        }
    }

    /// Reads any ONNX file; the nodes of one that says nothing have no origin.
    pub fn open_any(path: &Path) -> Result<Self, Error> {
        let mut sources = Sources::new();
        let source = sources.add_file(path)?;
        let mut model = onnx::read_source(&sources, source)?;
        let (sidecar, sidecar_problem) = read_sidecar(path);
        let hierarchy = from_onnx(&mut model, sidecar.as_ref());
        let tags = recorded_tags::tags(&hierarchy, sidecar.as_ref());
        let path = path.to_owned();
        Ok(TaggedFile { path, model, sources, source, hierarchy, tags, sidecar, sidecar_problem })
    }

    /// A model that was just exported and is not written yet. Its weights are where the export found them, not in
    /// [`TaggedFile::sources`].
    pub(crate) fn of_export(mut model: Model, sidecar: &Sidecar, path: &Path) -> Self {
        let hierarchy = from_onnx(&mut model, Some(sidecar));
        let tags = recorded_tags::tags(&hierarchy, Some(sidecar));
        TaggedFile {
            path: path.to_owned(),
            model,
            sources: Sources::new(),
            source: SourceId(0),
            hierarchy,
            tags,
            sidecar: None,
            sidecar_problem: None,
        }
    }

    /// There are nodes, and nothing tells their modules.
    pub fn records_no_modules(&self) -> bool {
        self.hierarchy.records_no_modules() && self.sidecar.is_none()
    }

    /// The program that wrote the file, with its version.
    pub fn producer(&self) -> String {
        producer(&self.model)
    }

    /// The module call that a node belongs to.
    pub fn scope(&self, node: &Node) -> Option<ScopeId> {
        node.origin.as_ref().map(|origin| origin.scope)
    }

    /// The deepest module that a node belongs to.
    pub fn module(&self, node: &Node) -> Option<ModuleId> {
        self.scope(node).map(|scope| self.hierarchy.scopes.module(scope))
    }

    /// The modules that `selector` chooses, in the order of the tree.
    pub fn select(&self, selector: &str) -> Result<Vec<ModuleId>, Error> {
        let chosen =
            Selector::parse(selector).and_then(|parsed| parsed.resolve(&self.hierarchy.tree, &self.tags));
        chosen.map_err(|error| Error::from(error).about(&self.path))
    }
}

/// The program that wrote a model, with its version.
pub(crate) fn producer(model: &Model) -> String {
    format!("{} {}", model.producer_name, model.producer_version).trim().to_owned()
}

/// The sidecar beside an ONNX file. That there is none is no problem.
pub(crate) fn read_sidecar(onnx: &Path) -> (Option<Sidecar>, Option<sidecar::Error>) {
    match sidecar::read(&sidecar::path_beside(onnx)) {
        Ok(sidecar) => (Some(sidecar), None),
        Err(error) if error.is_not_found() => (None, None),
        Err(error) => (None, Some(error)),
    }
}

#[cfg(test)]
mod tests;

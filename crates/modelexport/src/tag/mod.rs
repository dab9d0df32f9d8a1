//! The foreign route from end to end: an ONNX file that somebody else wrote gets tags, and nothing else changes.

mod data_files;

use std::path::{Path, PathBuf};

use modelexport_graph::SourceId;
use modelexport_graph::onnx::{Model, Node, Origin};
use modelexport_io::onnx::{self, NodeEdit, NodeKey, NodeView, Spliced};
use modelexport_io::output::{CommittedFile, Transaction};
use modelexport_io::sidecar::{self, Sidecar};
use modelexport_io::source::Sources;
use modelexport_io::{external_data, spliced_file};

use crate::Error;
use crate::embedding::Embed;
use crate::export::model_first;
use crate::policy::Policy;
use crate::sidecar_file;
use crate::strategies::{self, Anchors, Attributions, Context, Evidence, GraphView, Strategy};
use crate::tagger::{self, NodeTexts};
use crate::tags::Tags;
use crate::tensors::external_locations;

/// An ONNX file that is to be tagged, without its weights.
#[derive(Debug)]
pub struct ForeignFile {
    pub path: PathBuf,
    pub model: Model,
    pub sources: Sources,
    /// The file itself, as one of `sources`.
    pub source: SourceId,
    /// Why data files beside the model could not be used; its graph can be tagged all the same.
    pub data_problem: Option<external_data::Error>,
    /// Data files by their name in the model.
    data_files: Vec<data_files::DataFile>,
}

impl ForeignFile {
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut sources = Sources::new();
        let source = sources.add_file(path)?;
        let mut model = onnx::read_source(&sources, source)?;
        let locations = external_locations(&model);
        let folder = path.parent().unwrap_or(Path::new(""));
        let data_problem = external_data::resolve(&mut model, folder, &mut sources).err();
        let data_files = data_files::find(locations, folder, &sources);
        Ok(ForeignFile { path: path.to_owned(), model, sources, source, data_problem, data_files })
    }

    /// Where the nodes come from by `strategy`. They keep that as their origin.
    pub fn attribute(
        &mut self,
        evidence: &Evidence,
        strategy: Strategy,
        policy: &Policy,
    ) -> Result<(), Error> {
        let found = attributions(&self.model, &self.sources, evidence, strategy, policy)?;
        let mut origins = found.into_iter().map(Origin::from);
        self.model.for_each_node_mut(&mut |node| node.origin = origins.next());
        Ok(())
    }
}

/// Where the nodes of `model` come from by `strategy`, by the number of the node.
pub fn attributions(
    model: &Model,
    sources: &Sources,
    evidence: &Evidence,
    strategy: Strategy,
    policy: &Policy,
) -> Result<Attributions, Error> {
    if !strategy.is_allowed_by(evidence) {
        return Err(Error::Strategy { strategy, evidence: evidence.format });
    }
    let graph = GraphView::new(model);
    let anchors = Anchors::new(&graph, sources, evidence);
    let boundaries = policy.boundaries(&evidence.modules);
    let context = Context { graph: &graph, evidence, anchors: &anchors, boundaries: &boundaries };
    Ok(strategies::attribute(strategy, &context))
}

/// The sidecar of a file whose nodes have their origins, which `evidence` told.
pub fn describe(
    file: &ForeignFile,
    evidence: &Evidence,
    tags: &Tags,
    embed: Embed,
    strategy: Strategy,
) -> Sidecar {
    let name = file.path.file_name().map(|name| name.to_string_lossy().into_owned());
    let torch_version = evidence.torch_version.clone();
    let source = sidecar::Source { kind: "onnx".to_owned(), file: name, torch_version };
    let options = tagger::Options { embed, strategy: strategy.name().to_owned(), source };
    tagger::describe(&file.model, &evidence.modules, &evidence.scopes, tags, &options)
}

/// Puts the tags of nodes that have their origin into the file.
fn splice<'a>(
    file: &'a ForeignFile,
    evidence: &'a Evidence,
    tags: &'a Tags,
    embed: Embed,
) -> Result<Spliced<'a>, Error> {
    let nodes = NodesByKey::new(&file.model);
    let texts = NodeTexts::new(&evidence.modules, &evidence.scopes, tags, embed);
    let edit = move |view: &NodeView<'_>| match nodes.find(view.key) {
        Some(node) => texts.of(node, view.doc_string, view.metadata).map_or(NodeEdit::Strip, NodeEdit::Tag),
        None => NodeEdit::Keep,
    };
    Ok(onnx::splice(&file.sources, file.source, edit)?)
}

/// Writes the tagged file and its sidecar, all or nothing. Data files come along if the output is in another folder.
/// The sidecar loses its nodes once these are written: the texts in the file need as much memory again.
pub fn write(
    began: Transaction,
    file: &ForeignFile,
    evidence: &Evidence,
    tags: &Tags,
    embed: Embed,
    sidecar: &mut Sidecar,
    progress: &mut dyn FnMut(u64),
) -> Result<Vec<CommittedFile>, Error> {
    let mut transaction = began;
    sidecar_file::stage(&mut transaction, sidecar)?;
    sidecar.nodes = Vec::new();
    data_files::stage(&mut transaction, &file.path, &file.data_files, &file.sources, progress)?;
    let mut spliced = splice(file, evidence, tags, embed)?;
    spliced_file::stage(&mut transaction, &mut spliced, file.source, &file.sources, progress)?;
    Ok(model_first(transaction.commit()?))
}

/// The nodes of a model by the keys that splicing asks for.
struct NodesByKey<'m> {
    main: Vec<&'m Node>,
    functions: Vec<Vec<&'m Node>>,
}

impl<'m> NodesByKey<'m> {
    fn new(model: &'m Model) -> Self {
        let mut main = Vec::new();
        model.graph.for_each_node(&mut |node| main.push(node));
        let of_function = |function: &'m modelexport_graph::onnx::Function| {
            let mut nodes = Vec::new();
            function.for_each_node(&mut |node| nodes.push(node));
            nodes
        };
        NodesByKey { main, functions: model.functions.iter().map(of_function).collect() }
    }

    fn find(&self, key: NodeKey) -> Option<&'m Node> {
        let nodes = match key.function {
            Some(function) => self.functions.get(function)?,
            None => &self.main,
        };
        nodes.get(key.index).copied()
    }
}

//! The foreign route from end to end: tags an ONNX file of another exporter and changes nothing else.

mod choice;
mod data_files;
mod file;

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use modelexport_graph::onnx::{Model, Node};
use modelexport_graph::{Name, SourceId};
use modelexport_io::onnx::{self, NodeEdit, NodeView, Spliced};
use modelexport_io::output::{CommittedFile, Transaction};
use modelexport_io::sidecar::{self, Sidecar};
use modelexport_io::source::Sources;
use modelexport_io::{external_data, spliced_file};

use crate::Error;
use crate::embedding::Embed;
use crate::hierarchy::Reading;
use crate::inputs::{Inputs, Outputs};
use crate::model_files;
use crate::policy::Policy;
use crate::sidecar_file;
use crate::strategies::evidence;
use crate::strategies::graph::TextId;
use crate::strategies::{
    self, Anchors, Attributions, Context, Evidence, GraphBuilder, GraphView, NodeId, Strategy,
};
use crate::tagger::{self, NodeTexts};
use crate::tags::Tags;
use crate::tensors::external_locations;

pub(crate) use choice::candidates;
pub use choice::{Choice, StrategyTrial};
pub use file::{Outcome, Refusal, Seconds, Summary, Tag};

/// An ONNX file that is to be tagged, without its weights.
#[derive(Debug)]
pub struct ForeignFile {
    /// The path of the file.
    pub path: PathBuf,
    /// The graph of the file.
    pub graph: GraphView,
    /// Where the bytes of weights lie.
    pub sources: Sources,
    /// The file itself, as one of `sources`.
    pub source: SourceId,
    /// Why data files beside the model could not be used; its graph can be tagged all the same.
    pub data_problem: Option<external_data::Error>,
    data_files: data_files::DataFiles,
    /// By node of the graph, once it is known.
    places: Attributions,
}

impl ForeignFile {
    /// Opens a file. Its nodes are not in memory, only what the graph says of them.
    pub fn open(path: &Path) -> Result<Self, Error> {
        let mut sources = Sources::new();
        let source = sources.add_file(path)?;
        let mut builder = GraphBuilder::new(true);
        let model = onnx::read_visiting(&sources, source, &mut builder)?;
        let (file, _) = Self::resolve(path, model, sources, source, |model| builder.finish(model));
        Ok(file)
    }

    /// Opens a file that is its own evidence, with the sidecar beside it; `None` if it tells nothing.
    pub(crate) fn open_as_evidence(
        path: &Path,
        mut sidecar: Option<Sidecar>,
    ) -> Result<(Self, Option<Evidence>), Error> {
        let mut sources = Sources::new();
        let source = sources.add_file(path)?;
        let mut reading = Reading::new(sidecar.as_mut(), true);
        let model = onnx::read_visiting(&sources, source, &mut reading)?;
        let mut evidence = None;
        let (file, _) = Self::resolve(path, model, sources, source, |model| {
            let (graph, calls, found) = reading.finish(model);
            let told = evidence::from_hierarchy(&graph, &calls, found, sidecar);
            evidence = told.or_else(|| evidence::from_scopes(&graph));
            graph
        });
        Ok((file, evidence))
    }

    /// Opens a file, and gives its model, too.
    pub fn open_with_model(path: &Path) -> Result<(Self, Model), Error> {
        let mut sources = Sources::new();
        let source = sources.add_file(path)?;
        let model = onnx::read_source(&sources, source)?;
        Ok(Self::resolve(path, model, sources, source, GraphView::new))
    }

    fn resolve(
        path: &Path,
        mut model: Model,
        mut sources: Sources,
        source: SourceId,
        graph: impl FnOnce(&Model) -> GraphView,
    ) -> (Self, Model) {
        let locations = external_locations(&model);
        let folder = path.parent().unwrap_or(Path::new(""));
        let data_problem = external_data::resolve(&mut model, folder, &mut sources).err();
        let data_files = data_files::DataFiles::find(locations, folder, &sources);
        let (path, graph, places) = (path.to_owned(), graph(&model), Attributions::new());
        (ForeignFile { path, graph, sources, source, data_problem, data_files, places }, model)
    }

    /// Finds out where the nodes come from by the one of `candidates` that places most. What only strategies need of the
    /// graph is gone then.
    pub fn attribute(
        &mut self,
        evidence: &Evidence,
        candidates: &[Strategy],
        policy: &Policy,
    ) -> Result<Choice, Error> {
        let (places, choice) = chosen(&self.graph, &self.sources, evidence, candidates, policy)?;
        self.places = places;
        self.graph.keep_nodes();
        Ok(choice)
    }

    /// The data files that the model names, whether they are there or not.
    pub(crate) fn data_locations(&self) -> &[String] {
        &self.data_files.locations
    }

    /// Lowers the confidence in every place: the evidence does not fit.
    pub(crate) fn doubt(&mut self) {
        for place in &mut self.places {
            place.confidence = place.confidence.min(FORCED_CONFIDENCE);
        }
    }
}

/// Confidence in the places of nodes that evidence told which does not fit: below all that a strategy gives by itself.
pub(crate) const FORCED_CONFIDENCE: f32 = 0.1;

/// Where the nodes of `graph` come from by `strategy`, by the number of the node.
pub(crate) fn attributions(
    graph: &GraphView,
    sources: &Sources,
    evidence: &Evidence,
    strategy: Strategy,
    policy: &Policy,
) -> Result<Attributions, Error> {
    let anchors = Anchors::new(graph, sources, evidence);
    let boundaries = policy.boundaries(&evidence.modules);
    let context = Context { graph, evidence, anchors: &anchors, boundaries: &boundaries };
    check_allowed(strategy, evidence)?;
    Ok(strategies::attribute(strategy, &context))
}

/// The same by the one of `candidates` that places most nodes, and how well the evidence fits.
pub(crate) fn chosen(
    graph: &GraphView,
    sources: &Sources,
    evidence: &Evidence,
    candidates: &[Strategy],
    policy: &Policy,
) -> Result<(Attributions, Choice), Error> {
    candidates.iter().try_for_each(|strategy| check_allowed(*strategy, evidence))?;
    let anchors = Anchors::new(graph, sources, evidence);
    let boundaries = policy.boundaries(&evidence.modules);
    let context = Context { graph, evidence, anchors: &anchors, boundaries: &boundaries };
    Ok(choice::choose(&context, candidates))
}

fn check_allowed(strategy: Strategy, evidence: &Evidence) -> Result<(), Error> {
    match strategy.is_allowed_by(evidence) {
        true => Ok(()),
        false => Err(Error::Strategy { strategy, evidence: evidence.format }),
    }
}

/// The sidecar of a file whose nodes have their places, which `evidence` told.
pub(crate) fn describe(
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
    let nodes = PlacedNodes::new(file, evidence);
    let each = &|visit: &mut dyn FnMut(&Node)| {
        file.graph.node_ids().filter_map(|id| nodes.get(id)).for_each(|node| visit(&node));
    };
    tagger::describe_nodes(each, &evidence.modules, &evidence.scopes, tags, &options)
}

/// Puts the tags of nodes whose places are known into the file.
fn splice<'a>(
    file: &'a ForeignFile,
    evidence: &'a Evidence,
    tags: &'a Tags,
    embed: Embed,
) -> Result<Spliced<'a>, Error> {
    let nodes = PlacedNodes::new(file, evidence);
    let texts = NodeTexts::new(&evidence.modules, &evidence.scopes, tags, embed);
    let edit = move |view: &NodeView<'_>| match file.graph.node_at(view.key).and_then(|id| nodes.get(id)) {
        Some(node) => texts.of(&node, view.doc_string, view.metadata).map_or(NodeEdit::Strip, NodeEdit::Tag),
        None => NodeEdit::Keep,
    };
    Ok(onnx::splice(&file.sources, file.source, edit)?)
}

/// Writes the tagged file and its sidecar, all or nothing, and none of `inputs`. Data files come along if the output is in
/// another folder.
/// The sidecar loses its nodes once these are written: the texts in the file need as much memory again.
fn write(
    mut transaction: Transaction,
    inputs: &Inputs,
    file: &ForeignFile,
    evidence: &Evidence,
    tags: &Tags,
    embed: Embed,
    sidecar: &mut Sidecar,
) -> Result<Vec<CommittedFile>, Error> {
    let output = transaction.model().to_owned();
    let copies = file.data_files.copies(&file.path, &output);
    let beside = sidecar::path_beside(&output);
    let others = copies.iter().map(|copy| copy.target.as_path()).collect();
    inputs.check(&Outputs { others, ..Outputs::of(&output, Some(&beside)) })?;
    sidecar_file::stage(&mut transaction, sidecar)?;
    sidecar.nodes = Vec::new();
    data_files::stage(&mut transaction, file.source, &copies, &file.sources)?;
    let mut spliced = splice(file, evidence, tags, embed)?;
    spliced_file::stage(&mut transaction, &mut spliced, file.source, &file.sources, &mut |_| ())?;
    model_files::commit(transaction)
}

/// The nodes of a file as the tagger sees them: made when it asks, with what it asks for.
struct PlacedNodes<'a> {
    file: &'a ForeignFile,
    evidence: &'a Evidence,
    /// Operators and domains, which many nodes share.
    shared: HashMap<TextId, Name>,
}

impl<'a> PlacedNodes<'a> {
    fn new(file: &'a ForeignFile, evidence: &'a Evidence) -> Self {
        let mut shared = HashMap::new();
        for text in file.graph.nodes().flat_map(|(_, entry)| [entry.op_type, entry.domain]) {
            shared.entry(text).or_insert_with(|| file.graph.text(text).into());
        }
        shared.entry(TextId::EMPTY).or_default();
        PlacedNodes { file, evidence, shared }
    }

    fn get(&self, id: NodeId) -> Option<Node> {
        let entry = self.file.graph.entry(id)?;
        let place = self.file.places.get(id.0 as usize)?;
        let shared = |text: TextId| self.shared.get(&text).cloned();
        let name = shared(entry.name).unwrap_or_else(|| self.file.graph.text(entry.name).into());
        Some(Node {
            name,
            op_type: shared(entry.op_type)?,
            domain: shared(entry.domain)?,
            overload: shared(TextId::EMPTY)?,
            origin: Some(place.origin(self.evidence.run.as_ref())),
            ..Node::default()
        })
    }
}

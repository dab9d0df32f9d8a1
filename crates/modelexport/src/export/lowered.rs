//! A captured program as an ONNX model, with everything that is needed to tag its nodes.

use std::collections::HashMap;
use std::path::Path;

use modelexport_graph::aten::{self, Program, Weight};
use modelexport_graph::onnx::{Model, Node};
use modelexport_inference::{Sizes, walk};
use modelexport_io::sidecar::{self, Sidecar};
use modelexport_io::source::Sources;
use modelexport_lower as lower;
use modelexport_lower::error::Location;

use crate::embedding::Embed;
use crate::policy::Policy;
use crate::tagger::{self, NodeTexts};
use crate::tags::{TagFormat, Tags};

/// What a user can choose about the model; where and how it is written is another matter.
#[derive(Clone, Debug)]
pub(crate) struct Options {
    pub lower: lower::Options,
    pub policy: Policy,
    pub tag_format: TagFormat,
    pub embed: Embed,
    /// Write the stack traces of the capture, which name local files.
    pub source_info: bool,
}

/// A model whose nodes are not tagged yet, and its sidecar without nodes. A node's texts are longer than the node:
/// written by way of [`TagContext::texts`], they are never all in memory.
#[derive(Debug)]
pub(crate) struct Lowered {
    pub model: Model,
    pub sidecar: Sidecar,
    pub context: TagContext,
}

/// Where the tags of a lowered model's nodes come from.
#[derive(Debug)]
pub(crate) struct TagContext {
    program: Program,
    tags: Tags,
    embed: Embed,
    source_info: bool,
}

impl TagContext {
    /// Makes the texts of the nodes.
    pub(crate) fn texts(&self) -> NodeTexts<'_> {
        let mut traces = HashMap::new();
        if self.source_info {
            collect_traces(&self.program.graph, &self.program, &mut traces);
        }
        let Program { modules, scopes, .. } = &self.program;
        NodeTexts::new(modules, scopes, &self.tags, self.embed).with_stack_traces(traces)
    }

    /// Puts the tags into the nodes, and the nodes into the sidecar.
    pub(crate) fn embed(&self, model: &mut Model, sidecar: &mut Sidecar) {
        let texts = self.texts();
        sidecar.nodes = texts.sidecar_nodes(model);
        tagger::embed(model, &texts);
    }
}

/// Lowers `program`, whose weights lie in `sources`.
pub(crate) fn lower(
    program: Program,
    sources: &Sources,
    source: sidecar::Source,
    options: &Options,
) -> Result<Lowered, lower::Error> {
    let load = |weight: &Weight| load_small(weight, sources);
    let (model, program) = lower::lower(program, &options.lower, &load)?;
    check_shapes(&model, &program)?;
    let tags = Tags::new(&program.modules, &options.policy, options.tag_format);
    let tagger_options = tagger::Options { embed: options.embed, strategy: NATIVE.to_owned(), source };
    let sidecar = tagger::describe_modules(&model, &program.modules, &program.scopes, &tags, &tagger_options);
    let context = TagContext { program, tags, embed: options.embed, source_info: options.source_info };
    Ok(Lowered { model, sidecar, context })
}

/// Refuses a program that declares other shapes or types than its operators give: runtimes would refuse the model.
/// Contradictions inside a single node have been found before; these are between nodes.
fn check_shapes(model: &Model, program: &Program) -> Result<(), lower::Error> {
    let mut first = None;
    walk(model, &Sizes::Unknown, &mut |typed| {
        let declared = typed.contradictions.first().map(|(value, words)| format!("`{value}` has {words}"));
        let reason = declared.or_else(|| typed.impossible.clone());
        if let (None, Some(reason)) = (&first, reason) {
            let reason = format!("shapes that contradict each other: {reason}");
            first = Some(lower::Error::Node { place: Box::new(place_of(typed.node, program)), reason });
        }
    });
    first.map_or(Ok(()), Err)
}

fn place_of(node: &Node, program: &Program) -> Location {
    let origin = node.origin.as_ref();
    let module = origin.and_then(|origin| program.modules.get(program.scopes.module(origin.scope)));
    let source = origin.and_then(|origin| origin.source.as_ref());
    let (name, target) = source.map_or((&node.name, &node.op_type), |source| (&source.name, &source.target));
    Location {
        node: name.to_string(),
        target: target.to_string(),
        module: module.map_or_else(String::new, |module| module.path.to_string()),
    }
}

/// What the sidecar names as the strategy of a model that was lowered here.
pub(crate) const NATIVE: &str = "native";

/// What the sidecar says about where a model comes from.
pub(crate) fn source_of(path: &Path, program: &Program) -> sidecar::Source {
    sidecar::Source {
        kind: "pt2".to_owned(),
        file: path.file_name().map(|name| name.to_string_lossy().into_owned()),
        torch_version: Some(program.torch_version.clone()),
    }
}

/// The bytes of a contiguous weight, for constant folding.
fn load_small(weight: &Weight, sources: &Sources) -> Option<Vec<u8>> {
    let data = weight.data.as_ref().filter(|data| data.is_contiguous())?;
    let count = data.sizes.iter().try_fold(1u64, |product, &size| product.checked_mul(size))?;
    let mut bytes = vec![0; usize::try_from(weight.dtype.byte_len(count)?).ok()?];
    let start = data.span.offset.checked_add(weight.dtype.byte_len(data.offset)?)?;
    sources.read_at(data.span.source, start, &mut bytes).ok()?;
    Some(bytes)
}

fn collect_traces<'p>(graph: &'p aten::Graph, program: &'p Program, traces: &mut HashMap<&'p str, &'p str>) {
    for node in &graph.nodes {
        if let Some(trace) = node.trace.and_then(|trace| program.traces.get(trace as usize)) {
            traces.entry(&node.name).or_insert(trace);
        }
        for arg in &node.args {
            if let aten::Arg::Graph(subgraph) = &arg.arg {
                collect_traces(&subgraph.graph, program, traces);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use modelexport_io::output::{Settings, Transaction};
    use modelexport_io::pt2;
    use modelexport_io::weights::WeightsMode;

    use super::*;
    use crate::model_files::{self, ModelFiles};
    use crate::policy::Preset;
    use crate::rules::Rules;
    use crate::test_export;

    /// The bytes of the model and of its sidecar.
    fn written(folder: &Path, files: ModelFiles<'_>, sources: &Sources) -> Vec<Vec<u8>> {
        let settings = Settings { overwrite: true, ..Settings::default() };
        let transaction = Transaction::begin(&folder.join("m.onnx"), settings).unwrap();
        let inputs = crate::inputs::Inputs::default();
        let files = model_files::write(transaction, files, &inputs, sources, WeightsMode::Embed, &mut ())
            .unwrap()
            .files;
        files.iter().map(|file| std::fs::read(&file.path).unwrap()).collect()
    }

    #[test]
    fn tags_are_the_same_whether_they_are_put_into_nodes_or_made_while_writing() {
        let folder = tempfile::tempdir().unwrap();
        for (name, embed, source_info) in test_export::fixtures().into_iter().flat_map(|name| {
            let doc_string = Embed { doc_string: true, metadata_props: false };
            [
                (Embed::BOTH, false),
                (Embed::BOTH, true),
                (Embed::NONE, false),
                (Embed::NONE, true),
                (doc_string, true),
            ]
            .map(|(embed, source_info)| (name.clone(), embed, source_info))
        }) {
            let path = test_export::captured(&name);
            let options = Options {
                lower: lower::Options { keep_graph: source_info, ..lower::Options::default() },
                policy: Policy::new(Some(Preset::All), None, Rules::default()),
                tag_format: TagFormat::Instance,
                embed,
                source_info,
            };
            let archive = pt2::read(&path).unwrap();
            let source = source_of(&path, &archive.program);
            let Lowered { mut model, mut sidecar, context } =
                lower(archive.program, &archive.sources, source, &options).unwrap();
            let files = |model: &Model, sidecar: &Sidecar| ModelFiles {
                model: model.clone(),
                sidecar: Some(sidecar.clone()),
                ..ModelFiles::default()
            };
            let streamed = ModelFiles { texts: Some(context.texts()), ..files(&model, &sidecar) };
            let streamed = written(folder.path(), streamed, &archive.sources);
            context.embed(&mut model, &mut sidecar);
            let embedded = written(folder.path(), files(&model, &sidecar), &archive.sources);
            assert_eq!(streamed.len(), 2);
            assert!(streamed == embedded, "{name}: {}, source info {source_info}", embed.name());
        }
    }
}

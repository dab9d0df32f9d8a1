//! Native export: a captured program becomes a tagged ONNX model, and files.

use std::path::Path;

use modelexport_graph::aten::{Program, Weight};
use modelexport_graph::onnx::Model;
use modelexport_io::output::{CommittedFile, Role, Transaction};
use modelexport_io::sidecar::{self, Sidecar};
use modelexport_io::source::Sources;
use modelexport_io::weights::{self, WeightsMode, Written};
use modelexport_lower as lower;

use crate::Error;
use crate::derived;
use crate::embedding::Embed;
use crate::node_lines;
use crate::policy::Policy;
use crate::sidecar_file;
use crate::tagger::{self, Describing};
use crate::tags::{TagFormat, Tags};

/// What a user can choose about the model; where and how it is written is another matter.
#[derive(Clone, Debug)]
pub struct Options {
    pub lower: lower::Options,
    pub policy: Policy,
    pub tag_format: TagFormat,
    pub embed: Embed,
    /// Write the stack traces of the capture, which name local files.
    pub source_info: bool,
}

/// A model in memory (without its weights), its nodes tagged, and its sidecar.
#[derive(Debug)]
pub struct Exported {
    pub model: Model,
    pub sidecar: Sidecar,
}

/// The same with the tags still to be put into the nodes, and the nodes into the sidecar. Written, it takes much less
/// memory: a node's texts are longer than the node, and are made when it is written.
#[derive(Debug)]
pub struct Described {
    model: Model,
    /// Without its nodes.
    pub sidecar: Sidecar,
    program: Program,
    tags: Tags,
    embed: Embed,
    source_info: bool,
}

impl Described {
    /// Puts the tags into the nodes, for those who want more of the model than to write it.
    pub fn tagged(self) -> Exported {
        let Described { mut model, mut sidecar, program, tags, embed, source_info } = self;
        sidecar.nodes = describing(&program, &tags).all(&model);
        tagger::embed(&mut model, &program.modules, &program.scopes, &tags, embed);
        if source_info {
            add_stack_traces(&mut model, &program);
        }
        Exported { model, sidecar }
    }
}

fn describing<'a>(program: &'a Program, tags: &'a Tags) -> Describing<'a> {
    Describing { tree: &program.modules, scopes: &program.scopes, tags }
}

/// The metadata key that torch uses for stack traces.
const STACK_TRACE: &str = "pkg.torch.onnx.stack_trace";

/// A model that is not tagged yet, and the program that it was lowered from.
#[derive(Debug)]
pub struct Lowered {
    model: Model,
    program: Program,
}

/// Lowers `program`, whose weights lie in `sources`, and tags every node.
pub fn export(
    program: Program,
    sources: &Sources,
    source: sidecar::Source,
    options: &Options,
) -> Result<Exported, lower::Error> {
    Ok(tag(lower(program, sources, options)?, source, options))
}

/// The first half of [`export()`].
pub fn lower(program: Program, sources: &Sources, options: &Options) -> Result<Lowered, lower::Error> {
    let load = |weight: &Weight| load_small(weight, sources);
    let lower_options = lower::Options { keep_graph: options.source_info, ..options.lower.clone() };
    let (model, program) = lower::lower(program, &lower_options, &load)?;
    Ok(Lowered { model, program })
}

/// The second half of [`export()`].
pub fn tag(lowered: Lowered, source: sidecar::Source, options: &Options) -> Exported {
    describe(lowered, source, options).tagged()
}

/// The second half of [`export()`], but for putting the tags into the nodes.
pub fn describe(lowered: Lowered, source: sidecar::Source, options: &Options) -> Described {
    let Lowered { model, program } = lowered;
    let tags = Tags::new(&program.modules, &options.policy, options.tag_format);
    let tagger_options = tagger::Options { embed: options.embed, strategy: "native".to_owned(), source };
    let sidecar = tagger::describe_modules(&model, &program.modules, &program.scopes, &tags, &tagger_options);
    Described { model, sidecar, program, tags, embed: options.embed, source_info: options.source_info }
}

/// What the sidecar says about where a model comes from.
pub fn source_of(path: &Path, program: &Program) -> sidecar::Source {
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

fn add_stack_traces(model: &mut Model, program: &Program) {
    let mut traces = std::collections::HashMap::new();
    collect_traces(&program.graph, program, &mut traces);
    model.for_each_node_mut(&mut |node| {
        let source = node.origin.as_ref().and_then(|origin| origin.source.as_ref());
        if let Some(trace) = source.and_then(|source| traces.get(&*source.name)) {
            node.metadata.push((STACK_TRACE.to_owned(), (*trace).to_owned()));
        }
    });
}

fn collect_traces<'p>(
    graph: &'p modelexport_graph::aten::Graph,
    program: &'p Program,
    traces: &mut std::collections::HashMap<&'p str, &'p str>,
) {
    for node in &graph.nodes {
        if let Some(trace) = node.trace.and_then(|trace| program.traces.get(trace as usize)) {
            traces.entry(&node.name).or_insert(trace);
        }
        for arg in &node.args {
            if let modelexport_graph::aten::Arg::Graph(subgraph) = &arg.arg {
                collect_traces(&subgraph.graph, program, traces);
            }
        }
    }
}

/// What [`write()`] wrote.
#[derive(Clone, Debug)]
pub struct Files {
    pub weights: Written,
    /// The model first, then its data file and its sidecar.
    pub files: Vec<CommittedFile>,
}

/// Refuses a source that needs no export, and an output that would take its place.
pub fn check_source(source: &Path, output: &Path) -> Result<(), Error> {
    let is_onnx = source.extension().is_some_and(|ending| ending.eq_ignore_ascii_case("onnx"));
    match is_onnx && source.is_file() {
        true => Err(Error::OnnxSource { path: source.to_owned(), output: output.to_owned() }),
        false => derived::check_outputs(source, &[output], "export"),
    }
}

/// Writes a model, its weights and its sidecar, all or nothing. `began` was begun before the work, so that a target
/// that may not be written is known then.
pub fn write(
    mut began: Transaction,
    exported: Exported,
    sources: &Sources,
    mode: WeightsMode,
    progress: &mut dyn FnMut(weights::Progress),
) -> Result<Files, Error> {
    let Exported { model, sidecar } = exported;
    check_data(&model, mode)?;
    let (weights, sidecar) = std::thread::scope(|threads| {
        let output = sidecar_file::create(&mut began)?;
        // It has no part in the model, and a graph of many nodes gives both much to do.
        let writing = threads.spawn(move || sidecar_file::write(output, &sidecar));
        let weights = weights::stage(&mut began, model, sources, mode, progress);
        let sidecar = writing.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        Ok::<_, Error>((weights?, sidecar?))
    })?;
    began.stage(sidecar)?;
    Ok(Files { weights, files: model_first(began.commit()?) })
}

/// The same for a model that is tagged while it is written.
pub fn write_described(
    mut began: Transaction,
    described: Described,
    sources: &Sources,
    mode: WeightsMode,
    progress: &mut dyn FnMut(weights::Progress),
) -> Result<Files, Error> {
    if described.source_info {
        return write(began, described.tagged(), sources, mode, progress);
    }
    let Described { model, sidecar, program, tags, embed, .. } = described;
    check_data(&model, mode)?;
    let describing = describing(&program, &tags);
    let output = sidecar_file::create(&mut began)?;
    let texts = tagger::NodeTexts::new(&program.modules, &program.scopes, &tags, embed);
    let mut written = None;
    // It has no part in the model, and a graph of many nodes gives both much to do.
    let beside = Box::new(|model: &Model| {
        written = Some(sidecar_file::write_text(output, |text| {
            sidecar.write_with_nodes(text, &mut |take| node_lines::give(model, describing, take))
        }));
    });
    let work = weights::WhileWriting { texts: &texts, beside };
    let weights = weights::stage_while(&mut began, model, Some(work), sources, mode, progress)?;
    if let Some(sidecar) = written {
        began.stage(sidecar?)?;
    }
    Ok(Files { weights, files: model_first(began.commit()?) })
}

/// The model, its data file, then what lies beside them.
pub(crate) fn model_first(mut files: Vec<CommittedFile>) -> Vec<CommittedFile> {
    files.sort_by_key(|file| match file.role {
        Role::Model => 0,
        Role::Data => 1,
        _ => 2,
    });
    files
}

/// Weights of a program that was captured without them can only be left out.
fn check_data(model: &Model, mode: WeightsMode) -> Result<(), Error> {
    if mode == WeightsMode::None {
        return Ok(());
    }
    let initializers = model.graph.initializers.iter();
    let missing: Vec<&str> =
        initializers.filter(|tensor| tensor.lacks_data()).map(|tensor| &*tensor.name).collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(Error::NoData { count: missing.len(), first: (*first).to_owned() }),
    }
}

#[cfg(test)]
mod tests {
    use modelexport_io::output::Settings;
    use modelexport_io::pt2;

    use super::*;
    use crate::policy::Preset;
    use crate::rules::Rules;
    use crate::test_export;

    /// The bytes of the model and of its sidecar.
    fn written(folder: &Path, write: impl FnOnce(Transaction) -> Files) -> Vec<Vec<u8>> {
        let settings = Settings { overwrite: true, ..Settings::default() };
        let files = write(Transaction::begin(&folder.join("m.onnx"), settings).unwrap()).files;
        files.iter().map(|file| std::fs::read(&file.path).unwrap()).collect()
    }

    #[test]
    fn tags_are_the_same_whether_they_are_put_into_nodes_or_made_while_writing() {
        let folder = tempfile::tempdir().unwrap();
        let mode = WeightsMode::Embed;
        for (name, embed) in test_export::fixtures().into_iter().flat_map(|name| {
            let doc_string = Embed { doc_string: true, metadata_props: false };
            [Embed::BOTH, Embed::NONE, doc_string].map(|embed| (name.clone(), embed))
        }) {
            let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("../../fixtures/{name}/model.pt2"));
            let options = Options {
                lower: lower::Options::default(),
                policy: Policy::new(Some(Preset::All), None, Rules::default()),
                tag_format: TagFormat::Instance,
                embed,
                source_info: false,
            };
            let described = || {
                let archive = pt2::read(&path).unwrap();
                let source = source_of(&path, &archive.program);
                let lowered = lower(archive.program, &archive.sources, &options).unwrap();
                (describe(lowered, source, &options), archive.sources)
            };
            let (model, sources) = described();
            let made = written(folder.path(), |began| {
                write_described(began, model, &sources, mode, &mut |_| ()).unwrap()
            });
            let (model, sources) = described();
            let put = written(folder.path(), |began| {
                write(began, model.tagged(), &sources, mode, &mut |_| ()).unwrap()
            });
            assert_eq!(made.len(), 2);
            assert!(made == put, "{name}: {}", embed.name());
        }
    }
}

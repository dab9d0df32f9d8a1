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
use crate::embedding::Embed;
use crate::policy::Policy;
use crate::sidecar_file;
use crate::tagger;
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

/// A model in memory (without its weights) and its sidecar.
#[derive(Debug)]
pub struct Exported {
    pub model: Model,
    pub sidecar: Sidecar,
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
    let (model, program) = lower::lower(program, &options.lower, &load)?;
    Ok(Lowered { model, program })
}

/// The second half of [`export()`].
pub fn tag(lowered: Lowered, source: sidecar::Source, options: &Options) -> Exported {
    let Lowered { mut model, program } = lowered;
    let tags = Tags::new(&program.modules, &options.policy, options.tag_format);
    let tagger_options = tagger::Options { embed: options.embed, strategy: "native".to_owned(), source };
    let sidecar = tagger::annotate(&mut model, &program.modules, &program.scopes, &tags, &tagger_options);
    if options.source_info {
        add_stack_traces(&mut model, &program);
    }
    Exported { model, sidecar }
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

/// Writes a model, its weights and its sidecar, all or nothing. `began` was begun before the work, so that a target
/// that may not be written is known then.
pub fn write(
    began: Transaction,
    exported: Exported,
    sources: &Sources,
    mode: WeightsMode,
    progress: &mut dyn FnMut(weights::Progress),
) -> Result<Files, Error> {
    let mut transaction = began;
    let Exported { model, sidecar } = exported;
    if mode != WeightsMode::None {
        check_data(&model)?;
    }
    sidecar_file::stage(&mut transaction, &sidecar)?;
    // Its nodes are no longer needed, and the weights want the memory.
    drop(sidecar);
    let weights = weights::stage(&mut transaction, model, sources, mode, progress)?;
    Ok(Files { weights, files: model_first(transaction.commit()?) })
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
fn check_data(model: &Model) -> Result<(), Error> {
    let initializers = model.graph.initializers.iter();
    let missing: Vec<&str> =
        initializers.filter(|tensor| tensor.lacks_data()).map(|tensor| &*tensor.name).collect();
    match missing.first() {
        None => Ok(()),
        Some(first) => Err(Error::NoData { count: missing.len(), first: (*first).to_owned() }),
    }
}

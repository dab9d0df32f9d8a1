//! Native export: a captured program becomes a tagged ONNX model.

use modelexport_graph::aten::{Program, Weight};
use modelexport_graph::onnx::Model;
use modelexport_io::sidecar::Sidecar;
use modelexport_io::source::Sources;
use modelexport_lower as lower;

use crate::embedding::Embed;
use crate::policy::Policy;
use crate::tagger;
use crate::tags::{TagFormat, Tags};

/// What a user can choose about the model; where and how it is written is another matter.
#[derive(Clone, Debug)]
pub struct Options {
    pub lower: lower::Options,
    pub policy: Policy,
    pub tag_format: TagFormat,
    pub embed: Embed,
}

/// A model in memory (without its weights) and its sidecar.
#[derive(Debug)]
pub struct Exported {
    pub model: Model,
    pub sidecar: Sidecar,
}

/// Lowers `program`, whose weights lie in `sources`, and tags every node.
pub fn export(
    program: Program,
    sources: &Sources,
    source: modelexport_io::sidecar::Source,
    options: &Options,
) -> Result<Exported, lower::Error> {
    let load = |weight: &Weight| load_small(weight, sources);
    let (mut model, program) = lower::lower(program, &options.lower, &load)?;
    let tags = Tags::new(&program.modules, &options.policy, options.tag_format);
    let tagger_options = tagger::Options { embed: options.embed, strategy: "native".to_owned(), source };
    let sidecar = tagger::annotate(&mut model, &program.modules, &program.scopes, &tags, &tagger_options);
    Ok(Exported { model, sidecar })
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

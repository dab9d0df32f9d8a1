//! Where the weights of an ONNX file are stored, whether they match the file, and how to move them.

use std::path::Path;

use modelexport_graph::onnx::{Model, Tensor, TensorData};
use modelexport_graph::{DType, StridedView};
use modelexport_io::external_data::{self, Checker, Entry};
use modelexport_io::onnx::{self, OnnxFile};
use modelexport_io::output::Transaction;
use modelexport_io::safetensors;
use modelexport_io::source::Sources;
use modelexport_io::weights::{INLINE_BELOW, WeightsMode};
use serde::Serialize;

use crate::Error;
use crate::checksums::{self, Checksums, for_each_chunk};
use crate::folders::folder_of;
use crate::inputs::{Inputs, Outputs};
use crate::model_files::{self, ModelFiles};
use crate::observer::Observer;
use crate::summary::{self, File};
use crate::target::Target;
use crate::tensors::{self, Holder, external_locations};
use crate::weights_from::{Kinds, Mismatch, Mismatches, Problem, Renaming, view_of};

/// One weight (initializer) of a model, or a tensor of an attribute that is in another file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WeightLocation {
    /// The name of the weight, or the attribute that holds the tensor.
    pub name: String,
    /// `None` for a type that this version does not know.
    pub dtype: Option<DType>,
    /// Its shape.
    pub dims: Vec<i64>,
    /// Bytes of its elements.
    pub bytes: u64,
    /// The file and the offset in it, where the bytes are not in the model.
    pub external: Option<(String, u64)>,
    /// SHA-1 of the bytes, if they were read.
    pub hash: Option<String>,
    /// Why the bytes are not what the model says.
    pub problem: Option<String>,
}

/// Lists the weights of the model at `path`, and what else is external. What is external must be there and as long as it
/// should be; where the model says a hash, or `with_hashes` asks for it, the bytes are read.
pub fn list(path: &Path, with_hashes: bool) -> Result<Vec<WeightLocation>, Error> {
    let OnnxFile { model, sources } = onnx::read(path)?;
    let mut checker = Checker::new(folder_of(path));
    let mut checksums = Checksums::default();
    let mut places = Vec::new();
    tensors::for_each(&model, &mut |holder, tensor| {
        let is_weight = matches!(holder, Holder::Graph);
        if is_weight || matches!(tensor.data, TensorData::External(_)) {
            let name = if is_weight { tensor.name.to_string() } else { holder.place_of(tensor) };
            places.push(place_of(name, tensor, &mut checker, &sources, &mut checksums, with_hashes));
        }
    });
    Ok(places)
}

fn place_of(
    name: String,
    tensor: &Tensor,
    checker: &mut Checker<'_>,
    sources: &Sources,
    checksums: &mut Checksums,
    with_hashes: bool,
) -> WeightLocation {
    let (dtype, dims) = (tensor.dtype(), tensor.dims.clone());
    let mut place = WeightLocation { name, dtype, dims, bytes: 0, external: None, hash: None, problem: None };
    let (span, sources) = match &tensor.data {
        TensorData::Raw(bytes) | TensorData::Typed(bytes) => {
            place.bytes = bytes.len() as u64;
            place.hash = with_hashes.then(|| checksums::of_bytes(bytes));
            return place;
        }
        TensorData::Stored(view) => (view.span, sources),
        TensorData::TypedStored(span) => (*span, sources),
        // A file that was read holds no scaled weights.
        TensorData::Scaled { .. } => return place,
        TensorData::External(entries) => {
            let entry = Entry::parse(entries).ok();
            place.external = entry.map(|entry| (entry.location, entry.offset));
            let span = match checker.find(tensor) {
                Ok(Some(span)) => span,
                Ok(None) => return place,
                Err(error) => {
                    place.problem = Some(error.reason.to_string());
                    return place;
                }
            };
            let recorded = external_data::checksum(entries);
            place.problem = recorded.and_then(|hash| checksums.problem(hash, span, checker.sources()));
            (span, checker.sources())
        }
    };
    place.bytes = span.length;
    if with_hashes {
        match checksums::of_span(span, sources) {
            Ok(hash) => place.hash = Some(hash),
            Err(error) => place.problem = Some(format!("cannot read: {error}")),
        }
    }
    place
}

/// What a conversion wrote.
#[derive(Clone, Debug, Serialize)]
pub struct Converted {
    /// The name of the [`WeightsMode`].
    pub mode: &'static str,
    /// The model first, then its data file.
    pub files: Vec<File>,
}

/// Writes the model at `path` to `target` with its weights embedded, external or left out of the model otherwise.
pub fn convert(
    path: &Path,
    target: &Target,
    mode: WeightsMode,
    observer: &mut dyn Observer,
) -> Result<Converted, Error> {
    let Opened { model, sources, inputs, transaction } = open(path, target)?;
    write(transaction, model, &inputs, &sources, mode, observer)
}

/// Writes the model at `path` to `target` such that its weights are those in the safetensors files of `checkpoint`,
/// which must have the same bytes. Small ones stay in the model.
pub fn refer_to(
    path: &Path,
    target: &Target,
    checkpoint: &Path,
    observer: &mut dyn Observer,
) -> Result<Converted, Error> {
    let Opened { mut model, mut sources, mut inputs, transaction } = open(path, target)?;
    let mut shards = Sources::new();
    safetensors::read(checkpoint, &mut shards)?;
    inputs.add_weights(checkpoint, &shards);
    inputs.check(&Outputs::of(&target.path, None))?;
    let tensors = safetensors::read(checkpoint, &mut sources)?;
    let mut names = Vec::new();
    for_each_initializer(&mut model, &mut |tensor| names.push(tensor.name.to_string()));
    let names: Vec<&str> = names.iter().map(String::as_str).collect();
    let renaming = Renaming::between(&names, &tensors);
    let kinds = Kinds::of(&tensors);
    let mut mismatches = Mismatches::default();
    for_each_initializer(&mut model, &mut |tensor| {
        let is_small = match &tensor.data {
            TensorData::Stored(view) => view.span.length < INLINE_BELOW,
            _ => true,
        };
        if is_small {
            return;
        }
        let mut differs = |problem| {
            mismatches.0.push(Mismatch { weight: tensor.name.to_string(), problem });
        };
        let sizes: Vec<u64> = tensor.dims.iter().map(|dim| dim.unsigned_abs()).collect();
        let tied = || kinds.only_one_like(&tensor.name, &sizes, tensor.dtype()?);
        let Some((_, entry)) = renaming.find(&tensor.name, &tensors).or_else(tied) else {
            return differs(Problem::Missing);
        };
        match tensor.dtype() {
            _ if sizes != entry.shape => {
                return differs(Problem::Shape { expected: sizes, found: entry.shape.clone() });
            }
            Some(dtype) if dtype != entry.dtype => {
                return differs(Problem::DType { expected: dtype, found: entry.dtype });
            }
            _ => {}
        }
        let found = view_of(entry);
        match &tensor.data {
            TensorData::Stored(own) if !is_equal(own, &found, &sources) => differs(Problem::Bytes),
            _ => tensor.data = TensorData::Stored(found),
        }
    });
    if !mismatches.0.is_empty() {
        return Err(Error::WeightsDiffer { path: checkpoint.into(), count: mismatches.0.len(), mismatches });
    }
    write(transaction, model, &inputs, &sources, WeightsMode::Reference, observer)
}

/// A model whose weights are found, and the output that was begun.
struct Opened {
    model: Model,
    sources: Sources,
    inputs: Inputs,
    transaction: Transaction,
}

fn open(path: &Path, target: &Target) -> Result<Opened, Error> {
    let mut inputs = Inputs::in_place();
    inputs.add_model(path);
    let transaction = target.begin(&inputs)?;
    let OnnxFile { mut model, mut sources } = onnx::read(path)?;
    inputs.add_data(path, &external_locations(&model));
    inputs.check(&Outputs::of(&target.path, None))?;
    external_data::resolve(&mut model, folder_of(path), &mut sources)
        .map_err(|error| Error::ExternalData { path: path.into(), error: Box::new(error) })?;
    Ok(Opened { model, sources, inputs, transaction })
}

fn write(
    transaction: Transaction,
    model: Model,
    inputs: &Inputs,
    sources: &Sources,
    mode: WeightsMode,
    observer: &mut dyn Observer,
) -> Result<Converted, Error> {
    let files = ModelFiles { model, ..ModelFiles::default() };
    let written = model_files::write(transaction, files, inputs, sources, mode, observer)?;
    Ok(Converted { mode: written.weights.mode.name(), files: summary::files(&written.files) })
}

/// Both are contiguous and of equal length.
fn is_equal(left: &StridedView, right: &StridedView, sources: &Sources) -> bool {
    let (left, right) = (left.span, right.span);
    let mut other = Vec::new();
    let compared = for_each_chunk(left.length, &mut |offset, buffer| {
        sources.read_at(left.source, left.offset + offset, buffer)?;
        other.resize(buffer.len(), 0);
        sources.read_at(right.source, right.offset + offset, &mut other)?;
        Ok(*buffer == *other)
    });
    left.length == right.length && compared.unwrap_or(false)
}

fn for_each_initializer(model: &mut Model, visit: &mut dyn FnMut(&mut Tensor)) {
    model.graph.initializers.iter_mut().for_each(&mut *visit);
    model.for_each_node_mut(&mut |node| {
        node.subgraphs_mut().for_each(|graph| graph.initializers.iter_mut().for_each(&mut *visit));
    });
}

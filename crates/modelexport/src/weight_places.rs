//! Where the weights of an ONNX file are stored, whether they match the file, and how to move them.

use std::path::Path;

use modelexport_graph::onnx::{Model, Tensor, TensorData};
use modelexport_graph::{DType, StridedView};
use modelexport_io::external_data::{self, Entry, ModelFolder};
use modelexport_io::onnx::{self, OnnxFile};
use modelexport_io::output::{CommittedFile, Settings};
use modelexport_io::safetensors;
use modelexport_io::source::Sources;
use modelexport_io::weights::{self, INLINE_BELOW, Progress, WeightsMode, Written};
use sha1::{Digest, Sha1};

use crate::Error;
use crate::folders::folder_of;
use crate::weights_from::{Kinds, Mismatch, Mismatches, Problem, Renaming, view_of};

/// The `external_data` entry that holds a hash, by ONNX's definition of SHA-1.
const CHECKSUM: &str = "checksum";

/// How much of a weight is read at a time.
const CHUNK: usize = 1 << 20;

/// One weight (initializer) of a model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Place {
    /// The name of the weight.
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

/// Lists the weights of the model at `path`. What is external must be there and as long as it should be; where the model
/// says a hash, or `with_hashes` asks for it, the bytes are read.
pub fn list(path: &Path, with_hashes: bool) -> Result<Vec<Place>, Error> {
    let OnnxFile { mut model, mut sources } = onnx::read(path)?;
    let mut folder = None;
    let mut places = Vec::new();
    for_each_initializer(&mut model, &mut |tensor| {
        places.push(place_of(tensor, folder_of(path), &mut folder, &mut sources, with_hashes));
    });
    Ok(places)
}

fn place_of(
    tensor: &mut Tensor,
    folder: &Path,
    opened: &mut Option<ModelFolder>,
    sources: &mut Sources,
    with_hashes: bool,
) -> Place {
    let mut place = Place {
        name: tensor.name.to_string(),
        dtype: tensor.dtype(),
        dims: tensor.dims.clone(),
        bytes: 0,
        external: None,
        hash: None,
        problem: None,
    };
    let mut expected = None;
    if let TensorData::External(entries) = &tensor.data {
        expected = entries.iter().find(|(key, _)| key == CHECKSUM).map(|(_, value)| value.clone());
        let entry = Entry::parse(entries).ok();
        place.external = entry.map(|entry| (entry.location, entry.offset));
        if let Err(error) = external_data::resolve_tensor(tensor, folder, opened, sources) {
            place.problem = Some(error.reason.to_string());
            return place;
        }
    }
    let span = match &tensor.data {
        TensorData::Raw(bytes) | TensorData::Typed(bytes) => {
            place.bytes = bytes.len() as u64;
            if with_hashes {
                place.hash = Some(hexadecimal(Sha1::new_with_prefix(bytes)));
            }
            return place;
        }
        TensorData::Stored(view) => view.span,
        TensorData::TypedStored(span) => *span,
        // A file that was read holds no scaled weights.
        TensorData::External(_) | TensorData::Scaled { .. } => return place,
    };
    place.bytes = span.length;
    if with_hashes || expected.is_some() {
        let mut sha1 = Sha1::new();
        let read = for_each_chunk(span.length, &mut |offset, buffer| {
            sources.read_at(span.source, span.offset + offset, buffer)?;
            sha1.update(buffer);
            Ok(true)
        });
        match read {
            Err(error) => place.problem = Some(format!("cannot read: {error}")),
            Ok(_) => {
                let found = hexadecimal(sha1);
                if let Some(expected) = expected.filter(|expected| !expected.eq_ignore_ascii_case(&found)) {
                    place.problem =
                        Some(format!("its bytes have the hash {found}, the model says {expected}"));
                }
                place.hash = Some(found);
            }
        }
    }
    place
}

/// The hash in digits, as ONNX's `checksum` of external data has it.
fn hexadecimal(hash: Sha1) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Writes the model at `path` to `target` with its weights embedded, external or left out of the model otherwise.
pub fn convert(
    path: &Path,
    target: &Path,
    mode: WeightsMode,
    settings: Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Written, Vec<CommittedFile>), Error> {
    let OnnxFile { mut model, mut sources } = onnx::read(path)?;
    resolve(&mut model, path, &mut sources)?;
    Ok(weights::write_model(model, &sources, target, mode, settings, progress)?)
}

/// Writes the model at `path` to `target` such that its weights are those in the safetensors files of `checkpoint`,
/// which must have the same bytes. Small ones stay in the model.
pub fn refer_to(
    path: &Path,
    target: &Path,
    checkpoint: &Path,
    settings: Settings,
    progress: &mut dyn FnMut(Progress),
) -> Result<(Written, Vec<CommittedFile>), Error> {
    let OnnxFile { mut model, mut sources } = onnx::read(path)?;
    resolve(&mut model, path, &mut sources)?;
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
    Ok(weights::write_model(model, &sources, target, WeightsMode::Reference, settings, progress)?)
}

/// Both are contiguous and of equal length.
fn is_equal(left: &StridedView, right: &StridedView, sources: &Sources) -> bool {
    let (left, right) = (left.span, right.span);
    let mut other = vec![0; CHUNK];
    let compared = for_each_chunk(left.length, &mut |offset, buffer| {
        sources.read_at(left.source, left.offset + offset, buffer)?;
        let other = other.get_mut(..buffer.len()).unwrap_or_default();
        sources.read_at(right.source, right.offset + offset, other)?;
        Ok(*buffer == *other)
    });
    left.length == right.length && compared.unwrap_or(false)
}

/// Calls `visit` with offset and buffer of each chunk, until one says no; false then.
fn for_each_chunk(
    length: u64,
    visit: &mut dyn FnMut(u64, &mut [u8]) -> std::io::Result<bool>,
) -> std::io::Result<bool> {
    let mut buffer = vec![0; CHUNK.min(length as usize)];
    let mut done = 0;
    while done < length {
        let part = (CHUNK as u64).min(length - done) as usize;
        if !visit(done, buffer.get_mut(..part).unwrap_or_default())? {
            return Ok(false);
        }
        done += part as u64;
    }
    Ok(true)
}

fn resolve(model: &mut Model, path: &Path, sources: &mut Sources) -> Result<(), Error> {
    external_data::resolve(model, folder_of(path), sources)
        .map_err(|error| Error::ExternalData { path: path.into(), error: Box::new(error) })?;
    Ok(())
}

fn for_each_initializer(model: &mut Model, visit: &mut dyn FnMut(&mut Tensor)) {
    model.graph.initializers.iter_mut().for_each(&mut *visit);
    model.for_each_node_mut(&mut |node| {
        node.subgraphs_mut().for_each(|graph| graph.initializers.iter_mut().for_each(&mut *visit));
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are those of Python's `hashlib`.
    #[test]
    fn hashes_are_those_of_the_standard() {
        let hash = |bytes: &[u8]| hexadecimal(Sha1::new_with_prefix(bytes));
        assert_eq!(hash(b""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(hash(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(hash(&[b'a'; 200]), "e61cfffe0d9195a525fc6cf06ca2d77119c24a40");
    }
}

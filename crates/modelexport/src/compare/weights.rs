//! Weights: which there are, and whether their numbers are equal.

use std::collections::HashMap;
use std::path::Path;

use modelexport_graph::onnx::{Model, Tensor, TensorData};
use modelexport_graph::{DType, Name};
use modelexport_io::source::Sources;
use modelexport_io::{external_data, stream};

use super::{Category, Difference};
use crate::tagged_file::TaggedFile;

/// Bytes that are read at a time from each file.
const CHUNK: usize = 1 << 20;

pub(super) fn compare(before: &mut TaggedFile, after: &mut TaggedFile, with_values: bool) -> Vec<Difference> {
    let old = resolved(before, with_values);
    let new = resolved(after, with_values);
    let mut differences = Vec::new();
    let by_name: HashMap<&Name, &Tensor> = new.iter().map(|tensor| (&tensor.name, tensor)).collect();
    for tensor in &old {
        let was = shape_text(tensor);
        let Some(other) = by_name.get(&tensor.name) else {
            differences.push(Difference::structure("weight removed", &*tensor.name).from(was));
            continue;
        };
        let is = shape_text(other);
        if was != is {
            differences.push(Difference::structure("weight shape changed", &*tensor.name).from(was).to(is));
        } else if with_values
            && let Some((was, is)) = values_differ(tensor, &before.sources, other, &after.sources)
        {
            let difference = Difference::new(Category::Weights, "weight changed", &*tensor.name);
            differences.push(difference.from(was).to(is));
        }
    }
    let known: HashMap<&Name, ()> = old.iter().map(|tensor| (&tensor.name, ())).collect();
    for tensor in new.iter().filter(|tensor| !known.contains_key(&tensor.name)) {
        differences.push(Difference::structure("weight added", &*tensor.name).to(shape_text(tensor)));
    }
    differences
}

/// The weights of a file, with external ones looked up where that is possible. One whose file is not there stays
/// external and is compared by where it says that its bytes are.
fn resolved(file: &mut TaggedFile, with_values: bool) -> Vec<Tensor> {
    let mut model = Model::default();
    model.graph.initializers = file.model.graph.initializers.clone();
    if with_values {
        let folder =
            file.path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or(Path::new("."));
        // The tensors up to the one that cannot be found are resolved all the same.
        let _ = external_data::resolve(&mut model, folder, &mut file.sources);
    }
    model.graph.initializers
}

fn shape_text(tensor: &Tensor) -> String {
    let dtype =
        tensor.dtype().map_or_else(|| format!("type {}", tensor.data_type), |dtype| dtype.name().to_owned());
    let dims: Vec<String> = tensor.dims.iter().map(i64::to_string).collect();
    format!("{dtype}[{}]", dims.join(", "))
}

/// Where the elements of a tensor are.
enum Bytes<'a> {
    Memory(&'a [u8]),
    Source { sources: &'a Sources, id: modelexport_graph::SourceId, start: u64, length: u64 },
}

impl Bytes<'_> {
    fn of<'a>(tensor: &'a Tensor, sources: &'a Sources) -> Option<Bytes<'a>> {
        let bits = tensor.dtype().and_then(DType::bits).unwrap_or(8);
        match &tensor.data {
            TensorData::Raw(bytes) => Some(Bytes::Memory(bytes)),
            TensorData::Stored(view) => {
                let (start, length) = stream::byte_range(view, bits).ok().flatten()?;
                Some(Bytes::Source { sources, id: view.span.source, start, length })
            }
            _ => None,
        }
    }

    fn len(&self) -> u64 {
        match self {
            Bytes::Memory(bytes) => bytes.len() as u64,
            Bytes::Source { length, .. } => *length,
        }
    }

    fn read(&self, offset: u64, buffer: &mut [u8]) -> std::io::Result<()> {
        match self {
            Bytes::Memory(bytes) => {
                let start = usize::try_from(offset).unwrap_or(usize::MAX);
                let found = start.checked_add(buffer.len()).and_then(|end| bytes.get(start..end));
                buffer.copy_from_slice(found.ok_or(std::io::ErrorKind::UnexpectedEof)?);
                Ok(())
            }
            Bytes::Source { sources, id, start, .. } => sources.read_at(*id, start + offset, buffer),
        }
    }

    /// The same bytes of the same file.
    fn is_same_place(&self, other: &Bytes<'_>) -> bool {
        let (
            Bytes::Source { sources, id, start, length },
            Bytes::Source { sources: theirs, id: other, start: other_start, length: other_length },
        ) = (self, other)
        else {
            return false;
        };
        let file = |sources: &Sources, id| sources.path(id).and_then(|path| path.canonicalize().ok());
        let (a, b) = (file(sources, *id), file(theirs, *other));
        (start, length) == (other_start, other_length) && a.is_some() && a == b
    }
}

/// How the numbers of two tensors of one shape differ, in words; `None` if they are equal.
fn values_differ(
    a: &Tensor,
    a_sources: &Sources,
    b: &Tensor,
    b_sources: &Sources,
) -> Option<(String, String)> {
    let (Some(old), Some(new)) = (Bytes::of(a, a_sources), Bytes::of(b, b_sources)) else {
        return stored_differently(&a.data, &b.data);
    };
    if old.is_same_place(&new) {
        return None;
    }
    if old.len() != new.len() {
        return Some((format!("{} bytes", old.len()), format!("{} bytes", new.len())));
    }
    let mut tally = Tally::new(a.dtype());
    let length = old.len();
    let mut at = 0;
    let size = CHUNK.min(usize::try_from(length).unwrap_or(CHUNK));
    let (mut left, mut right) = (vec![0; size], vec![0; size]);
    while at < length {
        let count = usize::try_from(length - at).unwrap_or(size).min(size);
        let (Some(x), Some(y)) = (left.get_mut(..count), right.get_mut(..count)) else { break };
        if let Err(error) = old.read(at, x).and_then(|()| new.read(at, y)) {
            return Some(("unreadable".to_owned(), error.to_string()));
        }
        if x != y {
            tally.add(x, y);
        }
        at += count as u64;
    }
    tally.finish()
}

/// Tensors whose bytes are not at hand: equal if they are written equally.
fn stored_differently(a: &TensorData, b: &TensorData) -> Option<(String, String)> {
    let is_equal = match (a, b) {
        (TensorData::Typed(x), TensorData::Typed(y)) => x == y,
        (TensorData::External(x), TensorData::External(y)) => x == y,
        (TensorData::TypedStored(x), TensorData::TypedStored(y)) => x == y,
        _ => false,
    };
    let text = |data: &TensorData| match data {
        TensorData::Raw(_) => "raw bytes".to_owned(),
        TensorData::Stored(_) | TensorData::Scaled { .. } => "raw bytes in a file".to_owned(),
        TensorData::External(_) => "external data that cannot be found".to_owned(),
        TensorData::Typed(_) | TensorData::TypedStored(_) => "a typed list".to_owned(),
    };
    (!is_equal).then(|| (text(a), format!("{}; the numbers were not compared", text(b))))
}

/// Counts elements that differ, and by how much at most.
struct Tally {
    dtype: Option<DType>,
    differing: u64,
    largest: f64,
    /// The largest number of the tensor before, where something differs.
    scale: f64,
}

impl Tally {
    fn new(dtype: Option<DType>) -> Self {
        Tally { dtype, differing: 0, largest: 0.0, scale: 0.0 }
    }

    fn add(&mut self, left: &[u8], right: &[u8]) {
        let width = self.dtype.and_then(DType::bits).map_or(1, |bits| (bits / 8).max(1)) as usize;
        for (a, b) in left.chunks(width).zip(right.chunks(width)) {
            if a == b {
                continue;
            }
            self.differing += 1;
            if let (Some(x), Some(y)) = (number(a, self.dtype), number(b, self.dtype)) {
                let distance = (x - y).abs();
                // A distance to something that is no number is the largest there is.
                self.largest = if distance.is_nan() { f64::INFINITY } else { self.largest.max(distance) };
                self.scale = self.scale.max(x.abs());
            }
        }
    }

    fn finish(self) -> Option<(String, String)> {
        if self.differing == 0 {
            return None;
        }
        let elements =
            if self.differing == 1 { "1 number".to_owned() } else { format!("{} numbers", self.differing) };
        Some((
            format!("up to {:.6e}", self.scale),
            format!("{elements} differ by up to {:.6e}", self.largest),
        ))
    }
}

/// The number that some bytes are.
fn number(bytes: &[u8], dtype: Option<DType>) -> Option<f64> {
    Some(match dtype? {
        DType::F32 => f64::from(f32::from_le_bytes(bytes.try_into().ok()?)),
        DType::F64 => f64::from_le_bytes(bytes.try_into().ok()?),
        DType::F16 => half::f16::from_le_bytes(bytes.try_into().ok()?).to_f64(),
        DType::BF16 => half::bf16::from_le_bytes(bytes.try_into().ok()?).to_f64(),
        DType::I64 => i64::from_le_bytes(bytes.try_into().ok()?) as f64,
        DType::I32 => f64::from(i32::from_le_bytes(bytes.try_into().ok()?)),
        DType::I16 => f64::from(i16::from_le_bytes(bytes.try_into().ok()?)),
        DType::I8 => f64::from(i8::from_le_bytes(bytes.try_into().ok()?)),
        DType::U8 | DType::Bool => f64::from(*bytes.first()?),
        _ => return None,
    })
}

//! The elements of a tensor, read from memory or from a file.

use std::io;

use modelexport_graph::onnx::{Tensor, TensorData};
use modelexport_graph::{DType, SourceId};
use modelexport_io::fingerprint::{Fingerprint, Fingerprinter};
use modelexport_io::source::Sources;
use modelexport_io::stream;

/// Bytes that are read at a time.
pub(super) const CHUNK: usize = 1 << 20;

/// Tensors up to this many bytes are read as a whole where elements are looked up out of order.
const IN_MEMORY: u64 = 16 << 20;

/// Where the elements of a tensor are.
pub(super) enum Elements<'a> {
    Memory(&'a [u8]),
    Loaded(Vec<u8>),
    Source { sources: &'a Sources, id: SourceId, start: u64, length: u64 },
}

impl<'a> Elements<'a> {
    /// `None` for lists of numbers in the format of protobuf, and for data that cannot be found.
    pub(super) fn of(tensor: &'a Tensor, sources: &'a Sources) -> Option<Elements<'a>> {
        let bits = tensor.dtype().and_then(DType::bits).unwrap_or(8);
        match &tensor.data {
            TensorData::Raw(bytes) => Some(Elements::Memory(bytes)),
            TensorData::Stored(view) => {
                let (start, length) = stream::byte_range(view, bits).ok().flatten()?;
                Some(Elements::Source { sources, id: view.span.source, start, length })
            }
            _ => None,
        }
    }

    pub(super) fn len(&self) -> u64 {
        match self {
            Elements::Memory(bytes) => bytes.len() as u64,
            Elements::Loaded(bytes) => bytes.len() as u64,
            Elements::Source { length, .. } => *length,
        }
    }

    pub(super) fn read(&self, offset: u64, buffer: &mut [u8]) -> io::Result<()> {
        let bytes: &[u8] = match self {
            Elements::Memory(bytes) => bytes,
            Elements::Loaded(bytes) => bytes,
            Elements::Source { sources, id, start, length } => {
                let is_inside = offset.checked_add(buffer.len() as u64).is_some_and(|end| end <= *length);
                return match is_inside {
                    true => sources.read_at(*id, start + offset, buffer),
                    false => Err(io::ErrorKind::UnexpectedEof.into()),
                };
            }
        };
        let start = usize::try_from(offset).unwrap_or(usize::MAX);
        let found = start.checked_add(buffer.len()).and_then(|end| bytes.get(start..end));
        buffer.copy_from_slice(found.ok_or(io::ErrorKind::UnexpectedEof)?);
        Ok(())
    }

    /// The same, in memory unless it is large.
    pub(super) fn at_hand(self) -> io::Result<Self> {
        match &self {
            Elements::Source { length, .. } if *length <= IN_MEMORY => {
                let mut bytes = vec![0; usize::try_from(*length).map_err(|_| io::ErrorKind::OutOfMemory)?];
                self.read(0, &mut bytes)?;
                Ok(Elements::Loaded(bytes))
            }
            _ => Ok(self),
        }
    }

    /// Those of a matrix of `width` bytes an element, transposed; `None` for one that is large.
    pub(super) fn transposed(&self, rows: u64, columns: u64, width: usize) -> Option<Elements<'static>> {
        let (rows, columns) = (usize::try_from(rows).ok()?, usize::try_from(columns).ok()?);
        let length = rows.checked_mul(columns)?.checked_mul(width)?;
        if self.len() != length as u64 || self.len() > IN_MEMORY {
            return None;
        }
        let mut bytes = vec![0; length];
        self.read(0, &mut bytes).ok()?;
        let mut turned = Vec::with_capacity(length);
        for place in 0..rows * columns {
            let start = (place % rows * columns + place / rows) * width;
            turned.extend_from_slice(bytes.get(start..start + width)?);
        }
        Some(Elements::Loaded(turned))
    }

    /// The same bytes of the same file.
    pub(super) fn is_same_place(&self, other: &Elements<'_>) -> bool {
        let (
            Elements::Source { sources, id, start, length },
            Elements::Source { sources: theirs, id: other, start: other_start, length: other_length },
        ) = (self, other)
        else {
            return false;
        };
        let file = |sources: &Sources, id| sources.path(id).and_then(|path| path.canonicalize().ok());
        let (a, b) = (file(sources, *id), file(theirs, *other));
        (start, length) == (other_start, other_length) && a.is_some() && a == b
    }

    /// What does not depend on the order of the elements.
    pub(super) fn fingerprint(&self, dtype: DType) -> Option<Fingerprint> {
        let mut fingerprinter = Fingerprinter::new(dtype)?;
        let mut buffer = vec![0; CHUNK];
        let mut at = 0;
        while at < self.len() {
            let piece = piece(&mut buffer, at, self.len());
            self.read(at, piece).ok()?;
            fingerprinter.update(piece);
            at += piece.len() as u64;
        }
        fingerprinter.finish()
    }
}

/// The part of `buffer` for what comes `at` a place in `length` bytes.
fn piece(buffer: &mut [u8], at: u64, length: u64) -> &mut [u8] {
    let count = usize::try_from(length.saturating_sub(at)).unwrap_or(usize::MAX).min(buffer.len());
    buffer.split_at_mut(count).0
}

/// Calls `visit` with the same elements of both, `widths` bytes each, in their order.
pub(super) fn side_by_side(
    (a, b): (&Elements<'_>, &Elements<'_>),
    widths: (usize, usize),
    visit: &mut dyn FnMut(&[u8], &[u8]),
) -> io::Result<()> {
    let count = (CHUNK / widths.0.max(widths.1).max(1)).max(1);
    let (mut left, mut right) = (vec![0; count * widths.0], vec![0; count * widths.1]);
    let (mut a_at, mut b_at) = (0, 0);
    while a_at < a.len() {
        let (x, y) = (piece(&mut left, a_at, a.len()), piece(&mut right, b_at, b.len()));
        a.read(a_at, x)?;
        b.read(b_at, y)?;
        visit(x, y);
        (a_at, b_at) = (a_at + x.len() as u64, b_at + y.len() as u64);
    }
    Ok(())
}

/// The number that some bytes are.
pub(super) fn number(bytes: &[u8], dtype: DType) -> Option<f64> {
    Some(match dtype {
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

/// Bytes of an element; `None` for types without whole bytes.
pub(super) fn width(dtype: DType) -> Option<usize> {
    let bits = dtype.bits().filter(|bits| bits.is_multiple_of(8) && *bits > 0)?;
    usize::try_from(bits / 8).ok()
}

//! The header of one file.

use std::fmt;

use modelexport_graph::{DType, SourceId, Span, element_count};
use serde::Deserialize;
use serde::de::{IgnoredAny, MapAccess, Visitor};

use super::{Entry, Reason, Tensors};
use crate::source::Source;

/// As in the format's own library.
pub const HEADER_LIMIT: u64 = 100_000_000;

/// Key of an entry that is not a tensor.
const METADATA: &str = "__metadata__";

pub(super) fn read(source: &Source, id: SourceId) -> Result<Tensors, Reason> {
    let file_length = source.len();
    let truncated = Reason::Truncated { length: file_length };
    if file_length < 8 {
        return Err(truncated);
    }
    let mut length = [0; 8];
    source.read_at(0, &mut length).map_err(Reason::Read)?;
    let length = u64::from_le_bytes(length);
    if length > HEADER_LIMIT {
        return Err(Reason::HeaderTooLarge { length, limit: HEADER_LIMIT });
    }
    let data_start = 8 + length;
    if data_start > file_length {
        return Err(truncated);
    }
    let mut json = vec![0; length as usize];
    source.read_at(8, &mut json).map_err(Reason::Read)?;
    let header: Header = serde_json::from_slice(&json).map_err(Reason::Json)?;
    drop(json);
    let data = Span { source: id, offset: data_start, length: file_length - data_start };
    check_coverage(&header, data.length)?;
    let mut tensors = Tensors::new();
    for (name, tensor) in header.tensors {
        let entry = tensor.place(&name, data)?;
        if tensors.insert(name.clone(), entry).is_some() {
            return Err(Reason::Duplicate { name });
        }
    }
    Ok(tensors)
}

/// Every byte of the data belongs to exactly one tensor.
fn check_coverage(header: &Header, available: u64) -> Result<(), Reason> {
    let mut ordered: Vec<_> =
        header.tensors.iter().map(|(name, tensor)| (tensor.data_offsets, name)).collect();
    ordered.sort();
    let mut end = 0;
    let mut previous: &str = "";
    for ([from, to], name) in ordered {
        if from > to || to > available {
            return Err(Reason::OutOfRange { name: name.clone(), start: from, end: to, available });
        }
        if from < end && from < to {
            return Err(Reason::Overlap { first: previous.into(), second: name.clone() });
        }
        if from > end {
            return Err(Reason::Gap { start: end, length: from - end });
        }
        if to > end {
            (end, previous) = (to, name);
        }
    }
    if end < available { Err(Reason::Gap { start: end, length: available - end }) } else { Ok(()) }
}

/// In the order of the file, with names that may repeat.
struct Header {
    tensors: Vec<(String, Tensor)>,
}

#[derive(Deserialize)]
struct Tensor {
    dtype: String,
    shape: Vec<u64>,
    data_offsets: [u64; 2],
}

impl Tensor {
    fn place(self, name: &str, data: Span) -> Result<Entry, Reason> {
        let name = || name.to_string();
        let dtype = dtype(&self.dtype)
            .ok_or_else(|| Reason::UnknownDType { name: name(), dtype: self.dtype.clone() })?;
        let expected = element_count(&self.shape)
            .and_then(|count| dtype.byte_len(count))
            .ok_or_else(|| Reason::BadShape { name: name(), shape: self.shape.clone() })?;
        let [from, to] = self.data_offsets;
        let length = to.saturating_sub(from);
        if length != expected {
            return Err(Reason::WrongLength { name: name(), length, expected });
        }
        let span = Span { offset: data.offset + from, length, ..data };
        Ok(Entry { dtype, shape: self.shape, span })
    }
}

fn dtype(name: &str) -> Option<DType> {
    Some(match name {
        "BOOL" => DType::Bool,
        "U8" => DType::U8,
        "I8" => DType::I8,
        "U16" => DType::U16,
        "I16" => DType::I16,
        "U32" => DType::U32,
        "I32" => DType::I32,
        "U64" => DType::U64,
        "I64" => DType::I64,
        "F16" => DType::F16,
        "BF16" => DType::BF16,
        "F32" => DType::F32,
        "F64" => DType::F64,
        "C64" => DType::C64,
        "F8_E4M3" => DType::F8E4M3FN,
        "F8_E5M2" => DType::F8E5M2,
        "F8_E8M0" => DType::F8E8M0FNU,
        "F4" => DType::F4E2M1,
        _ => return None,
    })
}

impl<'de> Deserialize<'de> for Header {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Entries;
        impl<'de> Visitor<'de> for Entries {
            type Value = Header;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object of tensors")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Header, A::Error> {
                let mut tensors = Vec::new();
                while let Some(name) = map.next_key::<String>()? {
                    if name == METADATA {
                        map.next_value::<IgnoredAny>()?;
                    } else {
                        tensors.push((name, map.next_value()?));
                    }
                }
                Ok(Header { tensors })
            }
        }
        deserializer.deserialize_map(Entries)
    }
}

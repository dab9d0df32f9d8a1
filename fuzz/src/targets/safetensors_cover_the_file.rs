use std::path::Path;

use modelexport_graph::element_count;
use modelexport_io::safetensors::{self, Tensors};
use modelexport_io::source::Sources;

use crate::mutate::{self, bytes, json};
use crate::random::Random;
use crate::{Target, Verdict, files};

pub static TARGET: Target = Target {
    name: "safetensors_cover_the_file",
    property: "The tensors of a safetensors file are as long as their types say and cover its data without gap or overlap; \
               an index names tensors of its shards.",
    seeds,
    mutate,
    check,
};

/// Two shards of one model.
const SHARDS: [(&str, &str); 2] = [
    (
        "a.safetensors",
        r#"{"__metadata__":{"format":"pt"},"x":{"dtype":"F32","shape":[2,3],"data_offsets":[0,24]},"y":{"dtype":"BF16","shape":[4],"data_offsets":[24,32]},"empty":{"dtype":"I64","shape":[0],"data_offsets":[32,32]}}"#,
    ),
    (
        "b.safetensors",
        r#"{"z":{"dtype":"BOOL","shape":[],"data_offsets":[0,1]},"v":{"dtype":"U8","shape":[1,2],"data_offsets":[1,3]}}"#,
    ),
];

const INDEX: &str = r#"{"metadata":{"total_size":35},"weight_map":{"x":"a.safetensors","y":"a.safetensors","z":"b.safetensors"}}"#;

fn file(header: &str) -> Vec<u8> {
    let data = if header.contains("\"x\"") { 32 } else { 3 };
    [&(header.len() as u64).to_le_bytes(), header.as_bytes(), &vec![1; data]].concat()
}

fn seeds() -> Vec<Vec<u8>> {
    let shards = SHARDS.iter().map(|(_, header)| file(header));
    shards.chain([INDEX.into()]).collect()
}

/// Changes the header as JSON and makes its length right.
fn mutate(input: &mut Vec<u8>, random: &mut Random) {
    mutate::formatted(input, random, |input, random| {
        if input.starts_with(b"{") {
            return json::mutate(input, random);
        }
        let Some(length) = input.first_chunk().map(|bytes| u64::from_le_bytes(*bytes)) else { return false };
        let Some(end) = usize::try_from(length).ok().and_then(|length| length.checked_add(8)) else {
            return false;
        };
        let Some(mut header) = input.get(8..end).map(<[u8]>::to_vec) else { return false };
        let mut data = input[end..].to_vec();
        if random.once_in(8) {
            bytes::mutate(&mut data, random);
        } else if !json::mutate(&mut header, random) {
            return false;
        }
        *input = [&(header.len() as u64).to_le_bytes(), &header[..], &data].concat();
        true
    });
}

fn check(input: &[u8]) -> Verdict {
    let folder = files::folder("safetensors");
    for (name, header) in SHARDS {
        if !folder.join(name).exists() {
            files::write(&folder.join(name), &file(header));
        }
    }
    let is_index = input.starts_with(b"{");
    let name = if is_index { "model.safetensors.index.json" } else { "model.safetensors" };
    let path = folder.join(name);
    files::write(&path, input);
    let mut sources = Sources::new();
    let tensors = match safetensors::read(&path, &mut sources) {
        Ok(tensors) => tensors,
        Err(error) => {
            let message = error.to_string();
            // The file that the error is about may be a shard that is missing or is none.
            files::assert_names(&message, &folder.display().to_string());
            return Verdict::Refused;
        }
    };
    for (name, tensor) in &tensors {
        let bytes = element_count(&tensor.shape).and_then(|count| tensor.dtype.byte_len(count));
        assert_eq!(bytes, Some(tensor.span.length), "{name:?} is not as long as its type says");
    }
    if is_index {
        assert!(tensors.keys().all(|name| ["x", "y", "z", "v", "empty"].contains(&name.as_str())));
    } else {
        covers(&tensors, input, &path);
    }
    Verdict::Accepted
}

fn covers(tensors: &Tensors, file: &[u8], path: &Path) {
    let mut spans: Vec<(u64, u64)> =
        tensors.values().map(|t| (t.span.offset, t.span.offset + t.span.length)).collect();
    spans.sort_unstable();
    let header = file.first_chunk().map_or(0, |bytes| u64::from_le_bytes(*bytes));
    let end = spans.iter().fold(8 + header, |end, span| {
        assert!(span.0 == end || span.0 == span.1, "gap or overlap at byte {end} of {}", path.display());
        end.max(span.1)
    });
    assert_eq!(end, file.len() as u64, "bytes that belong to no tensor");
}

//! SHA-1 of weights and of data files, where a model says what it is.

use std::collections::HashMap;
use std::io;

use modelexport_graph::{SourceId, Span};
use modelexport_io::source::Sources;
use sha1::{Digest, Sha1};

/// How much is read at a time.
const CHUNK: usize = 1 << 20;

/// Compares recorded hashes. Each data file is read once.
#[derive(Default)]
pub(crate) struct Checksums {
    files: HashMap<SourceId, String>,
}

impl Checksums {
    /// Why the bytes of a tensor at `span` are not those of which `recorded` is the hash. ONNX defines it as the hash of the
    /// whole data file; some programs write that of the tensor's bytes.
    pub(crate) fn problem(&mut self, recorded: &str, span: Span, sources: &Sources) -> Option<String> {
        self.compare(recorded, span, sources).unwrap_or_else(|error| Some(format!("cannot read: {error}")))
    }

    fn compare(&mut self, recorded: &str, span: Span, sources: &Sources) -> io::Result<Option<String>> {
        let length = sources.len(span.source).unwrap_or(0);
        let file = match self.files.get(&span.source) {
            Some(known) => known.clone(),
            None => of_span(Span { source: span.source, offset: 0, length }, sources)?,
        };
        self.files.insert(span.source, file.clone());
        let is_right = |hash: &str| recorded.eq_ignore_ascii_case(hash);
        if is_right(&file) || is_right(&of_span(span, sources)?) {
            return Ok(None);
        }
        Ok(Some(format!("the data file has the hash {file}, the model says {recorded}")))
    }
}

/// The hash of a range of a source, in digits.
pub(crate) fn of_span(span: Span, sources: &Sources) -> io::Result<String> {
    let mut sha1 = Sha1::new();
    for_each_chunk(span.length, &mut |offset, buffer| {
        sources.read_at(span.source, span.offset + offset, buffer)?;
        sha1.update(buffer);
        Ok(true)
    })?;
    Ok(hexadecimal(sha1))
}

pub(crate) fn of_bytes(bytes: &[u8]) -> String {
    hexadecimal(Sha1::new_with_prefix(bytes))
}

fn hexadecimal(hash: Sha1) -> String {
    hash.finalize().iter().map(|byte| format!("{byte:02x}")).collect()
}

/// Calls `visit` with offset and buffer of each chunk, until one says no; false then.
pub(crate) fn for_each_chunk(
    length: u64,
    visit: &mut dyn FnMut(u64, &mut [u8]) -> io::Result<bool>,
) -> io::Result<bool> {
    let mut buffer = vec![0; CHUNK.min(usize::try_from(length).unwrap_or(CHUNK))];
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

#[cfg(test)]
mod tests {
    use super::*;

    /// Expected values are those of Python's `hashlib`.
    #[test]
    fn hashes_are_those_of_the_standard() {
        assert_eq!(of_bytes(b""), "da39a3ee5e6b4b0d3255bfef95601890afd80709");
        assert_eq!(of_bytes(b"abc"), "a9993e364706816aba3e25717850c26c9cd0d89d");
        assert_eq!(of_bytes(&[b'a'; 200]), "e61cfffe0d9195a525fc6cf06ca2d77119c24a40");
    }
}

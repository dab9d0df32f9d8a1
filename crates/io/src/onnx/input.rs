//! Reads the bytes of a source on demand, through a window that moves over the file.

use std::borrow::Cow;
use std::io;

use crate::source::Source;

/// Bytes that are read after a jump: the header of the next tensor, most often.
const FIRST_WINDOW: usize = 4 << 10;
/// The window doubles up to here while reading goes on where it stopped.
const MAX_WINDOW: usize = 256 << 10;

/// Random access to a source; good at reading forward and at skipping.
pub(super) struct Input<'a> {
    source: &'a Source,
    window: Vec<u8>,
    window_start: u64,
}

impl<'a> Input<'a> {
    pub(super) fn new(source: &'a Source) -> Self {
        Input { source, window: Vec::new(), window_start: 0 }
    }

    pub(super) fn source(&self) -> &'a Source {
        self.source
    }

    pub(super) fn len(&self) -> u64 {
        self.source.len()
    }

    /// The bytes from `offset` on: `wanted` of them, or fewer where the source ends.
    pub(super) fn peek(&mut self, offset: u64, wanted: usize) -> io::Result<&[u8]> {
        // Almost always the window has them.
        if self.holds(offset, wanted) {
            return slice(&self.window, offset - self.window_start, wanted);
        }
        let available = usize::try_from(self.len().saturating_sub(offset)).unwrap_or(usize::MAX);
        let length = wanted.min(available);
        if let Some(bytes) = self.source.bytes() {
            return slice(bytes, offset, length);
        }
        if !self.holds(offset, length) {
            self.fill(offset, length, available)?;
        }
        slice(&self.window, offset.saturating_sub(self.window_start), length)
    }

    /// Exactly `length` bytes; the caller has checked that the source has them.
    pub(super) fn bytes(&mut self, offset: u64, length: usize) -> io::Result<Cow<'_, [u8]>> {
        if length <= MAX_WINDOW || self.source.bytes().is_some() {
            let bytes = self.peek(offset, length)?;
            return if bytes.len() == length {
                Ok(Cow::Borrowed(bytes))
            } else {
                Err(io::ErrorKind::UnexpectedEof.into())
            };
        }
        let mut bytes = vec![0; length];
        self.source.read_at(offset, &mut bytes)?;
        Ok(Cow::Owned(bytes))
    }

    fn window_end(&self) -> u64 {
        self.window_start + self.window.len() as u64
    }

    fn holds(&self, offset: u64, length: usize) -> bool {
        offset >= self.window_start
            && offset.checked_add(length as u64).is_some_and(|end| end <= self.window_end())
    }

    fn fill(&mut self, offset: u64, wanted: usize, available: usize) -> io::Result<()> {
        let goes_on = offset >= self.window_start && offset <= self.window_end();
        let size = if goes_on { self.window.len() * 2 } else { FIRST_WINDOW };
        let size = size.clamp(FIRST_WINDOW, MAX_WINDOW).max(wanted).min(available);
        self.window.clear();
        self.window.resize(size, 0);
        self.window_start = offset;
        self.source.read_at(offset, &mut self.window)
    }
}

fn slice(bytes: &[u8], offset: u64, length: usize) -> io::Result<&[u8]> {
    usize::try_from(offset)
        .ok()
        .and_then(|start| bytes.get(start..start.checked_add(length)?))
        .ok_or_else(|| io::ErrorKind::UnexpectedEof.into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::source::Sources;

    #[test]
    fn reads_forward_backward_and_across_windows() {
        let bytes: Vec<u8> = (0..700_000u32).map(|i| (i % 251) as u8).collect();
        let file = tempfile::NamedTempFile::new().unwrap();
        std::fs::write(file.path(), &bytes).unwrap();
        let mut sources = Sources::new();
        let id = sources.add_file(file.path()).unwrap();
        let mut input = Input::new(sources.get(id).unwrap());
        let places =
            [(0, 10), (4090, 20), (4110, 300_000), (699_990, 10), (5, 5), (100, 262_144), (262_144, 262_144)];
        for (offset, length) in places {
            let read = input.bytes(offset as u64, length).unwrap();
            assert_eq!(read, &bytes[offset..offset + length], "{offset} {length}");
        }
        assert_eq!(input.peek(699_995, 10).unwrap(), &bytes[699_995..]);
        assert_eq!(input.peek(800_000, 10).unwrap(), [0u8; 0]);
        assert!(input.bytes(699_995, 10).is_err());
    }
}

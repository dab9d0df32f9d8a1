//! A spliced file as pieces: ranges of the original, and new bytes between them.

use std::io;

use crate::onnx::reader::Extent;
use crate::source::Source;

/// A run of bytes of a spliced file.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Piece<'a> {
    New(&'a [u8]),
    /// Bytes of the original file.
    Original {
        offset: u64,
        length: u64,
    },
}

/// A spliced file that is not written yet.
#[derive(Clone, Debug, Default)]
pub struct Spliced {
    parts: Vec<Part>,
    new_bytes: Vec<u8>,
    length: u64,
}

#[derive(Clone, Copy, Debug)]
enum Part {
    Original(Extent),
    /// Indices into the new bytes.
    New {
        start: usize,
        end: usize,
    },
}

impl Spliced {
    /// Length of the file in bytes.
    pub fn len(&self) -> u64 {
        self.length
    }

    pub fn is_empty(&self) -> bool {
        self.length == 0
    }

    /// No byte differs from the original.
    pub fn is_original(&self) -> bool {
        !self.parts.iter().any(|part| matches!(part, Part::New { .. }))
            && matches!(self.parts.as_slice(), [] | [Part::Original(Extent { start: 0, .. })])
    }

    /// The bytes of the file, in order.
    pub fn pieces(&self) -> impl Iterator<Item = Piece<'_>> {
        self.parts.iter().map(|part| match *part {
            Part::Original(extent) => Piece::Original { offset: extent.start, length: extent.len() },
            Part::New { start, end } => Piece::New(self.new_bytes.get(start..end).unwrap_or_default()),
        })
    }

    /// The whole file in memory; for small models.
    pub fn to_vec(&self, original: &Source) -> io::Result<Vec<u8>> {
        let mut bytes = Vec::new();
        for piece in self.pieces() {
            match piece {
                Piece::New(new) => bytes.extend_from_slice(new),
                Piece::Original { offset, length } => {
                    let start = bytes.len();
                    let length = usize::try_from(length).map_err(io::Error::other)?;
                    bytes.resize(start + length, 0);
                    original.read_at(offset, bytes.get_mut(start..).unwrap_or_default())?;
                }
            }
        }
        Ok(bytes)
    }

    pub(super) fn push_original(&mut self, extent: Extent) {
        self.length += extent.len();
        match self.parts.last_mut() {
            Some(Part::Original(last)) if last.end == extent.start => last.end = extent.end,
            _ => self.parts.push(Part::Original(extent)),
        }
    }

    pub(super) fn push_new(&mut self, bytes: &[u8]) {
        self.length += bytes.len() as u64;
        let start = self.new_bytes.len();
        self.new_bytes.extend_from_slice(bytes);
        let grown = self.new_bytes.len();
        match self.parts.last_mut() {
            Some(Part::New { start: last_start, end }) if *end == start && *last_start < *end => *end = grown,
            _ => self.parts.push(Part::New { start, end: grown }),
        }
    }

    /// Leaves room for the header of a message whose length is not known yet.
    pub(super) fn open(&mut self) -> Opening {
        let opening = Opening { part: self.parts.len(), length: self.length };
        self.parts.push(Part::New { start: 0, end: 0 });
        opening
    }

    /// Bytes that were pushed since `opening`.
    pub(super) fn length_since(&self, opening: &Opening) -> u64 {
        self.length - opening.length
    }

    /// Puts the header of a message where it was opened.
    pub(super) fn close(&mut self, opening: Opening, header: &[u8]) {
        let start = self.new_bytes.len();
        self.new_bytes.extend_from_slice(header);
        self.length += header.len() as u64;
        if let Some(part) = self.parts.get_mut(opening.part) {
            *part = Part::New { start, end: self.new_bytes.len() };
        }
    }

    /// Forgets what was pushed since `opening`: the message is copied as a whole.
    pub(super) fn close_unchanged(&mut self, opening: Opening, whole: Extent) {
        self.parts.truncate(opening.part);
        self.length = opening.length;
        self.push_original(whole);
    }
}

/// Where a message was opened.
pub(super) struct Opening {
    part: usize,
    length: u64,
}

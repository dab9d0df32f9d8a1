//! A spliced file as a sequence of pieces: ranges of the original, and new bytes between them.
//!
//! The new bytes are many times larger than the data they are made from, so they are never all in memory. A first walk adds
//! up the lengths of the messages that change. A second walk uses these lengths and yields the pieces as it produces them.

use crate::onnx::error::Error;
use crate::onnx::reader::{Extent, Reader};
use crate::onnx::wire::{put_padded_varint, varint_len};
use crate::stream;

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

/// Runs of the original up to this length are read and handed over as bytes: they lie where the walk is.
const SMALL: u64 = 64 << 10;

/// Takes the pieces of a file, in order.
pub(super) type Target<'t> = dyn FnMut(Piece<'_>) -> Result<(), stream::Error> + 't;

/// What a walk found out about a message that it may change.
#[derive(Clone, Copy, Debug)]
pub(super) enum Outcome {
    Unchanged,
    /// Bytes of the payload, and of its length.
    Changed {
        length: u64,
        width: u8,
    },
}

/// The outcomes of all messages, in the order in which these begin, and the length of the file.
#[derive(Clone, Debug, Default)]
pub(super) struct Plan {
    pub outcomes: Vec<Outcome>,
    pub length: u64,
    /// No byte differs from the original.
    pub is_original: bool,
}

/// Where the pieces of a walk go.
pub(super) enum Pieces<'p> {
    Measured(Measure),
    Written(Output<'p>),
}

/// Adds up lengths.
#[derive(Default)]
pub(super) struct Measure {
    plan: Plan,
    /// The end of the run that the file began with, as long as that is all of it.
    original: Option<u64>,
}

/// Hands pieces over.
pub(super) struct Output<'p> {
    outcomes: std::slice::Iter<'p, Outcome>,
    target: &'p mut Target<'p>,
    /// Originals that follow each other and were not handed over yet.
    run: Extent,
    /// Messages around that are handed over as a whole.
    silent: usize,
    /// Bytes that were handed over, and that should be in the end.
    length: u64,
    planned: u64,
    /// Why the target takes no more.
    failure: Option<stream::Error>,
}

/// A message that was begun.
#[derive(Clone, Copy, Debug)]
pub(super) struct Opening {
    index: usize,
    length: u64,
    was_original: Option<u64>,
}

impl<'p> Pieces<'p> {
    pub(super) fn measure() -> Self {
        Pieces::Measured(Measure { original: Some(0), ..Measure::default() })
    }

    pub(super) fn write(plan: &'p Plan, target: &'p mut Target<'p>) -> Self {
        let run = Extent { start: 0, end: 0 };
        let (outcomes, planned) = (plan.outcomes.iter(), plan.length);
        Pieces::Written(Output { outcomes, target, run, silent: 0, length: 0, planned, failure: None })
    }

    pub(super) fn push_original(&mut self, reader: &mut Reader<'_>, extent: Extent) -> Result<(), Error> {
        match self {
            Pieces::Measured(measure) => measure.add_original(extent),
            Pieces::Written(output) => output.add_original(reader, extent)?,
        }
        Ok(())
    }

    pub(super) fn push_new(&mut self, reader: &mut Reader<'_>, bytes: &[u8]) -> Result<(), Error> {
        match self {
            Pieces::Measured(measure) => {
                measure.plan.length += bytes.len() as u64;
                measure.original = None;
            }
            Pieces::Written(output) => output.add_new(reader, bytes)?,
        }
        Ok(())
    }

    /// Begins a message that stands in the original at `whole`; `tag` comes before its length.
    pub(super) fn open(
        &mut self,
        reader: &mut Reader<'_>,
        tag: &[u8],
        whole: Extent,
    ) -> Result<Opening, Error> {
        match self {
            Pieces::Measured(measure) => {
                let (index, length) = (measure.plan.outcomes.len(), measure.plan.length);
                measure.plan.outcomes.push(Outcome::Unchanged);
                Ok(Opening { index, length, was_original: measure.original })
            }
            Pieces::Written(output) => {
                output.open(reader, tag, whole)?;
                Ok(Opening { index: 0, length: 0, was_original: None })
            }
        }
    }

    /// Ends a message whose payload changed. Its tag takes `tag_length` bytes, its length at least `width`.
    pub(super) fn close(&mut self, opening: Opening, tag_length: usize, width: u64) {
        if let Pieces::Measured(measure) = self {
            let length = measure.plan.length - opening.length;
            let width = varint_len(length).max(width) as u8;
            if let Some(outcome) = measure.plan.outcomes.get_mut(opening.index) {
                *outcome = Outcome::Changed { length, width };
            }
            measure.plan.length += tag_length as u64 + u64::from(width);
            measure.original = None;
        }
    }

    /// Ends a message that stays as it is.
    pub(super) fn close_unchanged(&mut self, opening: Opening, whole: Extent) {
        match self {
            Pieces::Measured(measure) => {
                measure.plan.length = opening.length;
                measure.original = opening.was_original;
                measure.add_original(whole);
            }
            Pieces::Written(output) => output.silent = output.silent.saturating_sub(1),
        }
    }

    /// What was measured; nothing if it was written.
    pub(super) fn into_plan(self) -> Plan {
        match self {
            Pieces::Measured(Measure { mut plan, original }) => {
                plan.is_original = original.is_some();
                plan.outcomes.shrink_to_fit();
                plan
            }
            Pieces::Written(_) => Plan::default(),
        }
    }

    /// Hands over what is left, and says why the target failed if it did.
    pub(super) fn finish(self, reader: &mut Reader<'_>) -> Result<Option<stream::Error>, Error> {
        match self {
            Pieces::Measured(_) => Ok(None),
            Pieces::Written(mut output) => {
                output.hand_over(reader)?;
                match output.failure {
                    None if output.length != output.planned => Err(Error::Changed { file: reader.file() }),
                    failure => Ok(failure),
                }
            }
        }
    }
}

impl Measure {
    fn add_original(&mut self, extent: Extent) {
        self.plan.length += extent.len();
        self.original = self.original.filter(|end| *end == extent.start).map(|_| extent.end);
    }
}

impl Output<'_> {
    fn add_original(&mut self, reader: &mut Reader<'_>, extent: Extent) -> Result<(), Error> {
        if self.silent > 0 {
            return Ok(());
        }
        if self.run.end != extent.start || self.run.len() == 0 {
            self.hand_over(reader)?;
            self.run.start = extent.start;
        }
        self.run.end = extent.end;
        Ok(())
    }

    fn add_new(&mut self, reader: &mut Reader<'_>, bytes: &[u8]) -> Result<(), Error> {
        if self.silent > 0 {
            return Ok(());
        }
        self.hand_over(reader)?;
        self.give(Piece::New(bytes));
        Ok(())
    }

    fn open(&mut self, reader: &mut Reader<'_>, tag: &[u8], whole: Extent) -> Result<(), Error> {
        match self.outcomes.next() {
            Some(&Outcome::Changed { length, width }) if self.silent == 0 => {
                let mut header = tag.to_vec();
                put_padded_varint(&mut header, length, width.into());
                self.add_new(reader, &header)
            }
            Some(Outcome::Changed { .. }) => Ok(()),
            Some(Outcome::Unchanged) => {
                self.add_original(reader, whole)?;
                self.silent += 1;
                Ok(())
            }
            None => Err(Error::Changed { file: reader.file() }),
        }
    }

    fn hand_over(&mut self, reader: &mut Reader<'_>) -> Result<(), Error> {
        let run = std::mem::replace(&mut self.run, Extent { start: 0, end: 0 });
        match run.len() {
            0 => {}
            1..=SMALL => {
                let bytes = reader.bytes(run)?;
                self.give(Piece::New(&bytes));
            }
            length => self.give(Piece::Original { offset: run.start, length }),
        }
        Ok(())
    }

    fn give(&mut self, piece: Piece<'_>) {
        self.length += match piece {
            Piece::New(bytes) => bytes.len() as u64,
            Piece::Original { length, .. } => length,
        };
        if self.failure.is_none() {
            self.failure = (self.target)(piece).err();
        }
    }
}

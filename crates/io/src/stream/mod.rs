//! Copies weights from source to output in bounded memory.
//!
//! * Contiguous weights are read and written in chunks. The kernel copies them if the file system could share the data
//!   between both files.
//! * All others (a transposed linear layer, a slice) are gathered block by block: a block is read in the order of the
//!   source, reordered in memory, and written in the order of the output.
//!
//! A worker pool does both, so one weight is reordered while another is written.
//!
//! Nothing is mapped into memory: a file that shrinks while it is read is an error, not a crash. Buffers take at most
//! [`MEMORY`] bytes.

mod blocks;
mod buffer;
mod copy;
mod error;
mod gather;
mod layout;
mod pool;
mod reorder;
mod transpose;
mod walk;

use modelexport_graph::{Span, StridedView, element_count};

use crate::output::OutputFile;
use crate::source::{Source, Sources};

pub use error::{Error, Failure};

/// Upper limit of all buffers together.
pub const MEMORY: usize = pool::THREADS * buffer::IMAGE + pool::PARTS * buffer::PART;

/// Streams weights into output files and reports each number of bytes that was written. An output is complete after [`Streamer::finish`].
pub struct Streamer<'a> {
    sources: &'a Sources,
    progress: &'a mut dyn FnMut(u64),
    pool: pool::Pool,
}

impl<'a> Streamer<'a> {
    pub fn new(sources: &'a Sources, progress: &'a mut dyn FnMut(u64)) -> Self {
        Streamer { sources, progress, pool: pool::Pool::default() }
    }

    /// Writes the elements of `view`, `bits` wide each, in row-major order at the end of `output`.
    pub fn append(&mut self, output: &mut OutputFile, view: &StridedView, bits: u64) -> Result<(), Error> {
        let source =
            self.sources.share(view.span.source).ok_or(Error::NoSource { id: view.span.source.0 })?;
        match byte_range(view, bits)? {
            Some((start, length)) => {
                check_range(source, view, start.into(), u128::from(start) + u128::from(length))?;
                copy::append(output, source, view, (start, length), &mut self.pool, self.progress)
            }
            None => {
                let plan = layout::Layout::new(view, bits)?;
                let (start, end) = plan.source_range();
                check_range(source, view, start, end)?;
                gather::append(output, source, view, plan, &mut self.pool, self.progress)
            }
        }
    }

    /// Writes a range of a source at the end of `output`.
    pub fn append_span(&mut self, output: &mut OutputFile, span: Span) -> Result<(), Error> {
        let view = StridedView { span, offset: 0, sizes: vec![span.length], strides: vec![1] };
        self.append(output, &view, 8)
    }

    /// Waits until everything is written, and checks that it was read from files that nobody changed meanwhile. A failure
    /// says which weight it is about.
    pub fn finish(&mut self) -> Result<(), Box<Failure>> {
        self.pool.finish(self.progress)?;
        match self.sources.changed() {
            None => Ok(()),
            Some(source) => Err(Error::Changed { place: source.to_string() }.about(None)),
        }
    }

    /// Writes bytes that are in memory.
    pub fn append_bytes(&mut self, output: &mut OutputFile, bytes: &[u8]) -> Result<(), Error> {
        output.write_all(bytes)?;
        (self.progress)(bytes.len() as u64);
        Ok(())
    }
}

/// Bytes that the elements take once they are written.
pub fn byte_length(view: &StridedView, bits: u64) -> Result<u64, Error> {
    let count = element_count(&view.sizes);
    count.and_then(|count| count.checked_mul(bits)).map(|bits| bits.div_ceil(8)).ok_or(Error::TooLarge)
}

/// Start and length, within the source, of a view that is one run of bytes; `None` if it must be gathered.
pub fn byte_range(view: &StridedView, bits: u64) -> Result<Option<(u64, u64)>, Error> {
    if view.sizes.len() != view.strides.len() {
        return Err(Error::Ranks { sizes: view.sizes.len(), strides: view.strides.len() });
    }
    let length = byte_length(view, bits)?;
    if length == 0 {
        return Ok(Some((view.span.offset, 0)));
    }
    if !view.is_contiguous() {
        return if bits.is_multiple_of(8) { Ok(None) } else { Err(Error::Packed { bits }) };
    }
    let start_bit = view.offset.checked_mul(bits).ok_or(Error::TooLarge)?;
    if !start_bit.is_multiple_of(8) {
        return Err(Error::Packed { bits });
    }
    let start = view.span.offset.checked_add(start_bit / 8).ok_or(Error::TooLarge)?;
    Ok(Some((start, length)))
}

/// The bytes `start..end` of the source must lie in the view's storage and in the source.
fn check_range(source: &Source, view: &StridedView, start: u128, end: u128) -> Result<(), Error> {
    let storage_end = u128::from(view.span.offset) + u128::from(view.span.length);
    if end > storage_end.min(source.len().into()) {
        let length = source.len();
        let place = if storage_end < source.len().into() {
            format!("the storage at {} in {source}, which ends at {storage_end}, of a file", view.span.offset)
        } else {
            source.to_string()
        };
        return Err(Error::OutOfRange { place, start, end, length });
    }
    Ok(())
}

/// Reads, and says where it failed.
fn read_at(source: &Source, offset: u64, buffer: &mut [u8]) -> Result<(), Error> {
    source.read_at(offset, buffer).map_err(|error| {
        let (place, length) = (source.to_string(), buffer.len() as u64);
        match error.kind() {
            std::io::ErrorKind::UnexpectedEof => Error::Shrunk { place, end: offset + length },
            _ => Error::Read { place, offset, length, source: error },
        }
    })
}

#[cfg(test)]
mod tests;

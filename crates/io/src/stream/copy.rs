//! Copies one run of bytes from source to output.

use std::sync::Arc;

use modelexport_graph::StridedView;

use crate::output::{OutputFile, Writer};
use crate::platform;
use crate::source::Source;

use super::buffer::{Buffer, PART};
use super::pool::{PartSink, Pool};
use super::{Error, read_at};

/// For copies through memory. A larger one is slower: it leaves the processor's cache.
const BUFFER: u64 = 128 << 10;

/// Up to here, bytes join others in the output's own buffer.
const SMALL: u64 = 64 << 10;

/// How much is one piece of work: a few milliseconds.
const STEP: u64 = 4 << 20;

/// Where file systems cut: they can let two files share what lies the same way in both.
const PAGE: u64 = 4096;

/// Lets the pool write `length` bytes of the source, from `start` on, at the end of `output`. They are those of `view`.
pub(super) fn append(
    output: &mut OutputFile,
    source: &Arc<Source>,
    view: &StridedView,
    (start, length): (u64, u64),
    pool: &mut Pool,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    if length <= SMALL {
        match memory_range(source, start, length) {
            Some(bytes) => output.write_all(bytes)?,
            None => {
                let mut bytes = vec![0; length as usize];
                read_at(source, start, &mut bytes)?;
                output.write_all(&bytes)?;
            }
        }
        progress(length);
        return Ok(());
    }
    let target = output.allocate(length)?;
    let can_be_shared = source.file().is_some() && start % PAGE == target % PAGE;
    for (done, step) in pieces(target, length, STEP) {
        let (source, writer) = (source.clone(), output.writer());
        let (from, to) = (start + done, target + done);
        if can_be_shared || source.bytes().is_some() {
            let work = move |buffer: &mut Buffer| copy(&source, &writer, from, to, step, buffer);
            pool.copy(step, view, Box::new(work), progress);
        } else {
            let work =
                move |_: &mut Buffer, sink: &PartSink<'_>| read(&source, &writer, from, to, step, sink);
            pool.prepare(view, Box::new(work), progress);
        }
        output.completed(step);
    }
    Ok(())
}

/// Cuts a range of the output where its offset is a multiple of `size`, which lets the kernel take memory for it in the
/// largest pieces. Gives the start of each piece, from that of the range, and its length.
fn pieces(target: u64, length: u64, size: u64) -> impl Iterator<Item = (u64, u64)> {
    let mut done = 0;
    std::iter::from_fn(move || {
        let piece = (size - (target + done) % size).min(length - done);
        let start = done;
        done += piece;
        (piece > 0).then_some((start, piece))
    })
}

/// Reads, or calculates, bytes and leaves them to be written: on two threads that is faster than the kernel's copy.
fn read(
    source: &Source,
    writer: &Writer,
    from: u64,
    to: u64,
    length: u64,
    sink: &PartSink<'_>,
) -> Result<(), Error> {
    for (done, part) in pieces(to, length, PART as u64) {
        let Some(mut buffer) = sink.buffer() else { return Ok(()) };
        read_at(source, from + done, buffer.of(part as usize))?;
        let writer = writer.clone();
        sink.push(buffer, part as usize, Box::new(move |bytes| Ok(writer.write_at(to + done, bytes)?)));
    }
    Ok(())
}

/// Copies in the way that is the shortest for the source.
fn copy(
    source: &Source,
    writer: &Writer,
    from: u64,
    to: u64,
    length: u64,
    buffer: &mut Buffer,
) -> Result<(), Error> {
    if let Some(bytes) = memory_range(source, from, length) {
        return Ok(writer.write_at(to, bytes)?);
    }
    let mut done = 0;
    while done < length {
        writer.check_stop()?;
        let copied = source.file().map_or(0, |file| {
            platform::copy_range(file, from + done, writer.file(), to + done, length - done)
        });
        if copied == 0 {
            return copy_through_memory(writer, source, from + done, to + done, length - done, buffer);
        }
        writer.filled(copied);
        done += copied;
    }
    Ok(())
}

/// The bytes themselves, if the source is memory.
fn memory_range(source: &Source, start: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    source.bytes()?.get(start..end)
}

fn copy_through_memory(
    writer: &Writer,
    source: &Source,
    from: u64,
    to: u64,
    length: u64,
    buffer: &mut Buffer,
) -> Result<(), Error> {
    let mut done = 0;
    while done < length {
        let bytes = buffer.of(BUFFER.min(length - done) as usize);
        read_at(source, from + done, bytes)?;
        writer.write_at(to + done, bytes)?;
        done += bytes.len() as u64;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn pieces_end_at_multiples_of_their_size() {
        assert_eq!(pieces(5, 20, 8).collect::<Vec<_>>(), [(0, 3), (3, 8), (11, 8), (19, 1)]);
        assert_eq!(pieces(16, 8, 8).collect::<Vec<_>>(), [(0, 8)]);
        assert_eq!(pieces(3, 0, 8).count(), 0);
    }
}

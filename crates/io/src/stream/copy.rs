//! One run of bytes from source to output.

use crate::output::OutputFile;
use crate::source::Source;

use super::{Error, read_at};

/// For copies through memory. A larger one is slower: it leaves the processor's cache.
pub(super) const BUFFER: usize = 128 << 10;

/// Up to here, bytes join others in the output's own buffer.
const SMALL: u64 = 64 << 10;

/// How much is copied between two reports of progress.
const STEP: u64 = 16 << 20;

pub(super) fn append(
    output: &mut OutputFile,
    source: &Source,
    start: u64,
    length: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    if let Some(bytes) = memory_range(source, start, length) {
        for part in bytes.chunks(STEP as usize) {
            output.write_all(part)?;
            progress(part.len() as u64);
        }
        return Ok(());
    }
    if length <= SMALL {
        let mut bytes = vec![0; length as usize];
        read_at(source, start, &mut bytes)?;
        output.write_all(&bytes)?;
        progress(length);
        return Ok(());
    }
    let target = output.allocate(length)?;
    let mut done = 0;
    while done < length {
        output.check_stop()?;
        let wanted = STEP.min(length - done);
        let copied = copy_in_kernel(output, source, start + done, target + done, wanted);
        if copied == 0 {
            return copy_through_memory(output, source, start + done, target + done, length - done, progress);
        }
        done += copied;
        output.completed(copied);
        progress(copied);
    }
    Ok(())
}

/// The bytes themselves, if the source is memory.
pub(super) fn memory_range(source: &Source, start: u64, length: u64) -> Option<&[u8]> {
    let start = usize::try_from(start).ok()?;
    let end = start.checked_add(usize::try_from(length).ok()?)?;
    source.bytes()?.get(start..end)
}

/// Copies up to `length` bytes without bringing them into the process. Returns 0 where that is not possible: across
/// file systems, on some of them, or at an error, which the copy through memory then tells apart.
#[cfg(target_os = "linux")]
fn copy_in_kernel(output: &OutputFile, source: &Source, from: u64, to: u64, length: u64) -> u64 {
    let Some(file) = source.file() else { return 0 };
    let (mut from, mut to) = (from, to);
    let length = usize::try_from(length).unwrap_or(usize::MAX);
    let copy = || rustix::fs::copy_file_range(file, Some(&mut from), output.file(), Some(&mut to), length);
    rustix::io::retry_on_intr(copy).map_or(0, |copied| copied as u64)
}

#[cfg(not(target_os = "linux"))]
fn copy_in_kernel(_: &OutputFile, _: &Source, _: u64, _: u64, _: u64) -> u64 {
    0
}

fn copy_through_memory(
    output: &mut OutputFile,
    source: &Source,
    start: u64,
    target: u64,
    length: u64,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let mut buffer = vec![0; BUFFER];
    let mut done = 0;
    while done < length {
        let part = (BUFFER as u64).min(length - done);
        let bytes = buffer.get_mut(..part as usize).unwrap_or_default();
        read_at(source, start + done, bytes)?;
        output.write_at(target + done, bytes)?;
        done += part;
        output.completed(part);
        progress(part);
    }
    Ok(())
}

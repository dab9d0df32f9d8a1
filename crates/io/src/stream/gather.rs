//! Copies strided views block by block.
//!
//! The image of a block is read at once, as large as memory allows. Its elements are then reordered and written part by
//! part. A part is small enough to stay in the processor's cache.

use std::sync::Arc;

use modelexport_graph::StridedView;

use crate::output::{OutputFile, Writer};
use crate::source::Source;

use super::blocks::{Block, Blocks};
use super::buffer::{Buffer, IMAGE, PART};
use super::layout::{Image, Layout};
use super::pool::{PartSink, Pool};
use super::reorder::reorder;
use super::walk::{Step, Walk};
use super::{Error, read_at};

/// Weights up to here join others in the output's own buffer.
const SMALL: u64 = 64 << 10;

/// Lets the pool write the elements of `view`, whose layout is given, at the end of `output`.
pub(super) fn append(
    output: &mut OutputFile,
    source: &Arc<Source>,
    view: &StridedView,
    layout: Layout,
    pool: &mut Pool,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let image_limit = if source.bytes().is_some() { u64::MAX } else { IMAGE as u64 };
    let cut = layout.block(image_limit);
    let blocks = Blocks::of(&layout.sizes(), &cut);
    if layout.length <= SMALL
        && let Some(block) = blocks.only()
    {
        let mut image = Buffer::default();
        let mut result = vec![0; layout.length as usize];
        let loaded = load(source, &layout, &block, &mut image)?;
        put_in_order(&layout, &loaded, &block, &mut result)?;
        output.write_all(&result)?;
        progress(layout.length);
        return Ok(());
    }
    let target = output.allocate(layout.length)?;
    let layout = Arc::new(layout);
    for block in blocks {
        let bytes = block.sizes.iter().product::<u64>() * layout.width;
        let (source, layout, writer) = (source.clone(), layout.clone(), output.writer());
        let work = move |image: &mut Buffer, sink: &PartSink<'_>| {
            gather(&source, &layout, &block, image, sink, &writer, target)
        };
        pool.prepare(view, Box::new(work), progress);
        output.completed(bytes);
    }
    Ok(())
}

/// Reads a block, puts it in order and leaves it to be written.
fn gather(
    source: &Source,
    layout: &Layout,
    block: &Block,
    image: &mut Buffer,
    sink: &PartSink<'_>,
    writer: &Writer,
    target: u64,
) -> Result<(), Error> {
    let loaded = load(source, layout, block, image)?;
    for part in block.parts(&layout.part(&block.sizes, PART as u64)) {
        let Some(mut result) = sink.buffer() else { return Ok(()) };
        let length = (part.sizes.iter().product::<u64>() * layout.width) as usize;
        put_in_order(layout, &loaded, &part, result.of(length))?;
        let (run, places) = places(layout, &part);
        let writer = writer.clone();
        let write = move |bytes: &[u8]| {
            bytes
                .chunks(run.max(1))
                .zip(places)
                .try_for_each(|(bytes, place)| writer.write_at(target + place, bytes))
        };
        sink.push(result, length, Box::new(move |bytes| Ok(write(bytes)?)));
    }
    Ok(())
}

/// Where the elements of a block are, once it is loaded.
struct Loaded<'a> {
    bytes: &'a [u8],
    /// Where the first element is in them.
    first: u64,
    /// Distances between elements, along each axis.
    strides: Vec<u64>,
    /// Where the block that was loaded starts.
    start: Vec<u64>,
}

/// Reads the image of a block. Memory need not be read: it is an image of everything.
fn load<'a>(
    source: &'a Source,
    layout: &Layout,
    block: &Block,
    image: &'a mut Buffer,
) -> Result<Loaded<'a>, Error> {
    if let Some(bytes) = source.bytes() {
        let strides = layout.axes.iter().map(|axis| axis.source_stride).collect();
        return Ok(Loaded { bytes, first: layout.start, strides, start: vec![0; block.start.len()] });
    }
    let width = layout.width;
    let Image { run, length, strides, run_axes } = layout.image(&block.sizes);
    let image = image.of((length * width) as usize);
    let run_steps = run_axes.iter().rev().filter_map(|&position| {
        let size = *block.sizes.get(position)?;
        let to = *strides.get(position)?;
        Some(Step { size, from: layout.axes.get(position)?.source_stride, to })
    });
    let start = layout.start + layout.source_offset(block) * width;
    let run = (run * width) as usize;
    for (from, to) in Walk::new(run_steps.collect()) {
        let piece = image.get_mut((to * width) as usize..).and_then(|rest| rest.get_mut(..run));
        read_at(source, start + from * width, piece.ok_or_else(|| broken(layout))?)?;
    }
    Ok(Loaded { bytes: image, first: 0, strides, start: block.start.clone() })
}

/// Puts the elements of a part of what is loaded into the order of the output.
fn put_in_order(layout: &Layout, loaded: &Loaded<'_>, part: &Block, result: &mut [u8]) -> Result<(), Error> {
    let first = part.start.iter().zip(&loaded.start).zip(&loaded.strides);
    let first: u64 = first.map(|((start, loaded), stride)| (start - loaded) * stride).sum();
    let mut axes = Vec::new();
    let mut to = 1;
    for (&size, &from) in part.sizes.iter().zip(&loaded.strides).rev() {
        axes.push(Step { size, from, to });
        to *= size;
    }
    axes.reverse();
    let first = usize::try_from(loaded.first + first * layout.width).ok();
    let bytes = first.and_then(|first| loaded.bytes.get(first..));
    bytes.and_then(|bytes| reorder(bytes, result, axes, layout.width)).ok_or_else(|| broken(layout))
}

/// The runs that a part has in the output: their length, and where each of them is from the start of the weight.
fn places(layout: &Layout, part: &Block) -> (usize, impl Iterator<Item = u64> + use<>) {
    let run = layout.output_run(&part.sizes) * layout.width;
    let mut steps = Vec::new();
    let mut length = layout.width;
    for (axis, &size) in layout.axes.iter().zip(&part.sizes).rev() {
        // Axes inside the run are no steps, nor is the one that it ends in.
        if length >= run && size > 1 {
            steps.push(Step { size, from: length, to: axis.output_stride * layout.width });
        }
        length *= size;
    }
    steps.reverse();
    let start = layout.output_offset(part) * layout.width;
    (run as usize, Walk::new(steps).map(move |(_, to)| start + to))
}

/// The ranges were checked before; what does not fit here was never a valid view.
fn broken(layout: &Layout) -> Error {
    let (start, end) = layout.source_range();
    Error::OutOfRange { place: "its block".into(), start, end, length: layout.length }
}

/// All blocks of a layout, cut by the given limits and put together in memory.
#[cfg(test)]
pub(super) fn in_memory(source: &Source, layout: &Layout, (image_limit, part_limit): (u64, u64)) -> Vec<u8> {
    let mut result = vec![0; layout.length as usize];
    let mut image = Buffer::default();
    let cut = layout.block(image_limit);
    for block in Blocks::of(&layout.sizes(), &cut) {
        let loaded = load(source, layout, &block, &mut image).unwrap();
        for part in block.parts(&layout.part(&block.sizes, part_limit)) {
            let mut bytes = vec![0; (part.sizes.iter().product::<u64>() * layout.width) as usize];
            put_in_order(layout, &loaded, &part, &mut bytes).unwrap();
            let (run, starts) = places(layout, &part);
            for (count, start) in starts.enumerate() {
                result[start as usize..][..run].copy_from_slice(&bytes[count * run..][..run]);
            }
        }
    }
    result
}

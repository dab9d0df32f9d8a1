//! Strided views, block by block.

use std::sync::mpsc;

use crate::output::{self, OutputFile};
use crate::source::Source;

use super::layout::Layout;
use super::reorder::reorder;
use super::walk::{Step, Walk};
use super::{Error, read_at};

/// Limit for what is read of the source at a time.
pub(super) const IMAGE: usize = 8 << 20;

/// Limit for what is written at a time; two such buffers take turns.
pub(super) const BLOCK: usize = 8 << 20;

/// Memory that is kept from weight to weight.
#[derive(Default)]
pub(super) struct Buffers {
    image: Vec<u8>,
    results: [Vec<u8>; 2],
}

/// A box of the output's index space.
struct Block {
    /// Sizes along the axes of the layout.
    sizes: Vec<u64>,
    /// Bytes from the first element of the view: in the source, and in the output.
    source_offset: u64,
    output_offset: u64,
}

pub(super) fn append(
    output: &mut OutputFile,
    source: &Source,
    layout: &Layout,
    buffers: &mut Buffers,
    progress: &mut dyn FnMut(u64),
) -> Result<(), Error> {
    let target = output.allocate(layout.length)?;
    let image_limit = if source.bytes().is_some() { u64::MAX } else { IMAGE as u64 };
    let block = layout.block(image_limit, BLOCK as u64);
    let mut blocks = Blocks::new(layout, &block);
    let Buffers { image, results } = buffers;
    let [first, second] = results.each_mut().map(std::mem::take);
    if blocks.count == 1 {
        let mut result = first;
        if let Some(block) = blocks.next() {
            fill(source, layout, &block, image, &mut result)?;
            write(output, layout, &block, &result, target)?;
            progress(result.len() as u64);
        }
        *results = [result, second];
    } else {
        *results = in_two_threads(output, layout, target, [first, second], &mut blocks, |block, result| {
            fill(source, layout, block, image, result)?;
            progress(result.len() as u64);
            Ok(())
        })?;
    }
    output.completed(layout.length);
    Ok(())
}

/// Calls `fill_block` with each block and a free buffer, while a second thread writes the blocks before. Returns the
/// buffers.
fn in_two_threads(
    output: &OutputFile,
    layout: &Layout,
    target: u64,
    buffers: [Vec<u8>; 2],
    blocks: &mut Blocks<'_>,
    mut fill_block: impl FnMut(&Block, &mut Vec<u8>) -> Result<(), Error>,
) -> Result<[Vec<u8>; 2], Error> {
    let (filled, to_write) = mpsc::channel::<(Block, Vec<u8>)>();
    let (free, to_fill) = mpsc::channel::<Vec<u8>>();
    for buffer in buffers {
        // Both ends are in this function.
        let _ = free.send(buffer);
    }
    std::thread::scope(|scope| {
        let writer = std::thread::Builder::new().name("write".into()).spawn_scoped(scope, move || {
            for (block, result) in to_write {
                write(output, layout, &block, &result, target)?;
                if free.send(result).is_err() {
                    break;
                }
            }
            Ok::<(), output::Error>(())
        });
        let writer = writer.map_err(|source| output::Error::of_write(output.target(), source))?;
        let mut outcome = Ok(());
        for block in blocks {
            // A writer that failed lets go of the buffers; its error comes out of the join.
            let Ok(mut buffer) = to_fill.recv() else { break };
            outcome = fill_block(&block, &mut buffer);
            if outcome.is_err() || filled.send((block, buffer)).is_err() {
                break;
            }
        }
        drop(filled);
        let mut kept = to_fill.iter();
        let kept = [kept.next().unwrap_or_default(), kept.next().unwrap_or_default()];
        match writer.join() {
            Ok(written) => written?,
            Err(_) => return Err(broken(layout)),
        }
        outcome.map(|()| kept)
    })
}

/// Reads a block and puts its elements in order.
fn fill(
    source: &Source,
    layout: &Layout,
    block: &Block,
    image: &mut Vec<u8>,
    result: &mut Vec<u8>,
) -> Result<(), Error> {
    let width = layout.width;
    let start = layout.start + block.source_offset;
    let count: u64 = block.sizes.iter().product();
    result.resize((count * width) as usize, 0);
    let result_strides = dense_strides(&block.sizes);
    let axes = |image_strides: &mut dyn Iterator<Item = u64>| -> Vec<Step> {
        let strides = image_strides.zip(&result_strides);
        let steps = block.sizes.iter().zip(strides);
        steps.map(|(&size, (from, &to))| Step { size, from, to }).collect()
    };
    if let Some(bytes) = source.bytes() {
        let bytes =
            usize::try_from(start).ok().and_then(|start| bytes.get(start..)).ok_or_else(|| broken(layout))?;
        let axes = axes(&mut layout.axes.iter().map(|axis| axis.source_stride));
        return reorder(bytes, result, axes, width).ok_or_else(|| broken(layout));
    }
    let plan = layout.image(&block.sizes);
    image.resize((plan.length * width) as usize, 0);
    let run_steps = plan.run_axes.iter().rev().filter_map(|&position| {
        let size = *block.sizes.get(position)?;
        let to = *plan.strides.get(position)?;
        Some(Step { size, from: layout.axes.get(position)?.source_stride, to })
    });
    let run = (plan.run * width) as usize;
    for (from, to) in Walk::new(run_steps.collect()) {
        let piece = image.get_mut((to * width) as usize..).and_then(|rest| rest.get_mut(..run));
        read_at(source, start + from * width, piece.ok_or_else(|| broken(layout))?)?;
    }
    reorder(image, result, axes(&mut plan.strides.iter().copied()), width).ok_or_else(|| broken(layout))
}

/// Writes the runs that a block has in the output.
fn write(
    output: &OutputFile,
    layout: &Layout,
    block: &Block,
    result: &[u8],
    target: u64,
) -> Result<(), output::Error> {
    let run = layout.output_run(&block.sizes) * layout.width;
    let mut steps = Vec::new();
    let mut result_stride = layout.width;
    for (axis, &size) in layout.axes.iter().zip(&block.sizes).rev() {
        // Axes inside the run are no steps, nor is the one that it ends in.
        if result_stride >= run && size > 1 {
            steps.push(Step { size, from: result_stride, to: axis.output_stride * layout.width });
        }
        result_stride *= size;
    }
    steps.reverse();
    for (from, to) in Walk::new(steps) {
        let bytes = result.get(from as usize..).and_then(|rest| rest.get(..run as usize)).unwrap_or_default();
        output.write_at(target + block.output_offset + to, bytes)?;
    }
    Ok(())
}

fn dense_strides(sizes: &[u64]) -> Vec<u64> {
    let mut strides = vec![1; sizes.len()];
    let mut stride = 1;
    for (place, &size) in strides.iter_mut().zip(sizes).rev() {
        *place = stride;
        stride *= size;
    }
    strides
}

/// The ranges were checked before; what does not fit here was never a valid view.
fn broken(layout: &Layout) -> Error {
    let (start, end) = layout.source_range();
    Error::OutOfRange { place: "its block".into(), start, end, length: layout.length }
}

/// All blocks of a layout in the order of the output; those at the edges are smaller.
struct Blocks<'a> {
    layout: &'a Layout,
    block: &'a [u64],
    /// Number of the block along each axis.
    position: Vec<u64>,
    count: u64,
    is_done: bool,
}

impl<'a> Blocks<'a> {
    fn new(layout: &'a Layout, block: &'a [u64]) -> Self {
        let count = layout.axes.iter().zip(block).map(|(axis, &size)| axis.size.div_ceil(size)).product();
        Blocks { layout, block, position: vec![0; block.len()], count, is_done: false }
    }
}

impl Iterator for Blocks<'_> {
    type Item = Block;

    fn next(&mut self) -> Option<Block> {
        if self.is_done {
            return None;
        }
        let mut block = Block { sizes: Vec::new(), source_offset: 0, output_offset: 0 };
        let axes = self.layout.axes.iter().zip(self.block);
        for ((axis, &size), &position) in axes.clone().zip(&self.position) {
            let start = position * size;
            block.sizes.push(size.min(axis.size - start));
            block.source_offset += start * axis.source_stride * self.layout.width;
            block.output_offset += start * axis.output_stride * self.layout.width;
        }
        self.is_done = true;
        for ((axis, &size), position) in axes.zip(&mut self.position).rev() {
            *position += 1;
            if *position * size < axis.size {
                self.is_done = false;
                break;
            }
            *position = 0;
        }
        Some(block)
    }
}

/// All blocks of a layout, cut by the given limits and put together in memory.
#[cfg(test)]
pub(super) fn in_memory(source: &Source, layout: &Layout, (image, result): (u64, u64)) -> Vec<u8> {
    use std::os::unix::fs::FileExt;
    let folder = tempfile::tempdir().unwrap();
    let target = folder.path().join("out");
    let mut transaction = output::Transaction::begin(&target, output::Settings::default()).unwrap();
    let output = transaction.create(&target, output::Role::Model).unwrap();
    let block = layout.block(image, result);
    let mut buffers = Buffers::default();
    for block in Blocks::new(layout, &block) {
        let [result, _] = &mut buffers.results;
        fill(source, layout, &block, &mut buffers.image, result).unwrap();
        write(&output, layout, &block, result, 0).unwrap();
    }
    let mut bytes = vec![0; layout.length as usize];
    output.file().read_exact_at(&mut bytes, 0).unwrap();
    bytes
}

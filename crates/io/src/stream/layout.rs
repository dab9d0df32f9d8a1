//! Splits a strided view into blocks that fit into memory.
//!
//! A block is a box in the index space of the output. Its *image* is the data that is read for it: runs of bytes in the order
//! of the source.

use modelexport_graph::StridedView;

use super::blocks::Block;
use super::transpose::LINE;
use super::{Error, byte_length};

/// What a read, a write and a byte of a read take, roughly, in tenths of a nanosecond. Only their proportions matter.
const READ_COST: u64 = 4_000;
const WRITE_COST: u64 = 20_000;
const BYTE_COST: u64 = 1;

/// Lengths in bytes that reads are tried with; each leaves another part of the memory for long writes.
const READ_LENGTHS: [u64; 8] = [128, 256, 512, 1 << 10, 2 << 10, 4 << 10, 8 << 10, 16 << 10];

/// A gap between two pieces that is cheaper to read along than to skip.
const GAP: u64 = 2 << 10;

/// One axis of a view, with strides in elements.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Axis {
    pub size: u64,
    pub source_stride: u64,
    pub output_stride: u64,
}

/// A view in its simplest form: no axes of size 1, none that could be one with its neighbour.
#[derive(Clone, Debug)]
pub(super) struct Layout {
    /// In the order of the output, the last one running fastest.
    pub axes: Vec<Axis>,
    /// Positions in `axes`, the one with the smallest step in the source first.
    by_source_stride: Vec<usize>,
    /// Bytes of an element.
    pub width: u64,
    /// Where the first element is, in bytes from the start of the source.
    pub start: u64,
    /// Bytes of all elements.
    pub length: u64,
}

impl Layout {
    /// For a view that is not contiguous and not empty, of elements of whole bytes.
    pub(super) fn new(view: &StridedView, bits: u64) -> Result<Layout, Error> {
        let length = byte_length(view, bits)?;
        let width = bits / 8;
        let start = view.offset.checked_mul(width).and_then(|bytes| bytes.checked_add(view.span.offset));
        let mut axes: Vec<Axis> = Vec::new();
        let mut output_stride = 1;
        for (&size, &source_stride) in view.sizes.iter().zip(&view.strides).rev() {
            if size == 1 {
                continue;
            }
            match axes.last_mut() {
                Some(inner) if inner.source_stride.checked_mul(inner.size) == Some(source_stride) => {
                    inner.size *= size;
                }
                _ => axes.push(Axis { size, source_stride, output_stride }),
            }
            output_stride *= size;
        }
        axes.reverse();
        let mut by_source_stride: Vec<usize> = (0..axes.len()).collect();
        by_source_stride.sort_by_key(|&axis| axes.get(axis).map(|axis| axis.source_stride));
        Ok(Layout { axes, by_source_stride, width, start: start.ok_or(Error::TooLarge)?, length })
    }

    /// First byte and end of all that the view touches in the source.
    pub(super) fn source_range(&self) -> (u128, u128) {
        let reach = |axis: &Axis| u128::from(axis.size - 1) * u128::from(axis.source_stride);
        let last = self.axes.iter().fold(0u128, |sum, axis| sum.saturating_add(reach(axis)));
        let end = last.saturating_add(1).saturating_mul(self.width.into()).saturating_add(self.start.into());
        (self.start.into(), end)
    }

    pub(super) fn sizes(&self) -> Vec<u64> {
        self.axes.iter().map(|axis| axis.size).collect()
    }

    /// Elements from the first of the view to the first of a block: in the source.
    pub(super) fn source_offset(&self, block: &Block) -> u64 {
        block.start.iter().zip(&self.axes).map(|(start, axis)| start * axis.source_stride).sum()
    }

    /// The same in the output.
    pub(super) fn output_offset(&self, block: &Block) -> u64 {
        block.start.iter().zip(&self.axes).map(|(start, axis)| start * axis.output_stride).sum()
    }

    /// Elements of a line of the processor's cache.
    fn tile(&self) -> u64 {
        (LINE / self.width.max(1)).max(1)
    }

    /// Sizes of the parts along each axis that a block is put in order by: as many elements in a row of the output as
    /// the limit (in bytes) allows, in whole tiles where there are several.
    pub(super) fn part(&self, block: &[u64], limit: u64) -> Vec<u64> {
        let tile = self.tile();
        let mut room = (limit / self.width.max(1)).max(1);
        let mut part = vec![1; block.len()];
        for (place, &size) in part.iter_mut().zip(block).rev() {
            let whole_tiles = if room > tile { room - room % tile } else { room };
            *place = size.min(whole_tiles);
            room /= *place;
        }
        part
    }

    /// Sizes of the blocks along each axis, such that the image of a block fits the limit (in bytes) and few system
    /// calls are made. Longer reads mean shorter writes, so several ways to share the memory are compared.
    pub(super) fn block(&self, image_limit: u64) -> Vec<u64> {
        let candidates = READ_LENGTHS.map(|length| self.block_with_reads_of(length, image_limit));
        let best = candidates.into_iter().min_by_key(|block| self.cost(block));
        let mut block = best.unwrap_or_else(|| vec![1; self.axes.len()]);
        for (size, axis) in block.iter_mut().zip(&self.axes) {
            // As many blocks, but of equal sizes, in whole tiles.
            let equal = axis.size.div_ceil(axis.size.div_ceil(*size));
            *size = equal.next_multiple_of(self.tile()).min(*size);
        }
        block
    }

    /// First the runs in the source grow to `length`, then those in the output as long as possible, then the rest of
    /// the memory goes to longer reads.
    fn block_with_reads_of(&self, length: u64, image_limit: u64) -> Vec<u64> {
        let mut block = vec![1; self.axes.len()];
        let by_output_stride: Vec<usize> = (0..self.axes.len()).rev().collect();
        let is_long = |block: &[u64]| self.image(block).run.saturating_mul(self.width) >= length;
        self.grow(&mut block, &self.by_source_stride, image_limit, &is_long);
        self.grow(&mut block, &by_output_stride, image_limit, &|_| false);
        self.grow(&mut block, &self.by_source_stride, image_limit, &|_| false);
        block
    }

    /// Enlarges a block, axis after axis in the given order, until it is enough or the limit is reached.
    fn grow(&self, block: &mut Vec<u64>, order: &[usize], limit: u64, is_enough: &dyn Fn(&[u64]) -> bool) {
        let fits = |block: &[u64]| self.image(block).length.saturating_mul(self.width) <= limit;
        for &position in order {
            let (Some(axis), Some(&start)) = (self.axes.get(position), block.get(position)) else { continue };
            if is_enough(block) {
                return;
            }
            let with = |size: u64| {
                let mut larger = block.clone();
                larger.iter_mut().skip(position).take(1).for_each(|place| *place = size);
                larger
            };
            // Both grow with the size: the last that fits, but not more than the first that is enough.
            let fitting = last_that(start, axis.size, &|size| fits(&with(size)));
            let size = last_that(start, fitting, &|size| !is_enough(&with(size - 1)));
            *block = with(size);
            if size < axis.size {
                return;
            }
        }
    }

    /// An estimate for the whole view if it is cut into such blocks.
    fn cost(&self, block: &[u64]) -> u128 {
        let image = self.image(block);
        let reads = image.length / image.run.max(1);
        let writes = block.iter().product::<u64>() / self.output_run(block).max(1);
        let blocks = self.axes.iter().zip(block).map(|(axis, &size)| u128::from(axis.size.div_ceil(size)));
        let bytes = u128::from(image.length) * u128::from(self.width);
        let one = u128::from(reads) * u128::from(READ_COST)
            + u128::from(writes) * u128::from(WRITE_COST)
            + bytes * u128::from(BYTE_COST);
        blocks.product::<u128>().saturating_mul(one)
    }

    /// Number of elements that a block has in one piece of the output.
    pub(super) fn output_run(&self, block: &[u64]) -> u64 {
        let mut run = 1;
        for (axis, &size) in self.axes.iter().zip(block).rev() {
            run *= size;
            if size < axis.size {
                break;
            }
        }
        run
    }

    /// What must be read for a block of the given sizes.
    pub(super) fn image(&self, block: &[u64]) -> Image {
        let mut image = Image { run: 1, length: 1, strides: vec![0; block.len()], run_axes: Vec::new() };
        for &position in &self.by_source_stride {
            let (Some(axis), Some(&size)) = (self.axes.get(position), block.get(position)) else { continue };
            // An expanded axis repeats the same elements: they are read once.
            if size == 1 || axis.source_stride == 0 {
                continue;
            }
            let gap = axis.source_stride.saturating_sub(image.run).saturating_mul(self.width);
            let stride = if image.run_axes.is_empty() && gap <= GAP {
                image.run = (size - 1).saturating_mul(axis.source_stride).saturating_add(image.run);
                image.length = image.run;
                axis.source_stride
            } else {
                image.run_axes.push(position);
                let stride = image.length;
                image.length = stride.saturating_mul(size);
                stride
            };
            if let Some(place) = image.strides.get_mut(position) {
                *place = stride;
            }
        }
        image
    }
}

/// The last number from `low`, for which it holds, to `high` for which `holds` does, where it holds up to some number.
fn last_that(low: u64, high: u64, holds: &dyn Fn(u64) -> bool) -> u64 {
    let (mut low, mut high) = (low, high);
    while low < high {
        let middle = high - (high - low) / 2;
        if holds(middle) {
            low = middle;
        } else {
            high = middle - 1;
        }
    }
    low
}

/// The pieces of the source that a block needs, all in elements.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Image {
    /// Length of one piece; it covers a whole range, with the gaps inside.
    pub run: u64,
    /// Length of all pieces.
    pub length: u64,
    /// Distance in the image from one element to the next, along each axis.
    pub strides: Vec<u64>,
    /// The axes that lead from piece to piece, the fastest first.
    pub run_axes: Vec<usize>,
}

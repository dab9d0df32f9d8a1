//! Reorders the image of a block in memory.

use super::transpose::transpose;
use super::walk::{Step, Walk};

/// Puts elements of `width` bytes in order: along each axis, `from` is the distance in `image` and `to` that in
/// `result`, in elements. The axes cover the result without gaps, the last one running fastest.
///
/// `None` if a slice is too short for the axes.
pub(super) fn reorder(image: &[u8], result: &mut [u8], mut axes: Vec<Step>, mut width: u64) -> Option<()> {
    axes.retain(|axis| axis.size != 1);
    widen(&mut axes, &mut width);
    match width {
        1 => elements::<1>(image, result, axes),
        2 => elements::<2>(image, result, axes),
        4 => elements::<4>(image, result, axes),
        8 => elements::<8>(image, result, axes),
        16 => elements::<16>(image, result, axes),
        _ => {
            // A width that no register has: its bytes are one more axis.
            for axis in &mut axes {
                (axis.from, axis.to) = (axis.from * width, axis.to * width);
            }
            axes.push(Step { size: width, from: 1, to: 1 });
            elements::<1>(image, result, axes)
        }
    }
}

/// Takes a few neighbours that stay neighbours for one wider element.
fn widen(axes: &mut Vec<Step>, width: &mut u64) {
    while let Some((last, others)) = axes.split_last() {
        let count = last.size;
        let is_run = last.from == 1 && matches!(count.saturating_mul(*width), 2 | 4 | 8 | 16);
        if !is_run || others.iter().any(|axis| !axis.from.is_multiple_of(count)) {
            return;
        }
        axes.pop();
        *width *= count;
        for axis in axes.iter_mut() {
            (axis.from, axis.to) = (axis.from / count, axis.to / count);
        }
    }
}

fn elements<const E: usize>(image: &[u8], result: &mut [u8], mut axes: Vec<Step>) -> Option<()> {
    let (image, _) = image.as_chunks::<E>();
    let (result, _) = result.as_chunks_mut::<E>();
    let columns = axes.pop().unwrap_or(Step { size: 1, from: 1, to: 1 });
    let is_run = columns.from == 1;
    // The axis that runs fastest in the image, or else the one next to the columns.
    let fastest = axes.iter().position(|axis| axis.from == 1).filter(|_| !is_run);
    let is_transposed = fastest.is_some();
    let rows = match fastest {
        Some(position) => axes.remove(position),
        None => axes.pop().unwrap_or(Step { size: 1, from: 0, to: 0 }),
    };
    let [column_count, row_count] = [columns.size, rows.size].map(|size| size as usize);
    for (from, to) in Walk::new(axes) {
        let image = image.get(from as usize..)?;
        let result = result.get_mut(to as usize..)?;
        if is_transposed {
            let (stride, result_stride) = (columns.from as usize, rows.to as usize);
            transpose(image, stride, result, result_stride, row_count, column_count)?;
            continue;
        }
        for row in 0..row_count {
            let line = result.get_mut(row * rows.to as usize..)?.get_mut(..column_count)?;
            let image = image.get(row * rows.from as usize..)?;
            if is_run {
                line.copy_from_slice(image.get(..column_count)?);
            } else if columns.from == 0 {
                line.fill(*image.first()?);
            } else {
                image.get((column_count - 1) * columns.from as usize)?;
                line.iter_mut()
                    .zip(image.iter().step_by(columns.from as usize))
                    .for_each(|(to, from)| *to = *from);
            }
        }
    }
    Some(())
}

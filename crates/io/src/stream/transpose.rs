//! Transposes a matrix in memory.
//!
//! The work is done in tiles, whose width and height are the number of elements in a cache line. Every line of the source is
//! read once and every line of the result is written once, whatever the strides are. The tiles follow the rows of the
//! source, whose neighboring lines the processor prefetches.

/// Bytes of a cache line.
pub(super) const LINE: u64 = 64;

/// Writes `result[row * result_stride + column] = source[column * source_stride + row]`.
///
/// `None` if a slice is too short for the sizes and strides.
pub(super) fn transpose<const E: usize>(
    source: &[[u8; E]],
    source_stride: usize,
    result: &mut [[u8; E]],
    result_stride: usize,
    rows: usize,
    columns: usize,
) -> Option<()> {
    match E {
        1 => tiles::<E, 64>(source, source_stride, result, result_stride, rows, columns),
        2 => tiles::<E, 32>(source, source_stride, result, result_stride, rows, columns),
        4 => tiles::<E, 16>(source, source_stride, result, result_stride, rows, columns),
        8 => tiles::<E, 8>(source, source_stride, result, result_stride, rows, columns),
        _ => tiles::<E, 4>(source, source_stride, result, result_stride, rows, columns),
    }
}

fn tiles<const E: usize, const TILE: usize>(
    source: &[[u8; E]],
    source_stride: usize,
    result: &mut [[u8; E]],
    result_stride: usize,
    rows: usize,
    columns: usize,
) -> Option<()> {
    for column in (0..columns).step_by(TILE) {
        for row in (0..rows).step_by(TILE) {
            let from = source.get(column * source_stride + row..)?;
            let to = result.get_mut(row * result_stride + column..)?;
            let (height, width) = (TILE.min(rows - row), TILE.min(columns - column));
            if height == TILE && width == TILE {
                full_tile::<E, TILE>(from, source_stride, to, result_stride)?;
            } else {
                part_of_tile(from, source_stride, to, result_stride, height, width)?;
            }
        }
    }
    Some(())
}

fn full_tile<const E: usize, const TILE: usize>(
    source: &[[u8; E]],
    source_stride: usize,
    result: &mut [[u8; E]],
    result_stride: usize,
) -> Option<()> {
    let mut tile = [[[0; E]; TILE]; TILE];
    for (column, line) in tile.iter_mut().enumerate() {
        *line = *source.get(column * source_stride..)?.first_chunk()?;
    }
    for row in 0..TILE {
        let line: &mut [[u8; E]; TILE] = result.get_mut(row * result_stride..)?.first_chunk_mut()?;
        for (element, column) in line.iter_mut().zip(&tile) {
            *element = *column.get(row)?;
        }
    }
    Some(())
}

fn part_of_tile<const E: usize>(
    source: &[[u8; E]],
    source_stride: usize,
    result: &mut [[u8; E]],
    result_stride: usize,
    height: usize,
    width: usize,
) -> Option<()> {
    for row in 0..height {
        let line = result.get_mut(row * result_stride..)?.get_mut(..width)?;
        for (column, element) in line.iter_mut().enumerate() {
            *element = *source.get(column * source_stride + row)?;
        }
    }
    Some(())
}

//! Whether two tensors hold the same numbers in another layout: reshaped, transposed, or with permuted axes.

use std::io;

use modelexport_graph::storage::row_major_strides;
use modelexport_io::fingerprint::mix;

use super::elements::{CHUNK, Elements};

/// Tensors with more axes longer than one are not tried in other orders.
const MOST_AXES: usize = 5;

/// Elements by which an order of axes is tried before all of them are compared.
const SAMPLES: u64 = 64;

/// How the second of two tensors is made from the first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Layout {
    /// The order of axes; `None` if it stayed.
    axes: Option<Vec<usize>>,
    /// The shape is not just that of the axes in their new order.
    is_reshaped: bool,
}

impl Layout {
    /// `the same numbers, transposed`.
    pub(super) fn text(&self) -> String {
        let mut parts = vec!["the same numbers".to_owned()];
        match self.axes.as_deref() {
            Some([1, 0]) => parts.push("transposed".to_owned()),
            Some(axes) => {
                let axes: Vec<String> = axes.iter().map(usize::to_string).collect();
                parts.push(format!("axes in the order {}", axes.join(" ")));
            }
            None => {}
        }
        if self.is_reshaped {
            parts.push("reshaped".to_owned());
        }
        parts.join(", ")
    }

    /// Shape and order are the same.
    pub(super) fn is_same(&self) -> bool {
        self.axes.is_none() && !self.is_reshaped
    }
}

/// A tensor of elements that have `width` bytes each.
pub(super) struct Shaped<'a> {
    pub elements: Elements<'a>,
    pub dims: &'a [u64],
}

impl Shaped<'_> {
    /// Whether there are as many elements as the shape says, so that no product of sizes is too large.
    fn is_whole(&self, width: usize) -> bool {
        let bytes = self.dims.iter().try_fold(width as u64, |all, &size| all.checked_mul(size));
        bytes == Some(self.elements.len()) && bytes != Some(0)
    }
}

/// The layout in which `after` has the numbers of `before`; `None` if it has others, or is too far from it.
pub(super) fn find(before: &Shaped<'_>, after: &Shaped<'_>, width: usize) -> io::Result<Option<Layout>> {
    if before.elements.len() != after.elements.len() || !before.is_whole(width) || !after.is_whole(width) {
        return Ok(None);
    }
    let is_reshaped = before.dims != after.dims;
    if equal(before, after, &(0..before.dims.len()).collect::<Vec<_>>(), width)? {
        return Ok(Some(Layout { axes: None, is_reshaped }));
    }
    // Axes of one element have no place of their own.
    let long: Vec<usize> = (0..before.dims.len()).filter(|&axis| before.dims.get(axis) != Some(&1)).collect();
    if !(2..=MOST_AXES).contains(&long.len()) {
        return Ok(None);
    }
    let size = |axis: &usize| before.dims.get(*axis).copied();
    let new_dims: Vec<u64> = after.dims.iter().copied().filter(|&dim| dim != 1).collect();
    // Orders that give the new shape first.
    let mut orders = permutations(&long);
    orders.sort_by_key(|order| !order.iter().filter_map(size).eq(new_dims.iter().copied()));
    for order in orders.into_iter().filter(|order| *order != long) {
        if !agrees_in_samples(before, after, &order, width)? || !equal(before, after, &order, width)? {
            continue;
        }
        let has_all_axes = order.len() == before.dims.len();
        let is_reshaped = !order.iter().filter_map(size).eq(after.dims.iter().copied());
        // Without axes of one element the numbers of the others would mislead.
        let axes = if has_all_axes { order } else { ranks(&order, &long) };
        return Ok(Some(Layout { axes: Some(axes), is_reshaped }));
    }
    Ok(None)
}

/// By place the position of an axis among all long ones.
fn ranks(order: &[usize], long: &[usize]) -> Vec<usize> {
    order.iter().filter_map(|axis| long.iter().position(|known| known == axis)).collect()
}

fn permutations(axes: &[usize]) -> Vec<Vec<usize>> {
    if axes.len() < 2 {
        return vec![axes.to_vec()];
    }
    let mut all = Vec::new();
    for (at, &first) in axes.iter().enumerate() {
        let mut rest = axes.to_vec();
        rest.remove(at);
        for mut order in permutations(&rest) {
            order.insert(0, first);
            all.push(order);
        }
    }
    all
}

/// Sizes of the axes in their new order, and the strides that they have in the tensor before.
fn reordered(dims: &[u64], order: &[usize]) -> Vec<(u64, u64)> {
    let strides = row_major_strides(dims);
    order.iter().filter_map(|&axis| Some((*dims.get(axis)?, *strides.get(axis)?))).collect()
}

fn agrees_in_samples(
    before: &Shaped<'_>,
    after: &Shaped<'_>,
    order: &[usize],
    width: usize,
) -> io::Result<bool> {
    let axes = reordered(before.dims, order);
    let count = axes.iter().map(|(size, _)| size).product::<u64>().max(1);
    let (mut x, mut y) = (vec![0; width], vec![0; width]);
    for number in 0..SAMPLES {
        let place = mix(number) % count;
        let (mut rest, mut at) = (place, 0);
        for (size, stride) in axes.iter().rev() {
            at += rest % size * stride;
            rest /= size;
        }
        before.elements.read(at * width as u64, &mut x)?;
        after.elements.read(place * width as u64, &mut y)?;
        if x != y {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Whether the elements of `before`, read with its axes in another order, are those of `after`.
fn equal(before: &Shaped<'_>, after: &Shaped<'_>, order: &[usize], width: usize) -> io::Result<bool> {
    let mut axes = joined(reordered(before.dims, order));
    let mut width = width;
    // What lies in one piece in both is one wide element.
    if let Some((size, 1)) = axes.last().copied() {
        axes.pop();
        width = width.saturating_mul(usize::try_from(size).unwrap_or(usize::MAX));
        axes.iter_mut().for_each(|(_, stride)| *stride /= size.max(1));
    }
    let Some((rows, row_stride)) = axes.pop() else { return runs_equal(before, after) };
    // The axis along which elements lie beside each other in the tensor before; here a column is far from the next.
    let Some(beside) = axes.iter().position(|(_, stride)| *stride == 1) else { return Ok(false) };
    let (columns, _) = axes.remove(beside);
    let column_stride = rows * axes.iter().skip(beside).map(|(size, _)| size).product::<u64>();
    let mut outer = Vec::with_capacity(axes.len());
    for (at, (size, stride)) in axes.iter().enumerate() {
        let inner: u64 = axes.iter().skip(at + 1).map(|(size, _)| size).product();
        let new_stride = rows * inner * if at < beside { columns } else { 1 };
        outer.push((*size, *stride, new_stride));
    }
    let plane = Plane { rows, row_stride, columns, column_stride, width };
    let count: u64 = outer.iter().map(|(size, ..)| size).product();
    for number in 0..count {
        let (mut rest, mut old_at, mut new_at) = (number, 0, 0);
        for (size, stride, new_stride) in outer.iter().rev() {
            old_at += rest % size * stride;
            new_at += rest % size * new_stride;
            rest /= size;
        }
        if !plane.is_equal(before, after, old_at, new_at)? {
            return Ok(false);
        }
    }
    Ok(true)
}

/// Joins axes that lie beside each other in both tensors, and leaves out those of one element.
fn joined(axes: Vec<(u64, u64)>) -> Vec<(u64, u64)> {
    let mut joined: Vec<(u64, u64)> = Vec::new();
    for (size, stride) in axes.into_iter().filter(|(size, _)| *size != 1) {
        match joined.last_mut() {
            Some((last, last_stride)) if *last_stride == stride * size => {
                (*last, *last_stride) = (*last * size, stride);
            }
            _ => joined.push((size, stride)),
        }
    }
    joined
}

fn runs_equal(before: &Shaped<'_>, after: &Shaped<'_>) -> io::Result<bool> {
    let mut is_equal = true;
    super::elements::side_by_side((&before.elements, &after.elements), (1, 1), &mut |x, y| {
        is_equal &= x == y;
    })?;
    Ok(is_equal)
}

/// Two axes of which one is in one piece before, the other after.
struct Plane {
    /// In one piece after; so far apart before.
    rows: u64,
    row_stride: u64,
    /// In one piece before; so far apart after.
    columns: u64,
    column_stride: u64,
    width: usize,
}

impl Plane {
    fn is_equal(
        &self,
        before: &Shaped<'_>,
        after: &Shaped<'_>,
        old_at: u64,
        new_at: u64,
    ) -> io::Result<bool> {
        let room = (CHUNK / self.width.max(1)).max(1) as u64;
        let wide = self.columns.min(room.isqrt().max(room / self.rows.max(1))).max(1);
        let high = self.rows.min(room / wide).max(1);
        let width = self.width;
        let (mut old, mut new) = (Vec::new(), Vec::new());
        for top in (0..self.rows).step_by(usize::try_from(high).unwrap_or(usize::MAX)) {
            for left in (0..self.columns).step_by(usize::try_from(wide).unwrap_or(usize::MAX)) {
                let rows = high.min(self.rows - top) as usize;
                let columns = wide.min(self.columns - left) as usize;
                old.resize(rows * columns * width, 0);
                new.resize(rows * columns * width, 0);
                for (row, bytes) in old.chunks_mut(columns * width).enumerate() {
                    let at = old_at + (top + row as u64) * self.row_stride + left;
                    before.elements.read(at * width as u64, bytes)?;
                }
                for (column, bytes) in new.chunks_mut(rows * width).enumerate() {
                    let at = new_at + (left + column as u64) * self.column_stride + top;
                    after.elements.read(at * width as u64, bytes)?;
                }
                let is_equal = old.chunks(width).enumerate().all(|(place, element)| {
                    let start = (place % columns * rows + place / columns) * width;
                    new.get(start..start + width) == Some(element)
                });
                if !is_equal {
                    return Ok(false);
                }
            }
        }
        Ok(true)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers from 0 in the shape `dims`, read with the axes in another order.
    fn reordered_numbers(dims: &[u64], order: &[usize]) -> Vec<u8> {
        let axes = reordered(dims, order);
        let count: u64 = dims.iter().product();
        let number = |place: u64| {
            let (mut rest, mut at) = (place, 0);
            for (size, stride) in axes.iter().rev() {
                at += rest % size * stride;
                rest /= size;
            }
            at as u32
        };
        (0..count).flat_map(|place| number(place).to_le_bytes()).collect()
    }

    fn found(dims: &[u64], order: &[usize], new_dims: &[u64]) -> Option<String> {
        let (old, new) =
            (reordered_numbers(dims, &(0..dims.len()).collect::<Vec<_>>()), reordered_numbers(dims, order));
        let before = Shaped { elements: Elements::Memory(&old), dims };
        let after = Shaped { elements: Elements::Memory(&new), dims: new_dims };
        find(&before, &after, 4).unwrap().map(|layout| layout.text())
    }

    #[test]
    fn matrices_are_found_transposed() {
        assert_eq!(found(&[5, 7], &[1, 0], &[7, 5]).unwrap(), "the same numbers, transposed");
        assert_eq!(found(&[9, 9], &[1, 0], &[9, 9]).unwrap(), "the same numbers, transposed");
        // Larger than a block that is compared at once.
        assert_eq!(found(&[700, 900], &[1, 0], &[900, 700]).unwrap(), "the same numbers, transposed");
        assert_eq!(found(&[3, 300_000], &[1, 0], &[300_000, 3]).unwrap(), "the same numbers, transposed");
    }

    #[test]
    fn shapes_may_change() {
        assert_eq!(found(&[5, 7], &[0, 1], &[35]).unwrap(), "the same numbers, reshaped");
        assert_eq!(found(&[5, 7, 1, 1], &[0, 1, 2, 3], &[5, 7]).unwrap(), "the same numbers, reshaped");
        assert_eq!(found(&[5, 7, 1, 1], &[1, 0, 2, 3], &[7, 5]).unwrap(), "the same numbers, transposed");
        assert_eq!(found(&[5, 7], &[1, 0], &[35]).unwrap(), "the same numbers, transposed, reshaped");
    }

    #[test]
    fn every_order_of_four_axes_is_found() {
        let dims = [3, 4, 5, 6];
        for order in permutations(&[0, 1, 2, 3]) {
            let new_dims: Vec<u64> = order.iter().map(|&axis| dims[axis]).collect();
            let text = found(&dims, &order, &new_dims).unwrap();
            match order.is_sorted() {
                true => assert_eq!(text, "the same numbers"),
                false => {
                    let axes: Vec<String> = order.iter().map(usize::to_string).collect();
                    assert_eq!(text, format!("the same numbers, axes in the order {}", axes.join(" ")));
                }
            }
        }
    }

    #[test]
    fn one_other_number_is_another_tensor() {
        let dims = [40, 50];
        let old = reordered_numbers(&dims, &[0, 1]);
        for place in [0, 999, 1999] {
            let mut new = reordered_numbers(&dims, &[1, 0]);
            new[place * 4] ^= 1;
            let before = Shaped { elements: Elements::Memory(&old), dims: &dims };
            let after = Shaped { elements: Elements::Memory(&new), dims: &[50, 40] };
            assert_eq!(find(&before, &after, 4).unwrap(), None);
        }
    }

    #[test]
    fn a_shape_that_does_not_fit_its_elements_is_no_layout() {
        let old = reordered_numbers(&[4, 4], &[0, 1]);
        for dims in [&[4, 5][..], &[u64::MAX, u64::MAX], &[]] {
            let before = Shaped { elements: Elements::Memory(&old), dims };
            let after = Shaped { elements: Elements::Memory(&old), dims: &[4, 4] };
            assert_eq!(find(&before, &after, 4).unwrap(), None, "{dims:?}");
        }
    }
}

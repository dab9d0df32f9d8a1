//! Slices of the last axis, and how they are put together again.

use super::super::search::{Search, input, is};
use crate::ir::{Attr, Node, ValueId};

/// `of[…, start:end:step]`.
pub struct Slice {
    pub of: ValueId,
    pub start: i64,
    pub end: i64,
    pub step: i64,
    /// The size of the last axis of `of`.
    pub size: i64,
}

/// What `value` is a slice of along the last axis, by a `Slice` or a `Split`.
pub fn part_of_last_axis(search: &mut Search<'_>, value: ValueId) -> Option<Slice> {
    let value = search.before_casts(value);
    let maker = search.maker(value)?;
    let of = input(maker, 0)?;
    let rank = search.shape(of)?.len() as i64;
    let size = search.shape(of)?.last()?.as_static()?;
    let (start, end, step) = if is(maker, "Slice") {
        search.node(value, "Slice")?;
        let number = |i: usize| match search.ir.literal(input(maker, i)?)?.as_ints()?.as_slice() {
            [only] => Some(*only),
            _ => None,
        };
        let axis = number(3)?;
        let step = if input(maker, 4).is_some() { number(4)? } else { 1 };
        let place = |at: i64| (if at < 0 { at.saturating_add(size) } else { at }).clamp(0, size);
        (axis == rank - 1 || axis == -1).then_some((place(number(1)?), place(number(2)?), step))?
    } else {
        search.node(value, "Split")?;
        let sizes = split_sizes(search, maker, size)?;
        let at = maker.outputs.iter().position(|&output| output == value)?;
        let start = sizes.get(..at)?.iter().sum::<i64>();
        let is_last = is_last_axis(maker, rank, 0);
        is_last.then_some((start, start + sizes.get(at)?, 1))?
    };
    Some(Slice { of, start, end, step, size })
}

/// The sizes that a `Split` of an axis of `size` gives.
fn split_sizes(search: &Search<'_>, node: &Node, size: i64) -> Option<Vec<i64>> {
    match input(node, 1) {
        Some(sizes) => search.ir.literal(sizes)?.as_ints(),
        None => {
            let count = node.outputs.len() as i64;
            (size % count == 0).then(|| vec![size / count; node.outputs.len()])
        }
    }
}

/// The two values that are put one behind the other along the last axis.
pub fn joined(search: &mut Search<'_>, value: ValueId) -> Option<[ValueId; 2]> {
    let rank = search.shape(value)?.len() as i64;
    let node = search.node(value, "Concat").filter(|node| is_last_axis(node, rank, rank))?;
    let [Some(a), Some(b)] = *node.inputs.as_slice() else { return None };
    Some([search.before_casts(a), search.before_casts(b)])
}

/// The two values whose elements alternate along the last axis.
pub fn stacked(search: &mut Search<'_>, value: ValueId) -> Option<[ValueId; 2]> {
    let shape = search.shape(value)?;
    let pairs = input(search.node(value, "Reshape")?, 0)?;
    let pairs = search.before_casts(pairs);
    let both = joined(search, pairs)?;
    let [a, b] = both.map(|half| {
        let node = search.node(half, "Unsqueeze")?;
        let axes = search.ir.literal(input(node, 1)?)?.as_ints()?;
        let from = input(node, 0)?;
        let is_last = axes == [shape.len() as i64] || axes == [-1];
        (is_last && search.shape(from)?.len() == shape.len()).then_some(from)
    });
    let (a, b) = (a?, b?);
    // All axes but the last stay as they are.
    let (outer, inner) = (shape.split_last()?.1, search.shape(a)?.split_last()?.1);
    (outer == inner).then(|| [search.before_casts(a), search.before_casts(b)])
}

/// Whether the axis of `node` is the last of `rank`; `default`: the one that it has without the attribute.
fn is_last_axis(node: &Node, rank: i64, default: i64) -> bool {
    let axis = match node.attribute("axis") {
        Some(Attr::Int(axis)) => *axis,
        _ => default,
    };
    axis == rank - 1 || axis == -1
}

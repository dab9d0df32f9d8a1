//! Tensors that tools pack into one, pad, or split.

use std::collections::HashMap;

use super::expected::Tensor;
use super::held::GraphConstant;

/// Tensors that were not found, with their numbers.
type UnmatchedTensors<'e> = [(u32, &'e Tensor)];

/// Most tensors that are packed into one.
const MAX_PACKED: u64 = 8;

/// Tensors that have the elements of `one` together: some that follow each other and have the same rank, or so many of
/// one size that follow each other, those of one module first.
pub(super) fn packed(left: &UnmatchedTensors<'_>, one: &GraphConstant) -> Option<Vec<u32>> {
    if one.rank > 3 {
        return None;
    }
    let of = |left: &UnmatchedTensors<'_>| {
        equal(left, one, true).or_else(|| equal(left, one, false)).or_else(|| following(left, one))
    };
    let is_weight = one.uses.is_weight();
    let alike: Vec<(u32, &Tensor)> =
        left.iter().copied().filter(|(_, tensor)| tensor.is_firm == is_weight).collect();
    of(&alike).or_else(|| of(left).filter(|_| is_weight))
}

fn module(tensor: &Tensor) -> &str {
    tensor.name.rsplit_once('.').map_or("", |(module, _)| module)
}

/// The fewest pieces are the likeliest.
fn equal(left: &UnmatchedTensors<'_>, one: &GraphConstant, in_one_module: bool) -> Option<Vec<u32>> {
    (2..=MAX_PACKED).filter(|count| one.elements.is_multiple_of(*count)).find_map(|count| {
        let mut groups: HashMap<&str, Vec<u32>> = HashMap::new();
        for (number, tensor) in left.iter().filter(|(_, tensor)| tensor.elements == one.elements / count) {
            let group = groups.entry(if in_one_module { module(tensor) } else { "" }).or_default();
            group.push(*number);
            if group.len() as u64 == count {
                return Some(std::mem::take(group));
            }
        }
        None
    })
}

fn following(left: &UnmatchedTensors<'_>, one: &GraphConstant) -> Option<Vec<u32>> {
    let rank = |tensor: &Tensor| tensor.dims.as_ref().map(Vec::len);
    left.iter().enumerate().find_map(|(start, (_, first))| {
        let same = left.get(start..)?.iter().filter(|(_, tensor)| rank(tensor) == rank(first));
        let (mut found, mut sum) = (Vec::new(), 0u64);
        for (number, tensor) in same.take(MAX_PACKED as usize) {
            found.push(*number);
            sum = sum.saturating_add(tensor.elements);
            if sum >= one.elements {
                break;
            }
        }
        (sum == one.elements && found.len() > 1).then_some(found)
    })
}

/// Channels are padded to a multiple of one of these.
const BLOCKS: [u64; 2] = [8, 16];
/// One channel becomes a block of sixteen at most, and eight become another.
const MAX_GROWTH: u64 = 32;

/// Weights of convolutions whose channels were padded to full blocks: pairs of a tensor and a constant, as many as can be
/// made.
pub(super) fn padded(
    left: &UnmatchedTensors<'_>,
    held: &[GraphConstant],
    open: &[usize],
) -> Vec<(u32, usize)> {
    let fits = |tensor: &Tensor, one: &GraphConstant| match &tensor.dims {
        Some(dims) => is_padded(dims, &one.dims),
        None => (tensor.elements..=tensor.elements * MAX_GROWTH).contains(&one.elements),
    };
    let filters: Vec<usize> =
        open.iter().copied().filter(|at| held.get(*at).is_some_and(|one| one.rank > 2)).collect();
    let edges: Vec<Vec<usize>> = filters
        .iter()
        .filter_map(|at| held.get(*at))
        .map(|one| {
            (0..left.len()).filter(|i| left.get(*i).is_some_and(|(_, tensor)| fits(tensor, one))).collect()
        })
        .collect();
    let mut taken: Vec<Option<usize>> = vec![None; left.len()];
    for filter in 0..edges.len() {
        place(filter, &edges, &mut taken, &mut vec![false; left.len()]);
    }
    let pair = |(i, filter): (usize, &Option<usize>)| Some((left.get(i)?.0, *filters.get((*filter)?)?));
    taken.iter().enumerate().filter_map(pair).collect()
}

/// Finds a place for `filter`, moving others to other places where need be. `seen`: places that were tried.
fn place(filter: usize, edges: &[Vec<usize>], taken: &mut [Option<usize>], seen: &mut [bool]) -> bool {
    for &at in edges.get(filter).into_iter().flatten() {
        if seen.get(at) != Some(&false) {
            continue;
        }
        if let Some(seen) = seen.get_mut(at) {
            *seen = true;
        }
        let other = taken.get(at).copied().flatten();
        if other.is_none_or(|other| place(other, edges, taken, seen)) {
            if let Some(slot) = taken.get_mut(at) {
                *slot = Some(filter);
            }
            return true;
        }
    }
    false
}

/// Whether `after` is `before` with some dimensions padded; both without those of size 1, which may be padded, too.
fn is_padded(before: &[u64], after: &[u64]) -> bool {
    let mut left = after.to_vec();
    let mut padded = Vec::new();
    for &size in before.iter().rev() {
        match left.iter().position(|other| *other == size) {
            Some(at) => {
                left.remove(at);
            }
            None => padded.push(size),
        }
    }
    let new_block = |size: u64| BLOCKS.contains(&size);
    for size in padded {
        let fits = |other: &u64| BLOCKS.iter().any(|block| size.next_multiple_of(*block) == *other);
        match left.iter().position(fits) {
            Some(at) => {
                left.remove(at);
            }
            None => return false,
        }
    }
    left.into_iter().all(new_block)
}

/// Constants of one size into which a tensor was cut.
pub(super) fn parts(tensor: &Tensor, held: &[GraphConstant], open: &[usize]) -> Option<Vec<usize>> {
    let size = |at: &usize| held.get(*at).map_or(0, |one| one.elements);
    open.iter().find_map(|first| {
        let count = tensor.elements.checked_div(size(first))?;
        if count < 2 || count * size(first) != tensor.elements {
            return None;
        }
        let dims = &held.get(*first)?.dims;
        let is_part = |one: &GraphConstant| one.dims == *dims && one.uses.is_weight();
        let same = open.iter().copied().filter(|at| held.get(*at).is_some_and(is_part));
        let found: Vec<usize> = same.take(count as usize).collect();
        (found.len() as u64 == count).then_some(found)
    })
}

#[cfg(test)]
mod tests {
    use super::is_padded;

    #[test]
    fn channels_are_padded_to_blocks() {
        assert!(is_padded(&[3, 3, 8, 12], &[3, 3, 8, 16]));
        assert!(is_padded(&[3, 3, 3, 8], &[3, 3, 3, 16]));
        assert!(is_padded(&[40, 144], &[48, 144]));
        assert!(!is_padded(&[3, 3, 8, 12], &[3, 3, 8, 13]));
        assert!(!is_padded(&[3, 3, 8, 12], &[3, 3, 8, 48]));
    }
}

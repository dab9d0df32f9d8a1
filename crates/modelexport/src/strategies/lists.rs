//! Many short lists in one allocation.

use std::ops::Range;

/// Lists of `T`, one after the other.
#[derive(Clone, Debug)]
pub(super) struct Lists<T> {
    items: Vec<T>,
    /// By list: where it ends. It begins where the one before ends.
    ends: Vec<u32>,
}

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Lists { items: Vec::new(), ends: Vec::new() }
    }
}

impl<T> Lists<T> {
    /// Room for so many lists of one item.
    pub(super) fn with_capacity(lists: usize) -> Self {
        Lists { items: Vec::with_capacity(lists), ends: Vec::with_capacity(lists) }
    }

    pub(super) fn push(&mut self, list: impl IntoIterator<Item = T>) {
        self.items.extend(list);
        self.ends.push(self.items.len() as u32);
    }

    /// The list number `i`; empty if there is none.
    pub(super) fn get(&self, i: u32) -> &[T] {
        self.items.get(self.range(i)).unwrap_or_default()
    }

    pub(super) fn iter(&self) -> impl DoubleEndedIterator<Item = &[T]> + '_ {
        (0..self.ends.len() as u32).map(|i| self.get(i))
    }

    /// All items, and where each list ends.
    pub(super) fn into_parts(self) -> (Vec<T>, Vec<u32>) {
        (self.items, self.ends)
    }

    fn range(&self, i: u32) -> Range<usize> {
        let end_of = |i: usize| self.ends.get(i).map_or(0, |end| *end as usize);
        let start = (i as usize).checked_sub(1).map_or(0, end_of);
        start..end_of(i as usize)
    }
}

impl<T, L: IntoIterator<Item = T>> FromIterator<L> for Lists<T> {
    fn from_iter<I: IntoIterator<Item = L>>(lists: I) -> Self {
        let mut all = Lists::default();
        lists.into_iter().for_each(|list| all.push(list));
        all
    }
}

impl<T: Copy + Default> Lists<T> {
    /// `lists` lists from pairs of a list's number and an item; each has its items in the order of the pairs.
    pub(super) fn grouped<I: Iterator<Item = (u32, T)>>(lists: usize, pairs: impl Fn() -> I) -> Self {
        let mut ends = vec![0u32; lists];
        for (list, _) in pairs() {
            if let Some(count) = ends.get_mut(list as usize) {
                *count += 1;
            }
        }
        // Until a list is filled, its entry is where the next item goes.
        let mut start = 0;
        for end in &mut ends {
            start += std::mem::replace(end, start);
        }
        let mut items = vec![T::default(); start as usize];
        for (list, item) in pairs() {
            let Some(next) = ends.get_mut(list as usize) else { continue };
            if let Some(slot) = items.get_mut(*next as usize) {
                *slot = item;
            }
            *next += 1;
        }
        Lists { items, ends }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_are_what_was_pushed() {
        let mut lists = Lists::default();
        lists.push([1, 2]);
        lists.push([]);
        lists.push([3]);
        assert_eq!(lists.iter().collect::<Vec<_>>(), [&[1, 2][..], &[], &[3]]);
        assert_eq!(lists.get(3), [0; 0]);
    }

    #[test]
    fn pairs_are_grouped_in_their_order() {
        let pairs = [(2, 'a'), (0, 'b'), (2, 'c'), (9, 'd')];
        let lists = Lists::grouped(3, || pairs.into_iter());
        assert_eq!(lists.iter().collect::<Vec<_>>(), [&['b'][..], &[], &['a', 'c']]);
    }
}

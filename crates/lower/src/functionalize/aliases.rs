//! Tensors that share memory, as trees: the root is a tensor that has memory of its own, below it are its views,
//! below them the views of these.
//!
//! A place of the tree is what a tensor shows, not the tensor: two tensors that show the same elements in the same
//! shape are one place. Each place has the value that holds its contents, if one was made, and says from which
//! version of the place above it that value was taken.
//!
//! A write is noted at the place that was written, and goes up to the places above only when one is read that
//! shares memory with it. Until then it is *pending*, and the written place knows its contents better than what is
//! above it.

use std::collections::HashMap;
use std::sync::Arc;

use modelexport_graph::aten::{Node, TensorMeta, ValueId};
use modelexport_graph::{DType, Dim, Method, Name, ScopeId};

use super::strides;
use super::view::View;

/// Index of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct AliasId(usize);

/// A view can be a view of a view of a view; a write through more steps than this is refused.
pub(super) const MAX_DEPTH: u32 = 256;

/// The node that wrote, for the name and the origin of what is made on its behalf.
#[derive(Clone, Debug)]
pub(super) struct Writer {
    pub(super) name: Name,
    pub(super) scope: Option<ScopeId>,
    pub(super) method: Method,
    pub(super) trace: Option<u32>,
}

impl Writer {
    pub(super) fn of(node: &Node) -> Self {
        Writer { name: node.name.clone(), scope: node.scope, method: node.method, trace: node.trace }
    }
}

/// How a place was made from the one above it.
#[derive(Clone, Debug)]
pub(super) struct Step {
    pub(super) parent: AliasId,
    pub(super) view: View,
    /// The node of the program, to be repeated when the contents above have changed.
    pub(super) node: Arc<Node>,
}

#[derive(Clone, Debug)]
pub(super) struct Alias {
    /// `None` for the root.
    pub(super) step: Option<Step>,
    pub(super) depth: u32,
    pub(super) root: AliasId,
    /// A value of the program that looks like the contents.
    pub(super) like: ValueId,
    pub(super) meta: TensorMeta,
    /// Whether elements share memory with each other.
    pub(super) overlaps: bool,
    /// Whether the elements are the conjugates of those in memory.
    is_conjugate: bool,
    /// What holds the contents, right or outdated.
    pub(super) value: Option<ValueId>,
    /// Changes with `value`.
    pub(super) version: u32,
    /// The version of the place above that `value` was taken from.
    pub(super) seen: u32,
    /// Written, and not yet carried up.
    pub(super) is_pending: bool,
    pub(super) writer: Option<Writer>,
}

/// What is known of the memory below a root.
#[derive(Clone, Debug, Default)]
struct Memory {
    is_written: bool,
    /// Places with pending writes, in the order of the writes.
    pending: Vec<AliasId>,
    /// Why the contents can no longer be told.
    spoiled: Option<Arc<str>>,
}

/// What makes two views of one memory the same.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct AliasKey {
    root: AliasId,
    is_conjugate: bool,
    dtype: DType,
    sizes: Vec<Dim>,
    strides: Vec<Dim>,
    offset: Dim,
}

impl AliasKey {
    fn of(root: AliasId, is_conjugate: bool, meta: &TensorMeta) -> AliasKey {
        AliasKey {
            root,
            is_conjugate,
            dtype: meta.dtype,
            sizes: meta.sizes.clone(),
            strides: meta.strides.clone(),
            offset: meta.storage_offset.clone(),
        }
    }
}

/// All places of a graph.
#[derive(Debug, Default)]
pub(super) struct Aliases {
    places: Vec<Alias>,
    /// By place; empty but for roots.
    memories: HashMap<AliasId, Memory>,
    looks: HashMap<AliasKey, AliasId>,
    next_version: u32,
    /// Groups of roots over one memory, with the names of the weights; none is followed to another.
    strangers: Vec<Vec<(AliasId, Name)>>,
    /// By root: its group.
    group_of: HashMap<AliasId, usize>,
}

impl Aliases {
    /// A place for a tensor that has memory of its own.
    pub(super) fn add_root(&mut self, value: ValueId, meta: TensorMeta) -> AliasId {
        let id = AliasId(self.places.len());
        let place = Alias {
            step: None,
            depth: 0,
            root: id,
            like: value,
            overlaps: strides::overlaps_itself(&meta),
            is_conjugate: false,
            meta,
            value: Some(value),
            version: self.new_version(),
            seen: 0,
            is_pending: false,
            writer: None,
        };
        self.looks.insert(AliasKey::of(id, false, &place.meta), id);
        self.places.push(place);
        id
    }

    /// The place of a view. `value` holds its contents if it was taken from the present contents of the place above.
    pub(super) fn add_view(
        &mut self,
        step: Step,
        like: ValueId,
        meta: TensorMeta,
        value: Option<ValueId>,
    ) -> AliasId {
        let (parent, certain) = (step.parent, step.view.certain);
        let Some(above) = self.places.get(parent.0) else { return parent };
        let (depth, root, seen) = (above.depth + 1, above.root, above.version);
        let is_conjugate = above.is_conjugate != step.view.kind.conjugates();
        let look = certain.then(|| AliasKey::of(root, is_conjugate, &meta));
        if let Some(&known) = look.as_ref().and_then(|look| self.looks.get(look)) {
            return known;
        }
        let id = AliasId(self.places.len());
        let version = self.new_version();
        let overlaps = strides::overlaps_itself(&meta);
        self.places.push(Alias {
            step: Some(step),
            depth,
            root,
            like,
            meta,
            overlaps,
            is_conjugate,
            value,
            version,
            seen,
            is_pending: false,
            writer: None,
        });
        if let Some(look) = look {
            self.looks.insert(look, id);
        }
        id
    }

    fn new_version(&mut self) -> u32 {
        self.next_version += 1;
        self.next_version
    }

    pub(super) fn get(&self, id: AliasId) -> Option<&Alias> {
        self.places.get(id.0)
    }

    fn parent(&self, id: AliasId) -> Option<AliasId> {
        Some(self.get(id)?.step.as_ref()?.parent)
    }

    pub(super) fn root(&self, id: AliasId) -> AliasId {
        self.get(id).map_or(id, |place| place.root)
    }

    /// Whether the memory was ever written.
    pub(super) fn is_written(&self, id: AliasId) -> bool {
        self.memories.get(&self.root(id)).is_some_and(|memory| memory.is_written)
    }

    pub(super) fn is_root(&self, id: AliasId) -> bool {
        self.root(id) == id
    }

    /// The contents can no longer be told, for this reason.
    pub(super) fn invalidate(&mut self, id: AliasId, reason: &str) {
        let memory = self.memories.entry(self.root(id)).or_default();
        memory.is_written = true;
        memory.spoiled = Some(reason.into());
    }

    /// Why the contents cannot be told.
    pub(super) fn spoiled(&self, id: AliasId) -> Option<&str> {
        self.memories.get(&self.root(id))?.spoiled.as_deref()
    }

    /// Makes weights over one memory known of which none is followed to another.
    pub(super) fn add_strangers(&mut self, group: Vec<(AliasId, Name)>) {
        let group: Vec<_> = group.into_iter().map(|(place, name)| (self.root(place), name)).collect();
        self.group_of.extend(group.iter().map(|(root, _)| (*root, self.strangers.len())));
        self.strangers.push(group);
    }

    /// The node `by` has written to `id`: the contents of strangers can no longer be told.
    pub(super) fn spoil_strangers(&mut self, id: AliasId, by: &str) {
        let root = self.root(id);
        let Some(group) = self.group_of.get(&root).and_then(|&group| self.strangers.get(group)) else {
            return;
        };
        let Some((_, written)) = group.iter().find(|(member, _)| *member == root) else { return };
        let others = group.iter().filter(|(member, _)| *member != root);
        let reasons: Vec<_> = others
            .map(|(other, name)| {
                let reason = format!(
                    "but `{by}` changes `{written}`, and `{name}` lies in the same memory in another way (type or strides), \
                     which is not followed: keep one of the two, and take the other from it in `forward`"
                );
                (*other, reason)
            })
            .collect();
        for (other, reason) in reasons {
            self.invalidate(other, &reason);
        }
    }

    // ---- relations

    fn ancestor_at(&self, mut id: AliasId, depth: u32) -> AliasId {
        while self.get(id).is_some_and(|place| place.depth > depth)
            && let Some(parent) = self.parent(id)
        {
            id = parent;
        }
        id
    }

    fn depth(&self, id: AliasId) -> u32 {
        self.get(id).map_or(0, |place| place.depth)
    }

    /// Whether `below` is `above` or a view of it.
    fn holds(&self, above: AliasId, below: AliasId) -> bool {
        self.ancestor_at(below, self.depth(above)) == above
    }

    /// The place just below `above` on the way to `below`.
    pub(super) fn towards(&self, above: AliasId, below: AliasId) -> AliasId {
        self.ancestor_at(below, self.depth(above) + 1)
    }

    fn common_ancestor(&self, a: AliasId, b: AliasId) -> AliasId {
        let depth = self.depth(a).min(self.depth(b));
        let (mut a, mut b) = (self.ancestor_at(a, depth), self.ancestor_at(b, depth));
        while a != b {
            match (self.parent(a), self.parent(b)) {
                (Some(up_a), Some(up_b)) => (a, b) = (up_a, up_b),
                _ => return a,
            }
        }
        a
    }

    /// Whether two places of one memory share no element, as far as is known.
    fn are_apart(&self, a: AliasId, b: AliasId) -> bool {
        let common = self.common_ancestor(a, b);
        if common == a || common == b || self.get(common).is_none_or(|place| place.overlaps) {
            return false;
        }
        let interval = |id: AliasId| self.get(self.towards(common, id))?.step.as_ref()?.view.interval;
        if let (Some(a), Some(b)) = (interval(a), interval(b))
            && a.is_apart_from(b)
        {
            return true;
        }
        match (self.get(a), self.get(b)) {
            (Some(a), Some(b)) => strides::ranges_are_apart(&a.meta, &b.meta),
            _ => false,
        }
    }

    /// The nearest place at or above `id` whose elements do not share memory: only such a place can take a write of
    /// one of its views as if its other elements stayed.
    fn solid(&self, mut id: AliasId) -> AliasId {
        while self.get(id).is_some_and(|place| place.overlaps)
            && let Some(parent) = self.parent(id)
        {
            id = parent;
        }
        id
    }

    // ---- writes

    /// Notes that `value` holds the contents of `id` from now on. Returns the number of pending writes.
    pub(super) fn write(&mut self, id: AliasId, value: ValueId, writer: Writer) -> usize {
        let mut covered = id;
        while let Some(step) = self.get(covered).and_then(|place| place.step.as_ref())
            && step.view.certain
            && step.view.kind.covers_source()
        {
            covered = step.parent;
        }
        let root = self.root(id);
        let old = self.memories.remove(&root).unwrap_or_default();
        let (gone, mut pending): (Vec<_>, Vec<_>) =
            old.pending.into_iter().partition(|&pending| self.holds(covered, pending));
        for id in gone {
            self.set_pending(id, false);
        }
        if id != root {
            pending.push(id);
        }
        let count = pending.len();
        let spoiled = old.spoiled.filter(|_| covered != root);
        self.memories.insert(root, Memory { is_written: true, pending, spoiled });
        self.set_value(id, value);
        self.set_pending(id, id != root);
        if let Some(place) = self.places.get_mut(id.0) {
            place.writer = Some(writer);
        }
        count
    }

    fn set_pending(&mut self, id: AliasId, is_pending: bool) {
        if let Some(place) = self.places.get_mut(id.0) {
            place.is_pending = is_pending;
        }
    }

    fn set_value(&mut self, id: AliasId, value: ValueId) {
        let version = self.new_version();
        if let Some(place) = self.places.get_mut(id.0) {
            place.value = Some(value);
            place.version = version;
        }
    }

    /// The contents of `id` were taken from the place above it, as it is now.
    pub(super) fn set_taken(&mut self, id: AliasId, value: ValueId) {
        self.set_value(id, value);
        self.set_seen(id);
    }

    fn set_seen(&mut self, id: AliasId) {
        let version = self.parent(id).and_then(|parent| self.get(parent)).map(|parent| parent.version);
        if let (Some(place), Some(version)) = (self.places.get_mut(id.0), version) {
            place.seen = version;
        }
    }

    /// The contents of `child` were carried into those of `parent`, which `value` holds now.
    pub(super) fn set_carried(&mut self, parent: AliasId, child: AliasId, value: ValueId) {
        let writer = self.get(child).and_then(|place| place.writer.clone());
        self.set_value(parent, value);
        self.set_pending(parent, !self.is_root(parent));
        if let Some(place) = self.places.get_mut(parent.0) {
            place.writer = writer;
        }
    }

    /// The contents of `child` are those that `parent` shows there.
    pub(super) fn set_in_step(&mut self, child: AliasId) {
        self.set_pending(child, false);
        self.set_seen(child);
    }

    /// `child` does not hold what `parent` shows there now.
    pub(super) fn set_outdated(&mut self, child: AliasId) {
        self.set_pending(child, false);
        if let Some(place) = self.places.get_mut(child.0) {
            place.seen = 0;
        }
    }

    // ---- reads

    /// What must be carried up before `id` can be read: the place that takes it, and the pending writes below that
    /// place, in order. They are no longer noted as pending, but for the place itself.
    pub(super) fn take_writes_for(&mut self, id: AliasId) -> Option<(AliasId, Vec<AliasId>)> {
        let root = self.root(id);
        let pending = self.memories.get(&root).map(|memory| memory.pending.as_slice()).unwrap_or_default();
        if pending.is_empty() {
            return None;
        }
        let mut target = self.solid(id);
        loop {
            let mut common = target;
            for &write in pending {
                let is_on_the_line = self.holds(write, target) || self.holds(target, write);
                if !is_on_the_line && !self.are_apart(write, target) {
                    common = self.common_ancestor(common, write);
                }
            }
            let common = self.solid(common);
            if common == target {
                break;
            }
            target = common;
        }
        let is_below = |write: &AliasId| *write != target && self.holds(target, *write);
        if !pending.iter().any(is_below) {
            return None;
        }
        let (writes, mut rest): (Vec<_>, Vec<_>) = pending.iter().copied().partition(is_below);
        rest.retain(|&write| write != target);
        if target != root {
            rest.push(target);
        }
        if let Some(memory) = self.memories.get_mut(&root) {
            memory.pending = rest;
        }
        Some((target, writes))
    }

    /// From the first place that knows its contents down to `id`, the places whose contents must be taken anew.
    pub(super) fn outdated_on_the_way(&self, id: AliasId) -> Vec<AliasId> {
        let mut way = Vec::new();
        let mut at = id;
        while let Some(place) = self.get(at)
            && !place.is_pending
            && let Some(step) = &place.step
        {
            way.push(at);
            at = step.parent;
        }
        way.reverse();
        let in_step = |id: &AliasId| {
            let (Some(place), Some(parent)) = (self.get(*id), self.parent(*id)) else { return false };
            place.value.is_some() && self.get(parent).is_some_and(|parent| parent.version == place.seen)
        };
        let outdated = way.iter().position(|id| !in_step(id)).unwrap_or(way.len());
        way.split_off(outdated)
    }

    /// Whether `id` can be read as it is.
    pub(super) fn is_current(&self, id: AliasId) -> bool {
        if !self.is_written(id) {
            return true;
        }
        let root = self.root(id);
        let pending = self.memories.get(&root).map(|memory| memory.pending.as_slice()).unwrap_or_default();
        let target = self.solid(id);
        let is_free = |write: AliasId| {
            let is_above = self.holds(write, target);
            is_above || (!self.holds(target, write) && self.are_apart(write, target))
        };
        pending.iter().all(|&write| is_free(write)) && self.outdated_on_the_way(id).is_empty()
    }
}

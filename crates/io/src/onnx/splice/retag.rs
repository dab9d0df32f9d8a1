//! Removes and adds the tags of one node.

use std::collections::BTreeMap;

use super::NodeTags;
use super::item::{Content, Item, Meaning, put_doc_string, put_entry};
use super::marks::{OWN_PREFIX, is_shared_key};
use super::record::{self, Record, Removed};
use crate::onnx::doc_string::{Replaced, replaced_text};
use crate::onnx::names;

/// A node without our tags.
pub(super) struct Stripped {
    pub items: Vec<Item>,
    /// There was something to take out.
    pub changed: bool,
    /// Bytes for the lengths of the messages around the node, from its record.
    pub widths: Vec<(usize, u64)>,
}

/// Takes the tags out.
pub(super) fn strip(items: Vec<Item>) -> Stripped {
    let record = items.iter().enumerate().rev().find_map(|(i, item)| Some((i, Record::of(item)?)));
    match record {
        Some((place, record)) => strip_by_record(items, place, record),
        None => strip_by_marks(items),
    }
}

fn strip_by_marks(items: Vec<Item>) -> Stripped {
    let last_doc_string = items.iter().rposition(Item::is_doc_string);
    let mut after_own_entry = false;
    let mut changed = false;
    let mut kept = Vec::with_capacity(items.len());
    for (i, item) in items.into_iter().enumerate() {
        match &item.meaning {
            Meaning::Entry(key, _) if key.starts_with(OWN_PREFIX) => {
                after_own_entry = true;
                changed = true;
            }
            Meaning::Entry(key, _) if after_own_entry && is_shared_key(key) => changed = true,
            Meaning::DocString(payload) if Some(i) == last_doc_string => match replaced_text(payload) {
                None => kept.push(item),
                Some(replaced) => {
                    changed = true;
                    if let Replaced::Text(text) = replaced {
                        kept.push(Item::new_doc_string(&names::to_bytes(&text)));
                    }
                }
            },
            _ => kept.push(item),
        }
    }
    Stripped { items: kept, changed, widths: Vec::new() }
}

fn strip_by_record(items: Vec<Item>, place: usize, record: Record) -> Stripped {
    let our_doc_string = items.iter().rposition(Item::is_doc_string).filter(|_| record.doc_string);
    let is_ours = |i: usize, item: &Item| match &item.meaning {
        Meaning::Entry(key, _) => key.starts_with(OWN_PREFIX) || (i > place && record.keys.contains(key)),
        Meaning::DocString(_) => Some(i) == our_doc_string,
        Meaning::Other => false,
    };
    let mut remaining =
        items.into_iter().enumerate().filter(|(i, item)| !is_ours(*i, item)).map(|(_, item)| item);
    let mut kept = Vec::new();
    for (index, removed) in &record.removed {
        while kept.len() < *index
            && let Some(item) = remaining.next()
        {
            kept.push(item);
        }
        kept.extend(removed.restore());
    }
    kept.extend(remaining);
    Stripped { items: kept, changed: true, widths: record.widths }
}

/// Puts tags into a node that has none. `widths` are lengths around the node whose form must be remembered.
pub(super) fn tag(mut original: Vec<Item>, tags: NodeTags, widths: Vec<(usize, u64)>) -> Vec<Item> {
    let is_bare = original.iter().all(|item| item.meaning == Meaning::Other);
    let tags = without_present(&original, tags);
    if !widths.is_empty() {
        return tag_with_record(&original, &tags, widths);
    }
    if is_bare && are_marked(&tags) {
        original.push(appended(&tags));
        return original;
    }
    tag_in_place(&original, &tags).unwrap_or_else(|| tag_with_record(&original, &tags, widths))
}

/// Whether tags are known as ours when they stand in a node that had neither text nor entries. Most nodes are such.
fn are_marked(tags: &NodeTags) -> bool {
    let is_own = |key: &str| key.starts_with(OWN_PREFIX) && key != record::KEY;
    let begins_with_own = tags.metadata.first().is_some_and(|(key, _)| is_own(key));
    let is_known = |(key, _): &(String, String)| is_own(key) || (begins_with_own && is_shared_key(key));
    let text = tags.doc_string.as_ref();
    text.is_none_or(|text| replaced_text(text.as_bytes()) == Some(Replaced::Nothing))
        && tags.metadata.iter().all(is_known)
}

/// All tags, as one item that is only written.
fn appended(tags: &NodeTags) -> Item {
    let mut bytes = Vec::with_capacity(512);
    if let Some(text) = &tags.doc_string {
        put_doc_string(&mut bytes, text.as_bytes());
    }
    tags.metadata.iter().for_each(|(key, value)| put_entry(&mut bytes, key, value));
    Item { content: Content::New(bytes), meaning: Meaning::Other }
}

/// The tags without entries that the node has already, those with our prefix first.
fn without_present(original: &[Item], mut tags: NodeTags) -> NodeTags {
    let present: BTreeMap<&str, &str> = original.iter().filter_map(entry).collect();
    tags.metadata.retain(|(key, value)| present.get(key.as_str()) != Some(&value.as_str()));
    tags.metadata.sort_by_key(|(key, _)| !key.starts_with(OWN_PREFIX));
    tags
}

fn entry(item: &Item) -> Option<(&str, &str)> {
    match &item.meaning {
        Meaning::Entry(key, value) => Some((key, value)),
        _ => None,
    }
}

/// A new `doc_string` takes the place of the old one, entries are appended. `None` if stripping the result would not
/// give the original.
fn tag_in_place(original: &[Item], tags: &NodeTags) -> Option<Vec<Item>> {
    let mut items = original.to_vec();
    if let Some(text) = &tags.doc_string {
        let item = Item::new_doc_string(text.as_bytes());
        match items.iter_mut().rfind(|item| item.is_doc_string()) {
            Some(old) => *old = item,
            None => items.push(item),
        }
    }
    let replaces_entry =
        original.iter().filter_map(entry).any(|(key, _)| tags.metadata.iter().any(|(new, _)| new == key));
    if replaces_entry {
        return None;
    }
    items.extend(tags.metadata.iter().map(|(key, value)| Item::new_entry(key, value)));
    let restored = strip(items.clone()).items;
    let same = restored.len() == original.len() && restored.iter().zip(original).all(|(a, b)| a.same(b));
    same.then_some(items)
}

/// What gives way is taken out and remembered, all tags are appended.
fn tag_with_record(original: &[Item], tags: &NodeTags, widths: Vec<(usize, u64)>) -> Vec<Item> {
    let last_doc_string =
        original.iter().rposition(Item::is_doc_string).filter(|_| tags.doc_string.is_some());
    let gives_way = |i: usize, item: &Item| match &item.meaning {
        Meaning::DocString(_) => Some(i) == last_doc_string,
        Meaning::Entry(key, _) => tags.metadata.iter().any(|(new, _)| new == key),
        Meaning::Other => false,
    };
    let mut items = Vec::with_capacity(original.len() + tags.metadata.len() + 2);
    let mut removed = Vec::new();
    for (i, item) in original.iter().enumerate() {
        if gives_way(i, item) {
            removed.push((i, Removed::of(item)));
        } else {
            items.push(item.clone());
        }
    }
    let keys = tags.metadata.iter().map(|(key, _)| key).filter(|key| !key.starts_with(OWN_PREFIX));
    let record =
        Record { doc_string: tags.doc_string.is_some(), keys: keys.cloned().collect(), removed, widths };
    items.extend(tags.doc_string.as_ref().map(|text| Item::new_doc_string(text.as_bytes())));
    items.push(record.to_item());
    items.extend(tags.metadata.iter().map(|(key, value)| Item::new_entry(key, value)));
    items
}

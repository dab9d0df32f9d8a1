//! Walks from the model down to its nodes and back, with the lengths of the messages on the way.

use super::clean;
use super::item::{Content, Item, Meaning, items_of};
use super::pieces::{Opening, Pieces};
use super::record::Record;
use super::retag::{self, Stripped};
use super::{NodeEdit, NodeKey, NodeTags, NodeView};
use crate::onnx::attribute_kind::{Kind, kind_of};
use crate::onnx::error::Error;
use crate::onnx::names;
use crate::onnx::reader::{Extent, Field, Message, Reader, Step, Value};
use crate::onnx::schema::{attribute, function, graph, model, node};
use crate::onnx::wire::{MAX_VARINT, Varint, get_varint, varint_len};
use crate::source::Source;

/// A length takes at most so many bytes: a record that says more is not followed.
const MAX_WIDTH: u64 = MAX_VARINT as u64;

/// What a walk is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    /// Some nodes get other tags.
    Edit,
    /// All tags will be gone.
    Strip,
    /// All tags and all other metadata will be gone.
    Clean,
}

/// What holds nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Holder {
    Graph,
    Function,
}

impl Holder {
    /// The field of the nodes.
    fn nodes(self) -> u32 {
        match self {
            Holder::Graph => graph::NODE,
            Holder::Function => function::NODE,
        }
    }
}

/// Walks over the model, asks `edit` for each node, and gives the pieces of the new file to `out`.
pub(super) fn model<'a>(
    source: &'a Source,
    purpose: Purpose,
    edit: &mut dyn FnMut(&NodeView<'_>) -> NodeEdit,
    out: Pieces<'a>,
) -> Result<(Reader<'a>, Pieces<'a>), Error> {
    let mut walk = Walk {
        reader: Reader::new(source),
        out,
        purpose,
        edit,
        frames: Vec::new(),
        next: NodeKey { function: None, index: 0 },
    };
    let mut message = walk.reader.whole();
    let mut main_graph = NodeKey { function: None, index: 0 };
    let (mut has_graph, mut functions) = (false, 0);
    while let Some(field) = walk.reader.next(&mut message)? {
        match (field.number, field.value) {
            (model::GRAPH, Value::Bytes(payload)) => {
                walk.next = main_graph;
                walk.message(&field, payload, Step::Field("graph"), |walk| {
                    walk.nodes(payload, Holder::Graph)
                })?;
                main_graph = walk.next;
                has_graph = true;
            }
            (model::FUNCTIONS, Value::Bytes(payload)) => {
                walk.next = NodeKey { function: Some(functions), index: 0 };
                let step = Step::Item("functions", functions);
                walk.message(&field, payload, step, |walk| walk.nodes(payload, Holder::Function))?;
                functions += 1;
            }
            _ if walk.purpose == Purpose::Clean => walk.clean_field_of_model(&field)?,
            _ => walk.copy(field.whole)?,
        }
    }
    if !has_graph {
        return Err(Error::Missing { file: walk.reader.file(), field: "graph" });
    }
    Ok((walk.reader, walk.out))
}

pub(super) struct Walk<'a, 'e> {
    pub(super) reader: Reader<'a>,
    out: Pieces<'a>,
    purpose: Purpose,
    edit: &'e mut dyn FnMut(&NodeView<'_>) -> NodeEdit,
    frames: Vec<Frame>,
    /// The next node.
    next: NodeKey,
}

/// A message on the way to the current node.
struct Frame {
    opening: Opening,
    /// Bytes of the tag, as it stands in the file.
    tag_length: usize,
    changed: bool,
    /// The length takes at least so many bytes.
    width: u64,
    /// The width says something about the original that no node has recorded yet.
    unrecorded: bool,
}

impl Walk<'_, '_> {
    /// Copies a field that is a message, with what `content` makes of its payload.
    pub(super) fn message(
        &mut self,
        field: &Field,
        payload: Extent,
        step: Step,
        content: impl FnOnce(&mut Self) -> Result<(), Error>,
    ) -> Result<(), Error> {
        self.reader.enter(step, field.whole.start)?;
        let frame = self.open(field, payload)?;
        self.frames.push(frame);
        let result = content(self);
        self.reader.leave();
        result?;
        self.close(field.whole);
        Ok(())
    }

    /// A field that stays as it is.
    pub(super) fn copy(&mut self, field: Extent) -> Result<(), Error> {
        self.out.push_original(&mut self.reader, field)
    }

    fn open(&mut self, field: &Field, payload: Extent) -> Result<Frame, Error> {
        let header = self.reader.bytes(Extent { start: field.whole.start, end: payload.start })?;
        let tag_length = match get_varint(&header) {
            Varint::Value(_, length) => length as usize,
            Varint::Unfinished | Varint::Bad => header.len(),
        };
        let width = header.len().saturating_sub(tag_length) as u64;
        let mut tag = [0; MAX_VARINT];
        tag.iter_mut().zip(header.iter().take(tag_length)).for_each(|(to, from)| *to = *from);
        drop(header);
        let padded = width > varint_len(payload.len());
        let written = tag.get(..tag_length).unwrap_or_default();
        Ok(Frame {
            opening: self.out.open(&mut self.reader, written, field.whole)?,
            tag_length,
            changed: false,
            width: if padded { width } else { 1 },
            unrecorded: padded,
        })
    }

    fn close(&mut self, whole: Extent) {
        let Some(frame) = self.frames.pop() else { return };
        if !frame.changed {
            self.out.close_unchanged(frame.opening, whole);
            return;
        }
        self.out.close(frame.opening, frame.tag_length, frame.width);
        if let Some(outer) = self.frames.last_mut() {
            outer.changed = true;
        }
    }

    /// The content of a graph or a function.
    fn nodes(&mut self, payload: Extent, holder: Holder) -> Result<(), Error> {
        let mut message = Message::new(payload);
        let mut count = 0;
        while let Some(field) = self.reader.next(&mut message)? {
            match field.value {
                Value::Bytes(payload) if field.number == holder.nodes() => {
                    self.message(&field, payload, Step::Item("node", count), |walk| walk.node(payload))?;
                    count += 1;
                }
                _ if self.purpose == Purpose::Clean => self.clean_field_of(holder, &field)?,
                _ => self.copy(field.whole)?,
            }
        }
        Ok(())
    }

    fn node(&mut self, payload: Extent) -> Result<(), Error> {
        let key = self.next;
        self.next.index += 1;
        let is_edited = self.purpose == Purpose::Edit;
        let current = items_of(&mut self.reader, Message::new(payload), is_edited)?;
        // A node without texts and entries is the same without tags.
        let is_bare = current.iter().all(|item| item.meaning == Meaning::Other);
        let (current, stripped) = match is_bare {
            true => (None, Stripped { items: current, changed: false, widths: Vec::new() }),
            false => (is_edited.then(|| current.clone()), retag::strip(current)),
        };
        let edit = if is_edited { self.ask(key, &stripped.items) } else { NodeEdit::Strip };
        let items = match edit {
            NodeEdit::Keep => current.unwrap_or(stripped.items),
            NodeEdit::Tag(tags) if tags != NodeTags::default() => {
                self.restore_widths(&stripped.widths);
                self.mark_changed(true);
                let widths = self.take_unrecorded_widths();
                retag::tag(stripped.items, tags, widths)
            }
            NodeEdit::Tag(_) | NodeEdit::Strip => {
                self.restore_widths(&stripped.widths);
                self.mark_changed(stripped.changed);
                let mut items = stripped.items;
                if self.purpose == Purpose::Clean {
                    let kept = items.len();
                    items.retain(|item| !clean::is_metadata(item));
                    self.mark_changed(items.len() < kept);
                }
                if self.purpose == Purpose::Edit && !stripped.widths.is_empty() {
                    // Tags that stay elsewhere still need to know about the messages around them.
                    items.push(Record { widths: stripped.widths, ..Record::default() }.to_item());
                }
                items
            }
        };
        self.put_items(items)
    }

    fn ask(&mut self, key: NodeKey, items: &[Item]) -> NodeEdit {
        let doc_string = items.iter().rev().find_map(|item| match &item.meaning {
            Meaning::DocString(payload) => Some(names::from_bytes(payload)),
            _ => None,
        });
        let entries = items.iter().filter_map(|item| match &item.meaning {
            Meaning::Entry(key, value) => Some((key.clone(), value.clone())),
            _ => None,
        });
        let metadata: Vec<_> = entries.collect();
        (self.edit)(&NodeView { key, doc_string: doc_string.as_deref(), metadata: &metadata })
    }

    pub(super) fn mark_changed(&mut self, changed: bool) {
        if let Some(frame) = self.frames.last_mut() {
            frame.changed |= changed;
        }
    }

    /// Takes over what a record says about the messages around the node, which are counted from the inside.
    fn restore_widths(&mut self, widths: &[(usize, u64)]) {
        for &(level, width) in widths {
            if let Some(frame) = self.frames.iter_mut().rev().nth(level) {
                frame.width = width.min(MAX_WIDTH);
                frame.unrecorded = true;
                frame.changed = true;
            }
        }
    }

    fn take_unrecorded_widths(&mut self) -> Vec<(usize, u64)> {
        let frames = self.frames.iter_mut().rev().enumerate().filter(|(_, frame)| frame.unrecorded);
        let take = |(level, frame): (usize, &mut Frame)| {
            frame.unrecorded = false;
            (level, frame.width)
        };
        frames.map(take).collect()
    }

    fn put_items(&mut self, items: Vec<Item>) -> Result<(), Error> {
        let mut attributes = 0;
        for item in items {
            match &item.content {
                Content::New(bytes) => self.out.push_new(&mut self.reader, bytes)?,
                Content::Loaded(extent, _) => self.copy(*extent)?,
                Content::Field(field) => match field.value {
                    Value::Bytes(payload) if field.number == node::ATTRIBUTE => {
                        self.attribute(field, payload, attributes)?;
                        attributes += 1;
                    }
                    _ => self.copy(field.whole)?,
                },
            }
        }
        Ok(())
    }

    fn attribute(&mut self, field: &Field, payload: Extent, index: usize) -> Result<(), Error> {
        let (number, is_list) = match kind_of(&mut self.reader, Message::new(payload))? {
            Kind::Graph => (attribute::G, false),
            Kind::Graphs => (attribute::GRAPHS, true),
            _ => return self.copy(field.whole),
        };
        self.message(field, payload, Step::Item("attribute", index), |walk| {
            let mut message = Message::new(payload);
            let mut count = 0;
            while let Some(field) = walk.reader.next(&mut message)? {
                match field.value {
                    Value::Bytes(payload) if field.number == number => {
                        let step = if is_list { Step::Item("graphs", count) } else { Step::Field("g") };
                        walk.message(&field, payload, step, |walk| walk.nodes(payload, Holder::Graph))?;
                        count += 1;
                    }
                    _ => walk.copy(field.whole)?,
                }
            }
            Ok(())
        })
    }
}

//! The targets of encoded fields: a sum of lengths in the first pass, bytes in the second.

use modelexport_graph::onnx::{Metadata, Node, Unknown};
use modelexport_graph::{Span, StridedView};

use super::graph::put_node;
use super::{Chunk, NodeTexts};
use crate::onnx::error::Error;
use crate::onnx::limits::MAX_NESTING;
use crate::onnx::names;
use crate::onnx::schema::{entry, graph, node};
use crate::onnx::wire::{Varint, WireType, first_field, get_varint, put_varint, tag, varint_len};

/// Takes the fields of messages in order.
pub(super) trait Sink: Sized {
    fn varint(&mut self, value: u64);

    fn bytes(&mut self, bytes: &[u8]);

    /// The elements of a stored tensor, `length` bytes in all.
    fn view(&mut self, view: &StridedView, dtype_bits: u64, length: u64);

    /// A field that is a message, which `body` puts.
    fn message(&mut self, number: u32, body: impl FnOnce(&mut Self));

    /// What was put into the current message.
    fn written(&mut self) -> &mut Written;

    /// Something that cannot be encoded.
    fn fail(&mut self, error: Error);

    /// The nodes of a graph.
    fn nodes(&mut self, nodes: &[Node]) {
        for node in nodes {
            self.message(graph::NODE, |sink| put_node(sink, node));
        }
    }

    /// Calls `put` with the texts of nodes, if there are any that the model does not hold.
    fn with_texts(&mut self, put: impl FnOnce(&mut Self, &dyn NodeTexts));

    /// The `doc_string` of a node, from wherever it comes.
    fn node_doc_string(&mut self, value: &Node) {
        let mut is_told = false;
        self.with_texts(|sink, texts| {
            if let Some(text) = texts.doc_string(value) {
                sink.text(node::DOC_STRING, &text);
                is_told = true;
            }
        });
        if !is_told {
            self.text(node::DOC_STRING, &value.doc_string);
        }
    }

    /// The entries of a node that the model does not hold.
    fn node_entries(&mut self, value: &Node) {
        self.with_texts(|sink, texts| {
            texts.entries(value, &mut |key, parts| {
                sink.message(node::METADATA_PROPS, |sink| {
                    sink.text_item(entry::KEY, key);
                    sink.text_in_parts(entry::VALUE, parts);
                });
            });
        });
    }

    fn tag(&mut self, number: u32, wire_type: WireType) {
        self.varint(tag(number, wire_type));
    }

    /// A varint field that occurs once.
    fn number(&mut self, number: u32, value: i64) {
        self.written().numbers |= bit(number);
        self.number_item(number, value);
    }

    /// The same, left out if it is 0.
    fn number_unless_zero(&mut self, number: u32, value: i64) {
        if value != 0 {
            self.number(number, value);
        }
    }

    fn number_item(&mut self, number: u32, value: i64) {
        self.tag(number, WireType::Varint);
        self.varint(value as u64);
    }

    fn float(&mut self, number: u32, value: f32) {
        self.tag(number, WireType::Fixed32);
        self.bytes(&value.to_le_bytes());
    }

    fn bytes_field(&mut self, number: u32, bytes: &[u8]) {
        self.tag(number, WireType::Length);
        self.varint(bytes.len() as u64);
        self.bytes(bytes);
    }

    /// A string that occurs once, left out if it is empty.
    fn text(&mut self, number: u32, text: &str) {
        if !text.is_empty() {
            self.written().texts |= bit(number);
            self.text_item(number, text);
        }
    }

    /// A string, also if it is empty.
    fn text_item(&mut self, number: u32, text: &str) {
        self.bytes_field(number, &names::to_bytes(text));
    }

    /// A string, put together.
    fn text_in_parts(&mut self, number: u32, parts: &[&str]) {
        self.tag(number, WireType::Length);
        if parts.iter().all(|part| part.is_ascii()) {
            self.varint(parts.iter().map(|part| part.len() as u64).sum());
            parts.iter().for_each(|part| self.bytes(part.as_bytes()));
            return;
        }
        // What is no UTF-8 stands as whole characters, which no part begins or ends within.
        self.varint(parts.iter().map(|part| names::to_bytes(part).len() as u64).sum());
        for part in parts {
            self.bytes(&names::to_bytes(part));
        }
    }

    fn entries(&mut self, number: u32, entries: &Metadata) {
        for (key, value) in entries {
            self.message(number, |sink| {
                sink.text_item(entry::KEY, key);
                sink.text_item(entry::VALUE, value);
            });
        }
    }

    fn span_field(&mut self, span: Span) {
        let view = StridedView { span, offset: 0, sizes: vec![span.length], strides: vec![1] };
        self.view(&view, 8, span.length);
    }

    /// Fields that were kept as they stood. Where one says that a field had its default value, and the field has
    /// another value by now, that value stands.
    fn unknown(&mut self, unknown: &Unknown) {
        let written = *self.written();
        let mut rest = unknown.as_slice();
        while written != Written::default()
            && let Some((_, length)) = first_field(rest)
        {
            let (field, after) = rest.split_at(length);
            if !written.overrides(field) {
                self.bytes(field);
            }
            rest = after;
        }
        self.bytes(rest);
    }
}

/// Fields below 64 that were put into a message and occur only once there, as bits.
#[derive(Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Written {
    texts: u64,
    numbers: u64,
}

fn bit(number: u32) -> u64 {
    1u64.checked_shl(number).unwrap_or(0)
}

impl Written {
    /// `field` is the default value of one that was written.
    fn overrides(self, field: &[u8]) -> bool {
        let Varint::Value(found, length) = get_varint(field) else { return false };
        let Ok(number) = u32::try_from(found >> 3) else { return false };
        let is_default = field.get(length as usize..).and_then(<[u8]>::first) == Some(&0);
        let written = match found {
            _ if found == tag(number, WireType::Length) => self.texts,
            _ if found == tag(number, WireType::Varint) => self.numbers,
            _ => 0,
        };
        is_default && written & bit(number) != 0
    }
}

/// The first pass: lengths of messages, outer before inner.
pub(super) struct Sizer<'t> {
    texts: Option<&'t dyn NodeTexts>,
    sizes: Vec<u32>,
    total: u64,
    written: Written,
    depth: usize,
    failure: Option<Error>,
}

/// Lengths of all messages, in the order in which they begin.
pub(super) struct Sizes {
    /// What does not fit is larger than a model can be, which the total tells.
    sizes: Vec<u32>,
    total: u64,
}

impl Sizes {
    pub(super) fn total(&self) -> u64 {
        self.total
    }
}

impl<'t> Sizer<'t> {
    pub(super) fn new(texts: Option<&'t dyn NodeTexts>) -> Self {
        Sizer { texts, sizes: Vec::new(), total: 0, written: Written::default(), depth: 0, failure: None }
    }

    /// Adds what another one found out about what comes next in the same message.
    fn append(&mut self, mut other: Sizer<'_>) {
        self.sizes.append(&mut other.sizes);
        self.total = self.total.saturating_add(other.total);
        if let Some(error) = other.failure {
            self.fail(error);
        }
    }

    pub(super) fn finish(self) -> Result<Sizes, Error> {
        match self.failure {
            Some(error) => Err(error),
            None => Ok(Sizes { sizes: self.sizes, total: self.total }),
        }
    }
}

/// From this many nodes on two threads add up the lengths, one half each.
pub(super) const MANY_NODES: usize = 1 << 14;

impl Sink for Sizer<'_> {
    fn nodes(&mut self, nodes: &[Node]) {
        let middle = if nodes.len() < MANY_NODES { nodes.len() } else { nodes.len() / 2 };
        let (first, second) = nodes.split_at_checked(middle).unwrap_or((nodes, &[]));
        let put = |sizer: &mut Self, nodes: &[Node]| {
            // A node and the entries that texts give it.
            sizer.sizes.reserve(nodes.len().saturating_mul(6));
            nodes.iter().for_each(|node| sizer.message(graph::NODE, |sink| put_node(sink, node)));
        };
        if second.is_empty() {
            return put(self, first);
        }
        let mut behind = Sizer { depth: self.depth, ..Sizer::new(self.texts) };
        std::thread::scope(|threads| {
            let behind = threads.spawn(|| {
                put(&mut behind, second);
                behind
            });
            put(self, first);
            self.append(behind.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic)));
        });
    }

    fn with_texts(&mut self, put: impl FnOnce(&mut Self, &dyn NodeTexts)) {
        if let Some(texts) = self.texts {
            put(self, texts);
        }
    }

    fn varint(&mut self, value: u64) {
        self.total += varint_len(value);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        self.total += bytes.len() as u64;
    }

    fn view(&mut self, _: &StridedView, _: u64, length: u64) {
        self.total = self.total.saturating_add(length);
    }

    fn message(&mut self, number: u32, body: impl FnOnce(&mut Self)) {
        if self.depth >= MAX_NESTING {
            self.fail(Error::GraphTooDeep { cap: MAX_NESTING });
            return;
        }
        self.tag(number, WireType::Length);
        let slot = self.sizes.len();
        self.sizes.push(0);
        let outer_total = std::mem::take(&mut self.total);
        let outer_written = std::mem::take(&mut self.written);
        self.depth += 1;
        body(self);
        self.depth -= 1;
        self.written = outer_written;
        let size = std::mem::replace(&mut self.total, outer_total);
        if let Some(stored) = self.sizes.get_mut(slot) {
            *stored = u32::try_from(size).unwrap_or(u32::MAX);
        }
        self.total = self.total.saturating_add(varint_len(size)).saturating_add(size);
    }

    fn written(&mut self) -> &mut Written {
        &mut self.written
    }

    fn fail(&mut self, error: Error) {
        self.failure.get_or_insert(error);
    }
}

/// The bytes that are gathered before they are handed over.
const PIECE: usize = 256 << 10;

/// The second pass: bytes, handed over in pieces.
pub(super) struct Writer<'t, F, E> {
    texts: Option<&'t dyn NodeTexts>,
    sizes: std::vec::IntoIter<u32>,
    bytes: Vec<u8>,
    written: Written,
    take: F,
    failure: Option<E>,
}

impl<'t, E, F: FnMut(Chunk) -> Result<(), E>> Writer<'t, F, E> {
    pub(super) fn new(sizes: Sizes, texts: Option<&'t dyn NodeTexts>, take: F) -> Self {
        let bytes = Vec::with_capacity(PIECE.min(usize::try_from(sizes.total).unwrap_or(PIECE)));
        let written = Written::default();
        Writer { texts, sizes: sizes.sizes.into_iter(), bytes, written, take, failure: None }
    }

    pub(super) fn finish(mut self) -> Result<(), E> {
        self.end_bytes();
        self.failure.map_or(Ok(()), Err)
    }

    fn end_bytes(&mut self) {
        if !self.bytes.is_empty() {
            let room = Vec::with_capacity(PIECE.min(self.bytes.capacity()));
            let bytes = std::mem::replace(&mut self.bytes, room);
            self.hand_over(Chunk::Bytes(bytes));
        }
    }

    fn hand_over(&mut self, chunk: Chunk) {
        if self.failure.is_none() {
            self.failure = (self.take)(chunk).err();
        }
    }
}

impl<E, F: FnMut(Chunk) -> Result<(), E>> Sink for Writer<'_, F, E> {
    fn with_texts(&mut self, put: impl FnOnce(&mut Self, &dyn NodeTexts)) {
        if let Some(texts) = self.texts {
            put(self, texts);
        }
    }

    fn varint(&mut self, value: u64) {
        put_varint(&mut self.bytes, value);
    }

    fn bytes(&mut self, bytes: &[u8]) {
        if self.bytes.len() + bytes.len() > PIECE {
            self.end_bytes();
        }
        self.bytes.extend_from_slice(bytes);
    }

    fn view(&mut self, view: &StridedView, dtype_bits: u64, length: u64) {
        if length > 0 {
            self.end_bytes();
            self.hand_over(Chunk::View { view: view.clone(), dtype_bits });
        }
    }

    fn message(&mut self, number: u32, body: impl FnOnce(&mut Self)) {
        self.tag(number, WireType::Length);
        let size = self.sizes.next().unwrap_or_default();
        self.varint(size.into());
        let outer_written = std::mem::take(&mut self.written);
        body(self);
        self.written = outer_written;
    }

    fn written(&mut self) -> &mut Written {
        &mut self.written
    }

    fn fail(&mut self, _: Error) {
        // The first pass has failed for the same reason, so there is no second.
    }
}
